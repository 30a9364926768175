"""The CODEOWNERS text of a project."""

from typing import Any, cast

from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest
from ninja import Field, Router, Schema

from dashboard.access import project_for, require
from dashboard.api.auth import People, Reads
from dashboard.api.problems import Problem
from leaks.code_owners import set_code_owners
from leaks.ownership import LONGEST_TEXT, CodeOwnersFile
from leaks.words import MemberRole
from workers.send import hint_marks

router = Router(tags=["projects"])


class FaultyLine(Schema):
    line: int
    text: str
    why: str


class CodeOwnersText(Schema):
    """`faults`: lines that say nothing, and are passed over as GitHub passes over them."""

    codeowners: str
    faults: list[FaultyLine]


class NewOwners(Schema):
    codeowners: str = Field(max_length=LONGEST_TEXT, description="the text of the file")
    reason: str = Field("", max_length=500, description="why; stands in the journal")


ANSWERS: dict[Any, Any] = {200: CodeOwnersText, frozenset({400, 401, 403, 404, 409, 422, 503}): Problem}


@router.get("/projects/{slug}/codeowners", response=ANSWERS, auth=Reads())
def show_code_owners(request: HttpRequest, slug: str) -> Any:
    """Who owns which files."""
    text = project_for(request, slug).codeowners
    return {"codeowners": text, "faults": CodeOwnersFile(text).faults}


@router.put("/projects/{slug}/codeowners", response=ANSWERS, auth=People())
def put_code_owners(request: HttpRequest, slug: str, body: NewOwners) -> Any:
    """Set the text; the owners of all signatures are worked out anew."""
    project = project_for(request, slug)
    require(request, project, MemberRole.ADMIN)
    done = set_code_owners(project, cast("AbstractBaseUser", request.user), body.codeowners, body.reason)
    hint_marks()
    project.refresh_from_db(fields=["codeowners"])
    return {"codeowners": project.codeowners, "faults": done.faults}
