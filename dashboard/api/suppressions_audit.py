"""The audit of suppressions, its exports, what code-scanning pages are told, and the import of an existing file."""

from datetime import date
from typing import Any, cast

from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import reverse
from ninja import Field, Router, Schema, Status

from dashboard.access import project_for, require
from dashboard.api.auth import People, Reads
from dashboard.api.problems import Problem
from dashboard.exports import sarif as sarif_export
from dashboard.exports.suppressions import csv_lines, json_pieces
from leaks import rule_import
from leaks.queries.journal_page import head_of
from leaks.queries.rule_import import LARGEST, import_preview
from leaks.queries.sarif import sarif_kinds, sarif_results
from leaks.queries.suppressions_audit import exported_rules, suppression_audit
from leaks.rows.journal import JournalHead
from leaks.rows.suppressions_audit import ImportPreview, SuppressionAudit, Taken
from leaks.rule_import import Source, Wanted
from leaks.words import MemberRole

router = Router(tags=["suppressions"])
HEAD = "X-Journal-Head"


class FileBody(Schema):
    """A suppression file. Nothing is written."""

    text: str = Field(max_length=LARGEST, description="the file as it is")
    name: str = Field("", max_length=200, description="its name, kept with what is taken over")
    tool: str = Field("", description="lsan, asan, tsan, ubsan or valgrind; left out: as the file itself tells")
    lanes: list[str] = Field([], description="names; empty: all lanes")


class TakeBody(FileBody):
    """Lines of a suppression file that become proposals, with one reason and one last day."""

    lines: list[int] = Field(description="numbers of the lines that rules begin at, 20 at most")
    reason: str = Field(max_length=20_000)
    ends_on: date = Field(description="the last day that they are served, 180 days ahead at most")


def _answers(shape: Any, status: int = 200) -> dict[Any, Any]:
    return {status: shape, frozenset({400, 401, 403, 404, 409, 422, 503}): Problem}


def _exports(shape: Any) -> dict[Any, Any]:
    return {200: shape, frozenset({400, 401, 404}): Problem}


# --- Audit -----------------------------------------------------------------------------------------------------------


@router.get("/projects/{slug}/suppressions/audit", response=_answers(SuppressionAudit), auth=Reads())
def show_audit(request: HttpRequest, slug: str) -> Any:
    """What is silenced now, by whom, why, until when, what it hid last month; and what lanes use that nobody approved."""
    return suppression_audit(project_for(request, slug))


@router.get(
    "/projects/{slug}/suppressions/audit.csv", response=_exports(str), auth=Reads(), url_name="suppressions_csv"
)
def csv_audit(request: HttpRequest, slug: str) -> HttpResponse:
    """All suppressions there ever were, as CSV. The last line is the head of the journal, which X-Journal-Head tells as well."""
    project = project_for(request, slug)
    head = head_of(project)
    lines = csv_lines(exported_rules(project), head)
    return _file(lines, "text/csv; charset=utf-8", f"{slug}-suppressions.csv", head)


@router.get(
    "/projects/{slug}/suppressions/audit.json",
    response=_exports(dict[str, Any]),
    auth=Reads(),
    url_name="suppressions_json",
)
def json_audit(request: HttpRequest, slug: str) -> HttpResponse:
    """The same as one JSON document, with what lanes use that nobody approved."""
    project = project_for(request, slug)
    audit = suppression_audit(project)
    pieces = json_pieces(exported_rules(project), audit)
    return _file(pieces, "application/json", f"{slug}-suppressions.json", audit.head)


@router.get("/projects/{slug}/sarif", response=_exports(dict[str, Any]), auth=Reads(), url_name="sarif")
def show_sarif(request: HttpRequest, slug: str) -> HttpResponse:
    """Signatures that are alive, and what silences them, as SARIF 2.1.0 for code-scanning pages."""
    project = project_for(request, slug)
    head = head_of(project)

    def link(public_id: str) -> str:
        return request.build_absolute_uri(reverse("signature", args=[slug, public_id]))

    pieces = sarif_export.sarif_pieces(slug, sarif_kinds(project), sarif_results(project), head, link)
    return _file(pieces, sarif_export.CONTENT_TYPE, f"{slug}.sarif", head)


def _file(pieces: Any, content_type: str, name: str, head: JournalHead) -> HttpResponse:
    answer = StreamingHttpResponse(pieces, content_type=content_type)
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    answer[HEAD] = f"{head.sequence} {head.hash}".strip()
    return answer  # type: ignore[return-value]  # Django's stubs know no base of the two


# --- Import ----------------------------------------------------------------------------------------------------------


@router.post("/projects/{slug}/suppressions/import/read", response=_answers(ImportPreview), auth=People())
def read_file(request: HttpRequest, slug: str, body: FileBody) -> Any:
    """Each line of a suppression file with what is to be said of it. The role triager."""
    project = project_for(request, slug)
    require(request, project, MemberRole.TRIAGER)
    return import_preview(project, body.name, body.text, body.tool, body.lanes)


@router.post("/projects/{slug}/suppressions/import", response=_answers(Taken, 201), auth=People())
def take_file(request: HttpRequest, slug: str, body: TakeBody) -> Any:
    """Lines of a suppression file as proposals; none is approved by that. The role triager."""
    project = project_for(request, slug)
    person = cast("AbstractBaseUser", request.user)
    wanted = Wanted(body.reason, body.ends_on, tuple(body.lanes))
    return Status(
        201, rule_import.take_over(project, person, Source(body.name, body.tool, body.text), body.lines, wanted)
    )
