"""`POST /hooks/gitlab/<project>`: GitLab sends a shared secret in clear, of which only a hash is kept here."""

import hashlib
import hmac

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from dashboard.hooks.door import Provider, take
from leaks.providers import gitlab as provider


@csrf_exempt
@require_POST
def gitlab(request: HttpRequest, slug: str) -> HttpResponse:
    return take(request, slug, GITLAB)


def _proof(request: HttpRequest) -> str:
    return request.headers.get("X-Gitlab-Token", "")


def is_known(secret: str, token: str, _body: bytes) -> bool:
    return hmac.compare_digest(secret.encode(), provider.kept(token).encode())


def _delivery_id(request: HttpRequest, body: bytes) -> str:
    """All events of one request of GitLab may share their UUID, so the content belongs to it."""
    uuid = request.headers.get("X-Gitlab-Event-UUID", "")[:100]
    digest = hashlib.sha256(body).hexdigest()
    return f"{uuid}:{digest[:32]}" if uuid else digest


GITLAB = Provider(provider.PROVIDER, provider.EVENTS, "X-Gitlab-Event", _proof, is_known, _delivery_id)
