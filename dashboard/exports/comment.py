"""The text of a comment under a pull request: rows in, Markdown out, never longer than GitHub takes.

The first line is a mark that nobody sees: who posts the comment finds the one before by it, and replaces that one.
"""

import re
from collections.abc import Callable, Iterator
from itertools import chain

from dashboard import formats
from dashboard.exports.markdown import code, link, prose
from leaks.rows.comment import CommentLane, CommitComment
from leaks.rows.compare_pages import ChangeGroup, ChangeRow
from leaks.rows.leak_pages import Amount
from leaks.rows.run_pages import AttemptRow
from leaks.words import Change, Comparison, Flag, Reason, Verdict

Address = Callable[..., str]  # the name of a page and its arguments -> its address

# GitHub takes 65,536 characters. Counted in bytes, so that no other way of counting comes out longer.
LONGEST = 65_000
# Rows of one group; the first number with which the whole fits is taken.
ROWS = (100, 40, 15, 5, 1, 0)
FIXED_ROWS = 10
CHOSEN = {
    "merge_base": "the merge base",
    "ancestor": "the nearest ancestor on {branch} that has a verdict",
    "latest_proved": "the latest run of {branch} with a verdict",
}


HYPHENS = re.compile(r"-(?=-)")


def marker(project: str) -> str:
    """A slug holds letters, digits, hyphens and underscores only; two hyphens in a row would end the mark early."""
    return f"<!-- leakledger project={HYPHENS.sub('-~', project)} -->"


def render(comment: CommitComment, address: Address) -> str:
    texts = (_whole(comment, address, rows) for rows in ROWS)
    fitting = next((text for text in texts if _fits(text)), None)
    return fitting if fitting is not None else _cut(_whole(comment, address, 0))


def _fits(text: str) -> bool:
    return len(text.encode()) <= LONGEST


def _cut(text: str) -> str:
    """Whole lines only: a line that is cut could leave a code span open."""
    kept: list[str] = []
    size, note = 0, "\n… The comment is too long for its place; the page of the commit has the rest.\n"
    for one in text.splitlines(keepends=True):
        size += len(one.encode())
        if size > LONGEST - len(note.encode()):
            return "".join(kept) + note
        kept.append(one)
    return "".join(kept)


def _whole(comment: CommitComment, address: Address, rows: int) -> str:
    parts = chain(
        _head(comment, address),
        *(_lane(comment, lane, address, rows) for lane in comment.lanes),
        _foot(comment, address),
    )
    return "\n".join(parts) + "\n"


# --- Head and foot ---------------------------------------------------------------------------------------------------


def _head(comment: CommitComment, address: Address) -> Iterator[str]:
    page = link(code(comment.sha[:9]), address("commit", comment.project, comment.sha))
    yield marker(comment.project)
    yield f"### {_verdict(comment.verdict, comment.reason)} on {page}"
    yield ""
    yield prose(comment.why) if comment.lanes else "No lane is known to have run on this commit, and none is owed."
    yield ""


def _verdict(verdict: str, reason: str) -> str:
    known = Verdict(verdict) if verdict else Verdict.NO_VERDICT
    said = f"{formats.MARKS[known]} {formats.word(known)}"
    return f"{said}: {formats.word(reason)}" if reason else said


def _foot(comment: CommitComment, address: Address) -> Iterator[str]:
    if comment.more_lanes:
        yield f"… and {comment.more_lanes:,} more lanes."
        yield ""
    where = link(f"Leakledger, {prose(comment.name)}", address("overview", comment.project))
    yield f"<sub>{where} · a lane without a verdict proves nothing, and is neither good nor bad</sub>"


# --- One lane --------------------------------------------------------------------------------------------------------


def _lane(comment: CommitComment, lane: CommentLane, address: Address, rows: int) -> Iterator[str]:
    fold, attempt = lane.fold, lane.decides
    yield f"#### {code(fold.lane)}: {_verdict(fold.verdict, fold.reason)}"
    yield ""
    yield f"- {prose(attempt.sentence if attempt else fold.why)}{_attempts(comment, lane, address)}"
    if attempt is not None:
        yield from (f"- {said}" for said in _witnesses(attempt))
        yield from (
            f"- {formats.word(flag.word)}: {prose(flag.meaning)}" for flag in attempt.flags if _is_told(flag.word)
        )
    yield from _comparison(comment, lane, address, rows)
    if missing := list(_not_measured(comment, lane)):
        yield f"- Not measured: {'; '.join(missing)}."
    yield ""


def _attempts(comment: CommitComment, lane: CommentLane, address: Address) -> str:
    if lane.decides is None:
        return ""
    ref = lane.decides.ref
    run = link(f"run {code(ref.run, 40)}", address("outcome", comment.project, ref.public_id))
    number = len(lane.fold.attempts)
    return f" ({run}{f', of {number:,} attempts' if number > 1 else ''})"


