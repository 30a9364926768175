"""The types that a suppression rule may have, by runtime, and which detector and which kinds of report each is about.

Sources: lsan_common.cpp, tsan_suppressions.cpp, asan_suppressions.cpp, ubsan_checks.inc of compiler-rt. MemorySanitizer and
HWAddressSanitizer take no suppression files.
"""

from enum import StrEnum

from leaks.words import Detector


class Suppressor(StrEnum):
    """A runtime that reads a suppression file."""

    LSAN = "lsan"
    ASAN = "asan"
    TSAN = "tsan"
    UBSAN = "ubsan"
    VALGRIND = "valgrind"


# In the order in which the runtime tries and names them.
LSAN_TYPES = ("leak",)
TSAN_TYPES = ("race", "race_top", "mutex", "thread", "signal", "called_from_lib", "deadlock")
ASAN_TYPES = (
    "interceptor_name",
    "interceptor_via_fun",
    "interceptor_via_lib",
    "odr_violation",
    "alloc_dealloc_mismatch",
)
# The flag that names a check in -fsanitize=; `vptr_check` is about a type and not a place.
UBSAN_TYPES = (
    "undefined",
    "null",
    "nullability-assign",
    "pointer-overflow",
    "alignment",
    "object-size",
    "signed-integer-overflow",
    "unsigned-integer-overflow",
    "integer-divide-by-zero",
    "float-divide-by-zero",
    "fixed-point-divide-by-zero",
    "invalid-builtin-use",
    "builtin",
    "invalid-objc-cast",
    "objc-cast",
    "implicit-unsigned-integer-truncation",
    "implicit-signed-integer-truncation",
    "implicit-integer-sign-change",
    "implicit-signed-integer-truncation,implicit-integer-sign-change",
    "implicit-bitfield-conversion",
    "shift-base",
    "shift-exponent",
    "bounds",
    "local-bounds",
    "unreachable",
    "return",
    "vla-bound",
    "float-cast-overflow",
    "bool",
    "enum",
    "function",
    "returns-nonnull-attribute",
    "nullability-return",
    "nonnull-attribute",
    "nullability-arg",
    "vptr",
    "cfi",
    "vptr_check",
)
TYPES: dict[Suppressor, tuple[str, ...]] = {
    Suppressor.LSAN: LSAN_TYPES,
    Suppressor.ASAN: ASAN_TYPES,
    Suppressor.TSAN: TSAN_TYPES,
    Suppressor.UBSAN: UBSAN_TYPES,
    Suppressor.VALGRIND: ("valgrind",),
}
SUPPRESSOR_OF_TYPE = {kind: suppressor for suppressor, kinds in TYPES.items() for kind in kinds}
DETECTORS = {
    Suppressor.LSAN: Detector.LEAK,
    Suppressor.ASAN: Detector.ADDRESS,
    Suppressor.TSAN: Detector.THREAD,
    Suppressor.UBSAN: Detector.UNDEFINED,
    Suppressor.VALGRIND: Detector.VALGRIND,
}
DETECTOR_OF_KIND = {kind: DETECTORS[suppressor] for kind, suppressor in SUPPRESSOR_OF_TYPE.items()}

# --- Which type is asked for a report --------------------------------------------------------------------------------

LEAK_KINDS = frozenset({"direct-leak", "indirect-leak"})
INDIRECT_LEAK = "indirect-leak"
RACE_KINDS = frozenset(
    {"data-race", "data-race-on-vptr", "heap-use-after-free", "race-on-external-object", "swift-access-race"}
)
TSAN_TYPE_OF_KIND = {
    **dict.fromkeys(RACE_KINDS, "race"),
    "lock-order-inversion": "deadlock",
    "thread-leak": "thread",
    "destroy-of-locked-mutex": "mutex",
    "double-lock": "mutex",
    "use-of-an-invalid-mutex": "mutex",
    "unlock-of-unlocked-mutex": "mutex",
    "read-lock-of-a-write-locked-mutex": "mutex",
    "read-unlock-of-a-write-locked-mutex": "mutex",
    "mutex-held-in-the-wrong-context": "mutex",
    "signal-unsafe-call": "signal",
    "signal-spoils-errno": "signal",
}
UBSAN_KIND = "undefined-behavior:"
# A kind that several checks share: which of them it was, its sentence alone tells, and not always.
UBSAN_SHARED = {
    "implicit-conversion": tuple(kind for kind in UBSAN_TYPES if kind.startswith("implicit-")),
    "builtin": ("builtin", "invalid-builtin-use"),
    "nonnull-attribute": ("nonnull-attribute", "nullability-arg"),
    "returns-nonnull-attribute": ("returns-nonnull-attribute", "nullability-return"),
    "null": ("null", "nullability-assign"),
    "bounds": ("bounds", "local-bounds"),
    "unrecognised": UBSAN_TYPES,
}


def ubsan_types(kind: str) -> tuple[str, ...]:
    """The types that a report of this kind may be asked for; one is certain."""
    check = kind.removeprefix(UBSAN_KIND)
    return UBSAN_SHARED.get(check, (check,))
