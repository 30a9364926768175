"""A commit: every attempt of every lane, and what they prove together."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from dashboard.access import project_for
from dashboard.pages.shell import page
from leaks.queries import commits


@require_safe
def commit(request: HttpRequest, slug: str, sha: str) -> HttpResponse:
    project = project_for(request, slug)
    found = commits.find(project, sha)
    if found is None:
        raise Http404(f"{project.name} knows no commit {sha!r}.")
    if found.sha != sha:
        return redirect("commit", slug, found.sha)
    return page(request, "pages/commit.html", project, "overview", rows=commits.commit_page(project, found))
