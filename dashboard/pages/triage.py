"""What people decide about a signature, from its page: its state, its owner, its issue."""

from collections.abc import Callable
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_POST

from dashboard.access import project_for, require
from dashboard.pages.signature import signature_of, signature_page
from dashboard.pages.triage_form import CareForm, TriageForm
from leaks import triage
from leaks.errors import BadSubmission, Conflict
from leaks.models import Decision, Project, Signature
from leaks.words import MemberRole


@require_POST
def triage_signature(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    project = triaged(request, slug)
    one, form = signature_of(project, public_id), TriageForm(request.POST)
    if form.is_valid() and _decide(request, one, form):
        return redirect("signature", slug, public_id)
    return signature_page(request, project, one, form, status=form.status)


@require_POST
def set_owner(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    return _care(request, slug, public_id, _own)


@require_POST
def set_issue(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    return _care(request, slug, public_id, _link)


def triaged(request: HttpRequest, slug: str) -> Project:
    """The project, for who may decide about its signatures."""
    project = project_for(request, slug)
    require(request, project, MemberRole.TRIAGER)
    return project


def person_of(request: HttpRequest) -> AbstractBaseUser:
    return cast("AbstractBaseUser", request.user)


def done(request: HttpRequest, project: Project, sentence: str, sequence: int | None = None) -> None:
    """Say what was done, with the way back of that entry beside it."""
    if sequence is None:
        messages.success(request, sentence)
        return
    undo = reverse("undo", args=[project.slug, sequence])
    messages.success(request, format_html('{} <a href="{}">Undo</a>', sentence, undo))


def _decide(request: HttpRequest, one: Signature, form: TriageForm) -> bool:
    """Whether it went through; what hindered it stands on the form."""
    try:
        decision = triage.set_state(one, person_of(request), **form.decision())
    except (BadSubmission, Conflict) as error:
        form.refuse(error)
        return False
    state = form.cleaned_data["state"].replace("_", " ")
    done(request, one.project, f"{one.public_id} is now {state}.", decision.sequence)
    return True


def _care(
    request: HttpRequest, slug: str, public_id: str, change: Callable[[Signature, AbstractBaseUser, Any], Decision]
) -> HttpResponse:
    project = triaged(request, slug)
    one, form = signature_of(project, public_id), CareForm(request.POST)
    if not form.is_valid():
        messages.error(request, "That is too long.")
        return redirect("signature", slug, public_id)
    try:
        decision = change(one, person_of(request), form.cleaned_data)
    except (BadSubmission, Conflict) as error:
        messages.error(request, str(error))
    else:
        done(request, project, f"{decision.what.replace('_', ' ').capitalize()} of {public_id}.", decision.sequence)
    return redirect("signature", slug, public_id)


def _own(one: Signature, person: AbstractBaseUser, given: dict[str, str]) -> Decision:
    return triage.set_owner(one, person, owner=given["owner"], reason=given["reason"], expected=given["seen"])


def _link(one: Signature, person: AbstractBaseUser, given: dict[str, str]) -> Decision:
    return triage.set_issue(one, person, url=given["issue_url"], reason=given["reason"], expected=given["seen"])
