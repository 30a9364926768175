"""A badge: what one lane says of the newest commit of the default branch. Rows in, SVG or JSON out.

It never repeats an older green: where the newest commit has no verdict the badge says so, why, and since when nothing is proved.
"""

from datetime import datetime
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from dashboard import formats
from dashboard.exports.text_widths import text_width
from leaks.rows.lane_now import LaneNow
from leaks.visible import line
from leaks.words import Verdict

LABEL_LENGTH = 60
MESSAGE_LENGTH = 90
PADDING = 6
HEIGHT = 20
LABEL_COLOUR = "#3c4046"
# Dark enough for white letters, and the same as on the pages; each verdict has a shape and a word besides.
COLOURS = {
    Verdict.CLEAN: "#176b40",
    Verdict.FINDINGS: "#b3221b",
    Verdict.TEST_FAILURE: "#99440a",
    Verdict.BUILD_FAILURE: "#6b3fa6",
    Verdict.UNEXPLAINED: "#775700",
    Verdict.BLINDED: "#9c1560",
    Verdict.NO_VERDICT: "#62666e",
}
HATCHED = frozenset({Verdict.NO_VERDICT, Verdict.BLINDED})
STRIPE = "#4c5057"
UNKNOWN = "no such badge"

HATCH = (
    '<defs><pattern id="{name}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="6" height="6" fill="{colour}"/><rect width="2" height="6" fill="{stripe}"/></pattern></defs>'
)
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" viewBox="0 0 {width} 20" role="img" aria-label={title}>'
    "<title>{title_text}</title>{defs}"
    '<clipPath id="c{width}"><rect width="{width}" height="20" rx="3"/></clipPath>'
    '<g clip-path="url(#c{width})"><rect width="{left}" height="20" fill="{label_colour}"/>'
    '<rect x="{left}" width="{right}" height="20" fill="{fill}"/></g>'
    '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
    '<text x="{label_x}" y="14" textLength="{label_length}">{label}</text>'
    '<text x="{message_x}" y="14" textLength="{message_length}">{message}</text></g></svg>'
)


def verdict_of(now: LaneNow) -> Verdict:
    return Verdict(now.verdict) if now.verdict else Verdict.NO_VERDICT


def message_of(now: LaneNow, moment: datetime) -> str:
    """ "no verdict: cancelled before tests, blind since 3 d"."""
    verdict = verdict_of(now)
    said = formats.word(verdict)
    if verdict is Verdict.NO_VERDICT:
        said += f": {_why(now)}"
    if now.blind_since is not None:
        said += f", blind since {formats.length_of_time(moment - now.blind_since)}"
    return f"{formats.MARKS[verdict]} {said}"


def _why(now: LaneNow) -> str:
    if now.reason:
        return formats.word(now.reason)
    return "not run on the newest commit" if now.sha else "no commit is known"


def svg(now: LaneNow, moment: datetime) -> str:
    where = f" ({now.sha[:9]})" if now.sha else ""
    return draw(now.lane, message_of(now, moment), verdict_of(now), where)


def unknown() -> str:
    """The same for what is not there and for what is not theirs to see."""
    return draw("leakledger", UNKNOWN, Verdict.NO_VERDICT)


def draw(label: str, message: str, verdict: Verdict, where: str = "") -> str:
    """The whole name is in the title, where the badge has room for its beginning only."""
    short, said = line(label, LABEL_LENGTH), line(message, MESSAGE_LENGTH)
    title = line(f"{label}: {message}{where}", 500)
    left, right = text_width(short) + 2 * PADDING, text_width(said) + 2 * PADDING
    hatched, colour = verdict in HATCHED, COLOURS[verdict]
    name = f"h{colour[1:]}"  # several badges may be put into one page
    return SVG.format(
        width=left + right,
        title=quoteattr(title),
        title_text=escape(title),
        defs=HATCH.format(name=name, colour=colour, stripe=STRIPE) if hatched else "",
        left=left,
        right=right,
        label_colour=LABEL_COLOUR,
        fill=f"url(#{name})" if hatched else colour,
        label_x=PADDING,
        label_length=left - 2 * PADDING,
        label=escape(short),
        message_x=left + PADDING,
        message_length=right - 2 * PADDING,
        message=escape(said),
    )


def document(now: LaneNow, moment: datetime, page: str) -> dict[str, Any]:
    """The JSON twin: the fields of a shields.io endpoint, and what a script wants to know."""
    verdict = verdict_of(now)
    return {
        "schemaVersion": 1,
        "label": now.lane,
        "message": message_of(now, moment),
        "color": COLOURS[verdict].removeprefix("#"),
        "isError": verdict is not Verdict.CLEAN,
        "verdict": verdict.value,
        "reason": now.reason,
        "commit": now.sha,
        "at": now.at,
        "blind_since": now.blind_since,
        "blind_commits": now.blind_commits,
        "last_proved": now.last_proved,
        "page": page,
    }
