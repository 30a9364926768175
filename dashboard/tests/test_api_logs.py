import gzip
import io
import zipfile
from datetime import timedelta

import pytest
import zstandard
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from dashboard import intake
from leaks.models import Blob, Claim, LaneOutcome, Log, Project, Token
from leaks.tokens import make_token

pytestmark = pytest.mark.django_db

SHA = "d1b0ea3a8" + "0" * 31
TEXT = b"==7==ERROR: LeakSanitizer: detected memory leaks\n"
FIELDS = {"lane": "asan", "commit": SHA, "run_id": "77", "exit_code": "1"}


@pytest.fixture
def project() -> Project:
    return Project.objects.create(slug="engine", name="Engine")


@pytest.fixture
def secret(project: Project) -> str:
    return make_token(project, Token.Kind.UPLOAD, "lane asan")[1]


@pytest.fixture
def hints(monkeypatch) -> list[int]:
    """How many of the logs named by each hint were committed when it came."""
    seen: list[int] = []
    monkeypatch.setattr(intake, "hint_logs", lambda ids: seen.append(Log.objects.filter(public_id__in=ids).count()))
    monkeypatch.setattr(intake, "hint_marks", lambda: seen.append(0))
    return seen


@pytest.fixture
def upload(client: Client, secret: str, hints: list[int]):
    """`upload((name, content), …, field=value)` as `curl -F` would send it."""

    def send(*files: tuple[str, bytes], **fields: object):
        logs = [SimpleUploadedFile(name, content) for name, content in files]
        body = {**FIELDS, **fields, "log": logs}
        sent = {name: value for name, value in body.items() if value is not None}
        return client.post("/api/v1/logs", sent, headers={"Authorization": f"Bearer {secret}"})

    return send


def test_an_upload_is_committed_and_answered_with_addresses(upload, client: Client, hints: list[int]) -> None:
    answer = upload(("asan.log", TEXT), ("ubsan.log", b"fine\n"))
    assert answer.status_code == 202, answer.content
    body = answer.json()
    assert body["new_claim"] is True
    assert [(log["name"], log["revision"], log["duplicate"]) for log in body["logs"]] == [
        ("asan.log", 1, False),
        ("ubsan.log", 1, False),
    ]
    assert body["outcome"]["address"] == answer["Location"]
    assert body["outcome"]["address"].endswith(f"/api/v1/outcomes/{body['outcome']['id']}")
    assert body["outcome"]["page"].endswith(f"/p/engine/runs/{body['outcome']['id']}/")
    assert set(Log.objects.values_list("public_id", flat=True)) == {log["id"] for log in body["logs"]}
    assert hints == [2], "the hint comes once, and after the commit"


@pytest.mark.parametrize(("name", "near"), [("exitcode", "exit_code"), ("conclussion", "conclusion"), ("zzz", "")])
def test_a_misspelt_field_is_refused_by_name(upload, name: str, near: str) -> None:
    answer = upload(("asan.log", TEXT), **{name: "1"})
    assert (answer.status_code, answer["Content-Type"]) == (422, "application/problem+json")
    assert (name in answer.json()["detail"], f"Did you mean {near}?" in answer.json()["detail"]) == (True, bool(near))
    assert not Log.objects.exists()


def test_the_addresses_answer_the_token_that_uploaded(upload, client: Client, secret: str) -> None:
    body = upload(("asan.log", TEXT)).json()
    headers = {"Authorization": f"Bearer {secret}"}
    outcome = client.get(body["outcome"]["address"], headers=headers).json()
    assert (outcome["verdict"], outcome["reason"], outcome["busy"]) == ("no_verdict", "pending", True)
    log = client.get(body["logs"][0]["address"], headers=headers).json()
    assert (log["state"], log["bytes"], log["outcome"]) == ("received", len(TEXT), outcome["id"])


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_packed_upload_is_the_same_log(upload, pack) -> None:
    first = upload(("asan.log", TEXT)).json()
    again = upload(("asan.log", pack(TEXT))).json()
    assert again["logs"] == [{**first["logs"][0], "duplicate": True}]
    assert again["new_claim"] is False
    assert (Log.objects.count(), Blob.objects.count(), Claim.objects.count()) == (1, 1, 1)


