import gzip
import io
from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db import OperationalError
from django.db.models import F
from django.db.models.functions import Now
from pytest_django import Settings

from leaks import blobs
from leaks.errors import PermanentError, TooLarge, Unreadable
from leaks.ingest import digest as digesting
from leaks.ingest import lease
from leaks.ingest.digest import digest, judge_outcome
from leaks.models import Log, Part, Report, Signature, SignatureKey, StaleMark
from leaks.rows.intake import SubmittedFile
from leaks.tests.ledger import LEAKY, OTHER, big_log, dump, log_text, named, only_log, outcome, settle, submit, wipe
from leaks.tests.meantime import failing, meanwhile
from leaks.words import LogState, Reason, Verdict

pytestmark = pytest.mark.django_db


def taken_over(log: Log) -> None:
    """Its reader was silent for too long, and another worker has it now."""
    Log.objects.filter(pk=log.pk).update(lease_until=Now() - timedelta(seconds=1))
    assert lease.take(log.pk)


def again(log: Log) -> None:
    """Put a digested log back, as if nothing had been written down about it."""
    Log.objects.filter(pk=log.pk).update(state=LogState.RECEIVED, lease_until=None, lease_token="", retry_at=None)


# --- What a digest leaves behind -------------------------------------------------------------------------------------


def test_a_log_becomes_reports_a_signature_and_a_verdict() -> None:
    submit(1, log_text((LEAKY, 64), (OTHER, 32)), exit_code=1, conclusion="failure")
    assert digest(only_log().pk)
    settle()
    one = outcome(1)
    assert (one.verdict, one.reason, one.rule) == (Verdict.FINDINGS, "", "finding")
    assert (one.reports, one.own_reports, one.own_bytes, one.own_objects) == (2, 2, 96, 2)
    assert (one.leaked_bytes, one.leaked_objects, one.summary_bytes, one.reconciled) == (96, 2, 96, True)
    assert (one.runner, one.tests_total, one.tests_passed, one.tests_failed) == ("doctest", 57, 57, 0)
    assert (one.phase, one.exit_code, one.conclusion) == ("ended", 1, "failure")
    assert one.because[0]["log"] == "ci.log"
    assert "Direct leak of 64" in one.because[0]["text"]
    assert Report.objects.filter(own_frame__function__startswith="engine::Pool::get").count() == 1
    assert Signature.objects.count() == 2


def test_a_clean_log_is_clean() -> None:
    submit(1, log_text())
    settle()
    assert (outcome(1).verdict, outcome(1).reports, outcome(1).leaked_bytes) == (Verdict.CLEAN, 0, None)
    assert only_log().progress == 100


def test_twice_is_once() -> None:
    submit(1, log_text((LEAKY, 64), hidden=5))
    settle()
    once = dump()
    for _ in range(2):
        again(only_log())
        settle()
    assert dump() == once


def test_any_order_of_arrival_gives_the_same_rows() -> None:
    runs: list[tuple[int, str | None, dict[str, Any]]] = [
        (1, log_text((LEAKY, 64), (OTHER, 8), hidden=10), {"exit_code": 1, "conclusion": "failure"}),
        (2, log_text((LEAKY, 128), hidden=20), {}),
        (2, None, {"conclusion": "cancelled", "exit_code": None, "attempt": 2, "source": "job_event"}),
        (3, log_text(hidden=10), {"commit": f"{2:040x}"}),
    ]
    states = []
    for order in list(permutations(runs))[::3]:
        for number, log, fields in order:
            submit(number, log, **fields)
            settle()
        states.append(dump())
        wipe()
    assert all(state == states[0] for state in states)


def test_submitting_twice_is_once() -> None:
    submit(1, log_text((LEAKY, 64)))
    settle()
    once = dump()
    submit(1, log_text((LEAKY, 64)))
    settle()
    assert dump() == once


def test_what_a_database_cannot_hold_does_not_stop_a_digest() -> None:
    odd = ("engine::odd\0(int)", "/src/engine/o\0dd.cpp", 10**30)
    submit(1, log_text((odd, 10**30)), exit_code=1, conclusion="failure")
    settle()
    assert only_log().state == LogState.DIGESTED
    assert outcome(1).verdict == Verdict.FINDINGS


