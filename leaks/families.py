"""The family of a report: what enters its identity in place of the kind, so that two words for one defect stay one bug.

Upstream each detector has its own words. What is known of the kind alone stands in `leaks.words`; here is what the report adds.
"""

from leaks.evidence import Report
from leaks.words import Role, family_of

UNINITIALIZED = "uninitialized"
EITHER = (
    "overflow-or-free"  # Valgrind's kinds do not tell a block that is too small from one that is gone; its stacks do
)

UNDEFINED = "undefined-behavior:"
# UBSan's word for a check (report_error_type=1) and the option that switches it on: `ubsan_checks.inc` of compiler-rt.
CHECKS: dict[str, str] = {
    "null-pointer-use": "null",
    "nullptr-with-offset": "pointer-overflow",
    "nullptr-with-nonzero-offset": "pointer-overflow",
    "nullptr-after-nonzero-offset": "pointer-overflow",
    "misaligned-pointer-use": "alignment",
    "alignment-assumption": "alignment",
    "insufficient-object-size": "object-size",
    "invalid-builtin-use": "builtin",
    "invalid-shift-base": "shift-base",
    "invalid-shift-exponent": "shift-exponent",
    "out-of-bounds-index": "bounds",
    "unreachable-call": "unreachable",
    "missing-return": "return",
    "non-positive-vla-index": "vla-bound",
    "invalid-bool-load": "bool",
    "invalid-enum-load": "enum",
    "function-type-mismatch": "function",
    "invalid-null-return": "returns-nonnull-attribute",
    "invalid-null-argument": "nonnull-attribute",
    "dynamic-type-mismatch": "vptr",
    "cfi-bad-type": "cfi",
}


# Checks that stop what AddressSanitizer reports an instant later, in one function and one log.
SPATIAL = {
    "object-size": "overflow",
    "bounds": "overflow",
    "local-bounds": "overflow",
    "local-out-of-bounds": "overflow",
}


def family(report: Report) -> str:
    found = family_of(report.kind)
    if report.kind.startswith(UNDEFINED):
        found = CHECKS.get(found, found)
        return SPATIAL.get(found, found)
    if found == "valgrind-syscall-param":
        found = UNINITIALIZED if "uninitialised" in report.detail else EITHER
    return _by_its_stacks(report) if found == EITHER else found


def _by_its_stacks(report: Report) -> str:
    """What the block was that Valgrind names: freed before, or in use and too small; of a wild address it names none."""
    if report.kind.endswith("invalid-free"):
        return "free"
    roles = {stack.role for stack in report.stacks}
    if Role.FREED in roles:
        return "use-after-free"
    return "overflow" if Role.ALLOCATED in roles else EITHER
