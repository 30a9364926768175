"""Lane histories with known answers, through `manage.py replay_lanes`."""

import io
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from leaks.models import Project

LANES = Path(__file__).parent / "samples" / "lanes"
HISTORIES = sorted(folder.name for folder in LANES.iterdir())
# Flags that the answers do not always name.
FREE = {
    "totals_differ",
    "only_known",
    "canary_missing",
    "suppressions_used",
    "suppression_unused",
    "cancelled",
    "zero_tests",
}

pytestmark = pytest.mark.django_db


def replayed(folder: Path, *options: str) -> dict[str, Any]:
    out = io.StringIO()
    call_command("replay_lanes", str(folder), *options, stdout=out)
    return json.loads(out.getvalue())


def asked(expected: dict[str, Any]) -> list[str]:
    """The options that ask for all that the answer holds."""
    options = []
    if pair := expected.get("comparison"):
        options += ["--compare", pair["base"], pair["head"]]
    if pair := expected.get("gate"):
        options += ["--gate", pair["before"], pair["after"]]
    return [*options, "--growth"] if "growth" in expected else options


@pytest.fixture(params=HISTORIES)
def history(request) -> tuple[dict[str, Any], dict[str, Any]]:
    """(what the history must say, what it says)"""
    folder = LANES / request.param
    expected = json.loads((folder / "expected.json").read_text())
    return expected, replayed(folder, *asked(expected))


def test_a_history_says_what_it_must(history) -> None:
    expected, got = history
    assert got["runs"].keys() == expected["runs"].keys()
    for run, want in expected["runs"].items():
        check_run(want, got["runs"][run])
    for sha, want in expected.get("commits", {}).items():
        assert got["commits"][sha]["verdict"] == want["verdict"]
    if want := expected.get("comparison"):
        check_comparison(want, got["comparisons"][0])
    if want := expected.get("gate"):
        assert {**got["gates"][0], **want} == {**want, **got["gates"][0]}
    assert Counter(got["growth"].values()) == Counter(expected.get("growth", {}).values())


def check_run(want: dict[str, Any], have: dict[str, Any]) -> None:
    flags = set(have["flags"])
    assert (have["verdict"], have["reason"]) == (want["verdict"], want.get("reason"))
    assert set(want["flags"]) <= flags
    assert flags - set(want["flags"]) <= FREE
    assert have["tests_passed"] == want["tests_passed"]
    assert want.get("leaked_bytes_objects", have["leaked_bytes_objects"]) == have["leaked_bytes_objects"]
    assert len(want["bugs"]) <= len(have["signatures"]) <= want.get("leak_records", 0)


def check_comparison(want: dict[str, Any], have: dict[str, Any]) -> None:
    assert have["result"] == want["result"]
    for name in ("new", "fixed", "persisting", "unknown", "hidden"):
        assert bool(have[name]) == bool(want.get(name)), name


def test_what_grew_behind_a_suppression_is_named() -> None:
    got = replayed(LANES / "suppressions", "--compare", "r3001", "r3002")
    (hidden,) = got["comparisons"][0]["hidden"]
    assert hidden in got["runs"]["r3003"]["signatures"]
    assert len(got["runs"]["r3003"]["signatures"]) == 2


def test_only_the_leak_that_grows_with_the_work_is_said_to_grow() -> None:
    got = replayed(LANES / "growth", "--growth")
    grows, once = (got["runs"][run]["signatures"][0] for run in ("r2901", "r2902"))
    assert got["growth"] == {grows: "grows", once: "constant"}


def test_what_a_branch_hides_in_its_first_run_is_held_against_the_default_branch(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(LANES / "suppressions", tmp_path / "history"))
    runs = json.loads((folder / "runs.json").read_text())
    runs[1] |= {"branch": "topic", "pr": 7}
    got = replayed(write(folder, runs))
    assert [run for run, row in got["runs"].items() if "suppressed_total_grew" in row["flags"]] == ["r3002"]


def test_the_numbers_of_the_lane() -> None:
    got = replayed(LANES / "duplicate_run")
    assert got["lane"] == {
        "runs": 2,
        "ci": {"cancelled": 1, "success": 1},
        "honest": {"clean": 1, "no_verdict": 1},
        "runs_with_a_verdict": 1,
        "last_verdict_run": "r1202",
    }


def test_nothing_of_the_users_ledger_is_touched() -> None:
    before = connections["default"]
    replayed(LANES / "duplicate_run")
    assert connections["default"] is before
    assert not Project.objects.exists()


# --- Histories that are wrong ----------------------------------------------------------------------------------------

RUN = {"run_id": "a", "sha": "1" * 40, "lane": "asan", "ci_conclusion": "success", "exit_code": 0}


def write(folder: Path, runs: object) -> Path:
    (folder / "runs.json").write_text(json.dumps(runs))
    return folder


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ({"runs": []}, "no list of runs"),
        ([1], "no list of runs"),
        ([{**RUN, "sha": "main"}], "commit"),
        ([{**RUN, "log": "logs/a.log"}], "logs/a.log"),
        ([{**RUN, "log": "../../../../etc/passwd"}], "not in the history"),
        ([{**RUN, "exit_code": "one"}], "run a"),
        ([{**RUN, "env": ["A=1"]}], "run a"),
        ([{**RUN, "lane": "tsan"}, {**RUN, "sha": "2" * 40}], "known for commit"),
    ],
)
def test_a_wrong_history_is_one_sentence(tmp_path: Path, runs: object, said: str) -> None:
    with pytest.raises(CommandError, match=said):
        replayed(write(tmp_path, runs))


