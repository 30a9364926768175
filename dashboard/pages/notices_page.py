"""Who is told what, and where commit statuses are posted: a page of the project's settings, for admins."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from django.conf import settings as site
from django.contrib import messages
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from dashboard.access import project_for, require
from dashboard.pages import notices_changes as changes
from dashboard.pages.notices_forms import RuleForm, StatusForm
from dashboard.pages.shell import page
from leaks.errors import LeakledgerError
from leaks.models import Project
from leaks.queries.notice_rows import notices_page
from leaks.words import MemberRole
from workers.posting import token_of
from workers.send import hint_look
from workers.telling import NOWHERE

TEMPLATE = "pages/notices.html"
REFUSED = 422


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def notices(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for(request, slug)
    require(request, project, MemberRole.ADMIN)
    if request.method == "POST":
        return _change(request, project)
    return _show(request, project)


def _show(request: HttpRequest, project: Project, status: int = 200, **refused: Any) -> HttpResponse:
    """The page; a form that was refused comes back with what its author typed."""
    shown = {
        "rows": notices_page(project, token_of),
        "rule_form": RuleForm(auto_id="rule-%s"),
        "status_form": StatusForm(auto_id="status-%s"),
        "no_mail": site.EMAIL_BACKEND == NOWHERE,
        "no_address": not site.LEAKLEDGER_URL,
    }
    return page(request, TEMPLATE, project, "settings", status, **{**shown, **refused})


def _change(request: HttpRequest, project: Project) -> HttpResponse:
    action = ACTIONS.get(request.POST.get("do", ""))
    if action is None:
        raise BadRequest("do must name a change of this page.")
    try:
        return action(request, project)
    except LeakledgerError as error:
        messages.error(request, str(error))
        return redirect("notices", project.slug)


def _done(request: HttpRequest, project: Project, said: str) -> HttpResponse:
    messages.success(request, said)
    return redirect("notices", project.slug)


# --- Rules -----------------------------------------------------------------------------------------------------------


def _add(request: HttpRequest, project: Project) -> HttpResponse:
    """The secret of a webhook is answered without a redirect: this answer is the only one that shows it."""
    form = RuleForm(request.POST, auto_id="rule-%s")
    if not form.is_valid():
        return _show(request, project, REFUSED, rule_form=form)
    secret = changes.add_rule(project, _person(request), form.cleaned_data)
    if secret:
        return _show(request, project, secret=secret)
    return _done(request, project, "The rule is on. What happened before is not told.")


def _on(request: HttpRequest, project: Project) -> HttpResponse:
    changes.switch_rule(project, _person(request), _named(request), on=True)
    return _done(request, project, "The rule is on. What happened before is not told.")


def _off(request: HttpRequest, project: Project) -> HttpResponse:
    changes.switch_rule(project, _person(request), _named(request), on=False)
    return _done(request, project, "The rule is off.")


def _remove(request: HttpRequest, project: Project) -> HttpResponse:
    changes.remove_rule(project, _person(request), _named(request))
    return _done(request, project, "The rule is removed.")


def _test(request: HttpRequest, project: Project) -> HttpResponse:
    changes.test_rule(project, _person(request), _named(request))
    hint_look()
    return _done(
        request, project, "A test is on its way. Load this page again in a moment: it shows whether it arrived."
    )


def _retry(request: HttpRequest, project: Project) -> HttpResponse:
    number = changes.retry_rule(project, _named(request))
    hint_look()
    return _done(request, project, f"{number:,} are tried again.")


# --- Commit statuses -------------------------------------------------------------------------------------------------


def _set_target(request: HttpRequest, project: Project) -> HttpResponse:
    form = StatusForm(request.POST, auto_id="status-%s")
    if not form.is_valid():
        return _show(request, project, REFUSED, status_form=form)
    changes.set_target(project, _person(request), form.cleaned_data)
    hint_look()
    return _done(request, project, "Saved. Each lane of each commit from now on gets a status.")


def _remove_target(request: HttpRequest, project: Project) -> HttpResponse:
    changes.remove_target(project, _person(request), request.POST.get("provider", ""))
    return _done(request, project, "No statuses are posted there any more, and the token is forgotten.")


def _retry_target(request: HttpRequest, project: Project) -> HttpResponse:
    number = changes.retry_target(project, request.POST.get("provider", ""))
    hint_look()
    return _done(request, project, f"{number:,} are tried again.")


ACTIONS: Mapping[str, Callable[[HttpRequest, Project], HttpResponse]] = {
    "rule": _add,
    "rule_on": _on,
    "rule_off": _off,
    "rule_remove": _remove,
    "rule_test": _test,
    "rule_retry": _retry,
    "target": _set_target,
    "target_remove": _remove_target,
    "target_retry": _retry_target,
}


def _named(request: HttpRequest) -> str:
    return request.POST.get("rule", "")[:40]


def _person(request: HttpRequest) -> AbstractBaseUser:
    # The role was checked before, and nobody but a person has one.
    return cast("AbstractBaseUser", request.user)
