"""Where a lane runs, read from the environment of each CI; and what it picks up there."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from workers import lane

HEAD, MERGE, BASE = "a" * 40, "b" * 40, "c" * 40

GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_SHA": MERGE,
    "GITHUB_REF": "refs/heads/main",
    "GITHUB_REF_NAME": "main",
    "GITHUB_REF_TYPE": "branch",
    "GITHUB_RUN_ID": "4711",
    "GITHUB_RUN_ATTEMPT": "2",
    "GITHUB_EVENT_NAME": "push",
    "GITHUB_JOB": "asan",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "o/r",
}
GITLAB = {
    "GITLAB_CI": "true",
    "CI_COMMIT_SHA": MERGE,
    "CI_COMMIT_BRANCH": "main",
    "CI_COMMIT_REF_NAME": "main",
    "CI_PIPELINE_ID": "12",
    "CI_PIPELINE_SOURCE": "push",
    "CI_JOB_NAME": "asan 1/2",
    "CI_JOB_URL": "https://gitlab.example/j/1",
}
CASES = [
    (
        GITHUB,
        {
            "provider": "github",
            "commit": MERGE,
            "branch": "main",
            "run_id": "4711",
            "attempt": "2",
            "event": "push",
            "job": "asan",
            "run_url": "https://github.com/o/r/actions/runs/4711",
        },
    ),
    ({**GITHUB, "GITHUB_REF": "refs/tags/v1", "GITHUB_REF_NAME": "v1", "GITHUB_REF_TYPE": "tag"}, {"branch": None}),
    ({**GITHUB, "GITHUB_REF": "refs/heads/pull/12", "GITHUB_REF_NAME": "pull/12"}, {"pull_request": None}),
    (
        {**GITHUB, "GITHUB_HEAD_REF": "fix", "GITHUB_REF": "refs/pull/9/merge", "GITHUB_REF_NAME": "9/merge"},
        {"pull_request": "9", "branch": "fix"},
    ),
    (
        GITLAB,
        {"provider": "gitlab", "commit": MERGE, "branch": "main", "run_id": "12", "job": "asan 1/2", "attempt": None},
    ),
    (
        {
            **GITLAB,
            "CI_COMMIT_BRANCH": "",
            "CI_MERGE_REQUEST_IID": "5",
            "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "fix",
            "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": HEAD,
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": BASE,
        },
        {"commit": HEAD, "branch": "fix", "pull_request": "5", "base": BASE},
    ),
    (
        {
            "JENKINS_URL": "https://j/",
            "GIT_COMMIT": HEAD,
            "GIT_BRANCH": "origin/main",
            "BUILD_TAG": "jenkins-engine-7",
            "BUILD_URL": "https://j/7/",
            "STAGE_NAME": "asan",
        },
        {"provider": "jenkins", "commit": HEAD, "branch": "main", "run_id": "jenkins-engine-7", "job": "asan"},
    ),
    (
        {
            "BUILDKITE": "true",
            "BUILDKITE_COMMIT": HEAD,
            "BUILDKITE_BRANCH": "fix",
            "BUILDKITE_PULL_REQUEST": "false",
            "BUILDKITE_BUILD_ID": "0193-x",
            "BUILDKITE_RETRY_COUNT": "1",
            "BUILDKITE_STEP_KEY": "asan",
        },
        {
            "provider": "buildkite",
            "branch": "fix",
            "pull_request": None,
            "run_id": "0193-x",
            "attempt": "2",
            "job": "asan",
        },
    ),
    (
        {
            "TF_BUILD": "True",
            "BUILD_SOURCEVERSION": MERGE,
            "SYSTEM_PULLREQUEST_SOURCECOMMITID": HEAD,
            "SYSTEM_PULLREQUEST_SOURCEBRANCH": "refs/heads/fix",
            "SYSTEM_PULLREQUEST_PULLREQUESTNUMBER": "8",
            "BUILD_SOURCEBRANCH": "refs/pull/8/merge",
            "BUILD_BUILDID": "99",
            "SYSTEM_JOBATTEMPT": "1",
            "SYSTEM_COLLECTIONURI": "https://dev.azure.com/o/",
            "SYSTEM_TEAMPROJECT": "my team",
        },
        {
            "provider": "azure",
            "commit": HEAD,
            "branch": "fix",
            "pull_request": "8",
            "run_id": "99",
            "run_url": "https://dev.azure.com/o/my%20team/_build/results?buildId=99",
        },
    ),
    (
        {
            "CIRCLECI": "true",
            "CIRCLE_SHA1": HEAD,
            "CIRCLE_BRANCH": "fix",
            "CIRCLE_PULL_REQUEST": "https://github.com/o/r/pull/31",
            "CIRCLE_WORKFLOW_ID": "w-1",
            "CIRCLE_JOB": "asan",
        },
        {"provider": "circleci", "pull_request": "31", "run_id": "w-1", "job": "asan"},
    ),
    ({"CIRCLECI": "false", "GITLAB_CI": ""}, {"provider": "local"}),
]


@pytest.fixture(autouse=True)
def _nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))


@pytest.mark.parametrize(("environment", "expected"), CASES)
def test_each_ci_says_where_the_lane_runs(environment: dict[str, str], expected: dict[str, str | None]) -> None:
    found = lane.place(environment)
    assert {name: found.get(name) for name in expected} == expected


def test_a_pull_request_on_github_is_its_head_and_not_the_merge_that_nobody_sees(tmp_path: Path) -> None:
    head, base = {"sha": HEAD, "ref": "fix"}, {"sha": BASE, "ref": "main"}
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": {"number": 9, "head": head, "base": base}}))
    found = lane.place({**GITHUB, "GITHUB_EVENT_PATH": str(tmp_path / "event.json")})
    assert (found["commit"], found["branch"], found["pull_request"], found["base"]) == (HEAD, "fix", "9", BASE)


@pytest.mark.parametrize(
    "event", ["", "[]", '{"pull_request": 7}', '{"pull_request": {"head": "x", "number": null}}', "\xff"]
)
def test_an_event_that_is_none_changes_nothing(tmp_path: Path, event: str) -> None:
    (tmp_path / "event.json").write_text(event, encoding="latin-1")
    assert lane.place({**GITHUB, "GITHUB_EVENT_PATH": str(tmp_path / "event.json")})["commit"] == MERGE


def test_plain_git_says_commit_branch_and_parent(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        command = ["git", *identity, *words]
        done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init", "--initial-branch", "fix")
    for message in ("one", "two"):
        git("commit", "--allow-empty", "--message", message)
    found = lane.place({})
    assert (found["provider"], found["branch"]) == ("local", "fix")
    assert (found["commit"], found["parent"]) == (git("rev-parse", "HEAD"), git("rev-parse", "HEAD^"))
    buildkite = lane.place({"BUILDKITE": "true", "BUILDKITE_COMMIT": "HEAD"})
    assert buildkite["commit"] == found["commit"]
    merge = lane.place({**GITLAB, "CI_COMMIT_SHA": found["commit"], "CI_MERGE_REQUEST_DIFF_BASE_SHA": found["parent"]})
    assert merge["base"] == found["parent"]


def test_two_runs_by_hand_are_two_runs() -> None:
    assert lane.place({})["run_id"] != lane.place({})["run_id"]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["ctest"], {"ASAN_OPTIONS": "a=1", "GTEST_FILTER": "A.*", "VALGRIND_OPTS": "-q"}),
        (
            ["env", "ASAN_OPTIONS=a=2", "LSAN_OPTIONS=b", "ctest", "TSAN_OPTIONS=c"],
            {"ASAN_OPTIONS": "a=2", "LSAN_OPTIONS": "b"},
        ),
        ([], {"ASAN_OPTIONS": "a=1"}),
    ],
)
def test_options_are_noted_and_nothing_else(command: list[str], expected: dict[str, str]) -> None:
    environment = {
        "ASAN_OPTIONS": "a=1",
        "GTEST_FILTER": "A.*",
        "VALGRIND_OPTS": "-q",
        "PATH": "/bin",
        "AWS_SECRET": "x",
    }
    found = lane.options_of(environment, command)
    assert expected.items() <= found.items()
    assert not found.keys() & {"PATH", "AWS_SECRET", "TSAN_OPTIONS"}


@pytest.mark.parametrize(
    ("options", "patterns"),
    [
        ({"ASAN_OPTIONS": "detect_leaks=1:log_path=/tmp/a"}, ["/tmp/a.*"]),
        ({"TSAN_OPTIONS": "log_path=x history_size=7"}, ["x.*"]),
        ({"UBSAN_OPTIONS": "log_path='/tmp/with space/a':x=1"}, ["/tmp/with space/a.*"]),
        ({"ASAN_OPTIONS": "log_path=/tmp/[a]*"}, ["/tmp/[[]a][*].*"]),
        ({"ASAN_OPTIONS": "log_path=stderr"}, []),
        ({"ASAN_OPTIONS": "my_log_path=x"}, []),
        ({"VALGRIND_OPTS": "-q --log-file=vg.%p.log --xml-file=x.%q{NAME}.xml"}, ["vg.*.log", "x.*.xml"]),
        ({"GTEST_OUTPUT": "log_path=x"}, []),
    ],
)
def test_files_that_sanitizers_write_are_known_by_their_options(options: dict[str, str], patterns: list[str]) -> None:
    assert lane.patterns_of(options) == patterns


def test_names_of_logs_are_plain_and_their_own() -> None:
    taken = {"lane.log"}
    paths = ["a/asan.1", "b/asan.1", "b/asan.1", "x/lane.log", 'q"uo\r\nte', "…", ".hidden"]
    names = [lane.log_name(Path(path), taken) for path in paths]
    assert len(set(names)) == len(names)
    assert names[:2] == ["asan.1", "b_asan.1"]
    assert all(lane.Spool.SAFE.fullmatch(name) for name in names)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"[ 31%] Building CXX object a.o\nnoise\n", "[ 31%] Building CXX object a.o"),
        (b"[212/480] Linking\n", "[212/480] Linking"),
        (b"      Start  3: io\n 3/57 Test  #3: io ....   Passed\n", "3/57 Test  #3: io ....   Passed"),
        (b"[ RUN      ] A.b\n", "[ RUN      ] A.b"),
        (b"tests/test_a.py .....   [ 42%]\n", "tests/test_a.py .....   [ 42%]"),
        (b"1%\r[ 50%] Building\r", "[ 50%] Building"),
        (b"2025/06/01 nothing\n/src/3/57 x\nhello\n", ""),
        (b"[ 10%] a\x1b[0mb\n", "[ 10%] a[0mb"),
    ],
)
def test_progress_is_the_last_line_that_tells_it(tmp_path: Path, text: bytes, line: str) -> None:
    kept = lane.Kept(tmp_path, 1000)
    record = lane.Record(kept)
    record.add(1, text)
    assert record.progress() == line
    record.add(1, b"more noise\n" * 2000)
    assert record.progress() == line, "it is remembered"
    record.close()


@pytest.mark.parametrize(("code", "plain"), [(0, 0), (3, 3), (-9, 137), (-15, 143), (3221225477, -1073741819)])
def test_exit_codes_as_a_shell_has_them(code: int, plain: int) -> None:
    assert lane.plain_code(code) == plain


def test_uploads_stay_within_the_bounds_of_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane, "MOST_BATCH", 25)
    logs = []
    for number in range(320):
        (tmp_path / str(number)).write_bytes(b"x" * (10 if number < 5 else 0))
        logs.append(lane.Packed(str(number), tmp_path / str(number)))
    found = lane.batches(logs)
    assert [log for batch in found for log in batch] == logs
    assert [len(batch) for batch in found] == [2, 2, 150, 150, 16]
    assert lane.batches([]) == [[]]


def test_what_is_said_obeys_nobody(capfd: pytest.CaptureFixture[str]) -> None:
    lane.say("a\x1b[31mb\n::set-output name=x::y\x07")
    assert capfd.readouterr().err == "lane.py: a?[31mb\nlane.py: ::set-output name=x::y?\n"
    assert os.environ
