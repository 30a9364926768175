"""Each bad input has its defined answer; nothing is lost, nothing counted twice, and no traceback reaches anyone."""

import gzip
import json
import zlib
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from dashboard import intake
from leaks import blobs
from leaks.errors import BadSubmission, PermanentError
from leaks.models import Blob, Claim, Log, Project, Run, Token
from leaks.tokens import make_token

pytestmark = pytest.mark.django_db

PROBLEM = "application/problem+json"
PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489") + bytes(range(256))
CUT = b"==7==ERROR: LeakSanitizer: detected memory leaks\n\nDirect leak of 8 byte(s)\n    #0 0x4a in mal"
FIELDS = {"lane": "asan", "commit": "d1b0ea3a8", "run_id": "77"}


@pytest.fixture(autouse=True)
def no_queue(monkeypatch) -> None:
    monkeypatch.setattr(intake, "hint_logs", lambda _ids: None)
    monkeypatch.setattr(intake, "hint_marks", lambda: None)


@pytest.fixture
def project() -> Project:
    return Project.objects.create(slug="engine", name="Engine")


@pytest.fixture
def secret(project: Project) -> str:
    return make_token(project, Token.Kind.UPLOAD, "lane")[1]


@pytest.fixture
def upload(client: Client, secret: str):
    def send(content: bytes = b"fine\n", name: str = "asan.log", token: str = secret, **fields: object):
        body = {**FIELDS, **fields, "log": SimpleUploadedFile(name, content)}
        sent = {field: value for field, value in body.items() if value is not None}
        return client.post("/api/v1/logs", sent, headers={"Authorization": f"Bearer {token}"})

    return send


def assert_problem(answer, status: int, field: str | None = None) -> dict:
    """The answer is a problem of that status (and about that field), and nothing was written."""
    assert (answer.status_code, answer["Content-Type"]) == (status, PROBLEM), answer.content
    body = answer.json()
    assert body["status"] == status
    assert body["detail"]
    assert "Traceback" not in answer.content.decode()
    if field:
        assert field in [error["field"] for error in body["errors"]]
    assert (Run.objects.count(), Claim.objects.count(), Log.objects.count()) == (0, 0, 0)
    return body


# --- Logs that are kept as they are, whatever they hold --------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [b"", PNG, CUT, b"a\r\nb\x00c\r\n", b"\xff\xfe\x00w", b"\x1f", b"\x1f\x8b"[:1] * 3],
    ids=["empty", "a picture", "cut in a stack", "CRLF and NUL", "UTF-16", "one byte of gzip", "nearly gzip"],
)
def test_a_log_is_kept_byte_for_byte(upload, content: bytes) -> None:
    assert upload(content).status_code == 202
    log = Log.objects.select_related("blob").get()
    assert (log.state, log.blob.bytes) == ("received", len(content))
    with blobs.open_blob(log.blob) as stream:
        assert stream.read() == content


def test_two_hundred_megabytes_of_one_line_arrive(upload) -> None:
    packer = zlib.compressobj(level=1, wbits=31)
    packed = b"".join([*(packer.compress(b"x" * 2**20) for _ in range(200)), packer.flush()])
    assert upload(packed).status_code == 202
    assert Blob.objects.get().bytes == 200 * 2**20


# --- Logs that are refused -------------------------------------------------------------------------------------------


def bomb(size: int) -> bytes:
    packer = zlib.compressobj(wbits=31)
    return b"".join([*(packer.compress(bytes(2**20)) for _ in range(size)), packer.flush()])


def test_a_bomb_is_refused_at_the_bound(upload, settings, tmp_path: Path) -> None:
    settings.LEAKLEDGER_MAX_LOG_BYTES = 5 * 2**20
    settings.STORAGES = {
        **settings.STORAGES,
        "logs": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(tmp_path)}},
    }
    assert_problem(upload(bomb(100)), 413)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert Blob.objects.count() == 0


def test_an_upload_beyond_the_bound_is_refused_by_its_length(upload, settings) -> None:
    settings.LEAKLEDGER_MAX_UPLOAD_BYTES = 1000
    assert_problem(upload(b"x" * 1001), 413)


@pytest.mark.parametrize(
    "content", [gzip.compress(b"text" * 99, mtime=0)[:-4], b"\x1f\x8b but no gzip", b"\x28\xb5\x2f\xfd no zstd"]
)
def test_what_claims_to_be_packed_and_is_not_is_refused(upload, content: bytes) -> None:
    assert_problem(upload(content), 422)


