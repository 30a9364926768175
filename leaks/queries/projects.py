"""The list of projects, and what the header of every page of a project shows."""

from collections import Counter
from collections.abc import Iterable
from datetime import date, timedelta
from typing import NamedTuple

from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from leaks.folding import HAS_VERDICT
from leaks.models import LaneDay, Project, Signature
from leaks.queries.rate_rows import rate_row
from leaks.rows.pages import ProjectCard, ProjectLine
from leaks.words import SignatureState

# The switch in the header is a short cut, not the list: the list is the home page.
SWITCH_LENGTH = 20
CARDS = 100
CARD_DAYS = 30


class SignatureCounts(NamedTuple):
    all: int
    untriaged: int


def lines(readable: QuerySet[Project]) -> tuple[ProjectLine, ...]:
    """The switch of the header."""
    projects = readable.order_by("name", "slug")[:SWITCH_LENGTH]
    return tuple(ProjectLine(project.slug, project.name, mark_of(project)) for project in projects)


def signature_counts(project: Project) -> SignatureCounts:
    """Signatures that stand for themselves: what was merged into another one is counted there."""
    alone = Signature.objects.filter(project=project, merged_into=None, gone_at=None)
    untriaged = Count("pk", filter=Q(state=SignatureState.UNTRIAGED))
    return SignatureCounts(**alone.aggregate(all=Count("pk"), untriaged=untriaged))


def cards(readable: QuerySet[Project], today: date) -> tuple[ProjectCard, ...]:
    """The projects of the home page."""
    projects = list(_counted(readable).order_by("name", "slug")[:CARDS])
    first = today - timedelta(days=CARD_DAYS - 1)
    proved = _proved_by_project([project.pk for project in projects], first)
    return tuple(_card(project, *proved[project.pk]) for project in projects)


def mark_of(project: Project) -> str:
    """What a reader must know before the first number: invented data, or a place that will be deleted."""
    if project.ends_at is not None:
        return "scratch"
    return "sample" if project.sample_note else ""


def _counted(readable: QuerySet[Project]) -> QuerySet[Project]:
    # Subqueries, since two joins would multiply each other's counts.
    signatures = (
        Signature.objects.filter(project=OuterRef("pk"), merged_into=None, gone_at=None).order_by().values("project")
    )
    return readable.annotate(
        lane_count=Count("lanes", distinct=True),
        signature_count=Coalesce(Subquery(signatures.annotate(n=Count("pk")).values("n")), 0),
        last_day=Max("lanes__days__day"),
    )


def _proved_by_project(ids: Iterable[int], first: date) -> dict[int, tuple[int, int]]:
    """Project -> (outcomes with a verdict, all outcomes) since that day."""
    proved: Counter[int] = Counter()
    outcomes: Counter[int] = Counter()
    days = LaneDay.objects.filter(lane__project__in=ids, day__gte=first)
    for project, verdicts, number in days.order_by().values_list("lane__project", "verdicts", "outcomes"):
        proved[project] += sum(verdicts.get(word, 0) for word in HAS_VERDICT)
        outcomes[project] += number
    return {project: (proved[project], outcomes[project]) for project in ids}


def _card(project: Project, proved: int, outcomes: int) -> ProjectCard:
    return ProjectCard(
        slug=project.slug,
        name=project.name,
        mark=mark_of(project),
        note=project.sample_note,
        ends_at=project.ends_at,
        lanes=getattr(project, "lane_count", 0),
        signatures=getattr(project, "signature_count", 0),
        proved=rate_row(proved, outcomes, "with a verdict"),
        days=CARD_DAYS,
        last_day=getattr(project, "last_day", None),
    )
