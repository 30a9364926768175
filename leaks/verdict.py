"""The verdict of one part of an outcome: two tables, each read from the top; the first row that matches decides.

The effective claim says what the CI's word, the exit code and the runner's own marks come to; the verdict weighs it against the log.
The rows see a `Situation` and nothing else; `leaks/situation.py` says where each fact comes from. A report is a finding whatever is
claimed; an unknown word, a missing log or a contradiction is never clean.
"""

from collections.abc import Callable
from typing import NamedTuple

from leaks import because as b
from leaks.flags import Judged, flags_of
from leaks.rows.facts import Judgement, LaneView, LogFacts, MergedClaim
from leaks.situation import CiWord, Exit, Situation, Summary, situate
from leaks.witnesses import gather
from leaks.words import EffectiveClaim, MarkKind, Reason, Verdict

Claims = frozenset[EffectiveClaim]
Condition = Callable[[Situation], bool]

ANY: Claims = frozenset(EffectiveClaim)
PENDING: Claims = frozenset({EffectiveClaim.PENDING})
NEVER_STARTED: Claims = frozenset({EffectiveClaim.NEVER_STARTED})
CANCELLED: Claims = frozenset({EffectiveClaim.CANCELLED})
TIMED_OUT: Claims = frozenset({EffectiveClaim.TIMED_OUT})
OTHER: Claims = frozenset({EffectiveClaim.OTHER})
FAILURE: Claims = frozenset({EffectiveClaim.FAILURE})
SUCCESS: Claims = frozenset({EffectiveClaim.SUCCESS})
UNKNOWN: Claims = frozenset({EffectiveClaim.UNKNOWN})


class ClaimRule(NamedTuple):
    """One row of the effective claim. `when` words the condition."""

    claim: EffectiveClaim
    holds: Condition
    when: str


class Row(NamedTuple):
    """One row of the verdict. `lines` picks what it rests on, `sentence` tells a person what it means."""

    name: str
    claims: Claims
    holds: Condition
    when: str
    verdict: Verdict
    reason: Reason | None
    lines: b.Pick
    sentence: str

    def matches(self, claim: EffectiveClaim, s: Situation) -> bool:
        return claim in self.claims and self.holds(s)


def _always(_: Situation) -> bool:
    return True


def _says_cancelled(s: Situation) -> bool:
    return s.ci is CiWord.CANCELLED or (s.cancel_mark and s.exit is Exit.UNKNOWN)


def _says_timed_out(s: Situation) -> bool:
    return s.ci is CiWord.TIMED_OUT or s.exit is Exit.TIMEOUT or s.limit_mark


def _says_never_started(s: Situation) -> bool:
    return s.ci is CiWord.STARTUP_FAILURE or s.no_job


def _says_failure(s: Situation) -> bool:
    return s.exit not in (Exit.UNKNOWN, Exit.ZERO) or s.ci is CiWord.FAILURE


def _says_success(s: Situation) -> bool:
    return s.ci is CiWord.SUCCESS or (s.ci is CiWord.NONE and s.exit is Exit.ZERO)


def _killed(s: Situation) -> bool:
    """No exit code and the runner's word for it count as well; a test that failed by itself outweighs the kill."""
    unseen = s.exit is Exit.UNKNOWN and s.kill_mark and s.summary is not Summary.PASSED
    return (s.exit is Exit.KILLED or unseen) and s.summary is not Summary.FAILED


def _tests_failed(s: Situation) -> bool:
    return s.summary in (Summary.FAILED, Summary.KILLED) or s.crashed or s.exit is Exit.SIGNAL


def _undisputed(s: Situation) -> bool:
    """Tests passed, and nothing in the log speaks against a success."""
    against = (s.exit_disputed, s.cancel_mark, s.build_broke, s.stale, s.infrastructure, s.crashed, s.kill_mark)
    return s.summary is Summary.PASSED and not any(against)


def _clean(s: Situation) -> bool:
    return s.exit is Exit.ZERO and _undisputed(s)