def test_two_logs_of_one_name_are_refused_since_one_would_hide_the_other(client: Client, secret: str) -> None:
    logs = [SimpleUploadedFile("asan.log", content) for content in (b"one", b"two")]
    headers = {"Authorization": f"Bearer {secret}"}
    assert_problem(client.post("/api/v1/logs", {**FIELDS, "log": logs}, headers=headers), 422, "log")


# --- The same again --------------------------------------------------------------------------------------------------


def test_the_same_upload_twice_counts_once(upload) -> None:
    answers = [upload(b"fine\n").json() for _ in range(2)]
    assert [answer["logs"][0]["duplicate"] for answer in answers] == [False, True]
    assert answers[0]["logs"][0]["id"] == answers[1]["logs"][0]["id"]
    assert (Run.objects.count(), Claim.objects.count(), Log.objects.count(), Blob.objects.count()) == (1, 1, 1, 1)


def test_other_content_under_the_name_is_a_revision(upload) -> None:
    upload(b"fine\n")
    assert upload(b"worse\n").json()["logs"][0]["revision"] == 2
    assert list(Log.objects.filter(current=True).values_list("revision", flat=True)) == [2]


def test_another_name_is_a_second_log(upload) -> None:
    upload(b"fine\n")
    assert upload(b"fine\n", name="ubsan.log").json()["logs"][0]["revision"] == 1
    assert Log.objects.filter(current=True).count() == 2


# --- Who may ---------------------------------------------------------------------------------------------------------


def test_a_wrong_token(upload) -> None:
    answer = upload(token="llu_wrong")
    assert_problem(answer, 401)
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_no_token(client: Client) -> None:
    assert_problem(client.post("/api/v1/logs", FIELDS), 401)


def test_an_expired_token(upload) -> None:
    then = timezone.now() - timedelta(days=2)
    Token.objects.update(created_at=then, expires_at=then + timedelta(days=1))
    assert "expired on" in assert_problem(upload(), 401)["detail"]


def test_a_token_that_only_reads(upload, project: Project) -> None:
    assert_problem(upload(token=make_token(project, Token.Kind.READ, "bot")[1]), 403)


@pytest.mark.parametrize("slug", ["missing", "other"])
def test_an_unknown_project_and_one_of_others_are_the_same(upload, slug: str) -> None:
    Project.objects.create(slug="other", name="Other")
    assert_problem(upload(project=slug), 404)


# --- Fields ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("lane", None),
        ("lane", ""),
        ("commit", None),
        ("commit", "HEAD"),
        ("exit_code", "one"),
        ("exit_code", "1e3"),
        ("exit_code", "99999999999999999999"),
        ("attempt", "0"),
        ("pull_request", "refs/pull/12/merge"),
        ("started_at", "yesterday"),
        ("started_at", "2026-07-01T10:00:00"),
        ("ended", "maybe"),
        ("options", "no equals sign"),
        ("options", '{"A": '),
        ("options", "[" * 100_000),
        ("options", '{"A":' * 100_000),
        ("options", '{"A": 1}'),
        ("workload", "ITERS=many"),
        ("workload", "ITERS=nan"),
        ("lane", "caf\u0000"),
        ("run_url", "javascript:alert(1)"),
        ("source", "job_event"),
    ],
)
def test_a_field_outside_its_domain_is_named(upload, field: str, value: str | None) -> None:
    assert_problem(upload(**{field: value}), 422, field)


def test_an_upload_without_a_log(client: Client, secret: str) -> None:
    headers = {"Authorization": f"Bearer {secret}"}
    assert_problem(client.post("/api/v1/logs", FIELDS, headers=headers), 422, "log")


def multipart(parts: list[bytes], end: bytes = b"--b--\r\n") -> bytes:
    return b"".join(b"--b\r\n" + part + b"\r\n" for part in parts) + end


LANE = b'Content-Disposition: form-data; name="lane"\r\n\r\n'
COMMIT = b'Content-Disposition: form-data; name="commit"\r\n\r\nd1b0ea3a8'
LOG = b'Content-Disposition: form-data; name="log"; filename="a.log"\r\n\r\nfine'
TYPE = "multipart/form-data; boundary=b"


def post(client: Client, secret: str, body: bytes, content_type: str = TYPE, **headers: str):
    return client.generic(
        "POST", "/api/v1/logs", body, content_type, headers={"Authorization": f"Bearer {secret}", **headers}
    )


