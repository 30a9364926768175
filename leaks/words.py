"""The words of the product: every verdict, reason, flag, kind of mark and state, once.

Pages, API, tables and models use these values verbatim; there are no synonyms.
"""

from enum import StrEnum


class Verdict(StrEnum):
    CLEAN = "clean"
    FINDINGS = "findings"
    TEST_FAILURE = "test_failure"
    BUILD_FAILURE = "build_failure"
    UNEXPLAINED = "unexplained"
    BLINDED = "blinded"
    NO_VERDICT = "no_verdict"


class Reason(StrEnum):
    """Why there is no verdict."""

    PENDING = "pending"
    NEVER_STARTED = "never_started"
    CANCELLED_BEFORE_TESTS = "cancelled_before_tests"
    CANCELLED_DURING_TESTS = "cancelled_during_tests"
    CANCELLED_UNSEEN = "cancelled_unseen"
    SUPERSEDED = "superseded"
    TIMED_OUT = "timed_out"
    KILLED = "killed"
    SKIPPED = "skipped"
    NO_LOG = "no_log"
    INCOMPLETE = "incomplete"
    INFRASTRUCTURE = "infrastructure"
    MISCONFIGURED = "misconfigured"
    DETECTOR_FAILED = "detector_failed"
    ZERO_TESTS = "zero_tests"
    NO_TEST_SUMMARY = "no_test_summary"
    TRUNCATED_LOG = "truncated_log"
    UNDETERMINED = "undetermined"


CANCELLED_REASONS = frozenset(
    {Reason.CANCELLED_BEFORE_TESTS, Reason.CANCELLED_DURING_TESTS, Reason.CANCELLED_UNSEEN, Reason.SUPERSEDED}
)


class EffectiveClaim(StrEnum):
    """What the CI's word and the exit code together claim, before the log is judged."""

    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"
    NEVER_STARTED = "never_started"
    FAILURE = "failure"
    SUCCESS = "success"
    OTHER = "other_word"
    PENDING = "pending"
    UNKNOWN = "unknown"  # it has ended, and nobody said how


class Flag(StrEnum):
    """Facts that stand beside any verdict."""

    SUMMARY_CONTRADICTS_EXIT = "summary_contradicts_exit"
    EXIT_MASKED = "exit_masked"
    CI_CONTRADICTS_RUN = "ci_contradicts_run"
    CONTINUE_ON_ERROR = "continue_on_error"
    CANCELLED = "cancelled"
    CANCELLED_BY_DUPLICATE_RUN = "cancelled_by_duplicate_run"
    ZERO_TESTS = "zero_tests"
    NO_TEST_BODY_RAN = "no_test_body_ran"
    SANITIZER_SETUP_PROBLEM = "sanitizer_setup_problem"
    LSAN_FATAL = "lsan_fatal"
    LEAK_DETECTION_OFF = "leak_detection_off"
    NOT_INSTRUMENTED = "not_instrumented"
    SUPPRESSION_TOO_BROAD = "suppression_too_broad"
    SUPPRESSIONS_USED = "suppressions_used"
    SUPPRESSION_UNUSED = "suppression_unused"
    SUPPRESSED_TOTAL_GREW = "suppressed_total_grew"
    TIMED_OUT = "timed_out"
    KILLED = "killed"
    TERMINATED = "terminated"
    ABORTED = "aborted"
    CRASHED = "crashed"
    TESTS_ALSO_FAILED = "tests_also_failed"
    TESTS_CUT_SHORT = "tests_cut_short"
    RERUN_FLIPPED = "rerun_flipped"
    LOG_TRUNCATED = "log_truncated"
    SKIPPED = "skipped"
    NEUTRAL = "neutral"
    STARTUP_FAILURE = "startup_failure"
    ACTION_REQUIRED = "action_required"
    STALE = "stale"
    IN_PROGRESS = "in_progress"
    TOTALS_DIFFER = "totals_differ"
    ONLY_KNOWN = "only_known"
    CANARY_MISSING = "canary_missing"