def _clean_by_the_steps_word(s: Situation) -> bool:
    return s.exit is Exit.UNKNOWN and s.step_success and not s.masked and _undisputed(s)


# fmt: off
EFFECTIVE_CLAIMS: tuple[ClaimRule, ...] = (
    ClaimRule(EffectiveClaim.CANCELLED, _says_cancelled,
              "the CI says cancelled; or the log ends with the runner's cancel mark and no exit code is known"),
    ClaimRule(EffectiveClaim.TIMED_OUT, _says_timed_out,
              "the CI says timed_out; exit code 124; the runner's own time-limit mark"),
    ClaimRule(EffectiveClaim.NEVER_STARTED, _says_never_started, "startup_failure; concluded with no job"),
    ClaimRule(EffectiveClaim.FAILURE, _says_failure, "exit code known and not 0; else the CI says failure"),
    ClaimRule(EffectiveClaim.SUCCESS, _says_success, "the CI says success; or nothing said and exit code 0"),
    ClaimRule(EffectiveClaim.OTHER, lambda s: s.ci is CiWord.OTHER, "any other conclusion, kept"),
    ClaimRule(EffectiveClaim.PENDING, lambda s: not s.ended and not s.silent,
              "no conclusion, no exit code, and the run is not known to have ended"),
    ClaimRule(EffectiveClaim.UNKNOWN, _always, "it has ended, or fell silent, and nobody said how"),
)

