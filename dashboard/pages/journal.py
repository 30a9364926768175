"""The journal of a project: who decided what, why, on what evidence; its exports; and the way back of one entry."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from dashboard.access import may, project_for
from dashboard.exports.journal import csv_lines, json_lines
from dashboard.pages.shell import page
from dashboard.pages.triage import done, person_of, triaged
from dashboard.pages.triage_form import GroundsForm
from dashboard.params_journal import journal_filter, journal_query
from leaks.errors import BadSubmission, Conflict
from leaks.models import Project
from leaks.queries.journal_page import head_of, journal_page, one_entry, whole_journal
from leaks.rows.journal import JournalEntry
from leaks.triage_undo import undo as undo_decision
from leaks.words import MemberRole
from workers.send import hint_marks

EXPORTS = {"jsonl": ("application/jsonl", json_lines), "csv": ("text/csv; charset=utf-8", csv_lines)}


@require_safe
def journal(request: HttpRequest, slug: str) -> HttpResponse:
    project, wanted = project_for(request, slug), journal_filter(request.GET)
    found = journal_page(project, wanted)
    shown: dict[str, Any] = {
        "found": found,
        "wanted": wanted,
        "newest": journal_query(wanted, 0) if wanted.before else "",
        "older": journal_query(wanted, found.older) if found.older else "",
        "filter_query": journal_query(wanted, 0),
        "may_triage": may(request, project, MemberRole.TRIAGER),
    }
    return page(request, "pages/journal.html", project, "journal", **shown)


@require_safe
def export(request: HttpRequest, slug: str, form: str) -> StreamingHttpResponse:
    """All entries that match, oldest first; the last line is the head of the chain, by which a cut tail shows."""
    project, wanted = project_for(request, slug), journal_filter(request.GET)
    if form not in EXPORTS:
        raise Http404("A journal is exported as jsonl or csv.")
    content_type, lines = EXPORTS[form]
    head = head_of(project)
    answer = StreamingHttpResponse(lines(whole_journal(project, wanted, head), head), content_type=content_type)
    answer["Content-Disposition"] = f'attachment; filename="{project.slug}-journal-{head.sequence}.{form}"'
    return answer


@require_http_methods(["GET", "HEAD", "POST"])
def undo(request: HttpRequest, slug: str, sequence: int) -> HttpResponse:
    project = triaged(request, slug)
    entry = one_entry(project, sequence)
    if entry is None:
        raise Http404(f"The journal has no entry {sequence}.")
    form = GroundsForm(request.POST) if request.method == "POST" else GroundsForm()
    if form.is_bound and form.is_valid():
        try:
            undone = undo_decision(
                project, person_of(request), sequence, reason=form.cleaned_data["reason"], alone="alone" in request.POST
            )
        except (BadSubmission, Conflict) as error:
            form.refuse(error)
        else:
            hint_marks()
            return _back(request, project, entry, undone.sequence)
    status = form.status if form.is_bound else 200
    return page(request, "pages/undo.html", project, "journal", status, entry=entry, form=form)


def _back(request: HttpRequest, project: Project, entry: JournalEntry, sequence: int) -> HttpResponse:
    done_words = (
        f"Entry {entry.sequence} ({entry.what.replace('_', ' ')} of {entry.subject}) is undone by entry {sequence}."
    )
    done(request, project, done_words)
    return redirect(reverse("signature", args=[project.slug, entry.subject]))
