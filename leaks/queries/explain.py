"""Sentences for the words on an outcome: its rule and its flags."""

from collections.abc import Iterable

from leaks import flags, verdict
from leaks.rows.run_pages import FlagRow

# Rules outside of the table: a log that nobody has read (yet) keeps an outcome open.
OPEN_RULES = {
    "log_waits": "A log of the run is still to be read.",
    "log_unreadable": "A log of the run could not be read, and a report may stand in it.",
}
MEANINGS = {str(row["flag"]): str(row["meaning"]) for row in flags.describe()} | flags.FOLDED_MEANINGS
SENTENCES = verdict.SENTENCES | OPEN_RULES


def sentence_of(rule: str) -> str:
    """What the rule that fired tells a person; a rule of another version is at least named."""
    return SENTENCES.get(rule) or f"Decided by the rule “{rule}”."


def flag_rows(words: Iterable[str]) -> tuple[FlagRow, ...]:
    """Each flag once, with what it means."""
    return tuple(FlagRow(word, MEANINGS.get(word, "")) for word in dict.fromkeys(words))
