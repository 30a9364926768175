"""What people cite as evidence: an outcome, a line of a log, a signature, or an address elsewhere. Checked before it is kept for good."""

import re
from collections.abc import Callable, Iterable, Sequence

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator

from leaks.errors import BadSubmission
from leaks.models import LaneOutcome, Log, Project, Signature

MOST = 20
LONGEST = 500
LINE = re.compile(r"(?P<log>[^\s:]{1,64}):(?P<line>[1-9][0-9]{0,8})")
is_address = URLValidator(schemes=["http", "https"])


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