def _witnesses(attempt: AttemptRow) -> Iterator[str]:
    """The exit code against the test summary: side by side, never averaged."""
    said = f"Exit code {'unknown' if attempt.exit_code is None else attempt.exit_code}, {_tests(attempt)}"
    against = any(flag.word == Flag.SUMMARY_CONTRADICTS_EXIT for flag in attempt.flags)
    yield f"{said}. **The exit code contradicts the test summary.**" if against else f"{said}."
    if attempt.amount.count:
        yield f"{attempt.amount.count:,} reports{_leaked(attempt.amount)}."
    if attempt.percent is not None and not attempt.tests.executed:
        yield f"Ended at {attempt.percent} % of the build, 0 tests executed."


def _tests(attempt: AttemptRow) -> str:
    tests = attempt.tests
    if not tests.said:
        return "no test summary"
    return f"{tests.passed or 0:,} passed, {tests.failed or 0:,} failed" + (
        f", {tests.skipped:,} skipped" if tests.skipped else ""
    )


def _leaked(amount: Amount) -> str:
    return "" if amount.bytes is None else f", {_size(amount)} leaked"


def _is_told(word: str) -> bool:
    """That one stands in the line of the witnesses."""
    return word != Flag.SUMMARY_CONTRADICTS_EXIT


# --- Against the base ------------------------------------------------------------------------------------------------


def _comparison(comment: CommitComment, lane: CommentLane, address: Address, rows: int) -> Iterator[str]:
    page, base = lane.compared, lane.base
    if page is None or base is None:
        if lane.decides is not None and not lane.unread:
            yield "- **Not comparable**: no earlier run of this lane on the default branch has a verdict."
        return
    chosen = CHOSEN[lane.chosen_by].format(branch=code(comment.branch, 60))
    against = f"{link(code(base.sha[:9]), address('outcome', comment.project, base.public_id))}, {chosen}"
    if page.result == Comparison.NOT_COMPARABLE:
        yield f"- **Not comparable** with {against}: {prose(page.sentence)} {prose(page.advice)}".rstrip()
        return
    yield f"- Compared with {against}: {prose(page.sentence)}"
    for group in page.groups:
        yield from _group(comment, group, address, rows)


def _group(comment: CommitComment, group: ChangeGroup, address: Address, rows: int) -> Iterator[str]:
    """What is new is listed, what was fixed in short, the rest is counted."""
    planted = [row for row in group.rows if row.public_id in comment.planted]
    number = group.number - len(planted)
    if not number:
        return
    limit = {Change.INTRODUCED: rows, Change.FIXED: min(rows, FIXED_ROWS), Change.UNKNOWN: min(rows, FIXED_ROWS)}
    shown = [row for row in group.rows if row.public_id not in comment.planted][: limit.get(Change(group.change), 0)]
    words = GROUP_WORDS[Change(group.change)].format(number=f"{number:,}")
    yield f"- {words}" + (":" if shown else ".")
    yield from (f"  - {_signature(comment, row, address)}" for row in shown)
    if shown and number > len(shown):
        yield f"  - … and {number - len(shown):,} more"


GROUP_WORDS = {
    Change.INTRODUCED: "**{number} new**",
    Change.OTHER_BYTES: "{number} pre-existing, with other bytes than in the base",
    Change.FIXED: "{number} fixed",
    Change.UNKNOWN: "{number} unknown: this run could not have shown them, so they are not fixed",
    Change.IDENTICAL: "{number} pre-existing, byte for byte",
}


def _signature(comment: CommitComment, row: ChangeRow, address: Address) -> str:
    amount = row.head or row.base
    size = f", {_size(amount)}" if amount is not None and amount.bytes is not None else ""
    page = link(row.public_id, address("signature", comment.project, row.public_id))
    whose = "own" if row.own else "not own"
    state = "" if row.state == "untriaged" else f", {formats.word(row.state)}"
    return f"{code(row.title)}{size}, {whose}{state} ({page})"


def _size(amount: Amount) -> str:
    """Both figures: one to read, one to compare."""
    short = formats.size(amount.bytes)
    exact = f" ({amount.bytes:,} bytes)" if amount.bytes and amount.bytes >= 1024 else ""
    objects = f" in {amount.objects:,} object{'s' if amount.objects != 1 else ''}" if amount.objects else ""
    return f"{short}{exact}{objects}"


# --- What was not measured -------------------------------------------------------------------------------------------


def _not_measured(comment: CommitComment, lane: CommentLane) -> Iterator[str]:
    attempt = lane.decides
    if attempt is None:
        yield f"anything, for {code(comment.branch, 60)} owes this lane and no run of it is known"
        return
    if lane.unread or lane.fold.reason == Reason.PENDING:
        yield "what is still running or still to be read"
    if attempt.exit_code is None:
        yield "the exit code"
    if not attempt.tests.said:
        yield "how many tests ran"
    elif not attempt.tests.complete:
        yield "the tests after the run was cut short"
    if lane.compared is None or lane.compared.result == Comparison.NOT_COMPARABLE:
        yield "what this commit brought in"
    if attempt.amount.bytes:
        yield "whether the leaks grow with the work"
