"""Names for frames that a log left without: another log of the project printed the same place of the same build with its name.

Only logs of the project are asked: what another project calls its functions is nobody's business here. What is stored stays as it was
printed; the names are lent to whoever asks for an identity.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from django.db.models import Min, QuerySet

from leaks.evidence import Frame as Printed
from leaks.evidence import Report as PrintedReport
from leaks.models import Frame, Project, Report, ReportStack, StackFrame
from leaks.stored_reports import printed
from leaks.symbols import Place, Symbols, missing, resolved

AT_ONCE = 400  # offsets in one query
MOST_PLACES = 20_000  # looked up for one log; beyond them a frame stays without a name


class ProjectSymbols:
    """What the logs of a project know of the places of their builds. Each place is looked up once."""

    def __init__(self, project: Project) -> None:
        self._project_id = project.pk
        self._symbols = Symbols()
        self._asked: set[Place] = set()

    def lend(self, reports: Sequence[PrintedReport]) -> tuple[PrintedReport, ...]:
        """The reports with the names that they print themselves or that stored ones know."""
        self._look_up(sorted(missing(reports) - self._asked)[:MOST_PLACES])
        return resolved(reports, self._symbols)

    def _look_up(self, places: Sequence[Place]) -> None:
        self._asked.update(places)
        for start in range(0, len(places), AT_ONCE):
            for frames in _named_stacks(self._project_id, places[start : start + AT_ONCE]):
                self._symbols.learn(frames)


def _named_stacks(project_id: int, places: Sequence[Place]) -> Iterator[tuple[Printed, ...]]:
    """Pieces of stacks of the project in which these places have names: what is inlined at a place stands there together."""
    builds, offsets = {build for build, _ in places}, {offset for _, offset in places}
    there = Frame.objects.filter(build_id__in=builds, offset__in=offsets).exclude(build_id="")
    pieces: dict[str, list[Printed]] = defaultdict(list)
    rows = StackFrame.objects.filter(stack__hash__in=_shown_in(project_id, there), frame__in=there)
    for row in rows.select_related("frame", "stack").order_by("stack__hash", "position"):
        pieces[row.stack.hash].append(printed(row.frame))
    return (tuple(frames) for frames in pieces.values())


def _shown_in(project_id: int, frames: QuerySet[Frame]) -> set[str]:
    """One stack for each frame that has a name, the first by content: the order of arrival must not matter."""
    named = frames.exclude(function="").order_by().values("pk")
    primary = Report.objects.filter(key__project=project_id, stack__places__frame__in=named)
    other = ReportStack.objects.filter(report__key__project=project_id, stack__places__frame__in=named)
    return {*_first(primary), *_first(other)}


def _first(rows: "QuerySet[Report] | QuerySet[ReportStack]") -> Iterable[str]:
    by_frame = rows.values("stack__places__frame").annotate(first=Min("stack__hash")).order_by()
    return by_frame.values_list("first", flat=True)
