"""The collector of cycles rests while a log is read, and only then."""

import gc
import weakref

import pytest

from leaks import bulk
from leaks.bulk import no_cycles


@pytest.fixture(autouse=True)
def collector():
    gc.enable()
    yield
    gc.enable()


def test_it_rests_inside_and_runs_again_behind():
    with no_cycles():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_runs_again_after_an_error():
    with pytest.raises(ValueError, match="cut"), no_cycles():
        raise ValueError("cut")
    assert gc.isenabled()


def test_it_stays_off_where_it_was_off():
    gc.disable()
    with no_cycles():
        assert not gc.isenabled()
    assert not gc.isenabled()


def test_one_inside_another_ends_with_the_outer_one():
    with no_cycles():
        with no_cycles():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_was_made_is_old_afterwards():
    with no_cycles():
        made: list[list[int]] = [[] for _ in range(10_000)]
    young = gc.get_objects(generation=0) + gc.get_objects(generation=1)
    assert not {id(one) for one in made} & {id(one) for one in young}
    assert gc.get_freeze_count() == 0


def test_what_somebody_froze_stays_frozen():
    gc.freeze()
    try:
        with no_cycles():
            pass
        assert gc.get_freeze_count()
    finally:
        gc.unfreeze()


class Knot:
    """An object that refers to itself."""

    def __init__(self) -> None:
        self.itself = self


def test_cycles_that_work_leaves_behind_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "MOST_UNSEEN", 500)
    left = []
    for _ in range(20):
        with no_cycles():
            knots = [Knot() for _ in range(100)]
            left += [weakref.ref(knot) for knot in knots]
            del knots
    assert sum(one() is not None for one in left) <= 1000
