"""`lane.py --suppressions`: rules are fetched, kept, put beside the lane's own, and never the reason for a red lane."""

import hashlib
import json
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from workers import lane
from workers.tests.lane_house import alone

pytestmark = pytest.mark.processes

HEAD = "# Leakledger suppressions of engine for LeakSanitizer, lane asan\n# Approved.\n"
PRINTED = """
import os
for name in ("LSAN_OPTIONS", "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "VALGRIND_OPTS"):
    print(f"{name}={os.environ.get(name)}")
for word in os.environ.get("LSAN_OPTIONS", "").split(":"):
    if word.startswith("suppressions=/"):
        print(open(word[13:], errors="replace").read())
"""
SHOW = ["--", sys.executable, "-c", PRINTED]
TODAY = datetime.now(UTC).date()


def paragraph(rule: str, days: int = 9, name: str = "SUP-AAAAAA") -> str:
    return f"# {name}, approved by the role approver\n# ends: {TODAY + timedelta(days=days)}\n# reason: kept\n{rule}"


def served(*paragraphs: str) -> str:
    return "\n\n".join([HEAD.rstrip("\n"), *paragraphs]) + "\n"


class Serving(BaseHTTPRequestHandler):
    """Answers files of suppressions, and takes uploads without a word."""

    def do_GET(self) -> None:
        server: Any = self.server
        server.asked.append((self.path, self.headers.get("If-None-Match")))
        tool = self.path.partition("?")[0].rpartition("/")[2]
        status, text = server.files.get(tool, (404, "{}"))
        tag = f'"{hashlib.sha256(text.encode()).hexdigest()}"'
        if status == 200 and self.headers.get("If-None-Match") == tag:
            status, text = 304, ""
        self._answer(status, text.encode())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append(body)  # type: ignore[attr-defined]
        self._answer(202, json.dumps({"outcome": {"id": "o1", "page": "http://x/"}}).encode())

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it
        pass


@pytest.fixture
def server() -> Iterator[Any]:
    made: Any = ThreadingHTTPServer(("127.0.0.1", 0), Serving)
    made.files, made.asked, made.bodies = {}, [], []
    threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def run(folder: Path, server: Any, *words: str, **more: str):
    url = f"http://127.0.0.1:{server.server_port}"
    given = {"LEAKLEDGER_URL": url, "LEAKLEDGER_TOKEN": "t", **more}
    return alone(
        folder, "--wait", "0", "--heartbeat", "0", "--no-spool", "--upload-seconds", "5", *words, *SHOW, **given
    )


def rules_sent(server: Any) -> list[bytes]:
    return [body for body in server.bodies if b'name="rules"' in body]


# --- In force --------------------------------------------------------------------------------------------------------


def test_the_command_runs_with_the_approved_rules_and_the_exact_file_is_sent(tmp_path, server):
    server.files["lsan.supp"] = (200, served(paragraph("leak:engine::Pool::get")))
    done = run(tmp_path, server, "--suppressions", "lsan")
    assert done.returncode == 0
    out = done.stdout.decode()
    assert "leak:engine::Pool::get" in out
    assert "TSAN_OPTIONS=None" in out
    assert b"1 approved lsan rules are in force" in done.stderr
    (sent,) = rules_sent(server)
    assert b'name="rules"; filename="leakledger-lsan.supp"' in sent
    assert served(paragraph("leak:engine::Pool::get")).encode() in sent
    assert server.asked[0] == ("/api/v1/suppressions/lsan.supp?lane=asan", None)


def test_options_that_are_there_stay(tmp_path, server):
    server.files["lsan.supp"] = (200, served(paragraph("leak:a_pool")))
    out = run(
        tmp_path, server, "--suppressions", "lsan", LSAN_OPTIONS="print_suppressions=1:max_leaks=3"
    ).stdout.decode()
    assert "LSAN_OPTIONS=print_suppressions=1:max_leaks=3:suppressions=/" in out


def test_without_names_every_tool_is_asked_and_only_those_with_rules_are_set(tmp_path, server):
    server.files = {f"{tool}.supp": (200, served()) for tool in lane.SUPPRESSED}
    server.files["ubsan.supp"] = (200, served(paragraph("null:engine/pool.h")))
    block = "{\n   the pool\n   Memcheck:Leak\n   ...\n   fun:pool_get\n}"
    server.files["valgrind.supp"] = (200, served(paragraph(block)))
    out = run(tmp_path, server, "--suppressions", VALGRIND_OPTS="--num-callers=30").stdout.decode()
    assert "LSAN_OPTIONS=None" in out
    assert "UBSAN_OPTIONS=suppressions=/" in out
    assert "VALGRIND_OPTS=--num-callers=30 --suppressions=/" in out
    assert len(server.asked) == 5


