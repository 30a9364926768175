"""Two people, or two workers, at one suppression at the same moment: really two connections, on SQLite and on PostgreSQL."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from pytest_django import DjangoDbBlocker

from leaks import journal, models, review, review_clock
from leaks.errors import BadSubmission, Conflict
from leaks.tests.reviewing import Reviewed, make_reviewed, today
from workers.tests import farm as farming
from workers.tests.farm import Farm

pytestmark = [pytest.mark.processes, pytest.mark.postgres, pytest.mark.redis]


# One for all tests of a database: to make one takes longer than they do.
@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def farm(request: pytest.FixtureRequest, django_db_blocker: DjangoDbBlocker) -> Iterator[Farm]:
    with django_db_blocker.unblock():
        if request.param == "sqlite":
            with farming.embedded() as made:
                yield made
        else:
            urls = request.getfixturevalue("postgres_url"), request.getfixturevalue("redis_url")
            with farming.team(*urls) as made:
                yield made


@pytest.fixture(scope="module")
def cast(farm: Farm) -> Reviewed:
    return make_reviewed()


@pytest.fixture
def made(cast: Reviewed) -> Reviewed:
    models.Suppression.objects.all().delete()
    return cast


def at_once(farm: Farm, *steps: Callable[[], object]) -> list[Exception | None]:
    """Each step on a connection of its own; what hindered each."""
    start, ends = threading.Barrier(len(steps)), dict[int, Exception | None]()

    def run(number: int, step: Callable[[], object]) -> None:
        with farming.connected(farm.database_url):
            start.wait(20)
            try:
                step()
                ends[number] = None
            except Exception as error:  # noqa: BLE001 - the test looks at it
                ends[number] = error

    threads = [threading.Thread(target=run, args=(number, step)) for number, step in enumerate(steps)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return [ends[number] for number in range(len(steps))]


def test_of_two_approvers_one_approves_and_the_other_is_told(farm: Farm, made: Reviewed) -> None:
    one = made.propose()
    ends = at_once(farm, lambda: made.approve(one, by="ann"), lambda: made.approve(one, by="bea"))
    (told,) = [end for end in ends if end is not None]
    assert isinstance(told, Conflict)
    assert "has approved it" in str(told)
    assert made.decisions(one) == ["proposed", "approved"]
    assert journal.verify(made.project) == []


def test_an_approval_and_a_rejection_exclude_each_other(farm: Farm, made: Reviewed) -> None:
    one = made.propose()
    reject = lambda: review.reject(one, made.people["bea"], reason="No.", revision=1)  # noqa: E731 - beside its twin
    ends = at_once(farm, lambda: made.approve(one, by="ann"), reject)
    assert sum(end is None for end in ends) == 1
    assert [type(end) for end in ends if end is not None] == [Conflict]
    assert len(made.decisions(one)) == 2


def test_nothing_is_approved_that_was_rewritten_in_the_same_moment(farm: Farm, made: Reviewed) -> None:
    one = made.propose()
    wanted = made.proposal(rule="leak:Vocab::load")
    edit = lambda: review.edit(one, made.people["tom"], wanted, revision=1)  # noqa: E731 - beside its twin
    ends = at_once(farm, lambda: made.approve(one, by="ann"), edit)
    assert [type(end) for end in ends if end is not None] == [Conflict]
    one.refresh_from_db()
    assert (one.state, one.rule) in {("approved", "leak:engine::Pool::get"), ("proposed", "leak:Vocab::load")}


def test_the_same_rule_is_proposed_once(farm: Farm, made: Reviewed) -> None:
    ends = at_once(farm, lambda: made.propose(by="tom"), lambda: made.propose(by="bea"))
    (told,) = [end for end in ends if end is not None]
    assert isinstance(told, BadSubmission)
    assert models.Suppression.objects.count() == 1


def test_two_workers_end_it_once(farm: Farm, made: Reviewed) -> None:
    one = made.approved()
    models.Suppression.objects.update(ends_on=today() - timedelta(days=1))
    assert at_once(farm, review_clock.tend_suppressions, review_clock.tend_suppressions) == [None, None]
    assert made.decisions(one) == ["proposed", "approved", "expired"]
    assert journal.verify(made.project) == []
