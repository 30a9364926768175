"""What a signature is found by: the tools and tests of all that showed it, however many there are and whoever came first."""

from datetime import timedelta
from itertools import permutations

import pytest

from leaks import marks
from leaks.models import LaneOutcome, Signature
from leaks.queries.signatures import matching
from leaks.tests.ledger import MORNING, outcome, project, settle, submit

pytestmark = pytest.mark.django_db

LONG = 101  # more outcomes than were once looked at


def log(test: str) -> str:
    return (
        f"[==========] Running 1 test from 1 test suite.\n[ RUN      ] Pool.{test}\n"
        "/src/engine/pool.cpp:12:5: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'\n"
        "    #0 0x55d in engine::Pool::get /src/engine/pool.cpp:12\n\n"
        f"[       OK ] Pool.{test} (0 ms)\n[==========] 1 test from 1 test suite ran. (0 ms total)\n[  PASSED  ] 1 test.\n"
    )


def named() -> list[str]:
    return [line for line in Signature.objects.get().seen_with.split("\n") if line.startswith("test:")]


@pytest.mark.parametrize("order", list(permutations((1, 2, 3))))
def test_the_order_of_arrival_plays_no_part(order) -> None:
    for number in order:
        submit(number, log(f"Of{number}"))
        settle()
    assert named() == ["test:pool.of1", "test:pool.of2", "test:pool.of3"]


def test_of_a_long_history_a_run_from_the_midst_of_it_that_comes_last_is_told_too() -> None:
    for number in range(1, LONG + 1):
        submit(number, log("Always"))
    settle()
    submit(LONG + 1, log("Once"), started_at=MORNING + timedelta(hours=LONG // 2, minutes=30))
    settle()
    assert Signature.objects.get().seen_outcomes == LONG + 1
    assert named() == ["test:pool.always", "test:pool.once"]
    assert matching(project(), "test:Pool.Once tool:ubsan").count() == 1


def test_what_only_a_withdrawn_run_named_is_forgotten() -> None:
    submit(1, log("Kept"))
    submit(2, log("Gone"))
    settle()
    LaneOutcome.objects.filter(pk=outcome(2).pk).update(withdrawn_at=MORNING)
    marks.mark([marks.outcome(outcome(2).pk)])
    settle()
    assert named() == ["test:pool.kept"]
