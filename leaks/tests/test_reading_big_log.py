"""A large log whose answer is known exactly, in several dresses."""

import pytest

from leaks.answers import answer
from leaks.own import Ownership
from leaks.parsing.dispatch import read
from leaks.rows.facts import LaneView, MergedClaim
from leaks.tests.big_log import BigLog, Shape
from leaks.verdict import judge

SHAPES = {
    "plain": Shape(blocks=3000, seed=2),
    "stamped": Shape(blocks=3000, seed=2, stamped=True),
    "gcc": Shape(blocks=1000, seed=2, style="gcc"),
    "ctest": Shape(blocks=600, seed=2, prefix="12: "),
    "ctest, many tests": Shape(blocks=600, seed=2, prefix="{process}: ", per_process=20),
    "compose": Shape(blocks=600, seed=2, prefix="svc-1  | "),
    "stamped mpi": Shape(blocks=600, seed=2, stamped=True, prefix="[1,0]<stderr>:"),
    "all distinct": Shape(blocks=800, distinct=800, depth=8, seed=4),
    "all distinct, stamped": Shape(blocks=800, distinct=800, depth=8, seed=4, stamped=True),
    "all distinct, gcc": Shape(blocks=800, distinct=800, depth=8, seed=4, style="gcc"),
    "all the same": Shape(blocks=500, distinct=1, seed=4),
    "nothing has a name": Shape(blocks=800, distinct=60, seed=4, unsymbolised=1.0),
    "errors mixed in": Shape(blocks=800, distinct=60, seed=4, errors=4),
    "errors mixed in, stamped gcc": Shape(blocks=800, distinct=60, seed=4, errors=4, style="gcc", stamped=True),
}


@pytest.fixture(params=list(SHAPES.values()), ids=list(SHAPES))
def log(request):
    return BigLog(request.param)


def test_every_record_byte_and_object_is_counted(log):
    evidence = read(log)
    truth, facts = log.truth, evidence.facts
    assert facts.findings == truth.blocks + truth.errors
    assert facts.totals is not None
    assert (facts.totals.bytes, facts.totals.objects, facts.totals.reconciled) == (truth.bytes, truth.objects, True)
    assert facts.lines == truth.lines
    leaks = [report for report in evidence.reports if report.tool == "lsan"]
    assert sorted((r.kind, r.count, r.bytes, r.objects) for r in leaks) == sorted(
        (kind, *sums) for (kind, _), sums in truth.stacks.items()
    )
    assert len({report.frames for report in leaks}) == len({stack for _, stack in truth.stacks})


def test_own_frames_are_those_with_a_source_of_the_project(log):
    evidence = read(log)
    judgement = judge(evidence.facts, MergedClaim(exit_code=1), LaneView())
    found = answer("big.log", evidence, judgement, Ownership(), frames=False)
    leaks = [row for row in found["reports"] if row["tool"] == "lsan"]
    assert sum(row["count"] for row in leaks if row["own_frame"]) == log.truth.own_blocks


def test_the_same_shape_gives_the_same_bytes():
    assert b"".join(BigLog(Shape(blocks=50))) == b"".join(BigLog(Shape(blocks=50)))
