"""The lane wrapper by itself, as a program: what it passes on, what it keeps, and how it ends. No server is there."""

import ast
import gzip
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from workers import lane
from workers.tests.lane_house import LANE, alone, lane_words, measured, until

pytestmark = pytest.mark.processes


def shell(script: str) -> list[str]:
    return ["--", "sh", "-c", script]


def python(script: str) -> list[str]:
    return ["--", sys.executable, "-c", script]


def spooled(folder: Path) -> tuple[dict, bytes]:
    """The fields of the only entry of the spool, and the command's log."""
    (entry,) = (folder / ".leakledger-spool").glob("*.json")
    content = json.loads(entry.read_text())
    log = next(log for log in content["logs"] if log["name"] == "lane.log")
    return content["fields"], gzip.decompress((entry.parent / log["file"]).read_bytes())


# --- Exit codes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("exit 0", 0),
        ("exit 3", 3),
        ("exit 255", 255),
        ("kill -TERM $$", 143),
        ("kill -KILL $$", 137),
        ("kill -SEGV $$", 139),
    ],
)
def test_the_exit_code_is_the_commands_own(tmp_path: Path, script: str, code: int) -> None:
    assert alone(tmp_path, *shell(script)).returncode == code
    fields, _ = spooled(tmp_path)
    assert (fields["exit_code"], fields["ended"], fields["source"]) == (code, True, "lane_wrapper")
    assert "conclusion" not in fields


