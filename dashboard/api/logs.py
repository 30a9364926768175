"""The ways in: logs with what the lane says about them, and statements without a log."""

import json
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from ninja import File, Form, Router, Status, UploadedFile
from ninja.decorators import decorate_view

from dashboard import intake
from dashboard.api.auth import Uploads
from dashboard.api.bodies import takes
from dashboard.api.problems import Problem
from dashboard.api.statements import Accepted, LogForm, OutcomeBody, Statement, accepted
from leaks.errors import UnknownProject
from leaks.models import Token

router = Router(tags=["ways in"], auth=Uploads())
ANSWERS: dict[Any, Any] = {202: Accepted, frozenset({400, 401, 403, 404, 409, 411, 413, 415, 422, 503}): Problem}


@router.post("/logs", response=ANSWERS)
@decorate_view(takes("multipart/form-data"))
def upload_logs(
    request: HttpRequest,
    response: HttpResponse,
    form: Form[LogForm],
    log: File[list[UploadedFile]],
    rules: File[list[UploadedFile]] = [],  # noqa: B006 - a value for the schema, never changed
) -> Status[Accepted]:
    """Upload one or more raw logs of a part, plain, gzip or zstd. Answers as soon as they are committed.

    The same name and content is the same log; other content under that name is its next revision; another name is
    another log. `rules` are the suppression files that the run used.
    """
    intake.refuse_unknown_fields([*request.POST, *request.FILES], [*LogForm.model_fields, "log", "rules"])
    raw = json.dumps(dict(request.POST.lists()), ensure_ascii=False)
    lists = {"raw": raw, "options": intake.options_of(form.options), "workload": intake.workload_of(form.workload)}
    said = {**form.dict(), **lists, "rules": intake.rules_of(rules)}
    return _accept(request, response, form, said, log)


@router.post("/outcomes", response=ANSWERS)
@decorate_view(takes("application/json"))
def state_outcome(request: HttpRequest, response: HttpResponse, statement: OutcomeBody) -> Status[Accepted]:
    """State what a lane did where there is no log: cancelled, skipped, never started, or still running."""
    raw = request.body.decode("utf-8", "replace")
    return _accept(request, response, statement, {**statement.dict(), "raw": raw}, ())


def _accept(
    request: HttpRequest,
    response: HttpResponse,
    statement: Statement,
    values: dict[str, Any],
    files: Sequence[UploadedFile],
) -> Status[Accepted]:
    def address(route: str, *arguments: str) -> str:
        return request.build_absolute_uri(reverse(route, args=arguments))

    project = _project(request, statement)
    receipt = intake.submit(project, values, files)
    answer = accepted(receipt, address, project)
    response["Location"] = answer.outcome.address
    return Status(202, answer)


def _project(request: HttpRequest, statement: Statement) -> str:
    token: Token = request.auth  # type: ignore[attr-defined]
    if statement.project not in (None, token.project.slug):
        raise UnknownProject(f"This token is of no project {statement.project!r}.")
    return token.project.slug
