"""Names out of logs as one line of visible text, for places that show text as it is: mails, badges, Markdown."""

import unicodedata

# Line breaks, control characters, marks that turn text around, and what is no character at all.
HIDDEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})


def line(text: object, length: int = 200) -> str:
    """At most `length` characters; what was cut is marked."""
    shown = "".join(" " if unicodedata.category(sign) in HIDDEN else sign for sign in str(text)[: 4 * length])
    shown = " ".join(shown.split())
    return shown if len(shown) <= length else shown[: length - 1] + "…"
