"""The lane wrapper at a stable address: a lane fetches it, checks its hash, and runs it."""

import hashlib
from functools import cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import condition, require_safe

NAME = "lane.py"
FRESH_SECONDS = 300


@cache
def script() -> bytes:
    """Read once: a deployment replaces the process with the file."""
    return (settings.BASE_DIR / "workers" / NAME).read_bytes()


@cache
def digest() -> str:
    return hashlib.sha256(script()).hexdigest()


def _etag(_request: HttpRequest) -> str:
    return f'"{digest()}"'


@require_safe
@condition(etag_func=_etag)
def lane_script(_request: HttpRequest) -> HttpResponse:
    return _kept(HttpResponse(script(), content_type="text/x-python; charset=utf-8"))


@require_safe
@condition(etag_func=_etag)
def lane_digest(_request: HttpRequest) -> HttpResponse:
    """As `sha256sum --check` reads it."""
    return _kept(HttpResponse(f"{digest()}  {NAME}\n", content_type="text/plain; charset=utf-8"))


def _kept(answer: HttpResponse) -> HttpResponse:
    answer["Cache-Control"] = f"public, max-age={FRESH_SECONDS}"
    answer["Content-Disposition"] = f'inline; filename="{NAME}"'
    return answer