def test_a_tool_that_is_named_gets_its_file_also_without_rules(tmp_path, server):
    server.files["lsan.supp"] = (200, served())
    out = run(tmp_path, server, "--suppressions", "lsan").stdout.decode()
    assert "LSAN_OPTIONS=suppressions=/" in out
    assert HEAD.splitlines()[0] in out


def test_without_the_option_nothing_is_asked_and_nothing_changes(tmp_path, server):
    server.files["lsan.supp"] = (200, served(paragraph("leak:a_pool")))
    assert "LSAN_OPTIONS=None" in run(tmp_path, server).stdout.decode()
    assert server.asked == []


# --- The lane's own file ---------------------------------------------------------------------------------------------


def test_a_file_of_the_lane_stays_in_force_and_stands_first(tmp_path, server):
    server.files["lsan.supp"] = (200, served(paragraph("leak:a_pool")))
    (tmp_path / "mine.supp").write_bytes(b"leak:our_own\xff\n")
    done = run(tmp_path, server, "--suppressions", "lsan", LSAN_OPTIONS="suppressions=mine.supp:max_leaks=3")
    assert b"besides those of mine.supp" in done.stderr
    (sent,) = rules_sent(server)
    assert b"leak:our_own\xff\n\n# Leakledger suppressions" in sent
    assert "suppressions=mine.supp:max_leaks=3:suppressions=/" in done.stdout.decode(errors="replace")


def test_a_file_that_cannot_be_read_from_here_stays_alone(tmp_path, server):
    server.files["lsan.supp"] = (200, served(paragraph("leak:a_pool")))
    done = run(tmp_path, server, "--suppressions", "lsan", LSAN_OPTIONS="suppressions='beside the program.supp'")
    assert "LSAN_OPTIONS=suppressions='beside the program.supp'\n" in done.stdout.decode()
    assert b"beside the program.supp, which cannot be read from here" in done.stderr
    assert rules_sent(server) == []


def test_what_the_command_itself_sets_is_not_touched(tmp_path, server):
    server.files["lsan.supp"] = (200, served(paragraph("leak:a_pool")))
    done = alone(
        tmp_path, "--no-spool", "--wait", "0", "--suppressions", "lsan", "--", "env", "LSAN_OPTIONS=max_leaks=1", "true",
        LEAKLEDGER_URL=f"http://127.0.0.1:{server.server_port}", LEAKLEDGER_TOKEN="t",
    )  # fmt: skip
    assert b"the command sets LSAN_OPTIONS itself" in done.stderr
    assert rules_sent(server) == []


# --- Away ------------------------------------------------------------------------------------------------------------


def test_the_last_copy_is_used_while_nobody_answers_and_that_is_said(tmp_path, server):
    server.files["lsan.supp"] = (200, served(paragraph("leak:a_pool")))
    run(tmp_path, server, "--suppressions", "lsan")
    server.files["lsan.supp"] = (503, "")
    done = run(tmp_path, server, "--suppressions", "lsan")
    assert "leak:a_pool" in done.stdout.decode()
    assert b"suppressions cannot be fetched" in done.stderr
    assert b"the lsan rules are the copy that was kept on 2" in done.stderr
    assert (done.returncode, len(rules_sent(server))) == (0, 2)


def test_what_is_up_to_date_is_not_sent_again(tmp_path, server):
    text = served(paragraph("leak:a_pool"))
    server.files["lsan.supp"] = (200, text)
    run(tmp_path, server, "--suppressions", "lsan")
    done = run(tmp_path, server, "--suppressions", "lsan")
    assert server.asked[1][1] == f'"{hashlib.sha256(text.encode()).hexdigest()}"'
    assert "leak:a_pool" in done.stdout.decode()
    assert b"kept on" not in done.stderr


def test_a_rule_that_has_ended_is_left_out_of_a_copy(tmp_path, server):
    ending = [paragraph("leak:over", days=-1), paragraph("leak:last_day", days=0), paragraph("leak:going_on")]
    server.files["lsan.supp"] = (200, served(*ending))
    run(tmp_path, server, "--suppressions", "lsan")
    server.files["lsan.supp"] = (500, "")
    done = run(tmp_path, server, "--suppressions", "lsan")
    out = done.stdout.decode()
    assert ("leak:over" in out, "leak:last_day" in out, "leak:going_on" in out) == (False, True, True)
    assert b"1 lsan rules have ended" in done.stderr


