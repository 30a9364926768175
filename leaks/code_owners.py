"""The CODEOWNERS text of a project: changed by people, and worked through all signatures afterwards."""

from typing import NamedTuple

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction

from leaks import journal, life_marks, marks
from leaks.errors import BadSubmission
from leaks.models import Project
from leaks.ownership import LONGEST_TEXT, MOST_LINES, CodeOwnersFile, Fault


class Set(NamedTuple):
    """`faults`: lines that say nothing, which are passed over."""

    changed: bool
    faults: tuple[Fault, ...]


@transaction.atomic
def set_code_owners(project: Project, person: AbstractBaseUser, text: str, reason: str) -> Set:
    """Take the text of the file as it is. Who owns a signature follows from it; nobody decides that by hand."""
    wanted = _checked(text)
    read = CodeOwnersFile(wanted)
    locked = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if locked.codeowners == wanted:
        return Set(changed=False, faults=tuple(read.faults))
    details = {"lines": {"before": _lines(locked.codeowners), "after": _lines(wanted)}}
    locked.codeowners = wanted
    locked.save(update_fields=["codeowners"])
    journal.record(locked, person, "project", locked.slug, "code_owners_changed", reason=reason, details=details)
    marks.mark(life_marks.everything(locked))
    return Set(changed=True, faults=tuple(read.faults))


def _checked(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise BadSubmission(f"At most {LONGEST_TEXT:,} characters.", field="codeowners")
    if text.count("\n") >= MOST_LINES:
        raise BadSubmission(f"At most {MOST_LINES:,} lines.", field="codeowners")
    if "\0" in text:
        raise BadSubmission("A CODEOWNERS file is text.", field="codeowners")
    return text.replace("\r\n", "\n").strip("\n")


def _lines(text: str) -> int:
    return len(text.splitlines())
