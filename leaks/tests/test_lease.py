from datetime import timedelta

import pytest
from django.db.models.functions import Now
from pytest_django import Settings

from leaks.errors import LostLease
from leaks.ingest import lease
from leaks.ingest.digest import retry_log
from leaks.models import Log, StaleMark
from leaks.tests.ledger import log_text, only_log, submit
from leaks.words import LogState


@pytest.fixture
def log(db: None) -> Log:
    submit(1, log_text())
    StaleMark.objects.all().delete()
    return only_log()


def run_out(log: Log) -> None:
    """Let the lease of a log end as if its reader were gone."""
    Log.objects.filter(pk=log.pk).update(lease_until=Now() - timedelta(seconds=1))


def test_who_takes_a_log_counts_the_attempt_before_any_work(log: Log) -> None:
    taken = lease.take(log.pk)
    assert taken is not None
    log.refresh_from_db()
    assert (log.state, log.attempts, log.lease_token) == (LogState.READING, 1, taken.token)
    assert Log.objects.filter(pk=log.pk, lease_until__gt=Now() + timedelta(seconds=lease.seconds() - 5)).exists()


def test_a_taken_log_is_not_taken_again(log: Log) -> None:
    assert lease.take(log.pk)
    assert lease.take(log.pk) is None
    log.refresh_from_db()
    assert log.attempts == 1


def test_a_log_whose_reader_fell_silent_is_taken_over(log: Log) -> None:
    first = lease.take(log.pk)
    assert first
    run_out(log)
    second = lease.take(log.pk)
    assert second
    assert second.token != first.token
    assert second.attempts == 2


@pytest.mark.parametrize("state", [LogState.DIGESTED, LogState.REFUSED, LogState.FAILED])
def test_a_log_that_is_done_is_not_taken(log: Log, state: LogState) -> None:
    Log.objects.filter(pk=log.pk).update(state=state)
    assert lease.take(log.pk) is None


def test_who_lost_the_lease_can_neither_renew_nor_end_it(log: Log, settings: Settings) -> None:
    settings.LEAKLEDGER_LEASE_SECONDS = 0
    first = lease.take(log.pk)
    assert first
    run_out(log)
    second = lease.take(log.pk)
    for end in (lambda: first.renew(progress=1), first.finish, lambda: first.back_off("x"), lambda: first.refuse("x")):
        with pytest.raises(LostLease):
            end()
    log.refresh_from_db()
    assert second
    assert (log.state, log.lease_token) == (LogState.READING, second.token)


def test_renewing_moves_the_end_and_tells_the_progress(log: Log, settings: Settings) -> None:
    taken = lease.take(log.pk)
    assert taken
    taken.renew(progress=40)  # too soon: one query in a quarter of the lease is enough
    log.refresh_from_db()
    assert log.progress == 0
    until = log.lease_until
    taken.renewed -= lease.seconds()
    taken.renew(progress=41)
    log.refresh_from_db()
    assert log.progress == 41
    assert until
    assert log.lease_until
    assert log.lease_until >= until


def test_a_failed_attempt_rests_before_the_next_one(log: Log) -> None:
    taken = lease.take(log.pk)
    assert taken
    taken.back_off("ValueError: no\0pe")
    log.refresh_from_db()
    assert (log.state, log.attempts, log.lease_until) == (LogState.RECEIVED, 1, None)
    assert log.error == "ValueError: no\N{REPLACEMENT CHARACTER}pe"
    assert lease.take(log.pk) is None
    Log.objects.filter(pk=log.pk).update(retry_at=Now())
    assert lease.take(log.pk)


def test_each_rest_is_longer_and_none_is_longer_than_a_quarter_of_an_hour() -> None:
    rests = [lease.pause(attempts) for attempts in range(1, lease.MOST_ATTEMPTS)]
    assert rests == sorted(rests)
    assert 3 < rests[0] < 7
    assert max(lease.pause(9) for _ in range(100)) <= 900 * 1.25


def test_after_five_attempts_it_has_failed(log: Log) -> None:
    for attempt in range(1, 6):
        taken = lease.take(log.pk)
        assert taken, attempt
        taken.back_off("ValueError: odd")
        Log.objects.filter(pk=log.pk).update(retry_at=None)
    log.refresh_from_db()
    assert (log.state, log.attempts, log.error) == (LogState.FAILED, 5, "ValueError: odd")
    assert StaleMark.objects.filter(kind="outcome", subject=log.part.outcome_id).exists()


def test_a_log_that_ended_its_reader_five_times_is_given_up(log: Log) -> None:
    for _ in range(5):
        assert lease.take(log.pk)
        run_out(log)
    assert lease.take(log.pk) is None
    assert lease.fail_exhausted() == 1
    assert lease.fail_exhausted() == 0
    log.refresh_from_db()
    assert (log.state, log.error, log.lease_token) == (LogState.FAILED, lease.ENDED_ITS_READER, "")
    assert StaleMark.objects.filter(kind="outcome", subject=log.part.outcome_id).exists()


def test_a_fifth_reader_that_is_still_at_work_is_left_alone(log: Log) -> None:
    Log.objects.filter(pk=log.pk).update(attempts=4)
    assert lease.take(log.pk)
    assert lease.fail_exhausted() == 0


def test_a_given_up_log_waits_again_when_a_person_says_so(log: Log) -> None:
    assert not retry_log(log)
    Log.objects.filter(pk=log.pk).update(state=LogState.FAILED, attempts=5, error="odd")
    assert retry_log(log)
    log.refresh_from_db()
    assert (log.state, log.attempts, log.error) == (LogState.RECEIVED, 0, "")
    assert lease.take(log.pk)