def test_a_command_that_is_not_there_ends_as_in_a_shell(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    assert alone(tmp_path, "--", "no-such-program").returncode == 127
    assert b"no-such-program" in spooled(tmp_path)[1]
    assert alone(tmp_path, "--no-spool", "--", "./text").returncode == 126


@pytest.mark.parametrize(
    "words", [[], ["--lane", "x"], ["--no-such-option", "--", "true"], ["--max-log-mb", "0", "--", "true"]]
)
def test_a_wrong_command_line_is_said_before_anything_runs(tmp_path: Path, words: list[str]) -> None:
    done = alone(tmp_path, *words)
    assert (done.returncode, b"usage: " in done.stderr) == (2, True)


def test_what_cannot_be_reported_runs_all_the_same(tmp_path: Path) -> None:
    command = [sys.executable, str(LANE), *shell("echo hi; exit 4")]
    done = subprocess.run(command, cwd=tmp_path, env={"PATH": os.environ["PATH"]}, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (4, b"hi\n")
    assert b"nothing is reported: lane and commit cannot be told" in done.stderr


@pytest.mark.parametrize("address", ["ftp://x", "x", "file:///etc/passwd"])
def test_an_address_that_is_none_is_said(tmp_path: Path, address: str) -> None:
    done = alone(tmp_path, *shell("exit 4"), LEAKLEDGER_URL=address, LEAKLEDGER_TOKEN="t")
    assert (done.returncode, b"must begin with https://" in done.stderr) == (4, True)


def test_a_fault_in_the_reporting_is_a_line_and_no_more(tmp_path: Path) -> None:
    broken = LANE.read_text().replace(
        "def options_of(", 'def place(env):\n    raise RuntimeError("oops")\n\n\ndef options_of('
    )
    (tmp_path / "lane.py").write_text(broken)
    done = subprocess.run(
        [sys.executable, "lane.py", *shell("exit 4")], cwd=tmp_path, env={"PATH": os.environ["PATH"]}, capture_output=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, b"a fault in lane.py itself" in done.stderr) == (4, True)


# --- Output ----------------------------------------------------------------------------------------------------------

HOSTILE = {
    "nothing": b"",
    "no newline": b"[ 31%] Building",
    "binary": bytes(range(256)) * 500,
    "a line of 10 MB": b"x" * 10_000_000,
    "CRs": b"1%\r2%\r3%\r\n",
    "half a character": "ä".encode()[:1],
    "NULs": b"\0" * 70_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_output_passes_untouched_and_is_kept_byte_for_byte(tmp_path: Path, name: str) -> None:
    (tmp_path / "data").write_bytes(HOSTILE[name])
    done = alone(tmp_path, *shell("cat data"))
    assert done.stdout == HOSTILE[name]
    assert spooled(tmp_path)[1] == HOSTILE[name]


def test_each_stream_stays_its_own_and_the_log_has_the_order(tmp_path: Path) -> None:
    script = "for i in 1 2 3; do echo out $i; sleep 0.1; echo err $i >&2; sleep 0.1; done"
    done = alone(tmp_path, *shell(script))
    assert done.stdout == b"out 1\nout 2\nout 3\n"
    assert b"err 1\nerr 2\nerr 3\n" in done.stderr
    assert spooled(tmp_path)[1] == b"out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n"


def test_lines_of_two_busy_streams_are_not_spliced(tmp_path: Path) -> None:
    script = (
        "import os, threading\n"
        "def go(fd, line):\n"
        "    for _ in range(40): os.write(fd, line * 500)\n"
        "for fd, line in ((1, b'o' * 99 + b'\\n'), (2, b'e' * 79 + b'\\n')):\n"
        "    threading.Thread(target=go, args=(fd, line)).start()\n"
    )
    alone(tmp_path, *python(script))
    lines = spooled(tmp_path)[1].split(b"\n")
    assert {len(line) for line in lines} == {99, 79, 0}
    assert len(lines) == 40_001


def test_a_line_that_waits_for_its_end_stands_before_the_report_that_interrupts_it(tmp_path: Path) -> None:
    alone(tmp_path, *shell("printf 'test a ... '; sleep 0.3; echo '==1==ERROR: AddressSanitizer' >&2"))
    assert spooled(tmp_path)[1] == b"test a ... ==1==ERROR: AddressSanitizer\n"


def test_a_reader_that_goes_away_does_not_end_the_command(tmp_path: Path) -> None:
    words = shlex.join(
        lane_words("abcdef012", *shell("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; exit 5"))
    )
    done = subprocess.run(
        ["/bin/sh", "-c", f"({words}; echo code $? >&2) | head -1"], cwd=tmp_path, env={"PATH": os.environ["PATH"]}, capture_output=True,
        check=False,
    )  # fmt: skip
    assert (done.stdout, b"code 5" in done.stderr) == (b"line 0\n", True)
    assert spooled(tmp_path)[1].endswith(b"line 19999\n")


def test_a_slow_reader_loses_nothing(tmp_path: Path) -> None:
    words = shlex.join(lane_words("abcdef012", "--no-spool", *shell("head -c 180000 /dev/zero")))
    done = subprocess.run(
        ["/bin/sh", "-c", f"{words} | (sleep 2.5; cat)"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        check=False,
    )
    assert len(done.stdout) == 180_000


def test_a_daemon_that_holds_the_pipes_is_not_waited_for(tmp_path: Path) -> None:
    began = time.monotonic()
    with (tmp_path / "out").open("wb") as out:
        code = subprocess.call(
            lane_words("abcdef012", *shell("sleep 30 & echo $! > pid; echo started; exit 2")), cwd=tmp_path,
            env={"PATH": os.environ["PATH"]}, stdout=out, stderr=out,
        )  # fmt: skip
    assert code == 2
    assert time.monotonic() - began < 10
    assert spooled(tmp_path)[1] == b"started\n"
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def test_the_command_may_use_the_input_and_open_files_and_not_the_token(tmp_path: Path) -> None:
    script = "cat; cat <&9; echo token=$LEAKLEDGER_TOKEN other=$OTHER"
    (tmp_path / "nine").write_text("nine\n")
    words = shlex.join(lane_words("abcdef012", *shell(script)))
    environment = {"PATH": os.environ["PATH"], "LEAKLEDGER_TOKEN": "llu_secret", "OTHER": "1"}
    done = subprocess.run(
        ["/bin/sh", "-c", f"{words} 9< nine"],
        cwd=tmp_path,
        env=environment,
        input=b"in\n",
        capture_output=True,
        check=False,
    )
    assert done.stdout == b"in\nnine\ntoken= other=1\n"


def test_of_a_log_that_is_too_long_the_beginning_and_the_end_are_kept(tmp_path: Path) -> None:
    alone(tmp_path, "--max-log-mb", "1", *shell("echo first; head -c 5000000 /dev/zero; echo; echo last"))
    fields, log = spooled(tmp_path)
    assert log.startswith(b"first\n")
    assert log.endswith(b"\nlast\n")
    assert b"lane.py: the middle of this log is left out" in log
    assert len(log) < 1_100_000 < fields["announced_bytes"]


# --- Signals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_reaches_the_whole_group_and_the_command_may_end_by_itself(
    tmp_path: Path, number: signal.Signals
) -> None:
    # The signal is for the child of the child: a shell that waits for it does not hand it on.
    inner = (
        "import os, signal, time\n"
        "def tidy(*_): os.write(1, b'tidied\\n'); os._exit(0)\n"
        "for number in (1, 2, 15): signal.signal(number, tidy)\n"
        "print('ready', flush=True)\n"
        "time.sleep(30)\n"
    )
    started = start(tmp_path, shell(f"trap : INT TERM HUP; {shlex.join([sys.executable, '-c', inner])}; exit 0"))
    assert started.stdout is not None
    assert started.stdout.readline() == b"ready\n"
    started.send_signal(number)
    assert started.wait(timeout=10) == 128 + number
    fields, log = spooled(tmp_path)
    assert (fields["conclusion"], fields["exit_code"], log) == ("cancelled", 0, b"ready\ntidied\n")
    started.stdout.close()


def test_a_signal_that_was_ignored_stays_ignored(tmp_path: Path) -> None:
    words = shlex.join(lane_words("abcdef012", "--no-spool", *shell("echo ready; sleep 1")))
    started = subprocess.Popen(
        ["/bin/sh", "-c", f"trap '' HUP; exec {words}"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
    )
    assert started.stdout is not None
    assert started.stdout.readline() == b"ready\n"
    started.send_signal(signal.SIGHUP)
    assert started.wait(timeout=10) == 0
    started.stdout.close()


def test_a_large_log_of_a_cancelled_run_is_kept_from_its_end(tmp_path: Path) -> None:
    script = (
        "import os, time\n"
        "os.write(1, b'first\\n')\n"
        "for _ in range(400): os.write(1, (b'x' * 99 + b'\\n') * 1000)\n"
        "os.write(1, b'last\\n')\n"
        "time.sleep(30)\n"
    )
    with (tmp_path / "out").open("wb") as out:
        started = subprocess.Popen(
            lane_words("abcdef012", *python(script)),
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"]},
            stdout=out,
            stderr=out,
        )
        assert until(20, lambda: (tmp_path / "out").stat().st_size > 40_000_000)
        began = time.monotonic()
        started.terminate()
        assert started.wait(timeout=10) == 143
    assert time.monotonic() - began < 7.5
    fields, log = spooled(tmp_path)
    assert log.startswith(b"lane.py: the beginning of this log is left out: the run was cancelled\nxxx")
    assert log.endswith(b"x\nlast\n")
    assert len(log) <= lane.CANCEL_LOG + 100 < fields["announced_bytes"]


def start(folder: Path, words: list[str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        lane_words("abcdef012", *words),
        cwd=folder,
        env={"PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


# --- The spool -------------------------------------------------------------------------------------------------------


def test_the_spool_keeps_the_newest_within_its_bound(tmp_path: Path) -> None:
    for _ in range(3):
        alone(tmp_path, "--spool-mb", "1", *shell("head -c 600000 /dev/urandom"))
    entries = list((tmp_path / ".leakledger-spool").glob("*.json"))
    assert len(entries) == len(list((tmp_path / ".leakledger-spool").glob("*.gz"))) == 1
    assert (tmp_path / ".leakledger-spool" / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize(
    "entry",
    [
        "{",
        "[]",
        '{"fields": {}, "logs": [{"name": "x", "file": "../../etc/passwd"}]}',
        '{"fields": {}, "logs": [{"name": "x", "file": "link.gz"}]}',
        '{"fields": {}, "logs": [{"name": "x\\"", "file": "a.gz"}]}',
        '{"fields": {}, "logs": 7}',
    ],
)
def test_no_entry_leads_out_of_the_spool(tmp_path: Path, entry: str) -> None:
    (tmp_path / "link.gz").symlink_to("/etc/passwd")
    (tmp_path / "x.json").write_text(entry)
    spool = lane.Spool(tmp_path, 1000)
    with pytest.raises((ValueError, TypeError)):
        spool.read(tmp_path / "x.json")


# --- Bounds ----------------------------------------------------------------------------------------------------------


def test_a_long_log_takes_little_memory(tmp_path: Path) -> None:
    """20 MB here; `make bench` measures 200 MB."""
    used = measured(tmp_path, ["head", "-c", "20000000", "/dev/zero"])
    assert used.memory < 50_000_000, "lane.py holds what it passes on"
    assert (tmp_path / "out").stat().st_size == 20_000_000


def test_it_runs_on_old_pythons_and_needs_no_package() -> None:
    tree = ast.parse(LANE.read_text(), feature_version=(3, 8))
    young = {
        "removeprefix",
        "removesuffix",
        "is_relative_to",
        "with_stem",
        "readlink",
        "to_thread",
        "pairwise",
        "UTC",
        "batched",
    }
    assert not young & {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)


@pytest.mark.parametrize("limit", [1, 200])
def test_packing_spends_no_more_than_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(lane, "UNCOUNTED", 0)
    monkeypatch.setattr(lane, "SECONDS_A_BYTE", limit * 1e-12 if limit == 1 else 1.0)
    data = b"[ 31%] Building CXX object\n" * 1_000_000
    chunks = iter([data[start : start + lane.CHUNK] for start in range(0, len(data), lane.CHUNK)])
    assert lane.pack(chunks, tmp_path / "x.gz") == len(data)
    packed = (tmp_path / "x.gz").read_bytes()
    assert gzip.decompress(packed) == data
    assert (len(packed) > len(data) / 2) is (limit == 1)