VERDICTS: tuple[Row, ...] = (
    Row("finding", ANY, lambda s: s.found, "a report that is not the lane's canary, a lost one, or bytes lost in a leak summary",
        Verdict.FINDINGS, None,
        b.ending_with(b.canary, b.ending_with(b.telling_exit, b.first_of(b.findings, b.marked(MarkKind.LOST_REPORT), b.last_line))),
        "A sanitizer reported something, whatever the exit code, the test summary or the CI says."),
    Row("option_missing", ANY, lambda s: s.misconfigured,
        "options known and one missing, its error seen, and no test passed",
        Verdict.NO_VERDICT, Reason.MISCONFIGURED, b.together(b.marked(MarkKind.SETUP_ERROR)),
        "No test could run: an option that the sanitizer needs is missing, and the error it causes is in the log."),
    Row("detector_failed", ANY, lambda s: s.detector_failed, "the detector itself could not work",
        Verdict.NO_VERDICT, Reason.DETECTOR_FAILED, b.together(b.marked(MarkKind.DETECTOR_FAILED)),
        "The sanitizer itself gave up, so its silence proves nothing."),
    Row("pending", PENDING, _always, "the run has not ended",
        Verdict.NO_VERDICT, Reason.PENDING, b.nothing,
        "The run has not ended yet."),
    Row("never_started", NEVER_STARTED, _always, "the run never started",
        Verdict.NO_VERDICT, Reason.NEVER_STARTED, b.nothing,
        "The run ended before any of its jobs started."),
    Row("cancelled_during_tests", CANCELLED, lambda s: s.log and s.test_seen, "a log with some test",
        Verdict.NO_VERDICT, Reason.CANCELLED_DURING_TESTS,
        b.together(b.marked(MarkKind.CANCELLED), b.summary, b.log_end),
        "The run was cancelled while its tests ran: what found nothing until then proves nothing about the rest."),
    Row("cancelled_before_tests", CANCELLED, lambda s: s.log, "a log without any test",
        Verdict.NO_VERDICT, Reason.CANCELLED_BEFORE_TESTS,
        b.together(b.build_progress, b.marked(MarkKind.CANCELLED)),
        "The run was cancelled before any test ran; this is not a failure of the code."),
    Row("superseded", CANCELLED, lambda s: s.newer_run, "no log; a newer run for the commit or group is known",
        Verdict.NO_VERDICT, Reason.SUPERSEDED, b.nothing,
        "A newer run took the place of this one, and no log of it arrived."),
    Row("dropped", CANCELLED, lambda s: s.no_job, "no log, no newer run is known; concluded with no job",
        Verdict.NO_VERDICT, Reason.NEVER_STARTED, b.nothing,
        "The run was cancelled while it waited: none of its jobs ever started."),
    Row("cancelled_unseen", CANCELLED, _always, "no log; no newer run is known",
        Verdict.NO_VERDICT, Reason.CANCELLED_UNSEEN, b.nothing,
        "The run was cancelled and left no log: nobody knows how far it came."),
    Row("timed_out", TIMED_OUT, _always, "a time limit ended it",
        Verdict.NO_VERDICT, Reason.TIMED_OUT,
        b.ending_with(b.exit_meaning, b.together(b.marked(MarkKind.TIMED_OUT), b.exit_code, b.log_end)),
        "A time limit ended the run before it could prove anything."),
    Row("killed", ANY, _killed, "exit code 137 or 143, and no summary or one whose only failure is that signal",
        Verdict.NO_VERDICT, Reason.KILLED,
        b.ending_with(b.exit_meaning, b.together(b.marked(MarkKind.KILLED), b.exit_code, b.summary, b.log_end)),
        "The process was killed from outside, by an operator or for want of memory, before it could prove anything."),
    Row("fell_silent", UNKNOWN, lambda s: s.silent, "the lane's signs of life stopped before it said how it ended",
        Verdict.NO_VERDICT, Reason.CANCELLED_UNSEEN, b.nothing,
        "The lane gave signs of life and then fell silent: it was killed or lost its machine, and nobody saw how far it came."),
    Row("other_word", OTHER, _always, "a conclusion that claims neither success nor failure",
        Verdict.NO_VERDICT, Reason.SKIPPED, b.nothing,
        "The CI concluded with a word that claims nothing, so nothing is proven."),
    Row("no_log", FAILURE | SUCCESS, lambda s: not s.log, "no log arrived",
        Verdict.NO_VERDICT, Reason.NO_LOG, b.nothing,
        "The CI says how the run ended, and no log arrived to prove it."),
    Row("build_broke", FAILURE, lambda s: s.build_broke, "ended in configure, compile or link",
        Verdict.BUILD_FAILURE, None, b.first_of(b.marked(MarkKind.BUILD_FAILED), b.build_progress),
        "The build broke, so no test ran."),
    Row("infrastructure", FAILURE, lambda s: s.infrastructure, "ended in checkout or set-up, or the runner was lost",
        Verdict.NO_VERDICT, Reason.INFRASTRUCTURE, b.together(b.marked(MarkKind.SETUP_FAILED, MarkKind.RUNNER_LOST)),
        "The machine or its set-up failed, not the code."),
    Row("tests_failed", FAILURE, _tests_failed,
        "a failed test in a summary, or a test process that died by its own signal",
        Verdict.TEST_FAILURE, None,
        b.ending_with(b.telling_exit, b.together(b.marked(MarkKind.TEST_CRASHED), b.summary, b.exit_code)),
        "A test failed or crashed, and no sanitizer's report stands in the log."),
    Row("failed_with_zero_tests", FAILURE, lambda s: s.summary is Summary.ZERO, "a summary that says zero",
        Verdict.NO_VERDICT, Reason.ZERO_TESTS,
        b.ending_with(b.telling_exit, b.together(b.summary, b.exit_code)),
        "No test was executed."),
    Row("unexplained", FAILURE, _always, "nothing in the log explains it",
        Verdict.UNEXPLAINED, None,
        b.ending_with(b.canary_and_exit, b.ending_with(b.exit_meaning, b.together(b.exit_code, b.summary, b.last_line))),
        "The run failed, and nothing in its log says why."),
    Row("truncated_log", SUCCESS, lambda s: s.truncated,
        "the log ends inside a block or a running test, is shorter than announced, or met a bound of the reader",
        Verdict.NO_VERDICT, Reason.TRUNCATED_LOG, b.together(b.marked(MarkKind.BOUND), b.log_end),
        "Only a part of the log could be read, and a report may stand in the rest."),
    Row("passed_with_zero_tests", SUCCESS, lambda s: s.summary is Summary.ZERO, "a summary that says zero",
        Verdict.NO_VERDICT, Reason.ZERO_TESTS, b.summary,
        "No test was executed, so the success proves nothing."),
    Row("blinded", SUCCESS, lambda s: s.blinded,
        "an expected detector off, not linked, unreported, or suppressed too broadly",
        Verdict.BLINDED, None, b.ending_with(b.caveats, b.together(b.blind_spots, b.summary)),
        "Nothing was found, and a detector that the lane expects could not have reported."),
    Row("no_test_summary", SUCCESS, lambda s: s.summary is Summary.NONE, "no summary that we can read",
        Verdict.NO_VERDICT, Reason.NO_TEST_SUMMARY, b.last_line,
        "Success is claimed, and the log holds no test summary that we can read."),
    Row("clean", SUCCESS, _clean, "tests ran, expected detectors on, nothing found, exit code 0",
        Verdict.CLEAN, None, b.ending_with(b.caveats, b.together(b.summary, b.exit_code)),
        "Tests ran, no expected detector is known to have been off, nothing was found, and the exit code is 0."),
    Row("clean_by_the_steps_word", SUCCESS, _clean_by_the_steps_word,
        "the same, the exit code unknown: the step's success stands for 0, and the log shows no masking mark",
        Verdict.CLEAN, None, b.ending_with(b.caveats, b.summary),
        "Tests ran, no expected detector is known to have been off, nothing was found. The exit code is unknown: the step's success stands for 0."),
    Row("undetermined", ANY, _always, "nothing above",
        Verdict.NO_VERDICT, Reason.UNDETERMINED,
        b.together(b.summary, b.exit_code, b.stopped_builds,
                   b.marked(MarkKind.MASKING, MarkKind.TEST_CRASHED, MarkKind.KILLED, MarkKind.CANCELLED, MarkKind.RUNNER_LOST)),
        "The witnesses contradict each other or say too little, so nothing is proven."),
)
# fmt: on
PART_MISSING = "part_missing"
# Rules that are no rows of the table: they need the other parts and logs of the outcome.
SENTENCES = {row.name: row.sentence for row in VERDICTS} | {
    PART_MISSING: "A part of the run is missing, and a missing part is never clean.",
    "log_waits": "A log of this run has arrived and is not read yet.",
    "log_unreadable": "A log of this run cannot be read, and what it would prove is not known.",
    "bytes_unaccounted_for": "The leak check counts more bytes than the canary's, and no record in the log accounts for them.",
}


