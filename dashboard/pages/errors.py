"""Answers for what went wrong: the house's page with one sentence, never a traceback."""

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse

from dashboard.pages.shell import page


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Only our own sentences are shown: other exceptions may quote what they should not."""
    return page(request, "400.html", status=400, reason=str(exception) if isinstance(exception, BadRequest) else "")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return page(request, "403.html", status=403, reason=str(exception))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    # The resolver's own 404 carries a dict of every address it tried; ours carry a sentence.
    said = exception.args[0] if isinstance(exception, Http404) and exception.args else ""
    return page(request, "404.html", status=404, reason=said if isinstance(said, str) else "")
