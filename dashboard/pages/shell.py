"""Rendering a page inside the house's header: the one way in which a page becomes an answer."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from dashboard.access import may, projects_for
from leaks.models import Project
from leaks.queries import projects
from leaks.rows.pages import ShellRow
from leaks.words import MemberRole


def page(
    request: HttpRequest, template: str, project: Project | None = None, nav: str = "", status: int = 200, **rows: Any
) -> HttpResponse:
    """Render `template` with its rows and what `base.html` needs; `nav` is the word of the current tab."""
    context = {"project": project, "nav": nav, "shell": _shell(request, project), **rows}
    return render(request, template, context, status=status)


def _shell(request: HttpRequest, project: Project | None) -> ShellRow:
    if project is None:
        return ShellRow()
    counts = projects.signature_counts(project)
    return ShellRow(
        projects=projects.lines(projects_for(request)),
        signatures=counts.all,
        untriaged=counts.untriaged,
        may_change=may(request, project, MemberRole.ADMIN),
    )
