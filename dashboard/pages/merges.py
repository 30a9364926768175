"""Merging and splitting signatures by hand: chosen, previewed, confirmed."""

from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from dashboard.access import may
from dashboard.pages.shell import page
from dashboard.pages.signature import signature_of
from dashboard.pages.triage import done, person_of, triaged
from dashboard.pages.triage_form import ConfirmForm
from dashboard.params import Query
from leaks.errors import BadSubmission, Conflict
from leaks.merge_signatures import merge as merge_signatures
from leaks.models import Project
from leaks.queries.merge_preview import candidates, merge_preview
from leaks.queries.split_preview import split_preview
from leaks.rows.key_moves import MergePreview
from leaks.split_signatures import split as split_signature
from leaks.words import MemberRole
from workers.send import hint_marks

LONGEST_ID = 40
MOST_CHOSEN = 2_000


@require_http_methods(["GET", "HEAD", "POST"])
def merge(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    """`?with=ID` (again and again) previews; `?find=` searches for what to merge. A POST of what was previewed does it."""
    project = triaged(request, slug)
    one = signature_of(project, public_id)
    if one.merged_into is not None:
        return redirect("merge", slug, one.merged_into.public_id)
    form = ConfirmForm(request.POST) if request.method == "POST" else None
    chosen = chosen_of(request, "with")
    if form is not None and form.is_valid():
        try:
            moved = merge_signatures(project, person_of(request), into=public_id, sources=chosen, **_confirmed(form))
        except (BadSubmission, Conflict) as error:
            form.refuse(error)
        else:
            hint_marks()
            words = f"{', '.join(moved.emptied)} merged into {public_id}; its figures follow in a moment."
            done(request, project, words, moved.sequence)
            return redirect("signature", slug, public_id)
    return _merge_page(request, project, public_id, chosen, form)


def _merge_page(
    request: HttpRequest, project: Project, public_id: str, chosen: list[str], form: ConfirmForm | None
) -> HttpResponse:
    """A new preview each time: who was told that something changed sees it as it is now."""
    find = Query(request.GET).text("find", limit=200)
    preview, wrong = _preview(project, public_id, chosen)
    found = candidates(project, find, without=[public_id, *chosen]) if find else ()
    shown = {
        "public_id": public_id,
        "one": signature_of(project, public_id),
        "chosen": chosen,
        "preview": preview,
        "wrong": wrong,
        "find": find,
        "found": found,
        "form": form or ConfirmForm(),
        "other_way": f"{reverse('merge', args=[project.slug, chosen[0]])}?with={public_id}" if len(chosen) == 1 else "",
    }
    return page(request, "pages/merge.html", project, "signatures", form.status if form else 200, **shown)


def _preview(project: Project, public_id: str, chosen: list[str]) -> tuple[MergePreview | None, str]:
    if not chosen:
        return None, ""
    try:
        return merge_preview(project, public_id, chosen), ""
    except BadSubmission as error:
        return None, str(error)


@require_http_methods(["GET", "HEAD", "POST"])
def split(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    """`?key=NAME` (again and again) and `?into=ID` preview. A POST of what was previewed does it."""
    project = triaged(request, slug)
    one = signature_of(project, public_id)
    if one.merged_into is not None:
        return redirect("split", slug, one.merged_into.public_id)
    values = request.POST if request.method == "POST" else request.GET
    keys, into = chosen_of(request, "key"), Query(values).text("into", limit=LONGEST_ID)
    form = ConfirmForm(request.POST) if request.method == "POST" else None
    if form is not None and form.is_valid():
        try:
            moved = split_signature(
                project, person_of(request), source=public_id, keys=keys, into=into, **_confirmed(form)
            )
        except (BadSubmission, Conflict) as error:
            form.refuse(error)
        else:
            hint_marks()
            done(request, project, f"Split off as {moved.into}; its figures follow in a moment.", moved.sequence)
            return redirect("signature", slug, moved.into)
    preview = split_preview(project, public_id, keys, into)
    shown = {
        "public_id": public_id,
        "preview": preview,
        "chosen": keys,
        "form": form or ConfirmForm(),
        "may_settings": may(request, project, MemberRole.ADMIN),
    }
    return page(request, "pages/split.html", project, "signatures", form.status if form else 200, **shown)


def chosen_of(request: HttpRequest, name: str) -> list[str]:
    """What was chosen: ids and names, several in one value where a person typed them."""
    values = request.POST if request.method == "POST" else request.GET
    words = [word for value in values.getlist(name) for word in value.replace(",", " ").split()]
    if len(words) > MOST_CHOSEN or any(len(word) > 120 for word in words):
        raise BadRequest(f"{name} names too much.")
    return list(dict.fromkeys(words))


def _confirmed(form: ConfirmForm) -> dict[str, Any]:
    return {"fingerprint": form.cleaned_data["fingerprint"], **form.grounds()}