def test_without_a_server_and_without_a_copy_the_lane_runs_as_ever(tmp_path, server):
    for status in (404, 401, 503, 302):
        server.files["lsan.supp"] = (status, "{}")
        done = run(tmp_path, server, "--suppressions", "lsan")
        assert (done.returncode, "LSAN_OPTIONS=None" in done.stdout.decode()) == (0, True), status
    done = alone(tmp_path, "--no-spool", "--suppressions", "lsan", *SHOW)
    assert (done.returncode, "LSAN_OPTIONS=None" in done.stdout.decode()) == (0, True)


@pytest.mark.parametrize(
    "text",
    [
        "<html>Sign in to the network</html>",
        "",
        served("leak"),
        served(paragraph("leak:fine"), "no rule at all"),
        served(paragraph("leak:fine\nbroken")),
        "\0\1\2",
    ],
)
def test_what_a_runtime_could_stumble_over_is_not_used(tmp_path, server, text):
    server.files["lsan.supp"] = (200, text)
    done = run(tmp_path, server, "--suppressions", "lsan")
    assert done.returncode == 0
    lines = [line for line in done.stdout.decode().splitlines() if line and not line.startswith(("#", "\0"))]
    assert all("OPTIONS" in line or "OPTS" in line for line in lines)


@pytest.mark.parametrize(
    ("lines", "sound"),
    [
        (["{", "x", "}"], True),
        (["{", "x", "}", "{", "y", "}"], True),
        ([], True),
        (["x"], False),
        (["{", "x"], False),
        (["{", "{", "}", "}"], False),
        (["}", "{"], False),
        (["{", "x", "}", "y"], False),
    ],
)
def test_blocks_are_looked_at_before_valgrind_does(lines, sound):
    assert lane.balanced(lines) is sound


def test_a_copy_that_somebody_spoilt_is_no_copy(tmp_path, server):
    server.files["lsan.supp"] = (503, "")
    (tmp_path / "kept").mkdir()
    name = hashlib.sha256(b"asan").hexdigest()[:12]
    (tmp_path / "kept" / f"lsan-{name}.supp").write_bytes(b"\xff\xfe leak:*")
    done = run(tmp_path, server, "--suppressions", "lsan", "--suppressions-folder", "kept")
    assert "LSAN_OPTIONS=None" in done.stdout.decode()


def test_a_folder_that_cannot_be_written_costs_the_copy_and_no_more(tmp_path, server):
    server.files["lsan.supp"] = (200, served(paragraph("leak:a_pool")))
    (tmp_path / "file").write_text("")
    done = run(tmp_path, server, "--suppressions", "lsan", "--suppressions-folder", "file")
    assert "leak:a_pool" in done.stdout.decode()
    assert b"no copy of the lsan rules can be kept" in done.stderr


def test_the_spool_keeps_the_files_too(tmp_path, server):
    server.files["lsan.supp"] = (200, served(paragraph("leak:a_pool")))
    run(tmp_path, server, "--suppressions", "lsan")
    done = alone(tmp_path, "--suppressions", "lsan", *SHOW)
    assert done.returncode == 0
    (entry,) = (tmp_path / ".leakledger-spool").glob("*.json")
    logs = json.loads(entry.read_text())["logs"]
    assert [(log["name"], log["field"]) for log in logs] == [("lane.log", "log"), ("leakledger-lsan.supp", "rules")]
    flushed = alone(tmp_path, "--flush", LEAKLEDGER_URL=f"http://127.0.0.1:{server.server_port}", LEAKLEDGER_TOKEN="t")
    assert flushed.returncode == 0
    assert b'name="rules"' in server.bodies[-1]
    assert not (tmp_path / ".leakledger-spool").exists()


def test_a_path_that_an_option_cannot_hold_is_said(tmp_path):
    assert lane.option_of("lsan", Path("/tmp/a b/x.supp")) == 'suppressions="/tmp/a b/x.supp"'
    assert lane.option_of("lsan", Path('/tmp/"/x.supp')) == ""
    assert lane.option_of("valgrind", Path("/tmp/a b/x.supp")) == ""
    assert lane.set_by("a=1:suppressions=x:suppressions='y z'") == "y z"
    assert lane.set_by("print_suppressions=1") == ""


@pytest.mark.parametrize("word", ["msan", "lsan,msan", ","])
def test_an_unknown_tool_is_said_before_anything_runs(tmp_path, word):
    done = alone(tmp_path, "--suppressions", word, *SHOW)
    assert (done.returncode, b"one or more of lsan" in done.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []
