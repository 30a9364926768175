"""`POST /hooks/github/<project>`: GitHub signs the raw body with HMAC-SHA256 (docs.github.com, "Validating webhook deliveries")."""

import hmac

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from dashboard.hooks.door import Provider, take
from leaks.providers import github as provider


@csrf_exempt
@require_POST
def github(request: HttpRequest, slug: str) -> HttpResponse:
    return take(request, slug, GITHUB)


def _proof(request: HttpRequest) -> str:
    return request.headers.get("X-Hub-Signature-256", "")


def is_signed(secret: str, signature: str, body: bytes) -> bool:
    expected = "sha256=" + hmac.digest(secret.encode(), body, "sha256").hex()
    # As bytes: of two texts with a letter beyond ASCII compare_digest raises.
    return hmac.compare_digest(expected.encode(), signature.encode("utf-8", "surrogateescape"))


def _delivery_id(request: HttpRequest, _body: bytes) -> str:
    return request.headers.get("X-GitHub-Delivery", "")


GITHUB = Provider(provider.PROVIDER, provider.EVENTS, "X-GitHub-Event", _proof, is_signed, _delivery_id)