def test_two_thousand_records_take_few_queries(django_assert_max_num_queries: Any) -> None:
    submit(1, big_log(500), exit_code=1, conclusion="failure")
    with django_assert_max_num_queries(250):
        digest(only_log().pk)
    assert outcome(1).reports == 500


# --- Revisions and several logs --------------------------------------------------------------------------------------


def test_a_later_revision_takes_the_place_of_the_earlier_one() -> None:
    submit(1, log_text((LEAKY, 64)), exit_code=1, conclusion="failure")
    settle()
    submit(1, log_text((OTHER, 32)), exit_code=1, conclusion="failure")
    settle()
    late = dump()
    assert [report.log.revision for report in Report.objects.all()] == [2]
    assert [signature.title for signature in Signature.objects.all()] == [Signature.objects.get().title]
    wipe()
    submit(1, log_text((LEAKY, 64)), exit_code=1, conclusion="failure")
    submit(1, log_text((OTHER, 32)), exit_code=1, conclusion="failure")
    settle()
    assert dump() == late


def test_an_earlier_revision_that_is_read_last_writes_no_rows() -> None:
    submit(1, log_text((LEAKY, 64)))
    submit(1, log_text())
    first, second = Log.objects.order_by("revision")
    assert digest(second.pk)
    assert digest(first.pk)
    settle()
    assert not Report.objects.exists()
    assert outcome(1).verdict == Verdict.CLEAN


def test_all_logs_of_a_part_are_weighed_together() -> None:
    submit(1, files=named(("tests.log", log_text()), ("soak.log", log_text((LEAKY, 64)))))
    settle()
    assert outcome(1).verdict == Verdict.FINDINGS
    assert {line["log"] for line in outcome(1).because} == {"soak.log"}
    assert outcome(1).tests_passed == 114


def test_nothing_is_said_while_a_log_waits_but_a_finding() -> None:
    submit(1, files=named(("a.log", log_text()), ("b.log", log_text((LEAKY, 64)))))
    a, b = Log.objects.order_by("name")
    digest(a.pk)
    assert (outcome(1).verdict, outcome(1).reason, outcome(1).rule) == (Verdict.NO_VERDICT, Reason.PENDING, "log_waits")
    again(a)
    digest(b.pk)
    assert outcome(1).verdict == Verdict.FINDINGS


def test_parts_are_combined_and_a_missing_one_is_not_clean() -> None:
    for index in (1, 2):
        submit(1, log_text(), part=f"shard {index}", part_index=index, part_of=3)
    settle()
    assert (outcome(1).verdict, outcome(1).reason) == (Verdict.NO_VERDICT, Reason.INCOMPLETE)
    submit(1, log_text(), part="shard 3", part_index=3, part_of=3)
    settle()
    assert (outcome(1).verdict, outcome(1).tests_passed) == (Verdict.CLEAN, 171)
    assert Part.objects.get(name="shard 3").judgement["verdict"] == "clean"


# --- Claims ----------------------------------------------------------------------------------------------------------


def test_a_claim_without_a_log_is_judged() -> None:
    submit(1)
    settle()
    assert (outcome(1).verdict, outcome(1).reason, outcome(1).rule) == (Verdict.NO_VERDICT, Reason.NO_LOG, "no_log")


def test_a_claim_after_the_log_is_judged_without_reading_it_again() -> None:
    submit(1, log_text(), exit_code=None, conclusion=None, ended=None)
    settle()
    assert outcome(1).reason == Reason.PENDING
    submit(1)
    blob = only_log().blob.sha256
    storages["logs"].delete(blobs.address(blob))
    settle()
    assert outcome(1).verdict == Verdict.CLEAN


def test_judging_an_outcome_that_is_gone_does_nothing() -> None:
    judge_outcome(4711)


