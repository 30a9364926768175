"""`import_archive`: GitHub's zip, GitLab's trace and tars of logs, with facts from options and from JSON."""

import io
import json
import tarfile
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from leaks.models import Claim, Lane, LaneOutcome, Log, Part, Project, Run
from leaks.words import ClaimSource
from workers.backfill import archive_import
from workers.tests.github_house import archive, job, run, sha

pytestmark = pytest.mark.django_db

COMMIT = ("--commit", sha(7))


@pytest.fixture(autouse=True)
def project(monkeypatch) -> Project:
    monkeypatch.setattr(archive_import, "hint_logs", list)
    return Project.objects.create(slug="engine", name="Engine")


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    path = tmp_path / "logs_77.zip"
    path.write_bytes(archive(**{"asan (gcc)": "a gcc", "asan (clang)": "a clang", "lint": "fine"}))
    return path


def imported(*arguments: object) -> list[str]:
    printed = io.StringIO()
    call_command("import_archive", *map(str, arguments), "--project", "engine", stdout=printed)
    return printed.getvalue().splitlines()


def test_jobs_go_to_the_lanes_their_names_map_to(packed: Path, project: Project) -> None:
    Lane.objects.create(project=project, name="asan")
    lines = imported(packed, *COMMIT, "--run-id", "77", "--branch", "main")
    outcome = LaneOutcome.objects.get()
    assert sorted(Part.objects.values_list("name", "logs__blob__bytes")) == [("clang", 7), ("gcc", 5)]
    assert lines == [
        f"logs_77.zip: job asan (gcc), lane asan, part gcc: 1 logs (outcome {outcome.public_id})",
        f"logs_77.zip: job asan (clang), lane asan, part clang: 1 logs (outcome {outcome.public_id})",
        "logs_77.zip: job lint: no lane takes it",
    ]
    assert {claim.source for claim in Claim.objects.all()} == {ClaimSource.BACK_FILL}
    assert (outcome.run.external_id, outcome.run.provider, outcome.run.branch) == ("77", "github", "main")


def test_an_archive_that_no_lane_takes_anything_of_is_an_error(packed: Path, project: Project) -> None:
    with pytest.raises(CommandError, match="No lane takes any of it"):
        imported(packed, *COMMIT)
    assert not LaneOutcome.objects.exists()


def test_chosen_jobs_go_to_the_lane_that_was_named(packed: Path) -> None:
    imported(packed, *COMMIT, "--lane", "address", "--jobs", "asan.*")
    assert sorted(Part.objects.values_list("outcome__lane__name", "name")) == [("address", "clang"), ("address", "gcc")]


def test_jobs_that_would_be_one_part_keep_their_names(packed: Path) -> None:
    packed.write_bytes(archive(**{"asan-cpu": "c", "asan-gpu": "g"}))
    imported(packed, *COMMIT, "--lane", "asan")
    assert sorted(Part.objects.values_list("name", flat=True)) == ["asan-cpu", "asan-gpu"]


def test_twice_is_once(packed: Path) -> None:
    imported(packed, *COMMIT, "--lane", "asan")
    lines = imported(packed, *COMMIT, "--lane", "asan")
    assert all("0 logs, 1 known before" in line for line in lines)
    assert (Run.objects.count(), Log.objects.count(), Claim.objects.count()) == (1, 3, 3)


def test_facts_stand_beside_the_archive_and_options_outweigh_them(packed: Path) -> None:
    facts = {"commit": sha(8), "run_id": "78", "attempt": 2, "started_at": "2026-05-01T10:00:00Z",
             "conclusion": "success", "jobs": {"asan (gcc)": {"conclusion": "failure", "exit_code": 1}}}  # fmt: skip
    packed.with_name("logs_77.zip.json").write_text(json.dumps(facts))
    imported(packed, "--lane", "asan", "--run-id", "79")
    said = dict(Claim.objects.values_list("fields__job", "fields__conclusion"))
    assert said == {"asan (gcc)": "failure", "asan (clang)": "success", "lint": "success"}
    row = Run.objects.get()
    assert (str(row), row.commit.sha, row.started_at and row.started_at.year) == ("79#2", sha(8), 2026)


def test_facts_may_be_githubs_own_object_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "logs.zip"
    path.write_bytes(archive(**{"Linux  asan": "a", "Linux  tsan": "t"}))
    one = run(7, conclusion="failure")
    jobs = [job(one, "Linux / asan", conclusion="failure"), job(one, "Linux / tsan")]
    (tmp_path / "logs.json").write_text(json.dumps({**one, "jobs": {"total_count": 2, "jobs": jobs}}))
    imported(path, "--lane", "san")
    said = dict(Claim.objects.values_list("fields__job", "fields__conclusion"))
    assert said == {"Linux  asan": "failure", "Linux  tsan": "success"}
    assert (str(Run.objects.get()), Run.objects.get().branch) == ("1007", "main")


def test_a_trace_of_gitlab_is_a_single_job(tmp_path: Path) -> None:
    path = tmp_path / "asan-job.trace"
    path.write_bytes(b"\x1b[0KRunning with gitlab-runner\n")
    facts = ("--provider", "gitlab", "--run-id", "900", "--conclusion", "failed", "--exit-code", "1")
    imported(path, *COMMIT, "--lane", "asan", *facts)
    claim = Claim.objects.get()
    assert (claim.part.name, claim.fields["exit_code"], claim.fields["job"]) == ("", 1, "asan-job")
    assert Run.objects.get().provider == "gitlab"


def test_a_tar_of_logs(tmp_path: Path) -> None:
    path = tmp_path / "logs.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for name in ("run/asan.log", "run/tsan.log"):
            info = tarfile.TarInfo(name)
            info.size = 3
            tar.addfile(info, io.BytesIO(b"ok\n"))
    imported(path, *COMMIT, "--lane", "all", "--jobs", "asan", "--jobs", "tsan")
    assert sorted(Part.objects.values_list("name", flat=True)) == ["asan", "tsan"]


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("0_asan (gcc).txt", "asan (gcc)"),
        ("-2147483648_asan.txt", "asan"),
        ("asan (gcc)/3_Run tests.txt", "asan (gcc)"),
        ("asan/system.txt", "asan"),
        ("logs/asan.log", "asan"),
        ("asan.log.gz", "asan"),
        ("trace", "trace"),
    ],
)
def test_the_job_of_a_file(name: str, of: str) -> None:
    assert archive_import.job_of(name) == of


@pytest.mark.parametrize(
    "arguments",
    [
        ("--lane", "asan"),  # no commit
        ("--lane", "asan", "--commit", "HEAD"),
        ("--lane", "asan", *COMMIT, "--started-at", "yesterday"),
        ("--lane", "asan", *COMMIT, "--jobs", "(?<=x)"),
        ("--lane", "asan", *COMMIT, "--facts", "nowhere.json"),
    ],
)
def test_what_cannot_be_meant_is_refused(packed: Path, arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        imported(packed, *arguments)
    assert Run.objects.count() == 0


@pytest.mark.parametrize("text", ["[]", "{", '{"head_sha": 1}', "[" * 100_000])
def test_facts_that_are_none_are_refused(packed: Path, text: str) -> None:
    packed.with_suffix(".json").write_text(text)
    with pytest.raises(CommandError):
        imported(packed, "--lane", "asan", *COMMIT)


def test_a_broken_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "logs.zip"
    path.write_bytes(b"PK\x03\x04 cut")
    with pytest.raises(CommandError, match="cannot be read"):
        imported(path, "--lane", "asan", *COMMIT)
