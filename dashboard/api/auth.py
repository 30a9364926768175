"""How a request to the API says who it is: a token, else the session of a signed-in person, else nobody."""

from typing import Any

from django.http import HttpRequest
from ninja.security import HttpBearer

from dashboard.access import token_of, upload_token
from leaks.models import Token


class Uploads(HttpBearer):
    """A token of kind upload."""

    def __call__(self, request: HttpRequest) -> Token:
        return upload_token(request)

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        raise NotImplementedError


class Reads(HttpBearer):
    """Optional. A token that is shown must be good: falling back to what strangers see would hide its end."""

    def __call__(self, request: HttpRequest) -> Any:
        return token_of(request) if "Authorization" in request.headers else request.user or "nobody"

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        raise NotImplementedError