class Comparison(StrEnum):
    NOT_COMPARABLE = "not_comparable"
    NEW_FINDINGS = "new_findings"
    SUPPRESSED_TOTAL_GREW = "suppressed_total_grew"
    FIXED = "fixed"
    PRE_EXISTING = "pre_existing"
    NO_FINDINGS = "no_findings"


class Change(StrEnum):
    """What a comparison says of one signature."""

    INTRODUCED = "introduced"
    OTHER_BYTES = "pre_existing_other_bytes"
    FIXED = "fixed"
    UNKNOWN = "unknown"
    IDENTICAL = "pre_existing_identical"


class GateResult(StrEnum):
    PASS = "pass"  # noqa: S105 - a word, no secret
    FAIL = "fail"
    INVALID = "invalid"


class GateReason(StrEnum):
    """What a red-first gate says of the run before a fix and the run after it."""

    PROVEN = "proven"
    BEFORE_NO_FINDING = "before_no_finding"
    BEFORE_NO_VERDICT = "before_no_verdict"
    BEFORE_OTHER_REASON = "before_other_reason"
    AFTER_NO_VERDICT = "after_no_verdict"
    ZERO_TESTS = "zero_tests"
    LEAK_DETECTION_OFF = "leak_detection_off"
    NOT_INSTRUMENTED = "not_instrumented"
    SUPPRESSED_NOT_FIXED = "suppressed_not_fixed"
    FINDING_REMAINS = "finding_remains"
    NEW_FINDING = "new_finding"
    OPTIONS_DIFFER = "options_differ"
    LANE_DIFFERS = "lane_differs"


class Growth(StrEnum):
    """Whether a leak grows with the work that a run does."""

    GROWS = "grows"
    CONSTANT = "constant"
    NOT_MEASURED = "not_measured"


class MarkKind(StrEnum):
    """What a line of a log says about the lane itself, apart from reports and test summaries."""

    CANCELLED = "cancelled"  # the runner's own word that the operation was cancelled
    TIMED_OUT = "timed_out"  # the runner's own time limit
    KILLED = "killed"  # shutdown signal, OOM killer, "Killed"
    RUNNER_LOST = "runner_lost"  # lost communication, runner never came back
    SETUP_FAILED = "setup_failed"  # checkout, container pull, tool set-up broke
    EXIT_CODE = "exit_code"  # the CI prints the step's exit code; `value` holds it
    MASKING = "masking"  # `|| true`, `| tee` without pipefail, continue-on-error
    BUILD_FAILED = "build_failed"  # configure, compile or link error
    TEST_CRASHED = "test_crashed"  # a test process died by its own signal
    TEST_TEXT = "test_text"  # a line that only a running test prints (started, passed, failed)
    DETECTOR_FAILED = "detector_failed"  # the sanitizer itself gave up
    SETUP_ERROR = "setup_error"  # the error a missing sanitizer option causes (CUDA allocation errors)
    LOST_REPORT = "lost_report"  # "nested bug": a finding whose report is lost
    NOT_INSTRUMENTED = "not_instrumented"  # symbol count 0, compile lines without -fsanitize=
    STEP_FAILED = "step_failed"  # make or ninja stopped, and what failed may be a test or a build
    DETECTOR_RAN = "detector_ran"  # a tool that instruments at run time was called or said who it is; `value` names it
    HALTS = "halts"  # compiled so that the first undefined behaviour ends the process
    OUTPUT_SHOWN = "output_shown"  # the runner named in `value` shows what passing tests print
    BOUND = "bound"  # a bound on line length, reports or bytes bit here; `value` says which


class Detector(StrEnum):
    """What a lane may be expected to detect."""

    ADDRESS = "address"
    LEAK = "leak"
    UNDEFINED = "undefined"
    THREAD = "thread"
    MEMORY = "memory"
    VALGRIND = "valgrind"
    CUDA = "cuda"


class Role(StrEnum):
    """What a stack of a report shows."""

    ACCESS = "access"
    PREVIOUS_ACCESS = "previous_access"
    FREED = "freed"
    ALLOCATED = "allocated"
    THREAD_CREATED = "thread_created"
    STACK_VARIABLE = "stack_variable"
    REGISTERED = "registered"
    OTHER = "other"


