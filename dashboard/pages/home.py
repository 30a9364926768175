"""The home page: every project that whoever asks may read."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from dashboard.access import projects_for
from dashboard.pages.shell import page
from leaks.queries import projects


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    rows = projects.cards(projects_for(request), timezone.now().date())
    return page(request, "pages/home.html", projects=rows)
