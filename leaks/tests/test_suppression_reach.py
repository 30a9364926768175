"""`manage.py suppression_reach`: one line of JSON for each report."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from leaks.management.commands.suppression_reach import NOBODY_READS
from leaks.tests.test_reach import HANGING, OPENING, POOL
from leaks.tests.test_reach_tsan import RACE

KEYS = ["file", "line", "kind", "count", "signature", "rule", "certainty"]
ROOT = Path(__file__).resolve().parents[2]


def asked(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[dict]:
    call_command("suppression_reach", *map(str, arguments))
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "a.log"
    path.write_text(OPENING + POOL + HANGING)
    return path


def rules(folder: Path, text: str) -> Path:
    path = folder / "rules.supp"
    path.write_text(text)
    return path


def test_each_report_is_answered_in_the_order_of_the_log(capsys, tmp_path: Path, log: Path) -> None:
    first, second = asked(capsys, rules(tmp_path, "# why\nleak:Pool\n"), log)
    assert list(first) == KEYS
    assert (first["file"], first["line"], first["kind"]) == (str(log), 3, "direct-leak")
    assert first["signature"].startswith("LKS-")
    assert (first["rule"], first["certainty"]) == ({"line": 2, "text": "leak:Pool"}, "certain")
    assert (second["kind"], second["certainty"]) == ("indirect-leak", "possible")


def test_blocks_of_the_same_frames_are_one_report_with_their_count(capsys, tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(OPENING + POOL + HANGING + POOL.replace("64 byte", "72 byte"))
    rows = asked(capsys, rules(tmp_path, "leak:Pool\n"), log)
    assert [(row["line"], row["count"], row["certainty"]) for row in rows] == [(3, 2, "certain"), (9, 1, "possible")]


def test_it_ends_quietly_when_nobody_reads_on(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(OPENING + "".join(POOL.replace("Pool::grow", f"Pool{number}::grow") for number in range(3000)))
    command = [sys.executable, "manage.py", "suppression_reach", str(rules(tmp_path, "leak:Pool\n")), str(log)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(60) == NOBODY_READS


def test_what_no_rule_hides_has_neither_rule_nor_certainty(capsys, tmp_path: Path, log: Path) -> None:
    rows = asked(capsys, rules(tmp_path, "leak:Socket\n"), log)
    assert [(row["rule"], row["certainty"]) for row in rows] == [(None, None)] * 2


def test_several_logs_and_packed_ones(capsys, tmp_path: Path, log: Path) -> None:
    packed = tmp_path / "b.log.gz"
    packed.write_bytes(gzip.compress(RACE))
    rows = asked(capsys, rules(tmp_path, "race:net::bump\n"), log, packed)
    assert [(Path(row["file"]).name, row["certainty"]) for row in rows] == [
        ("a.log", None),
        ("a.log", None),
        ("b.log.gz", "certain"),
    ]


def test_the_tool_can_be_said(capsys, tmp_path: Path, log: Path) -> None:
    rows = asked(capsys, rules(tmp_path, "leak:Pool\n"), log, "--tool", "tsan")
    assert [row["certainty"] for row in rows] == [None, None]


def test_a_line_that_the_runtime_would_refuse_is_told_on_standard_error(capsys, tmp_path: Path, log: Path) -> None:
    path = rules(tmp_path, "leak:Pool\nleek:Cache\n")
    call_command("suppression_reach", str(path), str(log))
    told = capsys.readouterr()
    assert told.err.startswith(f"{path}:2: ")
    assert len(told.out.splitlines()) == 2


def test_a_log_that_cannot_be_read_is_answered_in_its_place(capsys, tmp_path: Path, log: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        call_command("suppression_reach", str(rules(tmp_path, "leak:Pool\n")), str(tmp_path / "none"), str(log))
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert ended.value.code == 2
    assert (list(rows[0]), len(rows)) == (["file", "error"], 3)


def test_rules_that_cannot_be_read_are_refused(tmp_path: Path, log: Path) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("suppression_reach", str(tmp_path / "none"), str(log))
    assert refused.value.returncode == 2


@pytest.mark.parametrize("text", ["", "\0\xff", "{" * 1000, "leak:" + "*a" * 5000, "}\n{\n}\n", "leak:\n" * 300])
def test_strange_rules_are_no_trouble(capsys, tmp_path: Path, log: Path, text: str) -> None:
    assert len(asked(capsys, rules(tmp_path, text), log)) == 2
