import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard
from django.core.management import CommandError, call_command

ROOT = Path(__file__).resolve().parents[2]

LEAK = b"""\
[doctest] test cases:  3 |  3 passed | 0 failed | 0 skipped
[doctest] assertions: 9 | 9 passed | 0 failed |
[doctest] Status: SUCCESS!

=================================================================
==4711==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 64 byte(s) in 2 object(s) allocated from:
    #0 0x7f1 in malloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:69
    #1 0x4a1 in Plumbing::get(unsigned long) /src/engine/plumbing.cpp:11:9
    #2 0x4a2 in kv::Pool::allocate(unsigned long) /src/engine/pool.cpp:42:17
    #3 0x4a3 in main /src/engine/main.cpp:7:3

Direct leak of 32 byte(s) in 1 object(s) allocated from:
    #0 0x7f1 in malloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:69
    #1 0x4b2 in third::Party::make() /opt/third/party.cpp:5:1

SUMMARY: AddressSanitizer: 96 byte(s) leaked in 3 allocation(s).
"""
CLEAN = b"[doctest] test cases: 3 | 3 passed | 0 failed | 0 skipped\n[doctest] Status: SUCCESS!\n"


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / "asan.log"
    path.write_bytes(LEAK)
    return str(path)


def read(*arguments: str, status: int = 0) -> list[dict]:
    """The answers of the command, one a line."""
    printed = io.StringIO()
    if status:
        with pytest.raises(SystemExit) as ended:
            call_command("read_log", *arguments, stdout=printed)
        assert ended.value.code == status
    else:
        call_command("read_log", *arguments, stdout=printed)
    return [json.loads(line) for line in printed.getvalue().splitlines()]


def batch(monkeypatch, lines: list[object], *arguments: str, status: int = 0) -> list[dict]:
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    return read("--batch", "-", *arguments, status=status)


# --- The shape -------------------------------------------------------------------------------------------------------


def test_the_shape_is_the_contract(log: str) -> None:
    (found,) = read(log, "--exit-code", "1")
    assert list(found) == [
        "file",
        "verdict",
        "tests",
        "totals",
        "own",
        "reports",
        "suppressions_used",
        "options",
        "notes",
    ]
    assert list(found["verdict"]) == ["verdict", "reason", "flags", "rule", "because"]
    assert found["file"] == log
    assert list(found["reports"][0]) == [
        "tool",
        "kind",
        "bytes",
        "objects",
        "count",
        "pid",
        "line",
        "signature",
        "title",
        "test",
        "truncated",
        "own_frame",
        "frames",
        "stacks",
    ]
    assert list(found["reports"][0]["frames"][0]) == ["function", "file", "line", "column", "module", "offset"]


def test_what_the_log_holds_is_what_is_answered(log: str) -> None:
    (found,) = read(log, "--exit-code", "1")
    assert (found["verdict"]["verdict"], found["verdict"]["reason"]) == ("findings", None)
    assert "summary_contradicts_exit" in found["verdict"]["flags"]
    assert found["tests"] == {
        "runner": "doctest",
        "total": 3,
        "passed": 3,
        "failed": 0,
        "skipped": 0,
        "complete": True,
    }
    assert found["totals"] == {
        "bytes": 96,
        "objects": 3,
        "summary_bytes": 96,
        "summary_objects": 3,
        "reconciled": True,
    }
    first, second = found["reports"]
    assert [first[name] for name in ("tool", "kind", "bytes", "objects", "count", "pid", "line", "truncated")] == [
        "lsan",
        "direct-leak",
        64,
        2,
        1,
        4711,
        8,
        False,
    ]
    assert first["own_frame"] == {"function": "Plumbing::get", "file": "/src/engine/plumbing.cpp", "line": 11}
    assert first["frames"][2]["function"] == "kv::Pool::allocate(unsigned long)"
    assert (first["frames"][2]["line"], first["frames"][2]["column"]) == (42, 17)
    assert second["own_frame"] is None
    assert found["own"] == {"reports": 1, "bytes": 64, "objects": 2}
    assert first["signature"] != second["signature"]


def test_because_names_lines_of_the_file(log: str) -> None:
    (found,) = read(log, "--exit-code", "1")
    lines = LEAK.decode().splitlines()
    assert found["verdict"]["because"]
    for line in found["verdict"]["because"]:
        assert line["text"].strip() in lines[line["line"] - 1]


def test_without_frames_the_stacks_are_left_out(log: str) -> None:
    with_frames, without = read(log)[0], read(log, "--no-frames")[0]
    for report in with_frames["reports"]:
        del report["frames"], report["stacks"]
    assert with_frames == without


# --- Options ---------------------------------------------------------------------------------------------------------


def test_plumbing_is_skipped_when_it_is_named(log: str) -> None:
    (found,) = read(log, "--plumbing", "Plumbing::get")
    assert found["reports"][0]["own_frame"]["function"] == "kv::Pool::allocate"


def test_own_roots_say_what_is_own(log: str) -> None:
    own = read(log, "--own-root", "/opt/third")[0]["own"]
    assert own == {"reports": 1, "bytes": 32, "objects": 1}


def test_the_exit_code_and_the_ci_s_word_decide_what_the_log_leaves_open(tmp_path: Path) -> None:
    path = tmp_path / "clean.log"
    path.write_bytes(b"ASAN_OPTIONS=detect_leaks=1\n" + CLEAN)
    verdicts = {
        arguments: read(str(path), *arguments)[0]["verdict"]
        for arguments in (("--exit-code", "0"), ("--exit-code", "1"), ("--conclusion", "cancelled"), ())
    }
    assert {arguments: (one["verdict"], one["reason"]) for arguments, one in verdicts.items()} == {
        ("--exit-code", "0"): ("clean", None),
        ("--exit-code", "1"): ("unexplained", None),
        ("--conclusion", "cancelled"): ("no_verdict", "cancelled_during_tests"),
        (): ("no_verdict", "pending"),
    }


