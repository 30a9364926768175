"""The door that webhooks come in by: checked on the raw body, stored in one row, answered at once. A worker reads them later.

Nothing of a delivery is parsed before its signature is good. What is turned away leaves a number behind and no row of its own, and a
project that is not there answers like one whose secret was not met.
"""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import OperationalError
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.utils import timezone

from dashboard.api.problems import problem
from leaks.ingest import deliveries, refusals
from leaks.models import HookSecret, Project
from leaks.words import HookRefusal
from workers.send import hint_delivery

FORM = "application/x-www-form-urlencoded"
REFUSED = "No project of this address takes what is signed so."

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Provider:
    """`proof` finds the signature or token of a request; `good(secret, proof, body)` says in constant time whether it is."""

    name: str
    events: frozenset[str]
    event_header: str
    proof: Callable[[HttpRequest], str]
    good: Callable[[str, str, bytes], bool]
    delivery_id: Callable[[HttpRequest, bytes], str]


class Turned(Exception):
    """The request is answered with this."""

    def __init__(self, status: int, reason: HookRefusal, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.reason = reason


def take(request: HttpRequest, slug: str, provider: Provider) -> HttpResponse:
    try:
        return _take(request, slug, provider)
    except OperationalError:
        logger.exception("The database did not answer a webhook")
        return problem(503, "The database did not answer in time; send it again, nothing is counted twice.")


def _take(request: HttpRequest, slug: str, provider: Provider) -> HttpResponse:
    project = _project(slug)
    try:
        body = _body(request, project, provider)
        payload = _payload(request, body)
    except Turned as turned:
        if project is not None:
            refusals.count(project, provider.name, turned.reason)
        return problem(turned.status, str(turned))
    assert project is not None  # noqa: S101  an unknown one never gets past its body
    event = request.headers.get(provider.event_header, "")
    if event == "ping":
        return JsonResponse({"ping": "heard"})
    if event not in provider.events:
        refusals.count(project, provider.name, HookRefusal.IGNORED)
        return JsonResponse({"ignored": event[:60]}, status=202)
    return _store(project, provider, event, provider.delivery_id(request, body), payload)


def _store(project: Project, provider: Provider, event: str, delivery_id: str, payload: bytes) -> HttpResponse:
    stored = deliveries.store(project, provider.name, event, delivery_id, payload)
    if not stored.duplicate:
        hint_delivery(stored.pk)
    return JsonResponse({"stored": True, "duplicate": stored.duplicate}, status=202)


def _project(slug: str) -> Project | None:
    living = Q(ends_at=None) | Q(ends_at__gt=timezone.now())
    return Project.objects.filter(living, slug=slug).first()


# --- Before anything is believed -------------------------------------------------------------------------------------


def _body(request: HttpRequest, project: Project | None, provider: Provider) -> bytes:
    """The raw body, once it is known who sent it. Without a proof no byte of it is read."""
    proof = provider.proof(request)
    if not proof:
        raise Turned(401, HookRefusal.UNSIGNED, f"{REFUSED} The request is not signed.")
    body = _bounded(request)
    secrets = HookSecret.objects.filter(project=project, provider=provider.name).values_list("secret", flat=True)
    secret = secrets.first() if project is not None else None
    # Compared in any case, so that the time tells nothing.
    good = provider.good(secret or "", proof, body)
    if secret is None:
        raise Turned(401, HookRefusal.NO_SECRET, REFUSED)
    if not good:
        raise Turned(401, HookRefusal.FORGED, REFUSED)
    return body


def _bounded(request: HttpRequest) -> bytes:
    length, most = request.META.get("CONTENT_LENGTH") or "", settings.LEAKLEDGER_MAX_HOOK_BYTES
    if not length.isdecimal():
        raise Turned(411, HookRefusal.NO_LENGTH, "Send a Content-Length: a chunked body is not taken.")
    if int(length) > most:
        raise Turned(413, HookRefusal.TOO_LARGE, f"A webhook may have {most:,} bytes.")
    try:
        return request.body
    except RequestDataTooBig:
        raise Turned(413, HookRefusal.TOO_LARGE, f"A webhook may have {most:,} bytes.") from None
    except UnreadablePostError:
        raise Turned(400, HookRefusal.MALFORMED, "The body was cut on the way.") from None


def _payload(request: HttpRequest, body: bytes) -> bytes:
    """The JSON text. GitHub can send it as a form, whose field `payload` it is."""
    try:
        text = body if request.content_type != FORM else _form_field(body)
        parsed = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError, KeyError):
        raise Turned(400, HookRefusal.MALFORMED, "The body is no JSON.") from None
    if not isinstance(parsed, Mapping):
        raise Turned(400, HookRefusal.MALFORMED, "The body is no JSON object.")
    return text


def _form_field(body: bytes) -> bytes:
    return parse_qs(body.decode(), strict_parsing=True, max_num_fields=10)["payload"][0].encode()


def _refuse(word: str) -> None:
    raise ValueError(word)
