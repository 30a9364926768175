"""How a request to the API says who it is: a token, else the session of a signed-in person, else nobody."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from ninja.security import HttpBearer
from ninja.utils import check_csrf

from dashboard.access import TokenRefused, token_of, upload_token
from leaks.models import Token


class Bearer(HttpBearer):
    """For the API's description a bearer; who asks is told by `__call__`, which reads the header as the rest of the dashboard does."""

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        """Ninja's own way in, which `__call__` of each class replaces."""
        raise NotImplementedError


class Uploads(Bearer):
    """A token of kind upload."""

    def __call__(self, request: HttpRequest) -> Token:
        return upload_token(request)


class Reads(Bearer):
    """Optional. A token that is shown must be good: falling back to what strangers see would hide its end."""

    def __call__(self, request: HttpRequest) -> Any:
        return token_of(request) if "Authorization" in request.headers else request.user or "nobody"


class People(Bearer):
    """A person who is signed in: decisions are people's. A form of another site must not decide in their name."""

    def __call__(self, request: HttpRequest) -> Any:
        if "Authorization" in request.headers:
            token_of(request)
            raise PermissionDenied("A token decides nothing: this needs a person who is signed in.")
        if not request.user.is_authenticated:
            raise TokenRefused("This needs a person who is signed in, by the session of the browser.")
        if check_csrf(request) is not None:
            raise PermissionDenied("Send the CSRF token of the session in the header X-CSRFToken.")
        return request.user
