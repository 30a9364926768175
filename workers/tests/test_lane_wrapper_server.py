"""A lane and a real server: what is claimed, what is uploaded, and what happens when one of the two goes away."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.db.models.functions import Now
from pytest_django import DjangoDbBlocker

from leaks.models import Claim, LaneExpectation, Log, Part, Signature
from leaks.tests.ledger import LEAKY, OTHER, log_text
from leaks.words import ClaimSource, Reason, SignatureState, Verdict
from workers import lane
from workers.tests.lane_house import LANE, House, housed, until

pytestmark = pytest.mark.processes

BUILDING = 'for i in 1 2 3; do echo "[ 31%] Building CXX object $i"; done; sleep 60'


@pytest.fixture(scope="module")
def house(django_db_blocker: DjangoDbBlocker) -> Iterator[House]:
    with django_db_blocker.unblock(), housed() as made:
        yield made


def prints(folder: Path, text: str, code: int = 0) -> list[str]:
    (folder / "out.txt").write_text(text)
    return ["--", "sh", "-c", f"cat out.txt; exit {code}"]


def claims(house: House, commit: str) -> list[Claim]:
    return list(Claim.objects.filter(part__outcome=house.outcome(commit)).order_by("sequence"))


def test_a_lane_says_how_it_began_and_how_it_ended(house: House, tmp_path: Path) -> None:
    done = house.run(tmp_path, "a0000001", *prints(tmp_path, log_text()), ASAN_OPTIONS="detect_leaks=1")
    assert (done.returncode, done.stdout.decode()) == (0, log_text())
    assert b"clean: " in done.stderr
    start, end = claims(house, "a0000001")
    assert {start.source, end.source} == {ClaimSource.LANE_WRAPPER}
    assert (start.fields["ended"], "canary" in start.fields) == (False, False)
    assert (end.fields["ended"], end.fields["exit_code"]) == (True, 0)
    assert end.fields["options"] == {"ASAN_OPTIONS": "detect_leaks=1"}
    assert json.loads(start.raw)["lane"] == "asan"
    assert json.loads(end.raw)["exit_code"] == ["0"]
    found = house.outcome("a0000001")
    assert (found.verdict, found.exit_code, found.run.branch) == (Verdict.CLEAN, 0, "main")
    assert house.url.encode() in done.stderr


def test_a_run_that_does_not_find_its_canary_is_not_clean(house: House, tmp_path: Path) -> None:
    done = house.run(tmp_path, "a0000003", "--canary", "LKS-1", *prints(tmp_path, log_text()))
    assert (done.returncode, b"blinded: " in done.stderr) == (0, True)
    assert claims(house, "a0000003")[0].fields["canary"] == "LKS-1"


def test_the_exit_code_is_kept_although_the_shell_masks_it(house: House, tmp_path: Path) -> None:
    words = ["--lane", "asan", "--commit", "a0000002", "--wait", "0", "--", "false"]
    script = f"{shlex.quote(sys.executable)} {shlex.quote(str(LANE))} {shlex.join(words)} | tee x"
    masked = subprocess.run(["/bin/sh", "-c", script], cwd=tmp_path, env=house.environment(), check=False)
    assert masked.returncode == 0
    assert house.wait_for("a0000002", ended=True).exit_code == 1


def test_findings_are_told_with_their_addresses_and_the_gate_fails_for_new_ones(house: House, tmp_path: Path) -> None:
    house.run(tmp_path, "a0000010", *prints(tmp_path, log_text((LEAKY, 64)), 1))
    same = house.run(tmp_path, "a0000011", "--gate", "new", *prints(tmp_path, log_text((LEAKY, 64))))
    assert (same.returncode, b"nothing new since a0000010" in same.stderr) == (0, True)
    more = prints(tmp_path, log_text((LEAKY, 64), (OTHER, 8)))
    worse = house.run(tmp_path, "a0000012", "--gate", "new", "--gate-code", "7", "--base", "a0000010", *more)
    assert worse.returncode == 7
    assert b"new since a0000010: LKS-" in worse.stderr
    assert f"{house.url}/p/engine/signatures/LKS-".encode() in worse.stderr
    new = re.findall(rb"new since a0000010: (LKS-\S+)", worse.stderr)
    Signature.objects.filter(public_id__in=[name.decode() for name in new]).update(state=SignatureState.INTENDED)
    accepted = house.run(tmp_path, "a0000013", "--gate", "new", "--base", "a0000010", *more)
    assert (accepted.returncode, b"intended, accepted" in accepted.stderr) == (0, True)
    failed = house.run(tmp_path, "a0000014", "--gate", "new", "--base", "a0000010", *prints(tmp_path, log_text(), 5))
    assert failed.returncode == 5


@pytest.mark.parametrize(("gate", "code"), [("new", 0), ("strict", 1)])
def test_a_gate_without_a_base_fails_only_if_it_is_strict(house: House, tmp_path: Path, gate: str, code: int) -> None:
    words = ["--gate", gate, "--base", "fffffff0", *prints(tmp_path, log_text())]
    done = house.run(tmp_path, f"a000002{code}", *words)
    assert (done.returncode, b"gate: not comparable: No run of asan on the base" in done.stderr) == (code, True)


@pytest.mark.parametrize("command", [BUILDING, f"trap '' TERM INT; {BUILDING}"], ids=["usual", "ignores signals"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_cancellation_is_reported_while_the_build_runs(
    house: House, tmp_path: Path, command: str, number: signal.Signals
) -> None:
    commit = f"b{abs(hash((command, number))) % 10**8:08d}"
    started = house.start(tmp_path, commit, "--", "sh", "-c", f"echo $$ > pid; {command}")
    house.wait_for(commit, verdict=Verdict.NO_VERDICT)
    assert started.stdout is not None
    assert b"[ 31%]" in started.stdout.readline()
    began = time.monotonic()
    started.send_signal(number)
    assert started.wait(timeout=20) == 128 + number
    assert time.monotonic() - began < 7.5
    found = house.wait_for(commit, reason=Reason.CANCELLED_BEFORE_TESTS)
    assert (found.conclusion, found.build_percent) == ("cancelled", 31)
    assert not (tmp_path / ".leakledger-spool").exists()
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists(), "the command outlives its lane"


def test_a_lane_that_is_killed_falls_silent_and_the_server_says_so(house: House, tmp_path: Path) -> None:
    started = house.start(tmp_path, "c0000001", "--heartbeat", "0.2", "--", "sh", "-c", BUILDING)
    parts = Part.objects.filter(outcome__run__commit__sha="c0000001")
    assert until(20, lambda: parts.filter(progress__startswith="[ 31%] Building").exists())
    assert Claim.objects.filter(part__in=parts).count() == 1, "a sign of life is no claim"
    started.kill()
    time.sleep(0.5)
    last = parts.get().heartbeat_at
    time.sleep(0.5)
    assert parts.get().heartbeat_at == last, "somebody still beats"
    parts.update(heartbeat_at=Now() - timedelta(seconds=301))
    found = house.wait_for("c0000001", reason=Reason.CANCELLED_UNSEEN)
    assert (found.rule, found.conclusion, found.exit_code) == ("fell_silent", None, None)


def test_a_sign_of_life_takes_the_silence_back(house: House, tmp_path: Path) -> None:
    started = house.start(tmp_path, "c0000002", "--run-id", "c2", "--", "sleep", "60")
    house.wait_for("c0000002")
    Part.objects.filter(outcome__run__commit__sha="c0000002").update(heartbeat_at=Now() - timedelta(seconds=301))
    house.wait_for("c0000002", reason=Reason.CANCELLED_UNSEEN)
    who = {"lane": "asan", "commit": "c0000002", "run_id": "c2", "provider": "local", "source": "lane_wrapper"}
    lane.Server(house.url, house.token).state({**who, "heartbeat": lane.now()}, 10.0)
    house.wait_for("c0000002", reason=Reason.PENDING)
    started.kill()


def test_what_a_lane_could_not_send_is_sent_by_the_next_one(house: House, tmp_path: Path) -> None:
    house.shut()
    words = ["--upload-seconds", "2", "--wait", "0"]
    away = house.run(tmp_path, "d0000001", *words, *prints(tmp_path, log_text((LEAKY, 64)), 3))
    assert (away.returncode, b"kept in the spool" in away.stderr) == (3, True)
    assert len(list((tmp_path / ".leakledger-spool").glob("*.json"))) == 1
    house.open()
    house.run(tmp_path, "d0000002", *prints(tmp_path, log_text()))
    assert house.wait_for("d0000001", verdict=Verdict.FINDINGS).exit_code == 3
    assert not (tmp_path / ".leakledger-spool").exists()


def test_a_server_that_comes_back_while_the_lane_ends_gets_it_at_once(house: House, tmp_path: Path) -> None:
    house.shut()
    started = house.start(tmp_path, "d0000003", *prints(tmp_path, log_text((LEAKY, 64)), 3))
    time.sleep(1.5)
    house.open()
    assert started.wait(timeout=60) == 3
    assert house.wait_for("d0000003", verdict=Verdict.FINDINGS)
    assert not (tmp_path / ".leakledger-spool").exists()


def test_a_spool_of_a_fork_is_sent_under_what_its_sender_knows(house: House, tmp_path: Path) -> None:
    forked = {"LEAKLEDGER_TOKEN": "", "LEAKLEDGER_URL": ""}
    house.run(tmp_path, "e0000001", "--run-id", "1", "--branch", "main", *prints(tmp_path, log_text(), 1), **forked)
    pinned = ["--flush", "--run-id", "4711", "--provider", "github", "--pull-request", "9", "--branch", "theirs"]
    done = house.run(tmp_path, "e0000002", *pinned)
    assert (done.returncode, b"the spool is empty" in done.stderr) == (0, True)
    run = house.wait_for("e0000002").run
    assert (run.external_id, run.provider, run.pull_request, run.branch) == ("4711", "github", 9, "theirs")


@pytest.mark.parametrize("token", ["llu_nobody", ""])
def test_without_a_good_token_the_lane_is_as_green_or_red_as_its_command(
    house: House, tmp_path: Path, token: str
) -> None:
    for code in (0, 4):
        done = house.run(tmp_path, "a0000099", *prints(tmp_path, "hello\n", code), LEAKLEDGER_TOKEN=token)
        assert (done.returncode, done.stdout) == (code, b"hello\n")
        assert (b"401" if token else b"no token is set") in done.stderr


def test_shards_are_one_outcome_and_files_of_sanitizers_come_along(house: House, tmp_path: Path) -> None:
    leak = log_text((LEAKY, 64))
    (tmp_path / "report.txt").write_text(leak)
    (tmp_path / "old.txt").write_text(leak)
    os.utime(tmp_path / "old.txt", (1, 1))
    shard = ["--run-id", "77", "--part-of", "2", "--log", "*.txt", "--part-index"]
    script = "cp report.txt out/asan.$$; cp report.txt more.txt; echo fine"
    (tmp_path / "out").mkdir()
    options = {"ASAN_OPTIONS": "detect_leaks=1:log_path=out/asan"}
    first = house.run(tmp_path, "f0000001", *shard, "1", "--", "sh", "-c", script, **options)
    assert b"old.txt is older than this run and not sent" in first.stderr
    assert house.wait_for("f0000001", verdict=Verdict.FINDINGS).reports > 0
    house.run(tmp_path, "f0000001", *shard, "2", "--", "true")
    assert Part.objects.filter(outcome=house.outcome("f0000001")).count() == 2
    names = set(
        Log.objects.filter(part__outcome=house.outcome("f0000001"), part__name="1").values_list("name", flat=True)
    )
    assert {"lane.log", "more.txt", "report.txt"} < names
    assert any(name.startswith("asan.") for name in names)


def test_a_field_that_the_server_refuses_does_not_cost_the_report(house: House, tmp_path: Path) -> None:
    done = house.run(tmp_path, "a0000077", "--run-url", "gopher://x", *prints(tmp_path, log_text()))
    assert (done.returncode, b"left out run_url" in done.stderr) == (0, True)
    assert house.wait_for("a0000077", verdict=Verdict.CLEAN)


def test_a_log_with_its_middle_left_out_is_never_clean(house: House, tmp_path: Path) -> None:
    noise = f"{sys.executable} -c 'print(\"x\" * 3000000)'; cat out.txt"
    (tmp_path / "out.txt").write_text(log_text())
    done = house.run(tmp_path, "a0000088", "--max-log-mb", "1", "--", "sh", "-c", noise)
    assert done.returncode == 0
    found = house.wait_for("a0000088", ended=True, digested_at__isnull=False)
    assert (found.verdict, found.reason) == (Verdict.NO_VERDICT, Reason.TRUNCATED_LOG)
    assert LaneExpectation.objects.count() == 0
