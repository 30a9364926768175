"""Project settings, for admins: own roots, plumbing, lanes, webhooks and the jobs they tell of, members, tokens."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from dashboard.access import project_for, require
from dashboard.pages import hooks_actions, settings_owners
from dashboard.pages import settings_changes as changes
from dashboard.pages.hooks_forms import SecretForm
from dashboard.pages.settings_forms import LONGEST_REASON, LaneForm, MemberForm, PlumbingForm, ProjectForm, TokenForm
from dashboard.pages.shell import page
from leaks.errors import LeakledgerError
from leaks.ingest import resign
from leaks.models import Project
from leaks.queries.hooks import hooks_page
from leaks.queries.recipes import last_resign, recipe_page
from leaks.queries.settings import settings_page
from leaks.resign_summary import preview_of_plumbing
from leaks.rows.settings_page import LaneSetting
from leaks.words import MemberRole
from workers.send import hint_look, hint_resign

TEMPLATE = "pages/settings.html"
REFUSED = 422
STOP_POLLING = 286  # htmx's own word for it


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for(request, slug)
    require(request, project, MemberRole.ADMIN)
    if request.method == "POST":
        return _change(request, project)
    return _show(request, project)


def _show(request: HttpRequest, project: Project, status: int = 200, **refused: Any) -> HttpResponse:
    """The page; a form that was refused comes back with what its author typed."""
    rows = settings_page(project, timezone.now())
    shown = {
        "rows": rows,
        "recipe": recipe_page(project),
        "plumbing_form": PlumbingForm(initial={"version": project.plumbing_version}),
        "project_form": ProjectForm(initial=vars(project)),
        "lanes": [_lane_form(place, lane, refused) for place, lane in enumerate(rows.lanes)],
        "new_lane": LaneForm(auto_id="new-lane-%s"),
        "member_form": MemberForm(auto_id="member-%s"),
        "token_form": TokenForm(auto_id="token-%s"),
        "hooks": hooks_page(project, timezone.now()),
        "secret_form": SecretForm(auto_id="secret-%s"),
        "owners_form": settings_owners.owners_form(project),
        "owners_faults": settings_owners.faults_of(project),
    }
    return page(request, TEMPLATE, project, "settings", status, **{**shown, **refused})


def _lane_form(place: int, lane: LaneSetting, refused: Mapping[str, Any]) -> tuple[LaneSetting, LaneForm]:
    bound = refused.get("lane_form")
    if isinstance(bound, LaneForm) and bound.data.get("before") == lane.name:
        return lane, bound
    return lane, LaneForm(initial=asdict(lane), auto_id=f"lane-{place}-%s")


# --- What can be posted ----------------------------------------------------------------------------------------------


def _change(request: HttpRequest, project: Project) -> HttpResponse:
    action = ACTIONS.get(request.POST.get("do", ""))
    if action is None:
        raise BadRequest("do must name a change of this page.")
    try:
        return action(request, project)
    except LeakledgerError as error:
        messages.error(request, str(error))
        return _back(project)


def _back(project: Project) -> HttpResponse:
    return redirect("settings", project.slug)


def _done(request: HttpRequest, project: Project, said: str) -> HttpResponse:
    messages.success(request, said)
    return _back(project)


def _project(request: HttpRequest, project: Project) -> HttpResponse:
    form = ProjectForm(request.POST)
    if not form.is_valid():
        return _show(request, project, REFUSED, project_form=form)
    changed = changes.change_project(project, _person(request), form.cleaned_data)
    return _done(request, project, SAVED[changed])


def _lane(request: HttpRequest, project: Project) -> HttpResponse:
    before = request.POST.get("before", "")
    form = LaneForm(request.POST, auto_id=f"refused-{'lane' if before else 'new'}-%s")
    if not form.is_valid():
        return _show(request, project, REFUSED, **{"lane_form" if before else "new_lane": form})
    changed = changes.save_lane(project, _person(request), before, form.cleaned_data)
    hint_look()
    said = f"{form.cleaned_data['name']}: saved. Earlier runs keep what was expected of them."
    return _done(request, project, said if changed else "Nothing to change.")


def _member(request: HttpRequest, project: Project) -> HttpResponse:
    form = MemberForm(request.POST, auto_id="member-%s")
    if not form.is_valid():
        return _show(request, project, REFUSED, member_form=form)
    changes.set_member(project, _person(request), form.cleaned_data["username"], form.cleaned_data["role"])
    return _done(request, project, f"{form.cleaned_data['username']} is {form.cleaned_data['role']} now.")


def _remove_member(request: HttpRequest, project: Project) -> HttpResponse:
    username = request.POST.get("username", "")
    changes.remove_member(project, _person(request), username)
    return _done(request, project, f"{username} is no member any more.")


def _token(request: HttpRequest, project: Project) -> HttpResponse:
    """Answered without a redirect: the secret is kept nowhere, so this answer is the only one that can show it."""
    form = TokenForm(request.POST, auto_id="token-%s")
    if not form.is_valid():
        return _show(request, project, REFUSED, token_form=form)
    made = form.cleaned_data
    secret = changes.add_token(project, _person(request), made["kind"], made["purpose"], form.expires())
    return _show(request, project, secret=secret, secret_purpose=f"token for “{made['purpose']}”")


def _hook_secret(request: HttpRequest, project: Project) -> HttpResponse:
    """As with a token: a secret that was made here is in this answer and nowhere else."""
    form, secret = hooks_actions.new_secret(request, project)
    if form.errors:
        return _show(request, project, REFUSED, secret_form=form)
    if not secret:
        return _done(request, project, "The secret is set. Deliveries that are signed with it are taken from now on.")
    return _show(
        request, project, secret=secret, secret_purpose=f"secret for webhooks of {form.cleaned_data['provider']}"
    )


def _revoke_token(request: HttpRequest, project: Project) -> HttpResponse:
    changes.revoke_token(project, _person(request), request.POST.get("hint", ""))
    return _done(request, project, "The token has ended.")


SAVED = {
    (False, False): "Nothing to change.",
    (True, False): "Saved.",
    (True, True): "Saved as a new version. It holds for logs read from now on; history can be signed again with it.",
}


# --- Plumbing and history --------------------------------------------------------------------------------------------


def _preview(request: HttpRequest, project: Project) -> HttpResponse:
    form = PlumbingForm(request.POST)
    if not form.is_valid(preview=True):
        return _show(request, project, REFUSED, plumbing_form=form)
    return _show(request, project, plumbing_form=form, preview=preview_of_plumbing(project, form.functions))


def _accept(request: HttpRequest, project: Project) -> HttpResponse:
    form = PlumbingForm(request.POST)
    if not form.is_valid():
        return _show(request, project, REFUSED, plumbing_form=form)
    given = form.cleaned_data
    begun = changes.accept_plumbing(
        project, _person(request), form.functions, reason=given["reason"], expected=given["version"]
    )
    hint_resign(begun.pk)
    return _done(request, project, "Accepted. History is being signed again.")


def _resign(request: HttpRequest, project: Project) -> HttpResponse:
    begun = resign.ask(project, _person(request), request.POST.get("reason", "")[:LONGEST_REASON])
    hint_resign(begun.pk)
    return _done(request, project, "History is being signed again.")


def _undo(request: HttpRequest, project: Project) -> HttpResponse:
    begun = resign.ask_undo(project, _person(request), request.POST.get("reason", "")[:LONGEST_REASON])
    hint_resign(begun.pk)
    return _done(request, project, "The last re-sign is being undone.")


@never_cache
@require_safe
def progress(request: HttpRequest, slug: str) -> HttpResponse:
    """The part of the page that asks again every second. When all is done, the whole page is loaded anew."""
    project = project_for(request, slug)
    require(request, project, MemberRole.ADMIN)
    last = last_resign(project)
    busy = last is not None and last.busy
    shown = {"project": project, "last": last}
    answer = render(request, "partials/resign_progress.html", shown, status=200 if busy else STOP_POLLING)
    if not busy:
        answer["HX-Refresh"] = "true"
    return answer


ACTIONS: Mapping[str, Callable[[HttpRequest, Project], HttpResponse]] = {
    "project": _project,
    "lane": _lane,
    "member": _member,
    "remove_member": _remove_member,
    "token": _token,
    "revoke_token": _revoke_token,
    "plumbing_preview": _preview,
    "plumbing_accept": _accept,
    "resign": _resign,
    "resign_undo": _undo,
    "hook_secret": _hook_secret,
    "hook_retry": hooks_actions.retry,
    "job": hooks_actions.claim_job,
    "owe": hooks_actions.owe,
    "codeowners": settings_owners.save,
}


def _person(request: HttpRequest) -> AbstractBaseUser:
    # The role was checked before, and nobody but a person has one.
    return cast("AbstractBaseUser", request.user)
