"""Own roots and plumbing as versions, proposals for them, and history signed again: what the settings page shows and does."""

from typing import Any, cast

from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest
from ninja import Field, Router, Schema, Status

from dashboard.access import project_for, require
from dashboard.api.auth import People, Reads
from dashboard.api.problems import Problem
from dashboard.pages.settings_changes import accept_plumbing
from leaks.errors import BadSubmission
from leaks.ingest import resign
from leaks.models import Project
from leaks.queries.recipes import last_resign, recipe_page
from leaks.resign_summary import preview_of_plumbing
from leaks.rows.recipe_page import Preview, RecipePage, ResignLine
from leaks.words import MemberRole
from workers.send import hint_resign

router = Router(tags=["plumbing"])
MOST_FUNCTIONS = 200


class Functions(Schema):
    functions: list[str] = Field(max_length=MOST_FUNCTIONS, description="names as they were proposed")


class Acceptance(Functions):
    reason: str = Field(max_length=500, description="why; stands in the journal")
    version: int = Field(description="the version that the proposals were made for")


class SigningReason(Schema):
    reason: str = Field(max_length=500, description="why; stands in the journal")


def _answers(shape: Any, status: int = 200) -> dict[Any, Any]:
    return {status: shape, frozenset({400, 401, 403, 404, 409, 411, 413, 415, 422, 503}): Problem}


@router.get("/projects/{slug}/plumbing", response=_answers(RecipePage), auth=Reads())
def show_plumbing(request: HttpRequest, slug: str) -> Any:
    """The version in force, what history is signed with, the last re-sign, and functions that are proposed as plumbing."""
    return recipe_page(project_for(request, slug))


@router.post("/projects/{slug}/plumbing/preview", response=_answers(Preview), auth=People())
def preview_plumbing(request: HttpRequest, slug: str, body: Functions) -> Any:
    """What these functions would change as plumbing: signatures that split or join. Nothing is written."""
    project = _project(request, slug)
    if not body.functions:
        raise BadSubmission("Choose at least one function.", field="functions")
    return preview_of_plumbing(project, body.functions)


@router.post("/projects/{slug}/plumbing", response=_answers(ResignLine, 202), auth=People())
def accept(request: HttpRequest, slug: str, body: Acceptance) -> Any:
    """Accept functions as plumbing: a new version, and history is signed again with it by a worker."""
    project = _project(request, slug)
    begun = accept_plumbing(project, _person(request), body.functions, reason=body.reason, expected=body.version)
    return _begun(project, begun.pk)


@router.post("/projects/{slug}/resign", response=_answers(ResignLine, 202), auth=People())
def sign_again(request: HttpRequest, slug: str, body: SigningReason) -> Any:
    """Sign all of history again with the version in force."""
    project = _project(request, slug)
    return _begun(project, resign.ask(project, _person(request), body.reason).pk)


@router.post("/projects/{slug}/resign/undo", response=_answers(ResignLine, 202), auth=People())
def undo(request: HttpRequest, slug: str, body: SigningReason) -> Any:
    """Undo the last re-sign; the version before it comes into force again."""
    project = _project(request, slug)
    return _begun(project, resign.ask_undo(project, _person(request), body.reason).pk)


def _project(request: HttpRequest, slug: str) -> Project:
    project = project_for(request, slug)
    require(request, project, MemberRole.ADMIN)
    return project


def _person(request: HttpRequest) -> AbstractBaseUser:
    return cast("AbstractBaseUser", request.user)


def _begun(project: Project, resign_id: int) -> Status[Any]:
    hint_resign(resign_id)
    return Status(202, last_resign(project))
