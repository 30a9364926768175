"""A large log whose answer is known exactly, in several dresses."""

import pytest

from leaks.parsing.dispatch import read
from leaks.tests.big_log import BigLog, Shape


@pytest.mark.parametrize(
    "shape",
    [
        Shape(blocks=3000, seed=2),
        Shape(blocks=3000, seed=2, stamped=True),
        Shape(blocks=600, seed=2, prefix="12: "),
        Shape(blocks=600, seed=2, stamped=True, prefix="[1,0]<stderr>:"),
        Shape(blocks=800, distinct=800, depth=8, seed=4),
        Shape(blocks=500, distinct=1, seed=4),
    ],
    ids=["plain", "stamped", "ctest", "stamped mpi", "all distinct", "all the same"],
)
def test_every_record_byte_and_object_is_counted(shape):
    log = BigLog(shape)
    evidence = read(log)
    truth, facts = log.truth, evidence.facts
    assert facts.findings == truth.blocks
    assert facts.totals is not None
    assert (facts.totals.bytes, facts.totals.objects, facts.totals.reconciled) == (truth.bytes, truth.objects, True)
    assert facts.lines == truth.lines
    assert sorted((r.kind, r.count, r.bytes, r.objects) for r in evidence.reports) == sorted(
        (kind, *sums) for (kind, _), sums in truth.stacks.items()
    )


def test_the_same_shape_gives_the_same_bytes():
    assert b"".join(BigLog(Shape(blocks=50))) == b"".join(BigLog(Shape(blocks=50)))