# --- What goes wrong -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [Unreadable("Cut."), TooLarge("Big.")])
def test_bytes_that_can_never_be_read_are_refused(monkeypatch: pytest.MonkeyPatch, error: PermanentError) -> None:
    submit(1, log_text())

    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(storages["logs"], "open", refuse)
    assert not digest(only_log().pk)
    assert (only_log().state, only_log().error) == (LogState.REFUSED, str(error))
    settle()
    assert (outcome(1).verdict, outcome(1).reason) == (Verdict.NO_VERDICT, Reason.UNDETERMINED)
    assert outcome(1).because == [{"log": "ci.log", "line": 0, "text": str(error)}]


@pytest.mark.parametrize("error", [ValueError("odd"), OperationalError("disk full"), RecursionError(), LookupError()])
def test_after_an_unexpected_error_the_log_waits_and_nothing_is_written(error: Exception) -> None:
    submit(1, log_text((LEAKY, 64)))
    before = dump()
    with failing('UPDATE "leaks_laneoutcome"', error):
        assert not digest(only_log().pk)
    log = only_log()
    assert (log.state, log.attempts) == (LogState.RECEIVED, 1)
    assert log.error.startswith(type(error).__name__)
    assert log.retry_at
    assert dump() == before
    Log.objects.update(retry_at=None)
    settle()
    assert outcome(1).verdict == Verdict.FINDINGS
    assert only_log().error == ""


def test_reading_that_fails_five_times_ends_in_a_failed_log_and_no_clean_verdict() -> None:
    submit(1, log_text(passed=4711))  # bytes of its own: they are spoiled
    address = blobs.address(only_log().blob.sha256)
    storages["logs"].delete(address)
    storages["logs"].save(address, ContentFile(b"no zstd"))
    for _ in range(lease.MOST_ATTEMPTS):
        digest(only_log().pk)
        Log.objects.update(retry_at=None)
    settle()
    assert (only_log().state, only_log().attempts) == (LogState.FAILED, lease.MOST_ATTEMPTS)
    assert only_log().error.startswith("ZstdError: ")
    assert (outcome(1).verdict, outcome(1).rule) == (Verdict.NO_VERDICT, "log_unreadable")


def test_who_loses_the_lease_while_reading_writes_nothing_and_that_is_no_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    submit(1, log_text((LEAKY, 64)))
    before = dump()
    log = only_log()
    with meanwhile('FROM "leaks_frame"', lambda: taken_over(log)):
        assert not digest(log.pk)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    after = dump()
    changing = {"logs"}
    assert {name: rows for name, rows in after.items() if name not in changing} == {
        name: rows for name, rows in before.items() if name not in changing
    }
    assert (only_log().state, only_log().attempts, only_log().facts) == (LogState.READING, 2, {})


def test_the_lease_is_renewed_and_the_progress_told_while_a_log_is_read(settings: Settings) -> None:
    settings.LEAKLEDGER_LEASE_SECONDS = 0  # so that each piece renews it
    submit(1, log_text() + "a line of a build\n" * (4 * digesting.CHUNK // 18))
    told: list[int] = []
    with meanwhile('UPDATE "leaks_log"', lambda: told.append(only_log().progress), times=99):
        assert digest(only_log().pk)
    assert told == sorted(told)
    assert len({one for one in told if 0 < one < 99}) > 1


def test_a_gzip_upload_is_read_like_a_plain_one() -> None:
    packed = io.BytesIO(gzip.compress(log_text((LEAKY, 64)).encode()))
    submit(1, files=(SubmittedFile("ci.log", packed),), exit_code=1)
    settle()
    assert outcome(1).verdict == Verdict.FINDINGS


def test_a_signature_that_another_worker_removed_is_made_again() -> None:
    submit(1, log_text((LEAKY, 64)))
    settle()
    first = dump()
    submit(1, log_text())  # a revision without the leak: the signature goes
    settle()
    assert not Signature.objects.exists()
    assert not SignatureKey.objects.exists()
    submit(2, log_text((LEAKY, 64)))
    settle()
    assert dump()["keys"] == first["keys"]


def test_marks_are_set_again_while_they_are_worked_off() -> None:
    submit(1)
    mark = StaleMark.objects.get()
    StaleMark.objects.update(generation=F("generation") + 1)
    digesting.judge_outcome(int(mark.subject))
    assert StaleMark.objects.filter(pk=mark.pk).exists()
