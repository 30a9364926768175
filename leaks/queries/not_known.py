"""What nobody measured about a signature: lines as good as any other, for what was not measured must not be argued."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from leaks.models import LaneOutcome, Signature
from leaks.rows.leak_pages import HistoryPoint
from leaks.rows.signature_parts import NotKnown


class Asked(NamedTuple):
    one: Signature
    history: Sequence[HistoryPoint]
    outcomes: Sequence[LaneOutcome]
    tests: Sequence[str]


class Line(NamedTuple):
    """`holds`: whether it is unknown."""

    holds: Callable[[Asked], bool]
    row: NotKnown


def _is_leak(asked: Asked) -> bool:
    return asked.one.family == "leak"


def _works(asked: Asked) -> int:
    """Different amounts of work among the runs that show it."""
    seen = {point.outcome for point in asked.history if point.seen}
    return len({str(sorted(one.workload.items())) for one in asked.outcomes if one.workload and one.public_id in seen})


LINES = (
    Line(
        lambda asked: _is_leak(asked) and _works(asked) < 2,
        NotKnown(
            "growth: not measured",
            "Run the lane with different amounts of work, and say how much with the upload (workload: iterations=100).",
            "growth",
        ),
    ),
    Line(
        _is_leak,
        NotKnown(
            "ordering: not measured",
            "Whether the block is still reachable until exit, or freed later than the leak check, no leak check tells: it needs a run of "
            "its own (a destructor with a trace, or leak_check_at_exit=0 and a check before exit).",
        ),
    ),
    Line(
        lambda asked: not asked.tests,
        NotKnown("test: the log names none", "A runner that prints the names of tests as it starts them tells which one triggers it."),
    ),
    Line(
        lambda _: True,
        NotKnown("command: not known", "The upload says with which options the lane ran, and not with which command."),
    ),
    Line(
        lambda _: True,
        NotKnown("compiler: not known", "Neither logs nor uploads name it; a lane for each compiler tells them apart."),
    ),
)  # fmt: skip


def not_known(
    one: Signature, history: Sequence[HistoryPoint], outcomes: Sequence[LaneOutcome], tests: Sequence[str]
) -> tuple[NotKnown, ...]:
    asked = Asked(one, history, outcomes, tests)
    return tuple(line.row for line in LINES if line.holds(asked))
