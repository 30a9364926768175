"""Why somebody decides, on what evidence, and what was not measured: checked before anything is changed."""

from collections.abc import Sequence
from dataclasses import dataclass

from leaks.cited import cited
from leaks.errors import BadSubmission
from leaks.models import Project

LONGEST_TEXT = 10_000


@dataclass(frozen=True, slots=True)
class Grounds:
    """Why, on what evidence, and what was not measured: checked."""

    reason: str
    evidence: tuple[str, ...] = ()
    not_measured: str = ""


def grounds_of(
    project: Project, reason: str, evidence: Sequence[str], not_measured: str, *, reasoned: bool = True
) -> Grounds:
    """Raises BadSubmission by the field that is at fault."""
    why = text_of("reason", reason)
    if reasoned and not why:
        raise BadSubmission("Say why: a decision without a reason helps nobody later.", field="reason")
    return Grounds(why, tuple(cited(project, evidence)), text_of("not_measured", not_measured))


def text_of(field: str, text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise BadSubmission(f"Longer than {LONGEST_TEXT:,} characters.", field=field)
    return text.strip()
