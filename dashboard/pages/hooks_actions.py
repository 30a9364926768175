"""What can be posted on the settings page about webhooks and job names: typed fields, one change, a sentence back."""

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from dashboard.pages import hooks_changes as changes
from dashboard.pages.hooks_forms import JobForm, SecretForm
from leaks.errors import BadSubmission
from leaks.ingest import deliveries
from leaks.models import Project
from leaks.queries.hooks import owed_proposals
from workers.send import hint_look


def new_secret(request: HttpRequest, project: Project) -> tuple[SecretForm, str]:
    """The form, and the secret to be shown this once; a secret that somebody typed is known to them, and not shown."""
    form = SecretForm(request.POST, auto_id="secret-%s")
    if not form.is_valid():
        return form, ""
    given = form.cleaned_data
    secret = changes.set_secret(project, _person(request), given["provider"], given["secret"])
    return form, "" if given["secret"] else secret


def claim_job(request: HttpRequest, project: Project) -> HttpResponse:
    form = JobForm(request.POST)
    if not form.is_valid():
        raise BadSubmission(" ".join(str(error) for errors in form.errors.values() for error in errors))
    said = _claim(project, _person(request), form.cleaned_data)
    hint_look()
    return _done(request, project, said, "jobs")


def _claim(project: Project, person: AbstractBaseUser, given: dict[str, Any]) -> str:
    how, base = given["how"], given["base"]
    if how == "lane":
        changes.make_lane(project, person, given["name"], base, given["pattern"])
        return f"{given['name']} is a lane now. What was kept of its jobs is being read."
    if how == "alias":
        changes.add_alias(project, person, given["lane"], base)
        return f"{base} is {given['lane']} from now on. What was kept of its jobs is being read."
    changes.ignore_job(project, person, base, ignored=how == "ignore")
    return f"{base} is not listed any more; it is kept." if how == "ignore" else f"{base} is listed again."


def owe(request: HttpRequest, project: Project) -> HttpResponse:
    """Only what was learnt from history can be confirmed here; anything else is set by hand."""
    name = request.POST.get("lane", "")
    learnt = next((one for one in owed_proposals(project) if one.lane == name), None)
    if learnt is None:
        raise BadSubmission(f"{name[:200]} does not run on most of the newest commits.")
    evidence = f"ran on {learnt.n} of the newest {learnt.of} commits"
    changes.owe_lane(project, _person(request), name, evidence)
    return _done(request, project, f"From now on each commit of {project.default_branch} owes {name}.", "owed")


def retry(request: HttpRequest, project: Project) -> HttpResponse:
    again = deliveries.retry(project)
    hint_look()
    return _done(request, project, f"{again} deliveries are being read again.", "hooks")


def _done(request: HttpRequest, project: Project, said: str, place: str) -> HttpResponse:
    messages.success(request, said)
    return redirect(f"{reverse('settings', args=[project.slug])}#{place}")


def _person(request: HttpRequest) -> AbstractBaseUser:
    # The role was checked before, and nobody but a person has one.
    return cast("AbstractBaseUser", request.user)
