"""The tables that decide, as they are published: read out of the very data the code uses, each row with a worked example.

The examples are judged here by the real code, so that a page or a document cannot say what is not so.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache

from leaks import comparison, flags, folding, gate, verdict
from leaks.blindness import BLINDERS
from leaks.folding import combine_parts
from leaks.merging import UnreadLog, withhold, without_leftover
from leaks.rows.comparison import Side
from leaks.rows.facts import Judgement
from leaks.rows.folding import Attempt, Folded, PartJudgement
from leaks.rows.truth import Example, TruthRow, TruthTable
from leaks.truth_logs import BLIND_LOGS, CLAIM_LOGS, FLAG_LOGS, VERDICT_LOGS, Told
from leaks.truth_runs import ATTEMPTS, CLEAN, LOST, PROOFS, SIDES, Kept
from leaks.truth_words import judged, result, said, side, word, worked
from leaks.verdict import PART_MISSING
from leaks.words import EffectiveClaim, Flag, GateReason, LogState, Verdict

START = datetime(2026, 3, 1, 8, tzinfo=UTC)


@cache
def tables() -> tuple[TruthTable, ...]:
    found = (
        _claims(), _verdicts(), _withheld(), _blinders(), _flags(), _folded_flags(), _attempts(), _parts(), _lanes(), _comparisons(), _gate(),
    )  # fmt: skip
    return tuple(
        replace(table, rows=tuple(replace(row, columns=table.columns) for row in table.rows)) for table in found
    )


# --- One run ---------------------------------------------------------------------------------------------------------


def _claims() -> TruthTable:
    return TruthTable(
        "claims",
        "claim",
        "What is claimed",
        "The CI's word, the exit code and the runner's own marks come to one claim. The CI's word is kept beside it.",
        ("Claim", "When"),
        tuple(
            TruthRow(row["claim"], (word(row["claim"]), row["when"]), _claimed(CLAIM_LOGS.get(row["claim"], Told())))
            for row in verdict.describe_claims()
        ),
        ordered=True,
    )


def _claimed(told: Told) -> Example:
    return Example(told.log or "", said(told), word(judged(told).effective_claim))


def _verdicts() -> TruthTable:
    return TruthTable(
        "verdicts",
        "rule",
        "What is proved",
        "The claim is weighed against the log. A report is a finding whatever is claimed; an unknown word, a missing log or a contradiction is "
        "never clean.",
        ("Rule", "Claim", "Facts", "Verdict", "What it means"),
        tuple(_verdict_row(row) for row in verdict.describe()),
        ordered=True,
    )


def _verdict_row(row: dict[str, str | None]) -> TruthRow:
    name = str(row["name"])
    end = result(str(row["verdict"]), row["reason"])
    cells = (name, word(str(row["claim"])), str(row["when"]), end, str(row["sentence"]))
    return TruthRow(name, cells, worked(VERDICT_LOGS.get(name, Told())))


def _withheld() -> TruthTable:
    """Rules that are no rows of the table: they need the other parts and logs of the run."""
    clean = PartJudgement("part 1", judged(VERDICT_LOGS["clean"]), 1, 2)
    found = {
        PART_MISSING: ("part 1 of 2 is clean, and nothing is known of part 2", combine_parts([clean])),
        "log_waits": ("one log is clean, another one is not read yet", _withheld_by(LogState.RECEIVED)),
        "log_unreadable": ("one log is clean, another one cannot be read", _withheld_by(LogState.FAILED)),
        "bytes_unaccounted_for": (
            "clean but for the canary of 64 bytes, and the leak check counts 96",
            without_leftover(judged(VERDICT_LOGS["clean"]), 96 - 64),
        ),
    }
    return TruthTable(
        "withheld",
        "rule",
        "What other parts and logs withhold",
        "What one log proves is not the run's verdict while something of the run is missing or unread. Only a finding stands at once.",
        ("Rule", "What it means"),
        tuple(
            TruthRow(rule, (rule, verdict.sentence(rule)), Example("", known, result(end.verdict, end.reason)))
            for rule, (known, end) in found.items()
        ),
        ordered=False,
    )


def _withheld_by(state: LogState) -> Judgement:
    return withhold(judged(VERDICT_LOGS["clean"]), [UnreadLog("second.log", state)])


def _blinders() -> TruthTable:
    """The causes behind the verdict `blinded`. Their examples are those of the flags, where they have one."""
    return TruthTable(
        "blinders",
        "blinder",
        "What blinds a lane",
        "Each of these keeps an expected detector from reporting, so that silence proves nothing. A canary is the positive control: a planted "
        "finding that each run must show. It is recorded like any other report, and counts as no finding where the lane's settings expect it; "
        "one that only the run itself names must be found too, and stays a finding.",
        ("Cause", "What it means"),
        tuple(
            TruthRow(one.name, (word(one.name), one.why), worked(BLINDER_LOGS.get(one.name, Told())))
            for one in BLINDERS
        ),
        ordered=False,
    )


def _flags() -> TruthTable:
    return TruthTable(
        "flags",
        "flag",
        "What stands beside the verdict",
        "Flags are facts, and any number of them can hold.",
        ("Flag", "What it means"),
        tuple(
            TruthRow(row["flag"], (word(row["flag"]), row["meaning"]), worked(FLAG_LOGS.get(Flag(row["flag"]), Told())))
            for row in flags.describe()
        ),
        ordered=False,
    )


def _folded_flags() -> TruthTable:
    """Each example asks the function that the standing asks."""
    first = Attempt("first", Verdict.TEST_FAILURE, None, START, "1")
    second = Attempt("second", Verdict.CLEAN, None, START + timedelta(hours=1), "2")
    found = {
        Flag.RERUN_FLIPPED: ("a test failure, and a rerun that is clean", bool(folding.flips([first, second]))),
        Flag.SUPPRESSED_TOTAL_GREW: ("64 B hidden before, 96 B now", folding.suppressed_total_grew((64, 1), (96, 2))),
        Flag.ONLY_KNOWN: ("two signatures, both first seen in earlier runs", folding.only_known([True, True])),
    }
    return TruthTable(
        "folded-flags",
        "flag",
        "What other runs add",
        "These flags hang on the runs before, and are worked out again whenever one of those changes.",
        ("Flag", "What it means"),
        tuple(
            TruthRow(
                flag, (word(flag), meaning), Example("", found[flag][0], f"+{word(flag)}" if found[flag][1] else "")
            )
            for flag, meaning in flags.FOLDED_MEANINGS.items()
        ),
        ordered=False,
    )


# --- Several runs ----------------------------------------------------------------------------------------------------


def _attempts() -> TruthTable:
    sentences = [*(sentence for _, sentence in folding.ATTEMPT_ORDER), folding.ABSENT.sentence]
    words = [" or ".join(map(word, sorted(group, key=list(Verdict).index))) for group, _ in folding.ATTEMPT_ORDER]
    rows = zip([*words, "no attempt"], sentences, ATTEMPTS, strict=True)
    return TruthTable(
        "attempts",
        "attempts",
        "Several attempts of a lane on one commit",
        "Attempts stand in the order of run start, run id and attempt. A flip is flagged as rerun flipped on the later one.",
        ("Among the attempts", "What it means"),
        tuple(TruthRow(group.replace(" ", "_"), (group, sentence), _attempted(kept)) for group, sentence, kept in rows),
        ordered=True,
    )


def _attempted(kept: tuple[Kept, ...]) -> Example:
    attempts = [
        Attempt(f"attempt {number}", end, reason, START + timedelta(hours=number), str(number))
        for number, (end, reason) in enumerate(kept, 1)
    ]
    found = folding.fold_attempts(attempts)
    flipped = f" +{word(Flag.RERUN_FLIPPED)}" if found.flips else ""
    by = f", decided by {found.decided_by}" if found.decided_by else ""
    named = ", then ".join(result(*one) for one in kept)
    return Example("", named or "no attempt", result(found.verdict, found.reason) + flipped + by)


def _parts() -> TruthTable:
    return _by_precedence(
        "parts",
        "Several parts of one outcome",
        "Shards and matrix jobs: the gravest part decides. A part that is announced and missing makes all but a finding incomplete.",
        folding.PART_ORDER,
        _with_a_clean_part,
    )


def _lanes() -> TruthTable:
    return _by_precedence(
        "lanes",
        "Several lanes of one commit",
        "The gravest lane decides. An owed lane that no run named counts as no verdict.",
        folding.LANE_ORDER,
        _with_a_clean_lane,
    )


def _by_precedence(
    name: str, title: str, intro: str, order: Iterable[Verdict], example: Callable[[Kept], Example]
) -> TruthTable:
    kept = [(one, LOST[1] if one is Verdict.NO_VERDICT else None) for one in order]
    rows = tuple(TruthRow(one[0], (word(one[0]),), example(one)) for one in kept)
    return TruthTable(name, name, title, intro, ("Verdict",), rows, ordered=True)


def _with_a_clean_part(kept: Kept) -> Example:
    parts = [
        PartJudgement(f"part {number}", Judgement(end, reason, "", (), (), EffectiveClaim.SUCCESS), number, 2)
        for number, (end, reason) in enumerate((CLEAN, kept), 1)
    ]
    whole, half = combine_parts(parts), combine_parts(parts[1:])
    without = result(half.verdict, half.reason)
    return Example(
        "",
        f"part 1 clean, part 2 {result(*kept)}",
        f"{result(whole.verdict, whole.reason)}; without part 1: {without}",
    )


def _with_a_clean_lane(kept: Kept) -> Example:
    found = folding.fold_lanes({"asan": Folded(*CLEAN, "", ""), "tsan": Folded(*kept, "", "")})
    return Example(
        "",
        f"asan clean, tsan {result(*kept)}",
        f"{result(found.verdict, found.reason)}, decided by {found.decided_by}",
    )


def _comparisons() -> TruthTable:
    return TruthTable(
        "comparisons",
        "comparison",
        "Base against head",
        "Is it mine? The head is held against a control run, signature by signature.",
        ("Rule", "Result", "What it means"),
        tuple(
            TruthRow(
                row["rule"], (row["rule"], word(row["result"]), row["sentence"]), _compared(SIDES.get(row["rule"]))
            )
            for row in comparison.describe()
        ),
        ordered=True,
    )


def _compared(sides: tuple[Side, Side] | None) -> Example:
    if sides is None:
        return Example("", "", "")
    found = comparison.compare(*sides)
    changes = "; ".join(f"{change.signature} {word(change.change)}" for change in found.changes)
    return Example(
        "", f"base {side(sides[0])}; head {side(sides[1])}", word(found.result) + (f": {changes}" if changes else "")
    )


def _gate() -> TruthTable:
    return TruthTable(
        "gate",
        "gate",
        "Red-first gate",
        "A fix is proven by a run that was red before for the stated reason and one that is green after under the same options.",
        ("Reason", "Result", "What it means"),
        tuple(
            TruthRow(
                row["reason"],
                (word(row["reason"]), row["result"], row["sentence"]),
                _gated(PROOFS.get(GateReason(row["reason"]))),
            )
            for row in gate.describe()
        ),
        ordered=True,
    )


def _gated(sides: tuple[Side, Side] | None) -> Example:
    if sides is None:
        return Example("", "", "")
    found = gate.gate(*sides)
    return Example("", f"before {side(sides[0])}; after {side(sides[1])}", f"{found.result}: {word(found.reason)}")


BLINDER_LOGS = {one.name: FLAG_LOGS[one.flag] for one in BLINDERS if one.flag is not None} | dict(BLIND_LOGS)