class LogState(StrEnum):
    RECEIVED = "received"
    READING = "reading"
    DIGESTED = "digested"
    REFUSED = "refused"
    FAILED = "failed"


class ResignState(StrEnum):
    """How far history is signed again: planned first, then moved log by log; the same way back for an undo."""

    WAITING = "waiting"
    MOVING = "moving"
    DONE = "done"
    UNDOING = "undoing"
    UNDONE = "undone"
    FAILED = "failed"


class SignatureState(StrEnum):
    UNTRIAGED = "untriaged"
    CONFIRMED = "confirmed"
    INTENDED = "intended"
    THIRD_PARTY = "third_party"
    CANNOT_TELL = "cannot_tell"
    DUPLICATE = "duplicate"


class HookRefusal(StrEnum):
    """Why a webhook was not taken; `ignored` is a good one about something that the ledger does not keep."""

    UNSIGNED = "unsigned"
    FORGED = "forged"
    NO_SECRET = "no_secret"  # noqa: S105 - the word for a reason
    TOO_LARGE = "too_large"
    NO_LENGTH = "no_length"
    MALFORMED = "malformed"
    IGNORED = "ignored"


class NoticeKind(StrEnum):
    """What people can be told of; `test` is sent by hand."""

    NEW_SIGNATURE = "new_signature"
    VERDICT_FLIPPED = "verdict_flipped"
    LANE_BLIND = "lane_blind"
    LOG_FAILED = "log_failed"
    SIGNATURE_REGRESSED = "signature_regressed"
    SUPPRESSION_ENDS = "suppression_ends"
    SUPPRESSION_OVER_CAP = "suppression_over_cap"
    TEST = "test"


class Channel(StrEnum):
    EMAIL = "email"
    WEBHOOK = "webhook"


class SendState(StrEnum):
    WAITING = "waiting"
    SENT = "sent"
    FAILED = "failed"


class StatusProvider(StrEnum):
    """Where commit statuses are posted to."""

    GITHUB = "github"
    GITLAB = "gitlab"


class ClaimSource(StrEnum):
    """Who made a claim, strongest first: per field the stronger source wins."""

    LANE_WRAPPER = "lane_wrapper"
    UPLOAD = "upload"
    JOB_EVENT = "job_event"
    RUN_EVENT = "run_event"
    BACK_FILL = "back_fill"


class MemberRole(StrEnum):
    VIEWER = "viewer"
    TRIAGER = "triager"
    APPROVER = "approver"
    ADMIN = "admin"


# The family of a kind enters a signature's identity; a kind that stands in no row is its own family.
FAMILIES: dict[str, str] = {
    "direct-leak": "leak",
    "indirect-leak": "leak",
    "valgrind-definitely-lost": "leak",
    "valgrind-indirectly-lost": "leak",
    "valgrind-possibly-lost": "leak",
    "valgrind-still-reachable": "leak",
    "heap-use-after-free": "use-after-free",
    "heap-buffer-overflow": "overflow",
    "stack-buffer-overflow": "overflow",
    "stack-buffer-underflow": "overflow",
    "global-buffer-overflow": "overflow",
    "container-overflow": "overflow",
    "dynamic-stack-buffer-overflow": "overflow",
    "stack-use-after-return": "stack-lifetime",
    "stack-use-after-scope": "stack-lifetime",
    "double-free": "free",
    "bad-free": "free",
    "alloc-dealloc-mismatch": "mismatch",
    "new-delete-type-mismatch": "mismatch",
    "use-of-uninitialized-value": "uninitialized",
    "valgrind-invalid-read": "overflow-or-free",
    "valgrind-invalid-write": "overflow-or-free",
    "valgrind-invalid-free": "overflow-or-free",
    "valgrind-mismatched-free": "mismatch",
    "valgrind-uninitialised-condition": "uninitialized",
    "valgrind-uninitialised-value": "uninitialized",
}


def family_of(kind: str) -> str:
    """The family of a kind: `undefined-behavior:null` belongs to `null`, an unlisted kind to itself."""
    return FAMILIES.get(kind) or kind.removeprefix("undefined-behavior:")
