"""The badge of a comparison, for the page of a pull request: what was introduced, or that nothing is known."""

from typing import Any

from dashboard.exports.badge import COLOURS, draw
from leaks.words import Comparison, Verdict

# The colour of a verdict, and a shape and words beside it. What is not known is hatched, and never green.
LOOKS: dict[str, tuple[Verdict, str]] = {
    Comparison.NEW_FINDINGS: (Verdict.FINDINGS, "● introduces {introduced}"),
    Comparison.SUPPRESSED_TOTAL_GREW: (Verdict.BLINDED, "◌ suppresses more than its base"),
    Comparison.NOT_COMPARABLE: (Verdict.NO_VERDICT, "– not known"),
    Comparison.FIXED: (Verdict.CLEAN, "✓ introduces nothing, {fixed} fixed"),
    Comparison.PRE_EXISTING: (Verdict.CLEAN, "✓ introduces nothing, {known} before"),
    Comparison.NO_FINDINGS: (Verdict.CLEAN, "✓ introduces nothing"),
}


def message_of(word: str, introduced: int, fixed: int, known: int) -> str:
    """An empty word is a comparison that could not be made."""
    _, said = LOOKS[word or Comparison.NOT_COMPARABLE]
    return said.format(introduced=introduced, fixed=fixed, known=known)


def svg(label: str, word: str, message: str, where: str) -> str:
    return draw(label, message, LOOKS[word or Comparison.NOT_COMPARABLE][0], where)


def document(label: str, word: str, message: str, page: str) -> dict[str, Any]:
    """The JSON twin: the fields of a shields.io endpoint, the word and the page."""
    shown = word or Comparison.NOT_COMPARABLE.value
    colour = COLOURS[LOOKS[shown][0]].removeprefix("#")
    return {
        "schemaVersion": 1,
        "label": label,
        "message": message,
        "color": colour,
        "isError": LOOKS[shown][0] is not Verdict.CLEAN,
        "result": shown,
        "page": page,
    }
