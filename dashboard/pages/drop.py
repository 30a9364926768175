"""Drop a log: read one at once, before any set-up, or two, to hold one against the other. Without a project they get one of their own."""

from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods

from dashboard import intake
from dashboard.access import project_for, require
from dashboard.pages.drop_form import DropForm, LogForm, ProjectDropForm
from dashboard.pages.shell import page
from leaks.errors import PermanentError
from leaks.models import Project
from leaks.queries.outcomes import slug_of
from leaks.words import MemberRole

View = Callable[..., HttpResponse]


def bounded(view: View) -> View:
    """Refuse a body that is too large by its header. Outside of the CSRF check, which would first read all of it."""

    @csrf_exempt
    @wraps(view)
    def answer(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or "0"
        if not length.isdecimal() or int(length) > settings.LEAKLEDGER_MAX_UPLOAD_BYTES:
            return page(request, "pages/drop_too_large.html", limit=settings.LEAKLEDGER_MAX_UPLOAD_BYTES, status=413)
        return csrf_protect(view)(request, *args, **kwargs)

    return answer


@bounded
@require_http_methods(["GET", "HEAD", "POST"])
def drop(request: HttpRequest) -> HttpResponse:
    form = DropForm(request.POST or None, request.FILES or None)
    return _committed(form, lambda: _two(form) or _one(form)) or _form(request, form)


@bounded
@require_http_methods(["GET", "HEAD", "POST"])
def drop_into(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for(request, slug)
    require(request, project, MemberRole.TRIAGER)
    form = ProjectDropForm(request.POST or None, request.FILES or None)
    return _committed(form, lambda: _one(form, slug)) or _form(request, form, project)


def _committed(form: LogForm, commit: Callable[[], HttpResponse]) -> HttpResponse | None:
    """The way to the page that answers; null while something is missing or wrong."""
    if not form.is_bound or not form.is_valid():
        return None
    try:
        return commit()
    except PermanentError as error:
        form.refuse(error)
        return None


def _one(form: LogForm, slug: str = "") -> HttpResponse:
    receipt = intake.drop(form.logs(), form.values(), slug)
    return redirect("outcome", slug or slug_of(receipt.outcome), receipt.outcome)


def _two(form: DropForm) -> HttpResponse | None:
    """Null without a log before the change."""
    before = form.base_logs()
    if not before:
        return None
    base, head = intake.Dropped(before, form.base_values()), intake.Dropped(form.logs(), form.values())
    pair = intake.drop_two(base, head)
    sides = urlencode({"head": pair.head.outcome, "base": pair.base.outcome})
    return redirect(f"{reverse('compare', args=[pair.project])}?{sides}")


def _form(request: HttpRequest, form: LogForm, project: Project | None = None) -> HttpResponse:
    status, limit = 400 if form.errors else 200, settings.LEAKLEDGER_MAX_UPLOAD_BYTES
    return page(request, "pages/drop.html", project, status=status, form=form, limit=limit)