def test_the_environment_of_the_run_counts(tmp_path: Path) -> None:
    path = tmp_path / "clean.log"
    path.write_bytes(CLEAN)
    (found,) = read(str(path), "--exit-code", "0", "--env", "ASAN_OPTIONS=detect_leaks=0:color=never")
    assert found["verdict"]["verdict"] == "blinded"
    (found,) = read(
        str(path), "--exit-code", "0", "--env", "ASAN_OPTIONS=detect_leaks=0", "--detectors", "address,undefined"
    )
    assert "leak_detection_off" not in found["verdict"]["flags"] or found["verdict"]["verdict"] == "clean"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--detectors", "adress"),
        ("--env", "NO_VALUE"),
        ("--env", "=1"),
        ("--exit-code", "one"),
        ("--batch", "missing.jsonl", "--no-frames"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(log: str, arguments: tuple[str, ...]) -> None:
    files = () if "--batch" in arguments else (log,)
    with pytest.raises(CommandError):
        read(*files, *arguments)


@pytest.mark.parametrize("arguments", [(), ("x.log", "--batch", "-")])
def test_files_or_a_batch_and_not_both(arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match="not both"):
        read(*arguments)


# --- Files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_packed_files_are_read_as_they_are(log: str, tmp_path: Path, pack) -> None:
    packed = tmp_path / "packed"
    packed.write_bytes(pack(LEAK))
    plain, unpacked = read(log, str(packed))
    assert {**plain, "file": ""} == {**unpacked, "file": ""}


def test_a_file_that_cannot_be_read_answers_in_its_place(log: str, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(LEAK)[:-9])
    cut_zstd = tmp_path / "cut.zst"
    cut_zstd.write_bytes(zstandard.compress(LEAK)[:-1])
    asked = [str(tmp_path / "missing"), log, str(tmp_path), str(cut), str(cut_zstd), log]
    found = read(*asked, status=2)
    assert [one["file"] for one in found] == asked
    assert ["error" in one for one in found] == [True, False, True, True, True, False]
    assert found[0] == {"file": asked[0], "error": "No such file or directory"}


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9, b"a\r\nb\x00c", LEAK[:400]])
def test_a_strange_log_has_an_answer_and_is_never_clean(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "strange"
    path.write_bytes(content)
    (found,) = read(str(path), "--exit-code", "0")
    assert found["verdict"]["verdict"] != "clean"


# --- Batch -----------------------------------------------------------------------------------------------------------


def test_a_batch_answers_in_order_with_what_each_line_says(log: str, tmp_path: Path, monkeypatch) -> None:
    clean = tmp_path / "clean.log"
    clean.write_bytes(CLEAN)
    env = {"ASAN_OPTIONS": "detect_leaks=1"}
    found = batch(
        monkeypatch,
        [
            {"file": str(clean), "exit_code": 0, "env": env, "detectors": ["leak"]},
            {"file": log, "exit_code": 1, "conclusion": None, "plumbing": ["Plumbing::get"]},
            {"file": str(clean), "conclusion": "cancelled"},
            {"file": log, "own_roots": ["/opt/third"], "detectors": "address, leak"},
        ],
    )
    assert [one["verdict"]["verdict"] for one in found] == ["clean", "findings", "no_verdict", "findings"]
    assert found[1]["reports"][0]["own_frame"]["function"] == "kv::Pool::allocate"
    assert found[3]["own"]["bytes"] == 32


def test_a_batch_can_come_from_a_file_and_options_hold_for_each_line(log: str, tmp_path: Path) -> None:
    path = tmp_path / "batch.jsonl"
    path.write_text("\n".join([json.dumps({"file": log}), "", json.dumps({"file": log, "plumbing": []})]))
    first, second = read("--batch", str(path), "--plumbing", "Plumbing::get", "--no-frames")
    assert first["reports"][0]["own_frame"]["function"] == "kv::Pool::allocate"
    assert second["reports"][0]["own_frame"]["function"] == "Plumbing::get"


@pytest.mark.parametrize(
    "line",
    [
        "no JSON",
        "[" * 100_000,
        [],
        {},
        {"file": 1},
        {"file": "x", "exit_code": "1"},
        {"file": "x", "exit_code": True},
        {"file": "x", "env": []},
        {"file": "x", "env": {"A": 1}},
        {"file": "x", "own_roots": "src"},
        {"file": "x", "detectors": ["adress"]},
        {"file": "x\u0000y"},
    ],
)
def test_a_bad_line_of_a_batch_answers_in_its_place(log: str, monkeypatch, line: object) -> None:
    found = batch(monkeypatch, [{"file": log}, line, {"file": log}], status=2)
    assert ["error" in one for one in found] == [False, True, False]
    assert set(found[1]) == {"file", "error"}


# --- As a program ----------------------------------------------------------------------------------------------------


def test_it_needs_no_database_and_no_writable_folder(log: str) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
        "LEAKLEDGER_VAR": "/proc/no/such/folder",
        "LANG": "C",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    run = subprocess.run(
        [sys.executable, "manage.py", "read_log", log, "missing-ü", "--no-frames"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (2, b"")
    assert [json.loads(line)["file"] for line in run.stdout.splitlines()] == [log, "missing-ü"]
