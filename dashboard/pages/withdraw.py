"""Taking an outcome back from its page, and letting it count again."""

from collections.abc import Callable
from typing import cast

from django.contrib import messages
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from dashboard.access import project_for, require
from dashboard.pages.outcome import outcome_of, outcome_page
from leaks import withdraw as withdrawing
from leaks.errors import BadSubmission, Conflict
from leaks.models import Decision, LaneOutcome
from leaks.words import MemberRole
from workers.send import hint_marks

Change = Callable[[LaneOutcome, AbstractBaseUser, str], Decision]


@require_POST
def withdraw(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    said = "Withdrawn. It is struck through and counted nowhere; what hangs on it is worked out anew."
    return _change(request, slug, public_id, withdrawing.withdraw, said)


@require_POST
def restore(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    said = "Restored. It counts again; what hangs on it is worked out anew."
    return _change(request, slug, public_id, withdrawing.restore, said)


def _change(request: HttpRequest, slug: str, public_id: str, change: Change, said: str) -> HttpResponse:
    project = project_for(request, slug)
    require(request, project, MemberRole.TRIAGER)
    one, reason = outcome_of(project, public_id), request.POST.get("reason", "")
    try:
        change(one, cast("AbstractBaseUser", request.user), reason)
    except BadSubmission as error:
        return outcome_page(request, project, one, status=400, refused=str(error), typed=reason)
    except Conflict as error:
        messages.error(request, str(error))
    else:
        hint_marks()
        messages.success(request, said)
    return redirect("outcome", slug, public_id)
