"""The shapes of the ways in: what a lane says, and what it is told back."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from ninja import Field, Schema
from pydantic import AwareDatetime, BeforeValidator, ConfigDict

from leaks.rows.intake import Receipt


def blank_is_none(value: Any) -> Any:
    """`-F exit_code=$UNSET` says nothing, and is no error."""
    return None if isinstance(value, str) and not value.strip() else value


def no_flag(value: Any) -> Any:
    """JSON's true is no exit code 1, though Python would have it so."""
    if isinstance(value, bool):
        raise ValueError("a number, not true or false")  # noqa: TRY004  pydantic answers a ValueError to the sender
    return value


BLANK = BeforeValidator(blank_is_none)
Text = Annotated[str | None, BLANK]
Number = Annotated[int | None, BLANK, BeforeValidator(no_flag)]
Moment = Annotated[AwareDatetime | None, BLANK]


class Statement(Schema):
    """What both ways in take. An empty field counts as not given."""

    lane: str = Field(description="name of the lane, or an alias of it")
    commit: str = Field(description="sha, 7 to 64 hexadecimal digits")
    parent: Text = Field(None, description="sha of the first parent")
    branch: Text = None
    pull_request: Number = None
    project: Text = Field(None, description="if given, it must be the project of the token")
    provider: Text = Field(None, description="which CI the run id is of, such as github")
    run_id: Text = Field(None, description="without it the content decides which run it is")
    attempt: Number = Field(None, description="counts from 1; a re-run keeps its run_id and raises this")
    event: Text = None
    run_url: Text = None
    part: Text = Field(None, description="name of the shard or matrix job")
    part_index: Number = None
    part_of: Number = None
    conclusion: Text = Field(None, description="the CI's word as it came: success, failure, cancelled, ...")
    exit_code: Number = None
    ended: Annotated[bool | None, BLANK] = Field(None, description="false: it is still running")
    started_at: Moment = Field(None, description="ISO 8601 with its time zone, by the CI's clock")
    finished_at: Moment = None
    superseded_by: Text = Field(None, description="run id, or run id#attempt, of the run that took its place")
    heartbeat: Moment = Field(
        None, description="a sign of life, by the lane's clock: it still runs; send it again and again"
    )
    progress: Text = Field(None, description="with a heartbeat: the last line that says how far it is")
    canary: Text = Field(None, description="public id of a signature that this run must find")
    announced_bytes: Number = Field(
        None, description="how long all logs of the part are together, where not all is sent"
    )
    sequence: Number = Field(None, description="the sender's own order: of two statements the later one holds")
    delivery_id: Text = Field(None, description="a second statement under the same one is a repeat")
    source: Annotated[Literal["upload", "lane_wrapper", "back_fill"] | None, BLANK] = None


class LogForm(Statement):
    options: list[str] = Field([], description="NAME=VALUE, or a JSON object; repeatable")
    workload: list[str] = Field([], description="NAME=NUMBER, or a JSON object; repeatable")


class OutcomeBody(Statement):
    # A misspelt exit_code that is passed over would make a run look better than it was.
    model_config = ConfigDict(extra="forbid")

    options: dict[str, str] = {}
    workload: dict[str, float] = {}


class AcceptedOutcome(Schema):
    id: str
    address: str
    page: str = Field(description="the same for people")


class AcceptedLog(Schema):
    id: str
    address: str
    name: str
    revision: int
    duplicate: bool = Field(description="the same name and content was there before")


class Accepted(Schema):
    """Committed, and digested soon: ask the outcome's address for the verdict."""

    outcome: AcceptedOutcome
    new_claim: bool = Field(description="false: this statement was known already")
    logs: list[AcceptedLog]


def accepted(receipt: Receipt, address: Callable[..., str], project: str) -> Accepted:
    """The receipt with addresses; `address` makes one of a route's name and its arguments."""
    outcome = AcceptedOutcome(
        id=receipt.outcome,
        address=address("api:outcome", receipt.outcome),
        page=address("outcome", project, receipt.outcome),
    )
    logs = [
        AcceptedLog(
            id=log.public_id,
            address=address("api:log", log.public_id),
            name=log.name,
            revision=log.revision,
            duplicate=log.duplicate,
        )
        for log in receipt.logs
    ]
    return Accepted(outcome=outcome, new_claim=receipt.new_claim, logs=logs)
