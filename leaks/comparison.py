"""Comparing two sides leak by leak: a table, the first row that holds decides.

Only sides that prove something can be compared, and only under the same detectors and detecting options. What the head could not have
shown is unknown, never fixed: it died before the leak check, ran fewer tests, or suppresses it. What the base could not have shown is
unknown, never introduced: it hid it, or ended before. A change often brings the test that shows its own leak, so that a base with fewer
tests only adds a caveat.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from leaks.detecting import detecting_options, differences, ran_fewer_tests
from leaks.folding import has_verdict, suppressed_total_grew
from leaks.hiding import explaining
from leaks.rows.comparison import Compared, Measure, Side, SignatureChange
from leaks.rows.facts import Judgement, LogFacts
from leaks.situation import executed
from leaks.words import Change, Comparison, Flag, Reason, Verdict

ONLY_UNKNOWN = "only_unknown"  # nothing is proven, and still it is told what is unknown
BASE_SILENT = "base_could_not_show"
TOLD = frozenset({ONLY_UNKNOWN, BASE_SILENT})  # not comparable, and each signature still has its word


class Pair(NamedTuple):
    base: Side
    head: Side
    changes: tuple[SignatureChange, ...]

    def any(self, *kinds: Change) -> bool:
        return any(change.change in kinds for change in self.changes)

    @property
    def base_silent(self) -> bool:
        return any(change.change is Change.UNKNOWN and change.base is None for change in self.changes)


class Row(NamedTuple):
    rule: str
    holds: Callable[[Pair], bool]
    result: Comparison
    sentence: str


def changes_between(base: Side, head: Side) -> tuple[SignatureChange, ...]:
    """One row a signature, in the order of the words of `Change`, then by name."""
    names = base.signatures.keys() | head.signatures.keys()
    rows = [_change(name, base, head) for name in names]
    order = list(Change)
    return tuple(sorted(rows, key=lambda row: (order.index(row.change), row.signature)))


def _change(name: str, base: Side, head: Side) -> SignatureChange:
    before, after = base.signatures.get(name), head.signatures.get(name)
    change = _change_word(name, base, head)
    why = why_not_introduced if before is None else why_unknown
    sentence = why(name, base, head) if change is Change.UNKNOWN else CHANGE_SENTENCES[change]
    return SignatureChange(name, change, before, after, sentence)


def _change_word(name: str, base: Side, head: Side) -> Change:
    before, after = base.signatures.get(name), head.signatures.get(name)
    if before is None:
        return Change.UNKNOWN if why_not_introduced(name, base, head) else Change.INTRODUCED
    if after is None:
        return Change.FIXED if could_have_shown(name, base, head) else Change.UNKNOWN
    same = (before.bytes, before.objects, before.count) == (after.bytes, after.objects, after.count)
    return Change.IDENTICAL if same else Change.OTHER_BYTES


def could_have_shown(name: str, base: Side, head: Side) -> bool:
    """Whether the head would show a signature of the base if it were still there.

    A leak shows in the leak check, after the tests; any other finding once the tests have run. Which test a finding hangs on is
    seldom told, so the head must have run as many as the base.
    """
    return not why_unknown(name, base, head)


def why_unknown(name: str, base: Side, head: Side) -> str:
    """Why the head could not have shown a signature of the base; empty where it could."""
    return next((sentence for holds, sentence in WHY_UNKNOWN if holds(name, base, head)), "")


WHY_UNKNOWN: tuple[tuple[Callable[[str, Side, Side], bool], str], ...] = (
    (
        lambda name, _base, head: name in head.hides,
        "Found at the base; a suppression rule of the head matches it, so it would not be shown.",
    ),
    (
        lambda _name, _base, head: not head.tests_complete,
        "Found at the base; the head ended before its tests were through.",
    ),
    (
        lambda _name, base, head: ran_fewer_tests(base, head),
        "Found at the base; the head ran fewer tests, so that the one which shows it may be missing.",
    ),
    (
        lambda name, base, head: base.signatures[name].leak and not head.leak_check_done,
        "Found at the base; the head ended before its leak check.",
    ),
)


def why_not_introduced(name: str, base: Side, head: Side) -> str:
    """Why the base could not have shown a signature of the head; empty where it could."""
    return next((sentence for holds, sentence in WHY_NOT_INTRODUCED if holds(name, base, head)), "")


WHY_NOT_INTRODUCED: tuple[tuple[Callable[[str, Side, Side], bool], str], ...] = (
    (
        lambda name, base, _head: name in base.hid,
        "Found at the head; the base hid it: a suppression that its log says was used matches it.",
    ),
    (
        lambda _name, base, _head: not base.tests_complete,
        "Found at the head; the base ended before its tests were through.",
    ),
    (
        lambda name, base, head: head.signatures[name].leak and not base.leak_check_done,
        "Found at the head; the base ended before its leak check.",
    ),
)

CHANGE_SENTENCES: Mapping[Change, str] = {
    Change.INTRODUCED: "Found at the head and not at the base.",
    Change.OTHER_BYTES: "Found on both sides, with other sizes or counts.",
    Change.FIXED: "Found at the base; the head would have shown it and did not.",
    Change.UNKNOWN: "Found on one side; the other could not have shown it: it ended before, ran fewer tests, or suppresses it.",
    Change.IDENTICAL: "Found on both sides, the same to the byte.",
}


def grew(change: SignatureChange) -> bool:
    """Whether a signature of both sides leaks more at the head: more bytes, or as many in more objects or reports."""
    if change.base is None or change.head is None:
        return False
    return _weight(change.head) > _weight(change.base)


def _weight(measure: Measure) -> tuple[int, int, int]:
    return measure.bytes or 0, measure.objects or 0, measure.count


def _lost_its_findings(side: Side) -> bool:
    return side.verdict is Verdict.FINDINGS and not side.signatures


def _suppressed_grew(p: Pair) -> bool:
    """By the tables that both runs printed, or because a rule of the head is known to match what the base found."""
    before = (p.base.suppressed_bytes, p.base.suppressed_count)
    more = suppressed_total_grew(before, (p.head.suppressed_bytes, p.head.suppressed_count))
    return more or bool(p.head.hides.keys() & p.base.signatures.keys())


# fmt: off
COMPARISONS: tuple[Row, ...] = (
    Row("base_blinded", lambda p: p.base.verdict is Verdict.BLINDED, Comparison.NOT_COMPARABLE,
        "A detector is off at the base, so it proves nothing to compare with."),
    Row("head_blinded", lambda p: p.head.verdict is Verdict.BLINDED, Comparison.NOT_COMPARABLE,
        "A detector is off at the head, so that what is missing there is not fixed."),
    Row("base_without_verdict", lambda p: not has_verdict(p.base.verdict), Comparison.NOT_COMPARABLE,
        "The base proved nothing: it is neither clean nor does it hold findings."),
    Row("head_without_verdict", lambda p: not has_verdict(p.head.verdict), Comparison.NOT_COMPARABLE,
        "The head proved nothing: it is neither clean nor does it hold findings."),
    Row("base_cut", lambda p: p.base.cut, Comparison.NOT_COMPARABLE,
        "The log of the base is cut off: what the head shows may have stood in the missing part."),
    Row("head_cut", lambda p: p.head.cut, Comparison.NOT_COMPARABLE,
        "The log of the head is cut off: what is missing there is not fixed."),
    Row("other_lane", lambda p: p.base.lane != p.head.lane, Comparison.NOT_COMPARABLE,
        "The sides are of different lanes."),
    Row("other_detectors", lambda p: p.base.detectors != p.head.detectors, Comparison.NOT_COMPARABLE,
        "The sides ran with different detectors."),
    Row("other_options", lambda p: detecting_options(p.base.options) != detecting_options(p.head.options),
        Comparison.NOT_COMPARABLE, "The sides ran with different options of detection."),
    Row("findings_lost", lambda p: _lost_its_findings(p.base) or _lost_its_findings(p.head),
        Comparison.NOT_COMPARABLE, "A side found something of which no report is left to compare."),
    Row("introduced", lambda p: p.any(Change.INTRODUCED), Comparison.NEW_FINDINGS,
        "The head shows findings that the base does not have."),
    Row(BASE_SILENT, lambda p: p.base_silent, Comparison.NOT_COMPARABLE,
        "The base could not have shown what the head found: it hid it, or ended before."),
    Row("suppressed_total_grew", _suppressed_grew, Comparison.SUPPRESSED_TOTAL_GREW,
        "Nothing new is shown, and suppressions hide more at the head than at the base."),
    Row("fixed", lambda p: p.any(Change.FIXED), Comparison.FIXED,
        "Findings of the base are gone, and the head would have shown them."),
    Row("pre_existing", lambda p: p.any(Change.IDENTICAL, Change.OTHER_BYTES), Comparison.PRE_EXISTING,
        "Every finding of the head is at the base as well."),
    Row(ONLY_UNKNOWN, lambda p: p.any(Change.UNKNOWN), Comparison.NOT_COMPARABLE,
        "The head could not have shown what the base found: it ended before, or ran fewer tests."),
    Row("no_findings", lambda _: True, Comparison.NO_FINDINGS,
        "Neither side found anything."),
)
# fmt: on


def compare(base: Side, head: Side) -> Compared:
    pair = Pair(base, head, changes_between(base, head))
    row = next(row for row in COMPARISONS if row.holds(pair))
    if row.result is not Comparison.NOT_COMPARABLE:
        doubt = caveat(pair)
        said = f"{row.sentence} {doubt}".rstrip()
        return Compared(row.result, row.rule, said, pair.changes, hidden_between(pair), caveat=doubt)
    apart = differences(base, head)
    if row.rule not in TOLD:
        return Compared(row.result, row.rule, row.sentence, differences=apart)
    return Compared(row.result, row.rule, row.sentence, pair.changes, hidden_between(pair), apart)


def caveat(pair: Pair) -> str:
    """What is introduced may only be shown by a test that the base did not run; which test shows it, the logs seldom tell. And where neither
    side shows anything, suppressions may have hidden it.
    """
    if not pair.changes and (pair.base.suppressed_count or pair.head.suppressed_count):
        return f"Suppressions hid {pair.base.suppressed_count:,} records at the base and {pair.head.suppressed_count:,} at the head."
    if pair.any(Change.FIXED) and pair.base.tests is None:
        return "Nobody counted the tests of the base: whether the head ran the same ones is not known."
    if not (pair.any(Change.INTRODUCED) and ran_fewer_tests(pair.head, pair.base)):
        return ""
    return f"The base ran fewer tests ({pair.base.tests:,} against {pair.head.tests:,}): what only they show may have been there before."


def hidden_between(pair: Pair) -> tuple[str, ...]:
    """What the head's suppressions hide and the base's did not: the signatures that make up the growth of the suppressed total."""
    base, head = pair.base, pair.head
    if not _suppressed_grew(pair):
        return ()
    fresh = {name: measure for name, measure in head.hides.items() if name not in base.hides} or head.hides
    grown = head.suppressed_bytes - base.suppressed_bytes, head.suppressed_count - base.suppressed_count
    return explaining(grown, fresh)


def tests_run(facts: LogFacts) -> int | None:
    """How many tests ran to an end, null where no runner counted."""
    return executed(facts.tests) if facts.tests is not None else None


def ran_all_tests(facts: LogFacts, judgement: Judgement) -> bool:
    """The tests ran to their summary; a log without any runner counts as complete unless it was cut off."""
    if facts.tests is not None:
        return facts.tests.complete and facts.ends_in_test is None
    cut_off = judgement.reason in {Reason.TIMED_OUT, Reason.KILLED} or facts.ends_in_block or facts.ends_in_test
    return not cut_off and leak_check_done(facts, judgement)


def is_cut(facts: LogFacts, judgement: Judgement) -> bool:
    """The log ends inside a report, or inside a leak check, which always closes with its SUMMARY."""
    unfinished = facts.totals is not None and facts.totals.summary_bytes is None
    return Flag.LOG_TRUNCATED in judgement.flags or facts.ends_in_block is not None or unfinished


def leak_check_done(facts: LogFacts, judgement: Judgement) -> bool:
    """The leak check came to its end: it printed totals or the table of used suppressions, or there was nothing to print."""
    return judgement.verdict is Verdict.CLEAN or facts.totals is not None or bool(facts.suppressions)


def describe() -> list[dict[str, str]]:
    """The table for documents and pages."""
    return [{"rule": row.rule, "result": row.result.value, "sentence": row.sentence} for row in COMPARISONS]
