"""What the CI claimed against what was proved, and why there was no verdict: one grouping, so that the figures agree with each other."""

from collections import Counter
from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

from django.db.models import Count
from django.db.models.functions import TruncDate

from leaks.models import Project
from leaks.queries import outcome_lists
from leaks.rows.lane_pages import Matrix, MatrixCell, MatrixRow, OutcomeFilter, ReasonLine
from leaks.words import Verdict

CLAIMS_SHOWN = 12

# What the CI claimed and what was proved, where the two cannot both be true. "" is a CI that said nothing.
LIES = {
    "success": frozenset(Verdict) - {Verdict.CLEAN},
    "failure": frozenset({Verdict.CLEAN, Verdict.NO_VERDICT}),
}


class Counted(NamedTuple):
    """How many outcomes of a day share claim, verdict and reason."""

    day: date
    claimed: str | None
    verdict: str
    reason: str
    n: int


def counted(project: Project, chosen: OutcomeFilter) -> list[Counted]:
    """Bounded by the window and the words."""
    rows = outcome_lists.matching(project, chosen).filter(withdrawn_at=None)
    grouped = rows.order_by().values_list(TruncDate("happened_at"), "conclusion", "verdict", "reason")
    return [Counted(*row) for row in grouped.annotate(n=Count("pk"))]


def reason_lines(reasons: Counter[str]) -> tuple[ReasonLine, ...]:
    of = reasons.total()
    ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    return tuple(ReasonLine(reason, n, of) for reason, n in ordered)


def matrix(rows: Iterable[Counted]) -> Matrix:
    """Rows by number; claims beyond the first dozen are only counted together."""
    numbers: Counter[tuple[str, str]] = Counter()
    for row in rows:
        numbers[row.claimed or "", row.verdict] += row.n
    by_claim: Counter[str] = Counter()
    for (claimed, _), n in numbers.items():
        by_claim[claimed] += n
    shown = sorted(by_claim.items(), key=lambda item: (-item[1], item[0]))[:CLAIMS_SHOWN]
    drawn = tuple(_row(claimed, numbers, n) for claimed, n in shown)
    lies = sum(cell.n for row in drawn for cell in row.cells if cell.lie)
    total = numbers.total()
    return Matrix(tuple(Verdict), drawn, lies, total, total - sum(n for _, n in shown))


def _row(claimed: str, numbers: Counter[tuple[str, str]], total: int) -> MatrixRow:
    lying = LIES.get(claimed, frozenset())
    cells = (MatrixCell(claimed, word, numbers[claimed, word], word in lying) for word in Verdict)
    return MatrixRow(claimed, claimed or "nothing said", total, tuple(cells))
