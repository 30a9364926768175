"""Refusing a body by its headers, before a byte of it is read."""

from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from dashboard.api.problems import problem

View = Callable[..., HttpResponse]


def takes(content_type: str) -> Callable[[View], View]:
    """Decorate an operation that reads a body of this type."""

    def decorate(view: View) -> View:
        @wraps(view)
        def answer(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
            return _refusal(request, content_type) or view(request, *args, **kwargs)

        return answer

    return decorate


def _refusal(request: HttpRequest, content_type: str) -> HttpResponse | None:
    if request.content_type != content_type:
        return problem(415, f"The body must be {content_type}, not {request.content_type or 'without a type'}.")
    length = request.META.get("CONTENT_LENGTH") or ""
    if not length.isdecimal():
        # Django takes a body of unknown length for an empty one: without this the answer would be "log is missing".
        return problem(411, "Send a Content-Length: a chunked body is not taken.")
    if int(length) > settings.LEAKLEDGER_MAX_UPLOAD_BYTES:
        return problem(
            413, f"An upload may have {settings.LEAKLEDGER_MAX_UPLOAD_BYTES:,} bytes; compress it or split it."
        )
    return None
