"""Badges for a README: an image and its JSON twin, at an address that may carry a token of its own."""

import hashlib
from datetime import datetime

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from dashboard.access import project_with_badge
from dashboard.exports import badge
from leaks.models import Project
from leaks.queries.lane_now import lanes_now
from leaks.rows.lane_now import LaneNow

FRESH_SECONDS = 60
IMAGE = "image/svg+xml; charset=utf-8"
LONGEST_TOKEN = 200


@require_safe
def badge_svg(request: HttpRequest, slug: str, name: str) -> HttpResponseBase:
    project, now = _found(request, slug, name)
    if project is None or now is None:
        return kept(request, HttpResponse(badge.unknown(), content_type=IMAGE, status=404), None)
    return kept(request, HttpResponse(badge.svg(now, _minute()), content_type=IMAGE), project)


@require_safe
def badge_json(request: HttpRequest, slug: str, name: str) -> HttpResponseBase:
    project, now = _found(request, slug, name)
    if project is None or now is None:
        return kept(request, JsonResponse({"schemaVersion": 1, "message": badge.UNKNOWN}, status=404), None)
    page = request.build_absolute_uri(reverse("lane", args=[slug, now.lane]))
    content = badge.document(now, _minute(), page)
    return kept(request, JsonResponse(content, encoder=DjangoJSONEncoder), project)


def _found(request: HttpRequest, slug: str, name: str) -> tuple[Project | None, LaneNow | None]:
    project = project_with_badge(request, slug, request.GET.get("token", "")[:LONGEST_TOKEN])
    rows = lanes_now(project, name) if project else ()
    return project, rows[0] if rows else None


def _minute() -> datetime:
    """Within a minute the same badge is the same bytes."""
    return timezone.now().replace(second=0, microsecond=0)


def kept(request: HttpRequest, answer: HttpResponse, project: Project | None) -> HttpResponseBase:
    """A private badge stays out of the caches that others share."""
    whose = "public" if project is not None and project.public else "private"
    answer["Cache-Control"] = f"{whose}, max-age={FRESH_SECONDS}"
    etag = f'"{hashlib.sha256(answer.content).hexdigest()[:32]}"'
    answer["ETag"] = etag
    return answer if project is None else get_conditional_response(request, etag=etag, response=answer) or answer
