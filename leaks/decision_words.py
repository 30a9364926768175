"""What a decision about a signature says it did. A state is said by the state's own word (`SignatureState`)."""

from enum import StrEnum

from leaks.words import SignatureState


class Deed(StrEnum):
    """`merged` and `split` stand in the journal of the signature that gives keys away; `took_in` and `split_off` in that of the one
    that gets them. A rule is `rule_made` where it leads, and `moved_by_rule` where it takes keys from.
    """

    OWNER = "owner_changed"
    ISSUE = "issue_changed"
    MERGED = "merged"
    TOOK_IN = "took_in"
    SPLIT = "split"
    SPLIT_OFF = "split_off"
    RULE_MADE = "rule_made"
    MOVED_BY_RULE = "moved_by_rule"
    RULE_ENDED = "rule_ended"
    UNDONE = "undone"


class Aspect(StrEnum):
    """What of a signature a decision changes: two decisions about one aspect hang on each other."""

    STATE = "state"
    OWNER = "owner"
    ISSUE = "issue"
    KEYS = "keys"
    RULE = "rule"


KEY_DEEDS = (Deed.MERGED, Deed.TOOK_IN, Deed.SPLIT, Deed.SPLIT_OFF, Deed.RULE_MADE, Deed.MOVED_BY_RULE)

ASPECTS: dict[str, Aspect] = {
    **{state.value: Aspect.STATE for state in SignatureState},
    Deed.OWNER: Aspect.OWNER,
    Deed.ISSUE: Aspect.ISSUE,
    **{deed.value: Aspect.KEYS for deed in KEY_DEEDS},
    Deed.RULE_ENDED: Aspect.RULE,
}
