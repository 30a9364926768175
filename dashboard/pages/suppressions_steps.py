"""What people decide about a suppression, from its page: each step is one form with a reason."""

from collections.abc import Callable, Mapping

from django.contrib import messages
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from dashboard.access import project_for, require
from dashboard.pages.suppressions import found, suppression_answer
from dashboard.pages.suppressions_forms import StepForm
from leaks import review
from leaks.errors import BadSubmission, Conflict
from leaks.models import Suppression
from leaks.words import MemberRole
from workers.send import hint_marks

Step = Callable[[Suppression, AbstractBaseUser, StepForm], object]


@require_POST
def step(request: HttpRequest, slug: str, public_id: str, step: str) -> HttpResponse:
    project = project_for(request, slug)
    if step not in STEPS:
        raise Http404(f"There is no step {step!r}.")
    require(request, project, NEEDED.get(step, MemberRole.VIEWER))
    one, form = found(project, public_id), StepForm(request.POST)
    if form.is_valid() and _take(request, one, form, step):
        return redirect("suppression", slug, public_id)
    # What others did meanwhile stands on the page that comes back.
    return suppression_answer(request, project, found(project, public_id), form.status, form=form, step=step)


def _take(request: HttpRequest, one: Suppression, form: StepForm, step: str) -> bool:
    """Whether it went through; what hindered it stands on the form."""
    try:
        STEPS[step](one, request.user, form)  # type: ignore[arg-type]  # the review asks for the role
    except (BadSubmission, Conflict) as error:
        form.refuse(error)
        return False
    messages.success(request, SAID[step].format(one.public_id))
    hint_marks()
    return True


def _approve(one: Suppression, person: AbstractBaseUser, form: StepForm) -> object:
    given = form.cleaned_data
    revision = given["revision"] or 0
    return review.approve(
        one, person, reason=given["reason"], revision=revision, wider_confirmed=given["wider_confirmed"]
    )


def _reject(one: Suppression, person: AbstractBaseUser, form: StepForm) -> object:
    given = form.cleaned_data
    return review.reject(one, person, reason=given["reason"], revision=given["revision"] or 0)


STEPS: Mapping[str, Step] = {
    "approve": _approve,
    "reject": _reject,
    "revoke": lambda one, person, form: review.revoke(one, person, reason=form.cleaned_data["reason"]),
    "withdraw": lambda one, person, form: review.withdraw(one, person, reason=form.cleaned_data["reason"]),
    "comment": lambda one, person, form: review.comment(one, person, form.cleaned_data["reason"]),
}
NEEDED = {"approve": MemberRole.APPROVER, "reject": MemberRole.APPROVER, "revoke": MemberRole.APPROVER}
SAID = {
    "approve": "{} is approved: lanes that fetch their suppressions get it from their next run on.",
    "reject": "{} is rejected. It stays here with the reason and with what it would have hidden.",
    "revoke": "{} is revoked: it has left the served files, and what it hid is open again.",
    "withdraw": "{} is withdrawn.",
    "comment": "Your comment on {} is kept.",
}
