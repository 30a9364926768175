"""The words of the ledger itself: what became of a signature, and of a suppression that somebody proposed."""

from enum import StrEnum


class LifeCycle(StrEnum):
    """What the runs say of a signature, computed and never decided. `unseen`: every sighting of it was withdrawn or taken elsewhere."""

    NEW = "new"
    ONGOING = "ongoing"
    FIXED = "fixed"
    REGRESSED = "regressed"
    UNSEEN = "unseen"


class KeyRuleAction(StrEnum):
    """What a rule does with the keys whose text it matches, in the past and in the future."""

    MERGE = "merge"
    SPLIT = "split"


class SuppressionTool(StrEnum):
    """The runtime whose file a rule goes into."""

    LSAN = "lsan"
    ASAN = "asan"
    TSAN = "tsan"
    UBSAN = "ubsan"
    VALGRIND = "valgrind"


class SuppressionState(StrEnum):
    PROPOSED = "proposed"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    REVOKED = "revoked"
