"""The red-first gate: red before for the stated reason, green after under the same or wider detection. A table; the first row decides.

A finding after is a failure. Whatever else keeps the proof from holding makes the gate invalid: it says nothing about the fix.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from leaks.comparison import could_have_shown
from leaks.detecting import as_wide, option_differences, ran_fewer_tests, suppression_differences
from leaks.folding import suppressed_total_grew
from leaks.gate_words import why_no_proof, why_not_before
from leaks.rows.comparison import Difference, Side
from leaks.rows.gate import Gated
from leaks.words import Flag, GateReason, GateResult, Reason, Verdict

FAILING = frozenset({GateReason.FINDING_REMAINS, GateReason.NEW_FINDING})
UNPROVEN = frozenset({Verdict.NO_VERDICT, Verdict.BLINDED})


class Proof(NamedTuple):
    """The facts that the table asks for.

    `masked`: BEFORE exited with 0 over its finding, so that no lane was red. `untested`: BEFORE ran no test, or nobody counted them.
    `stated`: a signature is stated, or BEFORE shows one. `stated_shown`: BEFORE shows all that are stated. `remains`: AFTER shows a
    signature of BEFORE, or has lost its reports. `suppressed`: AFTER hides more than BEFORE, or a rule of it matches what is stated.
    `could_show`: AFTER would show what is stated if it were still there. `as_wide`: AFTER looked for as much as BEFORE, and suppresses
    no more.
    """

    same_lane: bool
    before: Verdict
    masked: bool
    untested: bool
    stated: bool
    stated_shown: bool
    after: Verdict
    zero_tests: bool
    remains: bool
    leaks_off: bool
    not_instrumented: bool
    too_broad: bool
    suppressed: bool
    could_show: bool
    as_wide: bool


class Row(NamedTuple):
    reason: GateReason
    holds: Callable[[Proof], bool]
    sentence: str


def _suppressed(p: Proof) -> bool:
    return (p.after is Verdict.BLINDED and p.too_broad) or (p.after is Verdict.CLEAN and p.suppressed)


# fmt: off
GATE: tuple[Row, ...] = (
    Row(GateReason.LANE_DIFFERS, lambda p: not p.same_lane,
        "The runs are of different lanes, so that one says nothing about the other."),
    Row(GateReason.BEFORE_NO_FINDING,
        lambda p: p.before is Verdict.CLEAN or (p.before is Verdict.FINDINGS and not p.stated),
        "The run before shows no finding that a fix could take away."),
    Row(GateReason.BEFORE_NO_VERDICT, lambda p: p.before in UNPROVEN or p.untested,
        "The run before proved nothing, or ran no test."),
    Row(GateReason.BEFORE_OTHER_REASON,
        lambda p: p.before is not Verdict.FINDINGS or p.masked or not p.stated_shown,
        "The run before was red for another reason than the finding that is to be fixed, or was not red at all."),
    Row(GateReason.FINDING_REMAINS, lambda p: p.after is Verdict.FINDINGS and p.remains,
        "The run after still shows a finding of the run before."),
    Row(GateReason.NEW_FINDING, lambda p: p.after is Verdict.FINDINGS,
        "The run after shows a finding that the run before does not have."),
    Row(GateReason.ZERO_TESTS, lambda p: p.zero_tests,
        "The run after executed no test, so that its silence proves nothing."),
    Row(GateReason.LEAK_DETECTION_OFF, lambda p: p.after is Verdict.BLINDED and p.leaks_off,
        "Leak detection was off in the run after, so that a leak could not be reported."),
    Row(GateReason.NOT_INSTRUMENTED, lambda p: p.after is Verdict.BLINDED and p.not_instrumented,
        "The program of the run after holds no sanitizer, so that nothing could report."),
    Row(GateReason.SUPPRESSED_NOT_FIXED, _suppressed,
        "Suppressions hide more in the run after than before: what is hidden is not fixed."),
    Row(GateReason.AFTER_NO_VERDICT, lambda p: p.after is not Verdict.CLEAN or not p.could_show,
        "The run after is not clean, or ran fewer tests than the run before, so that it does not prove the fix."),
    Row(GateReason.OPTIONS_DIFFER, lambda p: not p.as_wide,
        "The run after had fewer detectors, other options of detection, or suppressed more."),
    Row(GateReason.PROVEN, lambda _: True,
        "Red before for the stated reason, and clean after in the same lane under the same or wider detection."),
)
# fmt: on


def gate(before: Side, after: Side, signatures: Iterable[str] = ()) -> Gated:
    """Whether the runs prove a fix of `signatures`; without any, of all that BEFORE shows."""
    stated = tuple(sorted(set(signatures))) or tuple(sorted(before.signatures))
    row = deciding_row(proof_of(before, after, stated))
    apart = () if as_wide(before, after) else differences_between(before, after)
    return Gated(result_of(row.reason), row.reason, sentence_of(row, before, after), stated, apart)


def sentence_of(row: Row, before: Side, after: Side) -> str:
    """That of the row, or where it could mean several things the one that holds, with its numbers."""
    if row.reason is GateReason.AFTER_NO_VERDICT:
        return why_no_proof(before, after) or row.sentence
    if row.reason is GateReason.BEFORE_NO_VERDICT:
        return why_not_before(before, after) or row.sentence
    return row.sentence


def differences_between(before: Side, after: Side) -> tuple[Difference, ...]:
    """In what the run after looked for something else."""
    lost = ", ".join(sorted(before.detectors - after.detectors))
    detectors = (Difference("detectors", lost, "without them"),) if lost else ()
    options = option_differences(before.options, after.options)
    return (*detectors, *options, *suppression_differences(before, after))


def deciding_row(proof: Proof) -> Row:
    return next(row for row in GATE if row.holds(proof))


def result_of(reason: GateReason) -> GateResult:
    if reason is GateReason.PROVEN:
        return GateResult.PASS
    return GateResult.FAIL if reason in FAILING else GateResult.INVALID


def proof_of(before: Side, after: Side, stated: tuple[str, ...]) -> Proof:
    shown = before.signatures.keys()
    return Proof(
        same_lane=before.lane == after.lane,
        before=before.verdict,
        masked=Flag.EXIT_MASKED in before.flags,
        untested=before.tests == 0 or nobody_counted(before, after, stated),
        stated=bool(stated),
        stated_shown=shown >= set(stated),
        after=after.verdict,
        zero_tests=after.reason is Reason.ZERO_TESTS,
        remains=bool(shown & after.signatures.keys()) or not after.signatures,
        leaks_off=Flag.LEAK_DETECTION_OFF in after.flags,
        not_instrumented=Flag.NOT_INSTRUMENTED in after.flags,
        too_broad=Flag.SUPPRESSION_TOO_BROAD in after.flags,
        suppressed=_hides_more(before, after) or bool(after.hides.keys() & set(stated)),
        could_show=not after.cut
        and not ran_fewer_tests(before, after)
        and all(could_have_shown(name, before, after) for name in stated if name in shown),
        as_wide=as_wide(before, after),
    )


def nobody_counted(before: Side, after: Side, stated: Iterable[str]) -> bool:
    """A leak needs no test to be found, so that tests which only the run after counted may be other ones.

    Any other finding stands in the code that ran, and often ends the tests before their count.
    """
    known = [before.signatures[name] for name in stated if name in before.signatures]
    return before.tests is None and after.tests is not None and bool(known) and all(one.leak for one in known)


def _hides_more(before: Side, after: Side) -> bool:
    hidden = (before.suppressed_bytes, before.suppressed_count)
    return suppressed_total_grew(hidden, (after.suppressed_bytes, after.suppressed_count))


def describe() -> list[dict[str, str]]:
    """The table for documents and pages."""
    return [
        {"reason": row.reason.value, "result": result_of(row.reason).value, "sentence": row.sentence} for row in GATE
    ]
