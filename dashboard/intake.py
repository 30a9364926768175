"""From values a request carried to committed rows, and then a hint to the queue. No parsing of logs here."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields as dataclass_fields
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, BinaryIO, NamedTuple, TypeVar, cast

from django.core.files.uploadedfile import UploadedFile

from leaks import retention
from leaks.errors import BadSubmission, PermanentError
from leaks.ingest.archives import expanded
from leaks.ingest.receive import receive
from leaks.ingest.scratch import CHANGED, LANE, NO_COMMIT, make_scratch_project
from leaks.ingest.validation import LONGEST_RULE_FILE
from leaks.queries.outcomes import same_logs
from leaks.rows.intake import Receipt, Submission, SubmittedFile, SubmittedRules
from workers.send import hint_logs, hint_marks

Answer = TypeVar("Answer")
FIELDS = frozenset(field.name for field in dataclass_fields(Submission)) - {"project", "files"}


def submit(project: str, values: Mapping[str, Any], files: Iterable[UploadedFile] = ()) -> Receipt:
    """Commit what a lane said. `values` are typed values by the names of `Submission`; a null one was not said."""
    with expanded(submitted(file) for file in files) as logs:
        return _commit(project, _ended(values, logs), logs)


def _ended(values: Mapping[str, Any], logs: Sequence[SubmittedFile]) -> Mapping[str, Any]:
    """Who sends a log has run to the end, unless it says that it still runs."""
    return {**values, "ended": True} if logs and values.get("ended") is None else values


def drop(files: Iterable[UploadedFile], values: Mapping[str, Any], project: str = "") -> Receipt:
    """Commit logs, zips and tars that somebody dropped; without a project they get a scratch project of their own.

    `values` as in `submit`, besides `own_roots` and `plumbing` (sequences of text) for the scratch project.
    """
    with _dropped(files) as logs:
        named = {"lane": LANE, "commit": NO_COMMIT, **values}
        if project:
            return _commit(project, named, logs)
        return _in_scratch(values, lambda slug: _commit(slug, named, logs))


class Dropped(NamedTuple):
    """What somebody dropped as one run: its logs, zips and tars, and what was said of it."""

    files: Iterable[UploadedFile]
    values: Mapping[str, Any]


class Pair(NamedTuple):
    project: str
    base: Receipt
    head: Receipt


def drop_two(base: Dropped, head: Dropped) -> Pair:
    """Two runs in one scratch project, `head` on a commit whose parent is that of `base`. The head says the own roots of both.

    What is wrong with the base names its field with BASE in front.
    """
    with ExitStack() as opened:
        with _about_the_base():
            before = opened.enter_context(_dropped(base.files))
        after = opened.enter_context(_dropped(head.files))
        first = _submission({**base.values, "lane": LANE, "commit": NO_COMMIT}, before)
        second = _submission({**head.values, "lane": LANE, "commit": CHANGED, "parent": NO_COMMIT}, after)
        return _in_scratch(head.values, lambda slug: _receive_two(slug, first, second))


def _receive_two(slug: str, base: Submission, head: Submission) -> Pair:
    """Hints come last: nobody reads one side of what may be refused for the other."""
    with _about_the_base():
        first = receive(replace(base, project=slug))
    second = receive(replace(head, project=slug))
    if same_logs(first.outcome, second.outcome):
        raise BadSubmission(
            "Both sides are the same log, to the byte: held against itself it says nothing.", field=f"{BASE}files"
        )
    _hint(first)
    _hint(second)
    return Pair(slug, first, second)


BASE = "base_"
OF_ONE_SIDE = (None, "files", "exit_code")  # the rest was said of both


@contextmanager
def _about_the_base() -> Iterator[None]:
    try:
        yield
    except PermanentError as error:
        field = error.field if isinstance(error, BadSubmission) else None
        side = f"{BASE}{field or 'files'}" if field in OF_ONE_SIDE else field
        raise BadSubmission(str(error), field=side) from error


@contextmanager
def _dropped(files: Iterable[UploadedFile]) -> Iterator[tuple[SubmittedFile, ...]]:
    with expanded(submitted(file) for file in files) as logs:
        if not logs:
            raise BadSubmission("There is no log in it.", field="files")
        yield logs


def submitted(file: UploadedFile) -> SubmittedFile:
    """An upload as the ingest wants it: large ones lie in a temporary file, and are read from there in chunks."""
    return SubmittedFile(file.name or "", cast("BinaryIO", file.file))


def rules_of(files: Iterable[UploadedFile]) -> tuple[SubmittedRules, ...]:
    """Suppression files as text; of one that is too long just enough is read to refuse it."""
    return tuple(
        SubmittedRules(file.name or "", file.read(4 * LONGEST_RULE_FILE + 4).decode("utf-8", "replace"))
        for file in files
    )


def refuse_unknown_fields(given: Iterable[str], known: Sequence[str]) -> None:
    """A misspelt exit_code that is passed over would make a run look better than it was."""
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise BadSubmission(f"There is no field {name[:60]!r}.{hint}", field=name[:60])


def options_of(lines: Sequence[str]) -> dict[str, str]:
    """Environment variables, each text `NAME=VALUE` or a JSON object; later ones win."""
    return _pairs(lines, "options")


def workload_of(lines: Sequence[str]) -> dict[str, float]:
    """How much work the run did, each text `NAME=NUMBER` or a JSON object."""
    try:
        return {name: float(value) for name, value in _pairs(lines, "workload").items()}
    except (TypeError, ValueError):
        raise BadSubmission("workload takes numbers: NAME=NUMBER.", field="workload") from None


def _pairs(lines: Sequence[str], field: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for line in lines:
        found |= _json_object(line, field) if line.lstrip().startswith("{") else _pair(line, field)
    return found


def _pair(line: str, field: str) -> dict[str, str]:
    name, equals, value = line.partition("=")
    if not equals:
        raise BadSubmission(f"{field} takes NAME=VALUE or a JSON object.", field=field)
    return {name.strip(): value}


def _json_object(text: str, field: str) -> dict[str, Any]:
    try:
        return dict(json.loads(text))
    except (ValueError, RecursionError):
        raise BadSubmission(f"{field} starts like a JSON object and is none.", field=field) from None


def _commit(project: str, values: Mapping[str, Any], files: tuple[SubmittedFile, ...]) -> Receipt:
    receipt = receive(replace(_submission(values, files), project=project))
    _hint(receipt)
    return receipt


def _submission(values: Mapping[str, Any], files: tuple[SubmittedFile, ...]) -> Submission:
    return Submission(project="", files=files, **_said(values))


def _in_scratch(values: Mapping[str, Any], commit: Callable[[str], Answer]) -> Answer:
    scratch = make_scratch_project(values.get("own_roots") or (), values.get("plumbing") or ())
    try:
        return commit(scratch.slug)
    except PermanentError:
        retention.delete(scratch)  # what is refused leaves nothing behind
        raise


def _hint(receipt: Receipt) -> None:
    """Digesting a log judges its outcome too, so a claim needs a hint of its own only where it came alone."""
    fresh = [log.public_id for log in receipt.logs if not log.duplicate]
    if fresh:
        hint_logs(fresh)
    elif receipt.new_claim:
        hint_marks()


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in FIELDS and value is not None}
