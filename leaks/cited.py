"""What people cite as evidence: an outcome, a line of a log, a signature, or an address elsewhere. Checked before it is kept for good."""

import re
from collections.abc import Callable, Iterable, Sequence
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

from leaks.errors import BadSubmission
from leaks.models import LaneOutcome, Log, Project, Signature

MOST = 20
LONGEST = 500
LINE = re.compile(r"(?P<log>[^\s:]{1,64}):(?P<line>[1-9][0-9]{0,8})")
_with_dots = URLValidator(schemes=["http", "https"])
# Within a company a host has often one word alone, and a tracker stands behind it.
ONE_WORD_HOST = re.compile(
    r"(?i)(?P<scheme>https?://)(?P<host>[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?P<rest>(?::[0-9]{1,5})?(?:[/?#].*)?)"
)


def is_address(text: str) -> None:
    """Raises ValidationError. An address with a name or a password in it would be shown to all who can read."""
    one_word = ONE_WORD_HOST.fullmatch(text)
    _with_dots(f"{one_word['scheme']}{one_word['host']}.example{one_word['rest']}" if one_word else text)
    parts = urlsplit(text)
    if parts.username is not None or parts.password is not None:
        raise ValidationError("An address with a name or a password in it is shown to everybody: leave those out.")


def cited(project: Project, texts: Iterable[str]) -> list[str]:
    """The texts without blanks and repeats. Each must be something that a reader can open."""
    wanted = list(dict.fromkeys(text.strip() for text in texts if text.strip()))
    if len(wanted) > MOST:
        raise BadSubmission(f"A decision cites {MOST} pieces of evidence at most.", field="evidence")
    inside = [text for text in wanted if not _is_link(text)]
    known = _known(project, inside) if inside else set()
    for text in inside:
        if text not in known:
            raise BadSubmission(
                f"“{text[:80]}” is no outcome, log line (LOG:LINE), signature or web address that can be opened here.",
                field="evidence",
            )
    return wanted


def _is_link(text: str) -> bool:
    if not text.lower().startswith(("http://", "https://")) or len(text) > LONGEST:
        return False
    try:
        is_address(text)
    except ValidationError:
        return False
    return True


def _known(project: Project, texts: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for look in LOOKS:
        left = [text for text in texts if text not in found]
        found |= look(project, left) if left else set()
    return found


def _outcomes(project: Project, texts: Sequence[str]) -> set[str]:
    rows = LaneOutcome.objects.filter(lane__project=project, public_id__in=texts)
    return set(rows.values_list("public_id", flat=True))


def _lines(project: Project, texts: Sequence[str]) -> set[str]:
    """A log by itself, or a line that it has: the count is known once it was read."""
    parsed = {text: LINE.fullmatch(text) for text in texts}
    ids = {hit["log"] if hit else text for text, hit in parsed.items()}
    rows = Log.objects.filter(part__outcome__lane__project=project, public_id__in=ids)
    lengths = {public_id: facts.get("lines") for public_id, facts in rows.values_list("public_id", "facts")}
    return {
        text
        for text, hit in parsed.items()
        if (hit["log"] if hit else text) in lengths
        and (hit is None or int(hit["line"]) <= (lengths[hit["log"]] or int(hit["line"])))
    }


def _signatures(project: Project, texts: Sequence[str]) -> set[str]:
    rows = Signature.objects.filter(project=project, public_id__in=texts)
    return set(rows.values_list("public_id", flat=True))


LOOKS: tuple[Callable[[Project, Sequence[str]], set[str]], ...] = (_outcomes, _lines, _signatures)