def effective_claim(s: Situation) -> EffectiveClaim:
    return next(row.claim for row in EFFECTIVE_CLAIMS if row.holds(s))


def deciding_row(claim: EffectiveClaim, s: Situation) -> Row:
    return next(row for row in VERDICTS if row.matches(claim, s))


def judge(facts: LogFacts | None, claim: MergedClaim, lane: LaneView) -> Judgement:
    """The verdict of one part. `facts` is null where no log arrived."""
    w = gather(facts, claim, lane)
    s = situate(w)
    effective = effective_claim(s)
    row = deciding_row(effective, s)
    flags = flags_of(Judged(w, s, effective, row.verdict, row.reason))
    return Judgement(row.verdict, row.reason, row.name, row.lines(w), flags, effective)


def sentence(rule: str) -> str:
    """What the rule of that name tells a person."""
    return SENTENCES[rule]


def describe_claims() -> list[dict[str, str]]:
    """The table of the effective claim, for documents and pages."""
    return [{"claim": row.claim.value, "when": row.when} for row in EFFECTIVE_CLAIMS]


def describe() -> list[dict[str, str | None]]:
    """The table of the verdict, for documents and pages; `claim` is "any" or the effective claims of the row."""
    return [
        {
            "name": row.name,
            "claim": "any" if row.claims == ANY else ", ".join(c.value for c in EffectiveClaim if c in row.claims),
            "when": row.when,
            "verdict": row.verdict.value,
            "reason": row.reason.value if row.reason else None,
            "sentence": row.sentence,
        }
        for row in VERDICTS
    ]
