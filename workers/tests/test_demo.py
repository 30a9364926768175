"""The demo shows exactly the figures of the two public reports, read by a real worker."""

from collections.abc import Iterator

import pytest
from django.core.management import call_command
from django.test import Client
from pytest_django import DjangoDbBlocker

from leaks.models import CommitLane, LaneOutcome, Log, Report, Run
from leaks.own import Ownership
from leaks.parsing.dispatch import read
from leaks.signature import identify
from leaks.words import LogState, Reason, Verdict
from workers.demo import device_pool, kv_cache, sample
from workers.tests import farm as farming
from workers.tests.farm import Farm


def test_the_first_report_is_built_to_its_figures() -> None:
    evidence = read([kv_cache.log()])
    totals = evidence.facts.totals
    assert totals is not None
    assert sum(report.count for report in evidence.reports) == 2_031
    assert (totals.bytes, totals.objects, totals.summary_bytes, totals.summary_objects) == (
        564_624,
        3_892,
        564_624,
        3_892,
    )
    assert evidence.facts.tests is not None
    assert (evidence.facts.tests.passed, evidence.facts.tests.failed) == (1, 0)


def test_188_of_its_records_are_own_all_at_one_place_without_any_setting() -> None:
    ownership = Ownership()
    own = [frame for report in read([kv_cache.log()]).reports if (frame := ownership.own_frame(report))]
    assert len(own) == 188
    assert {(frame.file, frame.line) for frame in own} == {(kv_cache.SOURCE, 264)}


def test_the_second_report_is_built_to_its_figures() -> None:
    evidence = read([device_pool.leaking_log(714_711)])
    totals, tests = evidence.facts.totals, evidence.facts.tests
    assert totals is not None
    assert tests is not None
    assert (sum(report.count for report in evidence.reports), totals.bytes, totals.summary_bytes) == (
        50,
        91_456,
        91_456,
    )
    assert {report.kind for report in evidence.reports} == {"direct-leak"}
    assert [(report.bytes, report.objects) for report in evidence.reports[:3]] == [(65_536, 1), (3_200, 2), (2_560, 1)]
    assert (tests.total, tests.passed, tests.failed) == (57, 57, 0)


def test_its_named_record_has_the_reported_stack() -> None:
    report = read([device_pool.leaking_log(714_711)]).reports[0]
    places = [(frame.function or "", frame.file, frame.line) for frame in report.frames]
    assert places[5] == ("BuildProportionalRopeCache", device_pool.GEMMA, 192)
    assert places[6] == ("ForwardBody", device_pool.GEMMA, 438)
    assert places[10] == ("RenderPrompt", device_pool.TEST, 3493)
    ownership = Ownership(device_pool.OWN_ROOTS, device_pool.PLUMBING)
    assert identify(report, ownership).title == "leak · BuildProportionalRopeCache ← ForwardBody"


def test_the_same_program_writes_the_same_bytes() -> None:
    assert kv_cache.log() == kv_cache.log()
    assert list(sample.days()) == list(sample.days())


# --- Through the worker ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def farm(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Farm]:
    with django_db_blocker.unblock(), farming.embedded() as made:
        made.start()
        call_command("demo", wait=120)
        yield made


def only(project: str, run: str) -> LaneOutcome:
    return LaneOutcome.objects.get(run__project__slug=project, run__external_id=run)


@pytest.mark.processes
@pytest.mark.usefixtures("farm")
class TestDigested:
    def test_every_log_is_digested(self) -> None:
        assert set(Log.objects.values_list("state", flat=True)) == {LogState.DIGESTED}

    def test_the_first_report(self) -> None:
        outcome = only("kv-cache-report", "1")
        assert (outcome.verdict, outcome.exit_code, outcome.reports) == (Verdict.FINDINGS, 1, 2_031)
        assert (outcome.leaked_bytes, outcome.leaked_objects) == (564_624, 3_892)
        assert (outcome.summary_bytes, outcome.summary_objects, outcome.reconciled) == (564_624, 3_892, True)
        assert (outcome.own_reports, outcome.tests_passed, outcome.tests_failed) == (188, 1, 0)
        assert "summary_contradicts_exit" in outcome.flags
        own = Report.objects.filter(log__part__outcome=outcome, own=True)
        assert set(own.values_list("own_frame__file", "own_frame__line")) == {(kv_cache.SOURCE, 264)}
        assert own.values("key__signature").distinct().count() == 1

    @pytest.mark.parametrize("commit", ["d1b0ea3a8", "6621576ac"])
    def test_the_lane_run_and_its_parent(self, commit: str) -> None:
        outcome = only("device-pool-report", f"local-{commit}")
        assert (outcome.verdict, outcome.exit_code, outcome.reports) == (Verdict.FINDINGS, 1, 50)
        assert (outcome.leaked_bytes, outcome.summary_bytes) == (91_456, 91_456)
        assert (outcome.tests_total, outcome.tests_passed, outcome.tests_failed) == (57, 57, 0)

    def test_the_twelve_main_runs(self) -> None:
        runs = Run.objects.filter(project__slug="device-pool-report", branch="main")
        words = list(LaneOutcome.objects.filter(run__in=runs).values_list("conclusion", flat=True))
        assert [words.count(word) for word in ("success", "cancelled", "failure", None)] == [6, 4, 1, 1]

    def test_the_cancelled_commit_has_no_verdict(self) -> None:
        cancelled, skipped = only("device-pool-report", "1101"), only("device-pool-report", "1102")
        assert (cancelled.verdict, cancelled.reason) == (Verdict.NO_VERDICT, Reason.CANCELLED_BEFORE_TESTS)
        assert (cancelled.phase, cancelled.build_percent, cancelled.tests_passed or 0) == ("build", 31, 0)
        assert cancelled.superseded_by == skipped
        assert "ci_contradicts_run" in cancelled.flags
        assert (skipped.verdict, skipped.reason) == (Verdict.NO_VERDICT, Reason.SKIPPED)
        folded = CommitLane.objects.get(commit__sha=device_pool.PULL_REQUEST_COMMIT)
        assert folded.verdict == Verdict.NO_VERDICT

    def test_the_sample_has_every_kind_of_verdict_but_one(self) -> None:
        verdicts = set(LaneOutcome.objects.filter(run__project__slug="sample-engine").values_list("verdict", flat=True))
        assert verdicts == set(Verdict) - {Verdict.UNEXPLAINED}

    def test_loading_it_again_adds_nothing(self) -> None:
        before = LaneOutcome.objects.count(), Log.objects.count()
        call_command("demo", wait=120)
        assert (LaneOutcome.objects.count(), Log.objects.count()) == before

    def test_strangers_can_read_it(self) -> None:
        assert Client().get("/p/device-pool-report/").status_code == 200
