"""Every error of the API as problem+json (RFC 9457): a machine reads `status` and `field`, a person reads `detail`."""

import logging
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from django.core.exceptions import (
    BadRequest,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFilesSent,
)
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from ninja import NinjaAPI, Schema
from ninja.errors import HttpError, ValidationError

from dashboard.access import TokenRefused
from leaks.errors import BadSubmission, Conflict, LeakledgerError, TooLarge, TransientError, UnknownProject, Unreadable

logger = logging.getLogger(__name__)

View = Callable[..., HttpResponse]

CONTENT_TYPE = "application/problem+json"
TITLES = {
    400: "The request cannot be read",
    401: "A valid token is needed",
    403: "Not allowed",
    404: "Not found",
    405: "Not this method",
    409: "In conflict with what is known",
    411: "The length must be said",
    413: "Too large",
    415: "Not this kind of body",
    422: "A value is missing or outside its domain",
    500: "An error on our side",
    503: "Busy",
}
RETRY_AFTER_SECONDS = "10"

# The first row an error is an instance of gives its status.
STATUS: tuple[tuple[type[Exception], int], ...] = (
    (TokenRefused, 401),
    (BadSubmission, 422),
    (UnknownProject, 404),
    (TooLarge, 413),
    (Unreadable, 422),
    (Conflict, 409),
    (TransientError, 503),
    (LeakledgerError, 422),
)


class FieldError(Schema):
    field: str
    detail: str


class Problem(Schema):
    """`type` is always about:blank: the status says which kind. `errors` has one entry a field."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[FieldError] = []


def problem(status: int, detail: str, fields: Mapping[str, str] | None = None) -> HttpResponse:
    errors = [FieldError(field=field, detail=text) for field, text in (fields or {}).items()]
    body = Problem(title=TITLES.get(status, "Error"), status=status, detail=detail, errors=errors)
    response = JsonResponse(body.model_dump(), status=status, content_type=CONTENT_TYPE)
    if status == 401:
        response["WWW-Authenticate"] = 'Bearer realm="leakledger"'
    if status == 503:
        response["Retry-After"] = RETRY_AFTER_SECONDS
    return response


def install(api: NinjaAPI) -> None:
    """Answer each exception that can leave an operation; the last row is for those nobody thought of."""
    for error, handler in HANDLERS.items():
        api.add_exception_handler(error, handler)


def _ours(_request: HttpRequest, error: Exception) -> HttpResponse:
    status = next(status for kind, status in STATUS if isinstance(error, kind))
    field = getattr(error, "field", None)
    return problem(status, str(error), {field: str(error)} if field else None)


def _invalid(_request: HttpRequest, error: ValidationError) -> HttpResponse:
    fields = {_name(entry["loc"]): entry["msg"] for entry in error.errors}
    return problem(422, "; ".join(f"{name}: {text}" for name, text in fields.items()), fields)


def _name(location: tuple[Any, ...]) -> str:
    """The field as the client wrote it: the first parts say where ninja keeps it ("form", "values")."""
    return ".".join(str(part) for part in location[2:]) or str(location[-1])


def _http(_request: HttpRequest, error: HttpError) -> HttpResponse:
    return problem(error.status_code, str(error))


def _not_found(_request: HttpRequest, error: Http404) -> HttpResponse:
    return problem(404, str(error) or "There is nothing at this address.")


def _forbidden(_request: HttpRequest, error: PermissionDenied) -> HttpResponse:
    return problem(403, str(error) or "This is not yours to do.")


def _too_big(_request: HttpRequest, _error: Exception) -> HttpResponse:
    return problem(413, "The fields of the request are too large, or too many files came at once.")


def _bad_query(_request: HttpRequest, error: BadRequest) -> HttpResponse:
    return problem(400, str(error))


def _malformed(_request: HttpRequest, _error: Exception) -> HttpResponse:
    return problem(400, "The body is not what its Content-Type says, or it was cut on the way.")


def _busy(_request: HttpRequest, error: OperationalError) -> HttpResponse:
    logger.error("The database did not answer", exc_info=error)
    return problem(503, "The database did not answer in time; send it again, nothing is counted twice.")


def _unforeseen(request: HttpRequest, error: Exception) -> HttpResponse:
    logger.error("Unforeseen error at %s", request.path, exc_info=error)
    return problem(500, "Something went wrong on our side. Sending the same again is safe: nothing is counted twice.")


HANDLERS: dict[type[Exception], Callable[..., HttpResponse]] = {
    Exception: _unforeseen,
    OperationalError: _busy,
    LeakledgerError: _ours,
    ValidationError: _invalid,
    HttpError: _http,
    Http404: _not_found,
    PermissionDenied: _forbidden,
    BadRequest: _bad_query,
    RequestDataTooBig: _too_big,
    TooManyFilesSent: _too_big,
    SuspiciousOperation: _malformed,
    MultiPartParserError: _malformed,
    UnreadablePostError: _malformed,
}


def with_problems(view: View) -> View:
    """What ninja answers outside of an operation is HTML: a wrong method, and its own root."""

    @wraps(view)
    def answer(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        try:
            response = view(request, *args, **kwargs)
        except Http404:
            return problem(404, "There is nothing at this address; /api/v1/openapi.json describes what is.")
        return _wrong_method(request, response) if response.status_code == 405 else response

    return answer


def _wrong_method(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    refusal = problem(405, f"{request.method} is not among {response['Allow']}.")
    refusal["Allow"] = response["Allow"]
    return refusal