def test_a_folder_without_a_history_and_a_run_that_is_not_there_are_told(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"runs\.json"):
        replayed(tmp_path)
    with pytest.raises(CommandError, match="no run b"):
        replayed(write(tmp_path, [RUN]), "--gate", "a", "b")


def test_what_was_not_said_is_nothing_said(tmp_path: Path) -> None:
    got = replayed(write(tmp_path, [{"run_id": "a", "sha": "1234567"}]))
    assert got["runs"]["a"]["reason"] == "pending"
    assert got["lane"]["ci"] == {"in_progress": 1}
    assert replayed(write(tmp_path, []))["runs"] == {}


def test_later_attempts_are_named_with_their_number_and_a_flip_is_told_of_the_later_one(tmp_path: Path) -> None:
    (tmp_path / "red.log").write_text("[doctest] test cases: 2 | 1 passed | 1 failed | 0 skipped\n")
    (tmp_path / "green.log").write_text("[doctest] test cases: 2 | 2 passed | 0 failed | 0 skipped\n")
    asan = {"env": {"ASAN_OPTIONS": "detect_leaks=1"}}
    runs = [
        {
            **RUN,
            **asan,
            "log": "red.log",
            "ci_conclusion": "failure",
            "exit_code": 1,
            "started_at": "2025-01-01T10:00:00Z",
        },
        {**RUN, **asan, "log": "green.log", "attempt": 2, "started_at": "2025-01-01T11:00:00Z"},
    ]
    got = replayed(write(tmp_path, runs))
    assert {run: row["verdict"] for run, row in got["runs"].items()} == {"a": "test_failure", "a#2": "clean"}
    assert [run for run, row in got["runs"].items() if "rerun_flipped" in row["flags"]] == ["a#2"]
    assert got["commits"]["1" * 40]["verdict"] == "clean"
    assert got["lane"]["last_verdict_run"] == "a#2"


@pytest.mark.parametrize("named", ["lsan.supp", "/builds/engine/ci/lsan.supp", "ci\\lsan.supp"])
def test_a_suppression_file_is_found_whatever_folder_the_lane_had_it_in(tmp_path: Path, named: str) -> None:
    (tmp_path / "lsan.supp").write_text("leak:*\n")
    (tmp_path / "a.log").write_text("[doctest] test cases: 2 | 2 passed | 0 failed | 0 skipped\n")
    options = {"ASAN_OPTIONS": "detect_leaks=1", "LSAN_OPTIONS": f"suppressions={named}"}
    got = replayed(write(tmp_path, [{**RUN, "log": "a.log", "env": options}]))
    assert (got["runs"]["a"]["verdict"], got["runs"]["a"]["flags"]) == ("blinded", ["suppression_too_broad"])


USED = b"""-----------------------------------------------------
Suppressions used:
  count      bytes template
      2      68096 %s
-----------------------------------------------------
"""


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        ("engine::device::DevicePool::Get", "clean"),
        ("BuildProportionalRopeCache", "clean"),
        ("device_pool.cpp", "clean"),
        (".cpp", "blinded"),
        ("libc.so", "blinded"),
        ("engine::", "blinded"),
        ("engine", "blinded"),
        ("engine_tests", "blinded"),
        ("/builds/engine/", "blinded"),
        ("*", "blinded"),
    ],
)
def test_what_a_lane_leaked_before_says_which_rule_is_too_broad(tmp_path: Path, rule: str, verdict: str) -> None:
    """And whatever the rule, a leak that is hidden afterwards is not fixed."""
    leaky = LANES / "fix_brings_another_bug" / "logs" / "r2401.log"
    (tmp_path / "red.log").write_bytes(leaky.read_bytes())
    (tmp_path / "green.log").write_bytes(
        b"[doctest] test cases: 57 | 57 passed | 0 failed | 0 skipped\n" + USED % rule.encode()
    )
    (tmp_path / "lsan.supp").write_text(f"leak:{rule}\n")
    asan = {"ASAN_OPTIONS": "detect_leaks=1"}
    red = {**RUN, "run_id": "red", "log": "red.log", "exit_code": 1, "ci_conclusion": "failure", "env": asan}
    green = {
        **RUN,
        "run_id": "green",
        "sha": "2" * 40,
        "log": "green.log",
        "env": {**asan, "LSAN_OPTIONS": "suppressions=lsan.supp"},
    }
    runs = [{**red, "started_at": "2025-01-01T10:00:00Z"}, {**green, "started_at": "2025-01-01T11:00:00Z"}]
    got = replayed(write(tmp_path, runs), "--gate", "red", "green")
    assert got["runs"]["green"]["verdict"] == verdict
    assert got["gates"][0]["reason"] == "suppressed_not_fixed"


def test_a_run_of_several_lanes_is_as_bad_as_the_worst_of_them(tmp_path: Path) -> None:
    runs = [
        {**RUN, "lane": "asan", "ci_conclusion": "skipped"},
        {**RUN, "lane": "tsan", "exit_code": 139, "log": "a.log"},
    ]
    (tmp_path / "a.log").write_text("Segmentation fault\n")
    got = replayed(write(tmp_path, runs), "--compare", "a", "a")
    assert got["runs"]["a"]["verdict"] == "test_failure"
    assert got["commits"]["1" * 40]["lanes"] == {"asan": "no_verdict", "tsan": "test_failure"}
    assert got["lane"]["runs"] == 2
