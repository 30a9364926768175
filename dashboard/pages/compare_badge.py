"""Badges of comparisons: of a pull request, and of any two sides. Tokens as for the badges of lanes."""

from typing import NamedTuple

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from dashboard import params_leaks as params
from dashboard.access import project_with_badge
from dashboard.exports import badge, compare_badge
from dashboard.pages.badge import IMAGE, LONGEST_TOKEN, kept
from leaks.models import Project
from leaks.queries.compare import compare_page
from leaks.queries.pull_page import pull_page
from leaks.rows.compare_pages import ComparePage, Counts, LaneAnswer
from leaks.words import Comparison


class Shown(NamedTuple):
    label: str
    word: str
    message: str
    where: str
    page: str
    grew: int = 0


@require_safe
def pull_svg(request: HttpRequest, slug: str, number: int) -> HttpResponseBase:
    project = _project(request, slug)
    return _svg(request, project, _of_pull(request, project, number) if project else None)


@require_safe
def pull_json(request: HttpRequest, slug: str, number: int) -> HttpResponseBase:
    project = _project(request, slug)
    return _json(request, project, _of_pull(request, project, number) if project else None)


@require_safe
def compare_svg(request: HttpRequest, slug: str, head: str) -> HttpResponseBase:
    """`?base=&lane=` as on the page."""
    project = _project(request, slug)
    return _svg(request, project, _of_sides(request, project, head) if project else None)


def _project(request: HttpRequest, slug: str) -> Project | None:
    return project_with_badge(request, slug, request.GET.get("token", "")[:LONGEST_TOKEN])


def _of_pull(request: HttpRequest, project: Project, number: int) -> Shown | None:
    rows = pull_page(project, number)
    if not rows.sha:
        return None
    address = request.build_absolute_uri(reverse("pull", args=[project.slug, number]))
    return _shown(f"leaks of #{number}", rows.word, _total(rows.lanes), f" ({rows.sha[:9]})", address)


def _of_sides(request: HttpRequest, project: Project, head: str) -> Shown | None:
    given = params.compare_params(request.GET)
    rows = compare_page(project, given.base, head, given.lane)
    ref = rows.head.ref if rows.head else rows.lanes[0].head if rows.lanes else None
    if ref is None:
        return None
    address = request.build_absolute_uri(f"{reverse('compare', args=[project.slug])}?head={ref.public_id}")
    # Several lanes and none chosen: the badge must not speak for them all.
    word = rows.result or Comparison.NOT_COMPARABLE.value
    return _shown(_label(rows, ref.lane), word, rows.counts, f" ({ref.sha[:9]})", address)


def _label(rows: ComparePage, lane: str) -> str:
    return "leaks" if rows.lanes else f"leaks, {lane}"


def _total(lanes: tuple[LaneAnswer, ...]) -> Counts:
    counts = [lane.counts for lane in lanes]
    return Counts(
        introduced=sum(one.introduced for one in counts),
        other_bytes=sum(one.other_bytes for one in counts),
        fixed=sum(one.fixed for one in counts),
        identical=sum(one.identical for one in counts),
        grew=sum(one.grew for one in counts),
    )


def _shown(label: str, word: str, counts: Counts, where: str, address: str) -> Shown:
    message = compare_badge.message_of(word, counts.introduced, counts.fixed, counts.pre_existing, counts.grew)
    return Shown(label, word, message, where, address, counts.grew)


def _svg(request: HttpRequest, project: Project | None, shown: Shown | None) -> HttpResponseBase:
    if shown is None:
        return kept(request, HttpResponse(badge.unknown(), content_type=IMAGE, status=404), None)
    drawn = compare_badge.svg(shown.label, shown.word, shown.message, shown.where, shown.grew)
    return kept(request, HttpResponse(drawn, content_type=IMAGE), project)


def _json(request: HttpRequest, project: Project | None, shown: Shown | None) -> HttpResponseBase:
    if shown is None:
        return kept(request, JsonResponse({"schemaVersion": 1, "message": badge.UNKNOWN}, status=404), None)
    content = compare_badge.document(shown.label, shown.word, shown.message, shown.page, shown.grew)
    return kept(request, JsonResponse(content), project)