def test_a_field_that_is_not_utf_8(client: Client, secret: str) -> None:
    assert_problem(post(client, secret, multipart([LANE + b"caf\xe9", COMMIT, LOG])), 422, "lane")


def test_a_file_name_that_is_not_utf_8(client: Client, secret: str) -> None:
    body = multipart([LANE + b"asan", COMMIT, LOG.replace(b"a.log", b"caf\xe9.log")])
    assert_problem(post(client, secret, body), 422, "log")


def test_a_multipart_body_without_its_boundary(client: Client, secret: str) -> None:
    assert_problem(post(client, secret, b"whatever", "multipart/form-data"), 400)


@pytest.mark.parametrize("body", [b"whatever", multipart([LANE + b"asan"])[:-9]])
def test_a_multipart_body_that_is_none_or_was_cut(client: Client, secret: str, body: bytes) -> None:
    assert post(client, secret, body).status_code in (400, 422)
    assert Log.objects.count() == 0


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "application/x-www-form-urlencoded", ""])
def test_another_kind_of_body(client: Client, secret: str, content_type: str) -> None:
    assert_problem(post(client, secret, b"{}", content_type), 415)


def test_a_body_without_its_length(client: Client, secret: str) -> None:
    answer = client.post("/api/v1/logs", FIELDS, headers={"Authorization": f"Bearer {secret}"}, CONTENT_LENGTH="")
    assert_problem(answer, 411)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 422),
        (b"null", 422),
        (b'{"lane": 1, "commit": "d1b0ea3a8"}', 422),
        (b'{"lane": "a", "commit": "d1b0ea3a8", "workload": {"A": NaN}}', 422),
        (b'{"lane": "a", "commit": "d1b0ea3a8", "options": {"A": 1}}', 422),
        (b'{"lane": "a\\ud800", "commit": "d1b0ea3a8"}', 422),
        (b'{"lane": "\xff", "commit": "d1b0ea3a8"}', 400),
        (b"[" * 100_000, 400),
    ],
)
def test_json_that_is_none_or_says_nonsense(client: Client, secret: str, body: bytes, status: int) -> None:
    headers = {"Authorization": f"Bearer {secret}"}
    assert_problem(client.generic("POST", "/api/v1/outcomes", body, "application/json", headers=headers), status)


@pytest.mark.parametrize("path", ["logs", "outcomes"])
def test_an_empty_body(client: Client, secret: str, path: str) -> None:
    kind = TYPE if path == "logs" else "application/json"
    headers = {"Authorization": f"Bearer {secret}"}
    answer = client.generic("POST", f"/api/v1/{path}", headers=headers, CONTENT_TYPE=kind, CONTENT_LENGTH="0")
    assert_problem(answer, 422)


# --- Addresses -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["nothing", "outcomes/nothing", "logs/nothing", "logs/a/b", ""])
def test_an_address_where_nothing_is(client: Client, path: str) -> None:
    assert_problem(client.get(f"/api/v1/{path}"), 404)


def test_a_wrong_method(client: Client) -> None:
    answer = client.get("/api/v1/logs")
    assert_problem(answer, 405)
    assert answer["Allow"] == "POST"


def test_an_error_nobody_thought_of_shows_no_traceback(client: Client, secret: str, monkeypatch) -> None:
    def broken(*_args: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(intake, "submit", broken)
    headers = {"Authorization": f"Bearer {secret}"}
    body = json.dumps({"lane": "asan", "commit": "d1b0ea3a8"})
    answer = client.post("/api/v1/outcomes", body, "application/json", headers=headers)
    assert "secret detail" not in json.dumps(assert_problem(answer, 500))


# --- Archives on the page --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "values"),
    [
        ("logs.zip", b"PK\x03\x04 and then nothing", {}),
        ("asan.log.gz", gzip.compress(b"text" * 99, mtime=0)[:-4], {}),
        ("asan.log", b"fine", {"commit": "HEAD"}),
    ],
)
def test_a_drop_that_is_refused_leaves_no_scratch_project(name: str, content: bytes, values: dict) -> None:
    with pytest.raises(PermanentError):
        intake.drop([SimpleUploadedFile(name, content)], values)
    assert Project.objects.count() == 0


def test_a_drop_without_a_log_is_refused() -> None:
    with pytest.raises(BadSubmission):
        intake.drop([], {})