def test_everything_a_lane_can_say_arrives(upload) -> None:
    answer = upload(
        ("asan.log", TEXT),
        parent="6621576ac" + "0" * 31,
        branch="main",
        pull_request="12",
        provider="github",
        attempt="2",
        event="push",
        run_url="https://ci.example/77",
        part="shard",
        part_index="1",
        part_of="2",
        conclusion="failure",
        options=["ASAN_OPTIONS=detect_leaks=1:color=never", '{"UBSAN_OPTIONS": "halt_on_error=1"}'],
        workload="SOAK_ITERS=100",
        started_at="2026-07-01T10:00:00+02:00",
        finished_at="2026-07-01T10:05:00Z",
    )
    assert answer.status_code == 202, answer.content
    outcome = LaneOutcome.objects.select_related("run__commit").get()
    run = outcome.run
    assert (run.provider, run.external_id, run.attempt, run.branch, run.pull_request, run.event, run.url) == (
        "github",
        "77",
        2,
        "main",
        12,
        "push",
        "https://ci.example/77",
    )
    assert run.commit.parents == ["6621576ac" + "0" * 31]
    assert outcome.happened_at.isoformat() == "2026-07-01T08:00:00+00:00"
    fields = Claim.objects.get().fields
    assert fields["options"] == {"ASAN_OPTIONS": "detect_leaks=1:color=never", "UBSAN_OPTIONS": "halt_on_error=1"}
    assert fields["workload"] == {"SOAK_ITERS": 100.0}
    assert (fields["conclusion"], fields["exit_code"]) == ("failure", 1)


def test_an_empty_field_says_nothing(upload) -> None:
    blank = dict.fromkeys(("exit_code", "conclusion", "pull_request", "attempt", "started_at", "branch", "ended"), "")
    assert upload(("asan.log", TEXT), **blank).status_code == 202
    assert Claim.objects.get().fields == {"ended": True}, "who sends a log has run to the end"


def test_a_lane_wrapper_is_the_stronger_source(upload) -> None:
    upload(("asan.log", TEXT), source="lane_wrapper")
    assert Claim.objects.get().source == "lane_wrapper"
    assert upload(("asan.log", TEXT), source="job_event").status_code == 422, "an event has a hook of its own"


def test_what_is_known_needs_no_hint(upload, hints: list[int]) -> None:
    for fields in ({}, {}, {"conclusion": "failure"}):
        upload(("asan.log", TEXT), **fields)
    assert hints == [1, 0], "the log is new, then nothing is, then the claim is"


def test_the_last_use_of_the_token_is_noted(upload) -> None:
    upload(("asan.log", TEXT))
    used = Token.objects.get().last_used_at
    assert used is not None
    assert timezone.now() - used < timedelta(minutes=1)


def test_the_number_of_queries_does_not_grow_with_the_logs(upload, django_assert_max_num_queries) -> None:
    with django_assert_max_num_queries(45):
        upload(*((f"{number}.log", b"%d" % number) for number in range(30)))


def test_large_uploads_are_read_from_disk_in_pieces(upload, monkeypatch) -> None:
    sizes: list[int] = []
    submitted = intake.submitted

    def watched(file):
        found = submitted(file)
        read = found.stream.read

        def noted(size: int = -1) -> bytes:
            sizes.append(size)
            return read(size)

        monkeypatch.setattr(found.stream, "read", noted)
        return found

    monkeypatch.setattr(intake, "submitted", watched)
    assert upload(("big.log", b"a line\n" * 500_000)).status_code == 202
    assert sizes
    assert 0 < max(sizes) <= 1024 * 1024


def test_drop_makes_a_scratch_project(hints: list[int]) -> None:
    receipt = intake.drop([SimpleUploadedFile("asan.log", TEXT)], {"exit_code": 1, "own_roots": ["src/"]})
    outcome = LaneOutcome.objects.select_related("lane__project").get(public_id=receipt.outcome)
    scratch = outcome.lane.project
    assert scratch.ends_at is not None
    assert scratch.ends_at > timezone.now()
    assert (scratch.own_roots, scratch.public, outcome.lane.name) == (["src/"], True, "dropped")
    assert hints == [1]


def test_drop_takes_archives(hints: list[int]) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("build/asan.log", TEXT)
        archive.writestr("build/", b"")
        archive.writestr("../../etc/ubsan.log", b"fine\n")
        archive.writestr("__MACOSX/._asan.log", b"noise")
    receipt = intake.drop([SimpleUploadedFile("logs.zip", packed.getvalue())], {})
    assert [log.name for log in receipt.logs] == ["build/asan.log", "etc/ubsan.log"]


def test_a_zip_is_the_logs_in_it(upload) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("asan.log", TEXT)
        archive.writestr("ubsan.log", b"fine\n")
    assert upload(("logs.zip", packed.getvalue())).status_code == 202
    assert sorted(Log.objects.values_list("name", flat=True)) == ["asan.log", "ubsan.log"]
