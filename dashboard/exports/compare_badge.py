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
# In the place of a green one: no new signature, and one that was there before leaks more.
GREW = (Verdict.UNEXPLAINED, "▲ no new signature, {grew} grew")


def look_of(word: str, grew: int = 0) -> tuple[Verdict, str]:
    """An empty word is a comparison that could not be made."""
    look = LOOKS[word or Comparison.NOT_COMPARABLE]
    return GREW if grew and look[0] is Verdict.CLEAN else look


def message_of(word: str, introduced: int, fixed: int, known: int, grew: int = 0) -> str:
    return look_of(word, grew)[1].format(introduced=introduced, fixed=fixed, known=known, grew=f"{grew:,}")


def svg(label: str, word: str, message: str, where: str, grew: int = 0) -> str:
    return draw(label, message, look_of(word, grew)[0], where)


def document(label: str, word: str, message: str, page: str, grew: int = 0) -> dict[str, Any]:
    """The JSON twin: the fields of a shields.io endpoint, the word and the page."""
    shown = word or Comparison.NOT_COMPARABLE.value
    verdict, _ = look_of(word, grew)
    return {
        "schemaVersion": 1,
        "label": label,
        "message": message,
        "color": COLOURS[verdict].removeprefix("#"),
        "isError": verdict is not Verdict.CLEAN,
        "result": shown,
        "page": page,
    }
