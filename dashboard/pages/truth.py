"""How a verdict comes about: the tables the code decides by, with an example a row. They hold nothing of any project."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from dashboard.pages.shell import page
from leaks.truth import tables


@require_safe
def truth(request: HttpRequest) -> HttpResponse:
    return page(request, "pages/truth.html", tables=tables())
