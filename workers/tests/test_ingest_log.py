import gzip
import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from leaks.models import Claim, LaneOutcome, Log, Project, Run, StaleMark
from leaks.words import LogState
from workers.management.commands import ingest_log

pytestmark = pytest.mark.django_db

TEXT = b"57 passed, 0 failed\n"
PLACE = ("--project", "engine", "--lane", "asan", "--commit", "d1b0ea3a8")


@pytest.fixture(autouse=True)
def project() -> Project:
    return Project.objects.create(slug="engine", name="Engine")


@pytest.fixture(autouse=True)
def hints(monkeypatch) -> list[object]:
    seen: list[object] = []
    monkeypatch.setattr(ingest_log, "hint_logs", lambda ids: seen.append(list(ids)))
    monkeypatch.setattr(ingest_log, "hint_marks", lambda: seen.append("marks"))
    return seen


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / "asan.log"
    path.write_bytes(TEXT)
    return str(path)


def ingest(*arguments: str, place: tuple[str, ...] = PLACE) -> list[str]:
    printed = io.StringIO()
    call_command("ingest_log", *place, *arguments, stdout=printed, stderr=printed)
    return printed.getvalue().splitlines()


def test_a_log_is_committed_and_its_address_printed(log: str, hints: list[object]) -> None:
    lines = ingest(log, "--exit-code", "1", "--run-id", "77")
    outcome, row = LaneOutcome.objects.get(), Log.objects.get()
    assert lines == [
        f"outcome {outcome.public_id} /p/engine/runs/{outcome.public_id}/",
        f"log {row.public_id} asan.log (revision 1)",
    ]
    assert hints == [[row.public_id]]


def test_it_says_what_was_known_before(log: str, tmp_path: Path, hints: list[object]) -> None:
    packed = tmp_path / "packed" / "asan.log"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(TEXT))
    ingest(log, "--run-id", "77")
    assert ingest(str(packed), "--run-id", "77")[1].endswith("(revision 1, known before)")
    assert (Log.objects.count(), len(hints)) == (1, 1)


def test_without_a_file_it_is_a_claim(hints: list[object]) -> None:
    lines = ingest("--run-id", "77", "--conclusion", "cancelled", "--superseded-by", "78")
    assert len(lines) == 1
    assert Claim.objects.get().fields == {"conclusion": "cancelled", "superseded_by": "78"}
    assert hints == ["marks"]


def test_all_that_an_upload_can_say(log: str) -> None:
    ingest(
        *(log, "--run-id", "77", "--attempt", "2", "--provider", "github", "--event", "push", "--branch", "main"),
        *("--parent", "6621576ac", "--pull-request", "12", "--part", "b", "--part-index", "1", "--part-of", "2"),
        *("--started-at", "2026-07-01T10:00:00Z", "--finished-at", "2026-07-01T10:05:00+00:00"),
        *("--env", "ASAN_OPTIONS=a=1:b=2", "--workload", "ITERS=5", "--run-url", "https://ci.example/77"),
    )
    run = Run.objects.get()
    assert (run.provider, str(run), run.event, run.branch, run.pull_request) == ("github", "77#2", "push", "main", 12)
    assert Claim.objects.get().fields["options"] == {"ASAN_OPTIONS": "a=1:b=2"}
    assert Claim.objects.get().fields["workload"] == {"ITERS": 5.0}


@pytest.mark.parametrize(
    "arguments",
    [
        ("missing.log",),
        ("--commit", "HEAD"),
        ("--project", "other"),
        ("--exit-code", "one"),
        ("--started-at", "yesterday"),
        ("--started-at", "2026-07-01T10:00:00"),
        ("--env", "NAME"),
        ("--workload", "ITERS=many"),
        ("--part-index", "2", "--part-of", "1", "--run-id", "77"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_writes_nothing(arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        ingest(*arguments)
    assert Run.objects.count() == 0


def test_the_project_lane_and_commit_are_required(log: str) -> None:
    with pytest.raises(CommandError, match="--project, --lane, --commit"):
        ingest(log, place=())


# --- Waiting ---------------------------------------------------------------------------------------------------------


def settle(state: LogState = LogState.DIGESTED, **verdict: str) -> None:
    """Do what a worker does, as far as a waiting command sees it."""
    Log.objects.update(state=state, error="no such tool" if state != LogState.DIGESTED else "")
    LaneOutcome.objects.update(**verdict)
    StaleMark.objects.all().delete()


def test_waiting_prints_the_verdict(log: str, monkeypatch) -> None:
    naps = iter([lambda: None, lambda: settle(verdict="findings", reason="", rule="finding")])
    monkeypatch.setattr(ingest_log.time, "sleep", lambda _seconds: next(naps)())
    assert ingest(log, "--wait")[-1] == "verdict findings by rule finding"


def test_waiting_for_a_claim_ends_when_it_was_judged(monkeypatch) -> None:
    monkeypatch.setattr(ingest_log.time, "sleep", lambda _seconds: settle(reason="cancelled_unseen", rule="unseen"))
    lines = ingest("--conclusion", "cancelled", "--wait")
    assert lines[-1] == "verdict no_verdict (cancelled_unseen) by rule unseen"


def test_a_log_that_could_not_be_digested_is_a_failure(log: str, monkeypatch) -> None:
    monkeypatch.setattr(ingest_log.time, "sleep", lambda _seconds: settle(LogState.FAILED))
    with pytest.raises(SystemExit) as ended:
        ingest(log, "--wait")
    assert ended.value.code == 1


def test_waiting_ends_where_no_worker_runs(log: str) -> None:
    with pytest.raises(CommandError, match="does a worker run"):
        ingest(log, "--wait", "--timeout", "0")
    assert Log.objects.count() == 1, "what was committed stays"


def test_the_suppressions_that_a_run_used_are_kept_to_the_byte(log: str, tmp_path: Path) -> None:
    rules = tmp_path / "lsan.supp"
    rules.write_bytes(b"# known\r\nleak:DevicePool\n")
    ingest(log, "--rules", str(rules))
    kept = LaneOutcome.objects.get().rule_files.get()
    assert (kept.name, kept.text) == ("lsan.supp", "# known\r\nleak:DevicePool\n")


def test_rules_that_cannot_be_read_are_an_error_and_nothing_is_taken(log: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file"):
        ingest(log, "--rules", str(tmp_path / "missing.supp"))
    assert not LaneOutcome.objects.exists()
