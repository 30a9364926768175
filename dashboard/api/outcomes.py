"""What was proved: one outcome with its logs, the list of them, and how far the reading of a log is."""

from datetime import datetime

from django.http import Http404, HttpRequest
from ninja import Router, Schema

from dashboard.access import may_follow
from dashboard.api.auth import Reads
from dashboard.api.problems import Problem
from leaks.models import LaneOutcome, Log, StaleMark
from leaks.queries import outcomes
from leaks.rows.leak_pages import Amount
from leaks.rows.run_pages import LineRef, LogRow, OutcomeRef, PartRow, Tests, Totals

router = Router(tags=["what was proved"], auth=Reads())
ERRORS: frozenset[int] = frozenset({401, 403, 404, 422})


class OutcomeAnswer(Schema):
    """One attempt of one lane. While `busy`, something of it is still to be read or judged: the verdict may change."""

    id: str
    project: str
    lane: str
    run: str
    commit: str
    branch: str
    at: datetime
    busy: bool
    verdict: str
    reason: str
    rule: str
    sentence: str
    because: list[LineRef]
    flags: list[str]
    effective_claim: str
    conclusion: str | None
    exit_code: int | None
    phase: str
    build_percent: int | None
    tests: Tests | None
    totals: Totals
    own: Amount
    signatures: int
    parts: list[PartRow]
    logs: list[LogRow]
    superseded_by: OutcomeRef | None
    rerun_of: OutcomeRef | None
    withdrawn: bool


class LogAnswer(Schema):
    """How far the reading of a log is: received, reading, digested, refused or failed."""

    id: str
    outcome: str
    name: str
    revision: int
    current: bool
    state: str
    progress: int
    error: str
    bytes: int


@router.get("/outcomes/{public_id}", response={200: OutcomeAnswer, ERRORS: Problem}, url_name="outcome")
def outcome(request: HttpRequest, public_id: str) -> OutcomeAnswer:
    """The verdict with what it rests on. Ask again while `busy` is true."""
    found = LaneOutcome.objects.select_related("lane__project").filter(public_id=public_id).first()
    if found is None or not may_follow(request, found.lane.project):
        raise Http404(f"There is no outcome {public_id!r}.")
    return _answer(found)


@router.get("/logs/{public_id}", response={200: LogAnswer, ERRORS: Problem}, url_name="log")
def log(request: HttpRequest, public_id: str) -> LogAnswer:
    """How far the reading of one log is."""
    related = ("blob", "part__outcome__lane__project")
    found = Log.objects.select_related(*related).defer("facts").filter(public_id=public_id).first()
    if found is None or not may_follow(request, found.part.outcome.lane.project):
        raise Http404(f"There is no log {public_id!r}.")
    return LogAnswer(
        id=found.public_id,
        outcome=found.part.outcome.public_id,
        name=found.name,
        revision=found.revision,
        current=found.current,
        state=found.state,
        progress=found.progress,
        error=found.error,
        bytes=found.blob.bytes,
    )


def _answer(found: LaneOutcome) -> OutcomeAnswer:
    page = outcomes.outcome_page(found.lane.project, found, page=1)
    return OutcomeAnswer(
        id=page.ref.public_id,
        project=found.lane.project.slug,
        lane=page.ref.lane,
        run=page.ref.run,
        commit=page.ref.sha,
        branch=page.ref.branch,
        at=page.ref.at,
        busy=page.busy or _is_to_be_judged(found),
        verdict=page.ref.verdict,
        reason=page.ref.reason,
        rule=page.rule,
        sentence=page.sentence,
        because=list(page.because),
        flags=[flag.word for flag in page.flags],
        effective_claim=page.effective_claim,
        conclusion=page.conclusion,
        exit_code=found.exit_code,
        phase=page.phase,
        build_percent=page.percent,
        tests=page.tests if page.tests.said else None,
        totals=page.totals,
        own=page.own,
        signatures=page.found_total,
        parts=list(page.parts),
        logs=list(page.logs),
        superseded_by=page.superseded_by,
        rerun_of=page.rerun_of,
        withdrawn=page.ref.withdrawn,
    )


def _is_to_be_judged(found: LaneOutcome) -> bool:
    """A claim without a log is busy too, until a worker has folded it in."""
    return StaleMark.objects.filter(kind=StaleMark.Kind.OUTCOME, subject=str(found.pk)).exists()
