#!/usr/bin/env python3
"""Run one sanitizer lane and tell Leakledger what it did.

    python3 lane.py --lane asan -- ctest --output-on-failure

One file, standard library only, Python 3.8 or newer. The command's output goes where it went before, byte for byte; its exit code is
the exit code of this program. Whatever goes wrong with the reporting is a line on stderr and never the reason for a red lane, unless a
gate was asked for. docs/lane.md has the examples for each CI.
"""

from __future__ import annotations

import argparse
import contextlib
import glob
import hashlib
import http.client
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

VERSION = "1"
CHUNK = 1 << 16
MIB = 1 << 20

# A GitHub runner kills 7.5 s after its first signal. The parts of that time, counted from the signal:
CHILD_GRACE = 2.5  # for the command to end by itself; then it is killed
CANCEL_CLAIM = 2.5  # for the first words about the cancellation
CANCEL_BUDGET = 6.5  # after this all is left as it is
CANCEL_LOG = 24 * MIB  # of the log's end: more does not get through in what is left

QUIET_AFTER_END = 1.0  # a daemon may hold the pipes for ever: who says nothing for so long is not waited for
LOUD_AFTER_END = 10.0  # and one that goes on talking no longer than this
HELD_SECONDS = 0.05
HELD_BYTES = 8192
TAIL_BYTES = 8192
REQUEST_SECONDS = 30.0
UPLOAD_SECONDS = 120.0  # a server takes its time over a long log before it answers
MEMBER = 4 * MIB
UNCOUNTED = 32 * MIB
SECONDS_A_BYTE = 0.4 / 100e6
MOST_FILES = 150  # in one upload; the server takes 200
MOST_BATCH = 200 * MIB  # the server takes 256 MiB
MOST_SPOOLED = 200


def say(text: str) -> None:
    """A line on stderr. What a server wrote may hold anything, and a terminal or a CI must not obey it."""
    for line in text.splitlines():
        clean = "".join(c if c.isprintable() else "?" for c in line)
        with contextlib.suppress(OSError):
            os.write(2, f"lane.py: {clean}\n".encode("utf-8", "replace"))


def now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


# --- Where are we? ---------------------------------------------------------------------------------------------------


class Ci(NamedTuple):
    """One CI: the variable that is set there, and for each field the variables that may hold it, the best first."""

    provider: str
    mark: str
    fields: Mapping[str, Sequence[str]]
    refine: Callable[[Mapping[str, str], dict[str, str]], None] | None = None


def _github(env: Mapping[str, str], found: dict[str, str]) -> None:
    found["run_url"] = "/".join(
        (env.get("GITHUB_SERVER_URL", ""), env.get("GITHUB_REPOSITORY", ""), "actions/runs", found.get("run_id", ""))
    )
    if env.get("GITHUB_REF_TYPE") == "tag":
        found["branch"] = ""
    request = _github_event(env).get("pull_request")
    if isinstance(request, dict):
        # GITHUB_SHA is a merge commit that nobody else ever sees: hooks and histories know the head.
        found["commit"] = _inner(request, "head", "sha") or found.get("commit", "")
        found["branch"] = _inner(request, "head", "ref") or found.get("branch", "")
        found["pull_request"] = str(request.get("number") or "")
        found["base"] = _inner(request, "base", "sha")


def _github_event(env: Mapping[str, str]) -> dict[str, Any]:
    try:
        event = json.loads(Path(env.get("GITHUB_EVENT_PATH", "")).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return event if isinstance(event, dict) else {}


def _inner(value: Any, *names: str) -> str:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def _azure(env: Mapping[str, str], found: dict[str, str]) -> None:
    collection, project = env.get("SYSTEM_COLLECTIONURI", ""), env.get("SYSTEM_TEAMPROJECT", "")
    if collection and project:
        place = urllib.parse.quote(project)
        found["run_url"] = f"{collection.rstrip('/')}/{place}/_build/results?buildId={found.get('run_id', '')}"


def _buildkite(env: Mapping[str, str], found: dict[str, str]) -> None:
    # The first try is number 0 there.
    retries = env.get("BUILDKITE_RETRY_COUNT", "")
    found["attempt"] = str(int(retries) + 1) if retries.isdigit() else ""


CIS = (
    Ci("github", "GITHUB_ACTIONS", {
        "commit": ("GITHUB_SHA",), "branch": ("GITHUB_HEAD_REF", "GITHUB_REF_NAME"), "pull_request": ("GITHUB_REF",),
        "run_id": ("GITHUB_RUN_ID",), "attempt": ("GITHUB_RUN_ATTEMPT",), "event": ("GITHUB_EVENT_NAME",),
        "job": ("GITHUB_JOB",), "base_branch": ("GITHUB_BASE_REF",),
    }, _github),
    Ci("gitlab", "GITLAB_CI", {
        "commit": ("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", "CI_COMMIT_SHA"),
        "branch": ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CI_COMMIT_BRANCH"),
        "pull_request": ("CI_MERGE_REQUEST_IID",), "run_id": ("CI_PIPELINE_ID",), "event": ("CI_PIPELINE_SOURCE",),
        "job": ("CI_JOB_NAME",), "run_url": ("CI_JOB_URL", "CI_PIPELINE_URL"),
        "base": ("CI_MERGE_REQUEST_DIFF_BASE_SHA",), "base_branch": ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME",),
    }),
    Ci("buildkite", "BUILDKITE", {
        "commit": ("BUILDKITE_COMMIT",), "branch": ("BUILDKITE_BRANCH",), "pull_request": ("BUILDKITE_PULL_REQUEST",),
        "run_id": ("BUILDKITE_BUILD_ID",), "event": ("BUILDKITE_SOURCE",), "run_url": ("BUILDKITE_BUILD_URL",),
        "job": ("BUILDKITE_STEP_KEY", "BUILDKITE_LABEL"), "base_branch": ("BUILDKITE_PULL_REQUEST_BASE_BRANCH",),
    }, _buildkite),
    Ci("azure", "TF_BUILD", {
        "commit": ("SYSTEM_PULLREQUEST_SOURCECOMMITID", "BUILD_SOURCEVERSION"),
        "branch": ("SYSTEM_PULLREQUEST_SOURCEBRANCH", "BUILD_SOURCEBRANCH"),
        "pull_request": ("SYSTEM_PULLREQUEST_PULLREQUESTNUMBER", "SYSTEM_PULLREQUEST_PULLREQUESTID"),
        "run_id": ("BUILD_BUILDID",), "attempt": ("SYSTEM_JOBATTEMPT",), "event": ("BUILD_REASON",),
        "job": ("SYSTEM_JOBNAME", "AGENT_JOBNAME"), "base_branch": ("SYSTEM_PULLREQUEST_TARGETBRANCH",),
    }, _azure),
    Ci("circleci", "CIRCLECI", {
        "commit": ("CIRCLE_SHA1",), "branch": ("CIRCLE_BRANCH",),
        "pull_request": ("CIRCLE_PR_NUMBER", "CIRCLE_PULL_REQUEST"),
        "run_id": ("CIRCLE_WORKFLOW_ID",), "job": ("CIRCLE_JOB",), "run_url": ("CIRCLE_BUILD_URL",),
    }),
    Ci("jenkins", "JENKINS_URL", {
        "commit": ("GIT_COMMIT",), "branch": ("CHANGE_BRANCH", "BRANCH_NAME", "GIT_BRANCH"),
        "pull_request": ("CHANGE_ID",), "run_id": ("BUILD_TAG",), "job": ("STAGE_NAME", "JOB_BASE_NAME"),
        "run_url": ("BUILD_URL",), "base_branch": ("CHANGE_TARGET",),
    }),
)  # fmt: skip
TRUE_WORDS = ("", "false", "0", "no")
SHA = re.compile(r"[0-9a-fA-F]{7,64}")
REQUEST_NUMBER = re.compile(r"^(\d{1,9})$|/(?:pull|pulls|pull-requests|merge_requests)/(\d{1,9})(?:/|$)")


def place(env: Mapping[str, str]) -> dict[str, str]:
    """What the CI says of this run, completed by git; a field that nobody knows is absent."""
    ci = next((ci for ci in CIS if env.get(ci.mark, "").lower() not in TRUE_WORDS), None)
    found = {"provider": ci.provider, **_said(ci, env)} if ci else {"provider": "local"}
    _complete_by_git(found)
    found.setdefault("run_id", f"local-{uuid.uuid4().hex}")
    return {name: value for name, value in found.items() if value}


def _said(ci: Ci, env: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for field, names in ci.fields.items():
        found[field] = next((env[name].strip() for name in names if env.get(name, "").strip()), "")
    if ci.refine:
        ci.refine(env, found)
    for field in ("branch", "base_branch"):
        found[field] = re.sub(r"^(refs/heads/|origin/)", "", found.get(field, ""))
    found["pull_request"] = _request_number(found.get("pull_request", ""))
    return {field: value for field, value in found.items() if value}


def _request_number(text: str) -> str:
    match = None if text.startswith("refs/heads/") else REQUEST_NUMBER.search(text)
    return (match.group(1) or match.group(2)) if match else ""


def _complete_by_git(found: dict[str, str]) -> None:
    if not SHA.fullmatch(found.get("commit", "")):
        found["commit"] = git("rev-parse", "--verify", "--quiet", "HEAD")
    if found["provider"] == "local" and not found.get("branch"):
        found["branch"] = git("symbolic-ref", "--quiet", "--short", "HEAD")
    if found["commit"]:
        found["parent"] = git("rev-parse", "--verify", "--quiet", f"{found['commit']}^1")
    known = found.get("base", "") if SHA.fullmatch(found.get("base", "")) else ""
    base = known or (f"origin/{found['base_branch']}" if found.get("base_branch") else "")
    if base and found["commit"]:
        found["base"] = git("merge-base", found["commit"], base) or known


def git(*words: str) -> str:
    """What git answers, in one line; nothing where there is no git or no repository."""
    try:
        done = subprocess.run(
            ["git", *words],  # noqa: S607 - the lane's own git
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.SubprocessError, ValueError):
        return ""
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""


NOTED = re.compile(r"[A-Z]*SAN_OPTIONS|VALGRIND_OPTS|GORACE|GTEST_[A-Z_]+")
ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


def options_of(env: Mapping[str, str], command: Sequence[str]) -> dict[str, str]:
    """Variables that steer a sanitizer or a test runner, those included that `env NAME=VALUE command` sets."""
    given = {**env, **_assigned(command)}
    return {name: value[:10_000] for name, value in sorted(given.items()) if NOTED.fullmatch(name)}


def _assigned(command: Sequence[str]) -> dict[str, str]:
    if not command or Path(command[0]).name != "env":
        return {}
    found: dict[str, str] = {}
    for word in command[1:]:
        match = ASSIGNED.fullmatch(word)
        if match is None:
            break
        found[match.group(1)] = match.group(2)
    return found


# --- What the command says -------------------------------------------------------------------------------------------


class Kept:
    """Bytes on disk, as many as are allowed: of a longer log the beginning and the end, for the leak check comes last."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.size = 0
        self.broken = False
        self._folder = folder
        self._head_limit, self._tail_limit = limit * 3 // 4, max(1, limit // 8)
        self._names = ["head"]
        self._file = (folder / "head").open("wb", buffering=0)
        self._in_file = 0
        self._dropped = 0

    def write(self, data: bytes) -> None:
        self.size += len(data)
        if self.broken:
            return
        try:
            if self._in_file >= (self._head_limit if len(self._names) == 1 else self._tail_limit):
                self._next_file()
            self._file.write(data)
        except OSError as error:
            self.broken = True
            say(f"the log cannot be kept any more: {error}")
        self._in_file += len(data)

    def _next_file(self) -> None:
        self._file.close()
        self._names.append(f"tail{len(self._names) + self._dropped}")
        if len(self._names) > 3:
            (self._folder / self._names.pop(1)).unlink()
            self._dropped += 1
        self._file = (self._folder / self._names[-1]).open("wb", buffering=0)
        self._in_file = 0

    @property
    def whole(self) -> bool:
        return not self.broken and not self._dropped

    def chunks(self) -> Iterator[bytes]:
        """All that is kept, with a line where something is left out."""
        for number, name in enumerate(self._names):
            if number == 1 and self._dropped:
                yield b"\nlane.py: the middle of this log is left out: it is too long\n"
            yield from chunks_of(self._folder / name)

    def end(self, most: int) -> Iterator[bytes]:
        """The last bytes, from the beginning of a line."""
        kept = sum((self._folder / name).stat().st_size for name in self._names)
        skip = max(0, kept - most)
        if skip:
            yield b"lane.py: the beginning of this log is left out: the run was cancelled\n"
        searching = skip > 0
        for chunk in self.chunks():
            part, skip = chunk[min(skip, len(chunk)) :], max(0, skip - len(chunk))
            if searching and part:
                part = part.partition(b"\n")[2]
                searching = not part
            yield part

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._file.close()


def chunks_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from iter(lambda: file.read(CHUNK), b"")


PROGRESS = re.compile(
    rb"\s{0,8}(\[\s{0,3}\d{1,3}\s?%\]|\[?\d{1,6}/\d{1,6}\]? |Start\s+\d+:|\[ RUN  )|.{0,200}\[\s{0,2}\d{1,3}%\]$"
)


class Record:
    """The log: what both streams say, in the order in which it arrives.

    The end of a chunk is seldom the end of a line. It is held back for a moment, so that the other stream does not write into the
    middle of a line that was written as one.
    """

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._lock = threading.Lock()
        self._held: dict[int, bytes] = {}
        self._since: dict[int, float] = {}
        self._tail = b""
        self._progress = ""
        self._closed = False

    def add(self, stream: int, chunk: bytes) -> None:
        at = time.monotonic()
        with self._lock:
            for other in [one for one in self._held if one != stream and at - self._since[one] > HELD_SECONDS]:
                self._write(self._held.pop(other))
            data = self._held.pop(stream, b"") + chunk
            cut = data.rfind(b"\n") + 1
            if len(data) - cut > HELD_BYTES:
                cut = len(data)
            self._write(data[:cut])
            if cut < len(data):
                self._held[stream], self._since[stream] = data[cut:], at

    def _write(self, data: bytes) -> None:
        if data and not self._closed:
            self._kept.write(data)
            self._tail = (self._tail + data if len(data) < TAIL_BYTES else data)[-TAIL_BYTES:]

    def progress(self) -> str:
        """The last line that tells how far the build or the tests are."""
        with self._lock:
            lines = re.split(rb"[\r\n]+", b"\n".join([self._tail, *self._held.values()]))
        for line in reversed(lines):
            if len(line) <= 300 and PROGRESS.match(line):
                self._progress = "".join(c for c in line.decode("utf-8", "replace").strip() if c.isprintable())[:200]
                break
        return self._progress

    def close(self) -> None:
        """No more: who still holds a pipe speaks to the screen alone."""
        with self._lock:
            for stream in sorted(self._held, key=lambda one: self._since[one]):
                self._write(self._held[stream])
            self._held.clear()
            self._closed = True
            self._kept.close()


class Tee(threading.Thread):
    """Carries one stream of the command to where it would have gone, and into the record."""

    def __init__(self, source: int, target: int, record: Record) -> None:
        super().__init__(daemon=True)
        self.heard = time.monotonic()
        self.writing = False
        self._source, self._target, self._record = source, target, record
        self._open = True

    def run(self) -> None:
        while True:
            try:
                chunk = os.read(self._source, CHUNK)
            except OSError:
                return
            if not chunk:
                return
            self.heard = time.monotonic()
            self._record.add(self._target, chunk)
            self.writing = True
            self._open = self._open and write_all(self._target, chunk)
            self.writing = False
            self.heard = time.monotonic()


def write_all(target: int, data: bytes) -> bool:
    """False when nobody reads any more: the command goes on, for what it finds is still wanted."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(target, view) :]
        except BlockingIOError:
            time.sleep(0.01)  # somebody else made the pipe non-blocking
        except OSError:
            return False
    return True


# --- The command -----------------------------------------------------------------------------------------------------


class Command:
    """The child, in a process group of its own. `code` is null while it runs."""

    def __init__(self, words: Sequence[str], record: Record, env: Mapping[str, str]) -> None:
        self.done = threading.Event()
        self.code: int | None = None
        self._record = record
        self._tees: list[Tee] = []
        self._child = self._start(words, env)
        if self._child:
            self._tees = [
                Tee(pipe.fileno(), target, record)
                for pipe, target in ((self._child.stdout, 1), (self._child.stderr, 2))
                if pipe
            ]
            for thread in (*self._tees, threading.Thread(target=self._wait, daemon=True)):
                thread.start()

    def _start(self, words: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes] | None:
        group: dict[str, Any] = {"start_new_session": True}
        if os.name == "nt":
            group = {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
        try:
            # Open files are handed on as a shell would: make's job server lives on them.
            return subprocess.Popen(
                list(words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, env=dict(env), close_fds=False,
                **group,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            self._fail(f"{words[0]}: {error}\n", 127 if isinstance(error, FileNotFoundError) else 126)
        return None

    def _fail(self, sentence: str, code: int) -> None:
        """As a shell says it."""
        self._record.add(2, sentence.encode("utf-8", "replace"))
        say(sentence)
        self.code = code
        self.done.set()

    def _wait(self) -> None:
        if self._child:
            self.code = plain_code(self._child.wait())
        self.done.set()

    def signal(self, number: int) -> None:
        """Forward to the whole group. Called by a signal handler too."""
        if not self._child or self._child.returncode is not None:
            return
        with contextlib.suppress(OSError, ValueError):
            if os.name == "nt":
                self._child.send_signal(getattr(signal, "CTRL_BREAK_EVENT", number))
            else:
                os.killpg(self._child.pid, number)

    def kill(self) -> None:
        if self._child and os.name == "nt":
            self._child.kill()
        else:
            self.signal(getattr(signal, "SIGKILL", 9))

    def drain(self, left: Callable[[], float]) -> None:
        """Let the last words through, then close the record, whoever holds the pipes. `left`: the seconds there are for it."""
        until = time.monotonic() + LOUD_AFTER_END
        while left() > 0 and any(tee.is_alive() for tee in self._tees):
            at = time.monotonic()
            quiet = all(at - tee.heard > QUIET_AFTER_END for tee in self._tees if tee.is_alive())
            # Who reads our own output may take its time: what it has not taken yet is waited for.
            if not any(tee.writing for tee in self._tees) and (quiet or at > until):
                break
            time.sleep(0.02)
        self._record.close()


def plain_code(code: int) -> int:
    """As a shell has it: 128+n after signal n. Windows' large codes as 32 signed bits, which is what exit takes."""
    if code < 0 and os.name != "nt":
        return 128 - code
    return code - 2**32 if code >= 2**31 else code


class Signals:
    """Notes the first signal that asks us to end, and hands each one to the command."""

    NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")

    def __init__(self) -> None:
        self.caught = 0
        self.at = 0.0
        self.command: Command | None = None

    def install(self) -> None:
        for number in (getattr(signal, name, None) for name in self.NAMES):
            # Whoever started us with a signal ignored (nohup) means it.
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._on)

    def _on(self, number: int, _frame: Any) -> None:
        if not self.caught:
            self.caught, self.at = number, time.monotonic()
        if self.command:
            self.command.signal(number)

    def left(self) -> float:
        """Seconds until we must be gone; endless while nobody asked us to go."""
        return self.at + CANCEL_BUDGET - time.monotonic() if self.caught else float("inf")


# --- The server ------------------------------------------------------------------------------------------------------


class Away(Exception):
    """No answer, or one that says "later"."""

    def __init__(self, why: str, pause: float = 0.0) -> None:
        super().__init__(why)
        self.pause = pause


class Refused(Exception):
    """An answer that will not change. `fields` are those it complains about."""

    def __init__(self, status: int, why: str, fields: Sequence[str] = ()) -> None:
        super().__init__(f"{status}: {why}")
        self.status = status
        self.fields = fields


class NotModified(Exception):
    """The server has just what we have."""


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would turn an upload into a download, and carry the token to another host."""

    def redirect_request(self, *_args: Any, **_named: Any) -> None:
        return None


LATER = frozenset({408, 425, 429, 500, 502, 503, 504})


class Server:
    """The API of one Leakledger."""

    def __init__(self, address: str, token: str) -> None:
        if not address.startswith(("http://", "https://")):
            raise ValueError(f"the server's address must begin with https:// or http://: {address!r}")
        self._address = address.rstrip("/")
        self._token = token
        self._opener = urllib.request.build_opener(NoRedirect)

    def state(self, fields: dict[str, Any], seconds: float) -> dict[str, Any]:
        body = json.dumps(fields).encode()
        return self._call("/outcomes", body, "application/json", len(body), min(seconds, REQUEST_SECONDS))

    def upload(self, fields: dict[str, Any], logs: Sequence[Packed], seconds: float) -> dict[str, Any]:
        form = Form(fields, logs)
        return self._call("/logs", form, form.content_type, form.length, seconds)

    def ask(self, path: str, seconds: float, **query: str) -> dict[str, Any]:
        given = urllib.parse.urlencode({name: value for name, value in query.items() if value})
        return self._call(f"{path}?{given}" if given else path, None, "", 0, seconds)

    def fetch(self, path: str, known: str, seconds: float, **query: str) -> bytes | None:
        """A file as it stands, null where it is the one of this ETag."""
        given = urllib.parse.urlencode(query)
        headers = {"If-None-Match": f'"{known}"'} if known else {}
        try:
            return self._open(f"{path}?{given}" if given else path, None, headers, seconds)
        except NotModified:
            return None

    def _call(self, path: str, body: Any, kind: str, length: int, seconds: float) -> dict[str, Any]:
        headers = {"Content-Type": kind, "Content-Length": str(length)} if body is not None else {}
        try:
            read = json.loads(self._open(path, body, headers, seconds))
        except ValueError as error:
            raise Away(f"{type(error).__name__}: {error}") from None
        return read if isinstance(read, dict) else {}

    def _open(self, path: str, body: Any, headers: Mapping[str, str], seconds: float) -> bytes:
        mine = {"Authorization": f"Bearer {self._token}", "User-Agent": f"lane.py/{VERSION}", **headers}
        request = urllib.request.Request(f"{self._address}/api/v1{path}", body, mine)  # noqa: S310 - http(s) only
        try:
            with self._opener.open(request, timeout=max(0.5, min(seconds, UPLOAD_SECONDS))) as answer:
                return bytes(answer.read(16 * MIB))
        except urllib.error.HTTPError as error:
            raise NotModified if error.code == 304 else _refusal(error) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Away(f"{type(error).__name__}: {error}") from None


def _refusal(error: urllib.error.HTTPError) -> Exception:
    if error.code in LATER:
        after = error.headers.get("Retry-After", "")
        return Away(f"the server answers {error.code}", float(after) if after.isdigit() else 0.0)
    try:
        problem = json.loads(error.read(MIB))
        fields = [str(entry["field"]) for entry in problem.get("errors", ())]
        return Refused(error.code, str(problem.get("detail", "")), fields)
    except (OSError, http.client.HTTPException, ValueError, TypeError, KeyError, AttributeError):
        moved = error.headers.get("Location", "")
        return Refused(error.code, f"moved to {moved}" if moved else str(error.reason))


class Packed(NamedTuple):
    """A log as it is sent: gzip in a file; or, as `rules`, a suppression file as it was used."""

    name: str
    path: Path
    field: str = "log"

    @property
    def suffix(self) -> str:
        return "gz" if self.field == "log" else "supp"


class Form:
    """multipart/form-data, streamed from disk; it can be sent again."""

    def __init__(self, fields: dict[str, Any], logs: Sequence[Packed]) -> None:
        boundary = uuid.uuid4().hex
        self.content_type = f"multipart/form-data; boundary={boundary}"
        self._pieces: list[bytes | Path] = []
        for name, value in fields.items():
            text = json.dumps(value) if isinstance(value, (dict, bool)) else str(value)
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
            self._pieces.append(f"{head}{text}\r\n".encode())
        for log in logs:
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="{log.field}"; filename="{log.name}"\r\n'
            kind = "application/gzip" if log.field == "log" else "text/plain"
            self._pieces += [f"{head}Content-Type: {kind}\r\n\r\n".encode(), log.path, b"\r\n"]
        self._pieces.append(f"--{boundary}--\r\n".encode())
        self.length = sum(p.stat().st_size if isinstance(p, Path) else len(p) for p in self._pieces)

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            if isinstance(piece, Path):
                yield from chunks_of(piece)
            else:
                yield piece


def pack(chunks: Iterator[bytes], target: Path) -> int:
    """Into gzip, in members, at the quickest level; how many bytes went in.

    The lane's processors are there for its tests: where a long log cost more of their time than it may, its next member is only
    stored, until the account is even.
    """
    size, spent, fill = 0, 0.0, 0
    squeeze = zlib.compressobj(1, zlib.DEFLATED, 31)
    with target.open("wb") as file:
        for chunk in chunks:
            if fill >= MEMBER:
                file.write(squeeze.flush())
                dear = size > UNCOUNTED and spent > SECONDS_A_BYTE * size
                squeeze, fill = zlib.compressobj(0 if dear else 1, zlib.DEFLATED, 31), 0
            began = time.thread_time()
            file.write(squeeze.compress(chunk))
            spent += time.thread_time() - began
            size, fill = size + len(chunk), fill + len(chunk)
        file.write(squeeze.flush())
    return size


def pauses() -> Iterator[float]:
    """Seconds between attempts: doubled each time, up to 20, with jitter, for all lanes come back at once."""
    step = 1.0
    while True:
        yield random.uniform(step / 2, step)  # noqa: S311 - no secret
        step = min(20.0, step * 2)


# --- The spool -------------------------------------------------------------------------------------------------------


class Spool:
    """Statements that could not be sent, in a folder of bounded size. An entry is a JSON file beside its logs."""

    SAFE = re.compile(r"[\w.+-]{1,250}")

    def __init__(self, folder: Path, limit: int) -> None:
        self._folder = folder
        self._limit = limit

    def add(self, fields: dict[str, Any], logs: Sequence[Packed]) -> None:
        """Logs first: an entry that is there is complete. Raises OSError."""
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / ".gitignore").write_text("*\n")
        logs = logs if sum(log.path.stat().st_size for log in logs) <= self._limit else ()
        key = f"{fields['sequence']:015d}-{fields['delivery_id']}"
        kept = []
        for number, log in enumerate(logs):
            file = f"{key}.{number}.{log.suffix}"
            shutil.copyfile(str(log.path), str(self._folder / file))
            kept.append({"name": log.name, "file": file, "field": log.field})
        draft = self._folder / f"{key}.draft"
        draft.write_text(json.dumps({"fields": fields, "logs": kept}))
        draft.replace(self._folder / f"{key}.json")
        self._shrink()

    def entries(self) -> list[Path]:
        return sorted(self._folder.glob("*.json")) if self._folder.is_dir() else []

    def read(self, entry: Path) -> tuple[dict[str, Any], list[Packed]]:
        """Raises OSError, or ValueError where it is no entry."""
        content = json.loads(entry.read_text(encoding="utf-8"))
        if not isinstance(content, dict) or not isinstance(content.get("fields"), dict):
            raise ValueError("no entry")  # noqa: TRY004 - it is about the file
        logs = [(str(log["name"]), str(log["file"]), str(log.get("field", "log"))) for log in content.get("logs") or ()]
        # A folder that came out of a cache or an artifact may hold anything: no name leads out of it.
        if not all(self.SAFE.fullmatch(part) for log in logs for part in log):
            raise ValueError("no names of logs")
        if any((self._folder / file).is_symlink() for _, file, _ in logs):
            raise ValueError("a link is no log")
        return content["fields"], [Packed(name, self._folder / file, field) for name, file, field in logs]

    def remove(self, entry: Path) -> None:
        for path in (*self._logs(entry), entry):
            with contextlib.suppress(OSError):
                path.unlink()
        with contextlib.suppress(OSError):
            if not self.entries():
                (self._folder / ".gitignore").unlink()
                self._folder.rmdir()

    def _shrink(self) -> None:
        """The oldest go first: what was found last is what somebody waits for."""
        entries = self.entries()
        sizes = {entry: self._size(entry) for entry in entries}
        while len(entries) > 1 and (sum(sizes[one] for one in entries) > self._limit or len(entries) > MOST_SPOOLED):
            say(f"the spool is full: {entries[0].name} is dropped")
            self.remove(entries.pop(0))

    def _size(self, entry: Path) -> int:
        return sum(path.stat().st_size for path in (*self._logs(entry), entry))

    def _logs(self, entry: Path) -> list[Path]:
        mine = [path for path in self._folder.iterdir() if path.name.startswith(f"{entry.stem}.")]
        return [path for path in mine if path.suffix in (".gz", ".supp")]


# --- Telling ---------------------------------------------------------------------------------------------------------

# Statements are tried again with these fields left out where the server does not like them; the rest says who we are.
DISPENSABLE = frozenset(
    {
        *("parent", "branch", "pull_request", "event", "run_url", "options", "part_index", "part_of", "canary"),
        *("progress", "announced_bytes", "rules"),
    }
)
KEPT_FOR_LATER = frozenset({401, 403, 404})
BEAT_FIELDS = ("project", "lane", "commit", "provider", "run_id", "attempt", "part", "source")


class Reporter:
    """Says what happens to this run: that it began, that it lives, how it ended. Nothing here raises but for our own faults."""

    def __init__(self, server: Server | None, spool: Spool | None, fields: dict[str, Any], signals: Signals) -> None:
        self.server = server
        self.refused = ""
        self.outcome = ""
        self.page = ""
        self._spool = spool
        self._fields = fields
        self._signals = signals
        self._stop = threading.Event()
        self._sequence = 0
        self._open: tuple[dict[str, Any], Sequence[Packed]] | None = None
        self._lock = threading.Lock()

    def statement(self, **said: Any) -> dict[str, Any]:
        self._sequence = max(self._sequence + 1, int(time.time() * 1000))
        mine = {"source": "lane_wrapper", "sequence": self._sequence, "delivery_id": f"lane-{uuid.uuid4().hex}"}
        return {**self._fields, **mine, **said}

    # --- While it runs -----------------------------------------------------------------------------------------------

    def begin(self, options: dict[str, str], canary: str, pause: float, progress: Callable[[], str]) -> None:
        start = self.statement(started_at=self._fields["started_at"], ended=False, options=options, canary=canary)
        if pause > 0:
            start["heartbeat"] = now()
        if self.server:
            threading.Thread(target=guarded, args=(lambda: self._live(start, pause, progress),), daemon=True).start()
            threading.Thread(target=guarded, args=(self.flush,), daemon=True).start()

    def _live(self, start: dict[str, Any], pause: float, progress: Callable[[], str]) -> None:
        if self._announced(start) and pause > 0:
            while not self._stop.wait(pause):
                self._beat(progress())

    def _announced(self, start: dict[str, Any]) -> bool:
        """Until the server has heard it, or the run has ended, which is said by another statement."""
        for pause in pauses():
            try:
                self._take(self.send(start, (), REQUEST_SECONDS))
            except Refused as refusal:
                self.refused = str(refusal)
                say(f"the server refuses this lane: {refusal}")
                return False
            except Away as away:
                if self._stop.wait(max(pause, away.pause)):
                    return False
            else:
                return True
        return False

    def _beat(self, progress: str) -> None:
        said = {name: self._fields[name] for name in BEAT_FIELDS if self._fields.get(name)}
        part = self._fields.get("part") or self._fields.get("part_index")
        beat = {**said, "source": "lane_wrapper", "heartbeat": now(), "progress": progress}
        if part is not None:
            beat["part"] = str(part)
        with contextlib.suppress(Away, Refused):  # the next one follows
            if self.server:
                self.server.state(beat, 10.0)

    def quiet(self) -> None:
        self._stop.set()

    # --- Sending -----------------------------------------------------------------------------------------------------

    def send(self, fields: dict[str, Any], logs: Sequence[Packed], seconds: float) -> dict[str, Any]:
        """One attempt, again without what the server does not like. Raises Away or Refused."""
        if self.server is None:
            raise Away("no server is set")
        given = {name: value for name, value in fields.items() if value not in (None, "", {})}
        while True:
            try:
                send = self.server.upload if logs else None
                return send(given, logs, seconds) if send else self.server.state(given, seconds)
            except Refused as refusal:
                disliked = DISPENSABLE.intersection(refusal.fields) & {*given, *(log.field for log in logs)}
                if refusal.status != 422 or not disliked:
                    raise
                say(f"left out {', '.join(sorted(disliked))}: {refusal}")
                given = {name: value for name, value in given.items() if name not in disliked}
                logs = [log for log in logs if log.field not in disliked]

    def deliver(self, fields: dict[str, Any], logs: Sequence[Packed], seconds: float) -> bool:
        """Send it, with patience; else keep it for later. Whether the server has it."""
        self._open = (fields, logs)
        until = time.monotonic() + seconds
        try:
            return self._deliver(fields, logs, lambda: min(until - time.monotonic(), self._signals.left()))
        finally:
            self.keep()

    def _deliver(self, fields: dict[str, Any], logs: Sequence[Packed], left: Callable[[], float]) -> bool:
        for pause in pauses():
            try:
                self._take(self.send(fields, logs, left()))
            except Refused as refusal:
                return self._told_off(fields, logs, refusal, left)
            except Away as away:
                rest = max(pause, away.pause)
                if self.server is None or self.refused or rest >= left():
                    say(f"could not be sent: {away}")
                    return False
                time.sleep(rest)
            else:
                self._open = None
                return True
        return False

    def _told_off(
        self, fields: dict[str, Any], logs: Sequence[Packed], refusal: Refused, left: Callable[[], float]
    ) -> bool:
        if logs and refusal.status in (413, 422):
            say(f"the logs are refused, and the run is told without them: {refusal}")
            return self._deliver(fields, (), left)
        say(f"refused: {refusal}")
        if refusal.status not in KEPT_FOR_LATER:
            self._open = None
        return False

    def keep(self) -> None:
        """Into the spool with what is not delivered. By whoever comes first: at a signal that is not who sends."""
        with self._lock:  # until it is written: who comes second may end the process
            undelivered, self._open = self._open, None
            if undelivered is None or self._spool is None:
                return
            try:
                self._spool.add(*undelivered)
            except OSError as error:
                say(f"nothing could be spooled either: {error}")
            else:
                say("kept in the spool; the next start or `lane.py --flush` sends it")

    def _take(self, receipt: dict[str, Any]) -> None:
        outcome = receipt.get("outcome")
        if isinstance(outcome, dict):
            self.outcome, self.page = str(outcome.get("id", "")), str(outcome.get("page", ""))

    # --- The spool ---------------------------------------------------------------------------------------------------

    def flush(self, overrides: Mapping[str, Any] | None = None) -> int:
        """Send what earlier runs left; how much is left still."""
        for entry in self._spool.entries() if self._spool else ():
            try:
                self._send_spooled(entry, overrides or {})
            except (Away, Refused) as error:
                say(f"{entry.name} stays in the spool: {error}")
                if isinstance(error, Away):
                    break
            except (OSError, ValueError, TypeError, KeyError) as error:
                say(f"{entry.name} is no entry of a spool and stays: {error}")
        return len(self._spool.entries()) if self._spool else 0

    def _send_spooled(self, entry: Path, overrides: Mapping[str, Any]) -> None:
        if self._spool is None:
            return
        fields, logs = self._spool.read(entry)
        try:
            self.send({**fields, **overrides}, logs, UPLOAD_SECONDS)
        except Refused as refusal:
            if refusal.status in KEPT_FOR_LATER:
                raise
            say(f"{entry.name} is refused for good: {refusal}")
        self._spool.remove(entry)


def guarded(do: Callable[[], Any], otherwise: Any = None) -> Any:
    """A fault of this program is no fault of the lane's."""
    try:
        return do()
    except Exception as error:  # noqa: BLE001 - whatever it is
        say(f"a fault in lane.py itself, and the lane goes on: {type(error).__name__}: {error}")
        return otherwise


# --- Logs in files ---------------------------------------------------------------------------------------------------

LOG_PATH = re.compile(r"(?:^|[:,\s])log_path=(\"[^\"]*\"|'[^']*'|[^:,\s]*)")
VALGRIND_FILE = re.compile(r"--(?:log|xml)-file=(\"[^\"]*\"|'[^']*'|\S*)")


def patterns_of(options: Mapping[str, str]) -> list[str]:
    """Where the sanitizers write instead of to stderr: `path.PID`, or Valgrind's `%p` for the pid."""
    found = []
    for name, value in options.items():
        if name.endswith("SAN_OPTIONS") or name == "GORACE":
            paths = [path.strip("\"'") for path in LOG_PATH.findall(value)]
            found += [f"{glob.escape(path)}.*" for path in paths if path not in ("", "stdout", "stderr")]
        elif name == "VALGRIND_OPTS":
            paths = [path.strip("\"'") for path in VALGRIND_FILE.findall(value)]
            found += [re.sub(r"%(p|q\{[^}]*\}|n)", "*", path) for path in paths]
    return found


def files_of(patterns: Sequence[str], since: float) -> list[Path]:
    """Files that were written since the start: what an earlier run left says nothing of this one."""
    found = {Path(name) for pattern in patterns for name in glob.glob(pattern, recursive=True)}  # noqa: PTH207 - may be absolute
    fresh = []
    for path in sorted(found):
        with contextlib.suppress(OSError):
            if path.is_file() and path.stat().st_size:
                if path.stat().st_mtime >= since - 2.0:
                    fresh.append(path)
                else:
                    say(f"{path} is older than this run and not sent")
    return fresh


def log_name(path: Path, taken: set[str]) -> str:
    """A name of its own for each file, without its folder where that is enough."""
    wanted = [path.name, "_".join(path.parts[-3:])]
    names = [re.sub(r"[^\w.+-]", "_", name, flags=re.ASCII).lstrip("_")[-150:] or "log" for name in wanted]
    names += [f"{number}-{names[0]}" for number in range(2, 10_000)]
    name = next(one for one in names if one not in taken)
    taken.add(name)
    return name


# --- Suppressions ----------------------------------------------------------------------------------------------------

SUPPRESSED = {
    "lsan": "LSAN_OPTIONS", "asan": "ASAN_OPTIONS", "tsan": "TSAN_OPTIONS", "ubsan": "UBSAN_OPTIONS",
    "valgrind": "VALGRIND_OPTS",
}  # fmt: skip
EVERY_TOOL = tuple(SUPPRESSED)
FETCH_SECONDS = 5.0  # for one file; after the first that does not come the kept copies are used
SERVED = "# Leakledger suppressions "
RULE_LINE = re.compile(r"[a-z_]+(-[a-z_]+)*(,[a-z_-]+)?:.+")
ENDS = re.compile(r"^# ends: (\d{4}-\d\d-\d\d)$", re.MULTILINE)
SUPPRESSIONS = re.compile(r"(?:^|[:,\s])suppressions=(\"[^\"]*\"|'[^']*'|[^:,\s]*)")
PLAIN_PATH = re.compile(r"[\w./+@%~-]+")


class Rules:
    """The approved rules of the server, as files for the runtimes of the command.

    A file that is not what it should be is not used: a runtime that cannot read a rule ends the program. Rules past their last day are
    left out of a kept copy.
    """

    def __init__(self, server: Server | None, project: str, lane: str, folder: Path, kept: Path) -> None:
        self._server = server
        # Without a name the token says which project it is.
        self._path = f"/projects/{urllib.parse.quote(project)}/suppressions/" if project else "/suppressions/"
        self._lane = lane
        self._folder = folder
        self._kept = kept
        self._away = server is None

    def apply(self, tools: Sequence[str], env: dict[str, str], command: Sequence[str]) -> list[Packed]:
        """Put the files into the environment of the command; the exact files that it runs with.

        Of tools that were named a file without rules too: the runs before and after a rule then differ in the rule alone.
        """
        fetched = {tool: self._text(tool) for tool in tools}
        wanted = {tool: text for tool, text in fetched.items() if text and (tools is not EVERY_TOOL or rules_in(text))}
        used = [self._use(tool, text, env, command) for tool, text in wanted.items()]
        return [one for one in used if one is not None]

    def _text(self, tool: str) -> str:
        copy = self._kept / f"{tool}-{hashlib.sha256(self._lane.encode()).hexdigest()[:12]}.supp"
        known = self._read(copy)
        fresh = None if self._away else self._fetched(tool, known)
        if fresh is not None:
            self._keep(copy, fresh)
            return sound(tool, fresh)
        if self._away and rules_in(known):
            at = datetime.fromtimestamp(copy.stat().st_mtime, timezone.utc).strftime("%Y-%m-%d %H:%M")
            say(f"the {tool} rules are the copy that was kept on {at} UTC")
        return sound(tool, known)

    def _fetched(self, tool: str, known: str) -> str | None:
        """Null where the copy is up to date, or where nobody answers."""
        if self._server is None:
            return None
        etag = hashlib.sha256(known.encode()).hexdigest() if known else ""
        try:
            body = self._server.fetch(f"{self._path}{tool}.supp", etag, FETCH_SECONDS, lane=self._lane)
        except (Away, Refused) as error:
            self._away = True
            say(f"suppressions cannot be fetched: {error}")
            return None
        text = None if body is None else body.decode("utf-8", "replace")
        if text is not None and not text.startswith(SERVED):
            self._away = True
            say(f"what came is no file of suppressions for {tool}")
            return None
        return text

    def _read(self, copy: Path) -> str:
        try:
            text = copy.read_text(encoding="utf-8")
        except (OSError, ValueError):
            return ""
        return text if text.startswith(SERVED) else ""

    def _keep(self, copy: Path, text: str) -> None:
        try:
            self._kept.mkdir(parents=True, exist_ok=True)
            (self._kept / ".gitignore").write_text("*\n")
            draft = copy.with_suffix(f".{os.getpid()}")
            draft.write_bytes(text.encode())
            draft.replace(copy)
        except OSError as error:
            say(f"no copy of the {tool_of(copy)} rules can be kept: {error}")

    # --- Into the environment ----------------------------------------------------------------------------------------

    def _use(self, tool: str, text: str, env: dict[str, str], command: Sequence[str]) -> Packed | None:
        variable = SUPPRESSED[tool]
        if variable in _assigned(command):
            say(f"the command sets {variable} itself: the approved {tool} rules are not used")
            return None
        given = env.get(variable, "")
        mine = "" if tool == "valgrind" else set_by(given)
        merged = self._merged(tool, mine, text) if mine else text.encode()
        if merged is None:
            return None
        path = self._folder / f"{tool}.supp"
        option = option_of(tool, path)
        if not option:
            say(f"the {tool} rules are not used: {path} cannot be written into {variable}")
            return None
        path.write_bytes(merged)
        env[variable] = f"{given}{' ' if tool == 'valgrind' else ':'}{option}" if given else option
        say(f"{len(rules_in(text))} approved {tool} rules are in force{f', besides those of {mine}' if mine else ''}")
        return Packed(f"leakledger-{tool}.supp", path, "rules")

    def _merged(self, tool: str, mine: str, text: str) -> bytes | None:
        """The lane's own file first, so that its rules keep their hits; a runtime takes one file only, and the last one named wins."""
        try:
            own = Path(mine).read_bytes()
        except OSError:
            say(
                f"{SUPPRESSED[tool]} names {mine}, which cannot be read from here: it stays alone, without the approved rules"
            )
            return None
        return own.rstrip() + b"\n\n" + text.encode()


def set_by(options: str) -> str:
    """The file that options name already, "" for none; the last one holds."""
    found = [path.strip("\"'") for path in SUPPRESSIONS.findall(options)]
    return found[-1] if found else ""


def option_of(tool: str, path: Path) -> str:
    """Of a path that an option cannot hold, "". Valgrind takes its words apart at blanks, whatever quotes are there."""
    text = str(path)
    if tool == "valgrind":
        return "" if re.search(r"\s", text) else f"--suppressions={text}"
    if PLAIN_PATH.fullmatch(text):
        return f"suppressions={text}"
    return "" if '"' in text else f'suppressions="{text}"'


def tool_of(copy: Path) -> str:
    return copy.name.partition("-")[0]


def rules_in(text: str) -> list[str]:
    """Paragraphs of a served file that hold a rule."""
    return [one for one in text.split("\n\n") if any(line and not line.startswith("#") for line in one.split("\n"))]


def sound(tool: str, text: str) -> str:
    """The file without rules whose last day has passed; nothing of it where a runtime could stumble over one. "" stays ""."""
    if not text:
        return ""
    today = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    head, *rules = text.rstrip("\n").split("\n\n")
    current = [rule for rule in rules if not any(end < today for end in ENDS.findall(rule))]
    if len(current) < len(rules):
        say(f"{len(rules) - len(current)} {tool} rules have ended and are not used")
    lines = [line for rule in current for line in rule.split("\n") if not line.startswith("#")]
    readable = balanced(lines) if tool == "valgrind" else all(RULE_LINE.fullmatch(line) for line in lines)
    if not readable:
        say(f"the {tool} rules cannot be read, and none of them is used")
        return head + "\n"
    return "\n\n".join([head, *current]) + "\n"


def balanced(lines: Sequence[str]) -> bool:
    """Blocks in braces, none within another."""
    depth = 0
    for line in lines:
        depth += {"{": 1, "}": -1}.get(line.strip(), 0)
        if depth not in (0, 1) or (depth == 0 and line.strip() != "}"):
            return False
    return depth == 0


# --- One lane --------------------------------------------------------------------------------------------------------


class Lane:
    """One run of the command, from its start to the answer of the gate."""

    def __init__(self, args: argparse.Namespace, command: Sequence[str], folder: Path, signals: Signals) -> None:
        self.args = args
        self.words = command
        self.signals = signals
        self.started = time.time()
        self.options = options_of(os.environ, command)
        self.kept = Kept(folder, args.max_log_mb * MIB)
        self.record = Record(self.kept)
        self.reporter: Reporter | None = guarded(self._reporter)
        self.base = ""
        self._folder = folder
        self.logs: list[Packed] = []
        self.rules: list[Packed] = []
        self.left_out = 0

    def _reporter(self) -> Reporter | None:
        fields = fields_of(self.args)
        self.base = fields.pop("base", "")
        missing = [name for name in ("lane", "commit") if not fields.get(name)]
        if missing:
            say(f"nothing is reported: {' and '.join(missing)} cannot be told from the environment")
            return None
        fields["started_at"] = now()
        return Reporter(server_of(self.args), spool_of(self.args), fields, self.signals)

    def run(self) -> int:
        # The token is ours: what the command prints is uploaded, and may be read by everyone.
        env = {name: value for name, value in os.environ.items() if name != "LEAKLEDGER_TOKEN"}
        if self.args.suppressions:
            self._suppress(env)
        command = Command(self.words, self.record, env)
        self.signals.command = command
        if self.reporter:
            begin = self.reporter.begin
            guarded(lambda: begin(self.options, self.args.canary, self.args.heartbeat, self.record.progress))
        while not command.done.wait(0.2):
            if self.signals.caught:
                self._cancel(command)
                break
        command.drain(lambda: self.signals.left() - CANCEL_BUDGET + CHILD_GRACE + 1.0)
        code = 0 if command.code is None else command.code
        return self._conclude(command.code, code)

    def _suppress(self, env: dict[str, str]) -> None:
        """In a thread of its own, so that a signal finds us awake. What goes wrong leaves the environment as it was."""
        wanted = dict(env)
        done: list[list[Packed]] = []
        thread = threading.Thread(target=guarded, args=(lambda: done.append(self._ruled(wanted)),), daemon=True)
        thread.start()
        while thread.is_alive() and not self.signals.caught:
            thread.join(0.1)
        if done:
            self.rules = done[0]
            env.update(wanted)
            self.options = options_of(env, self.words)

    def _ruled(self, env: dict[str, str]) -> list[Packed]:
        lane = str(fields_of(self.args)["lane"])
        if not lane:
            say("no suppressions are fetched: which lane this is cannot be told")
            return []
        server = self.reporter.server if self.reporter else server_of(self.args)
        rules = Rules(server, self.args.project or "", lane, self._folder, Path(self.args.suppressions_folder))
        return rules.apply(self.args.suppressions, env, self.words)

    def _cancel(self, command: Command) -> None:
        """First the words, then the command's chance to end by itself, then its end."""
        if self.reporter:
            self.reporter.quiet()
            threading.Thread(target=guarded, args=(self._say_cancelled,), daemon=True).start()
        if not command.done.wait(max(0.1, self.signals.at + CHILD_GRACE - time.monotonic())):
            command.kill()
            command.done.wait(0.5)

    def _say_cancelled(self) -> None:
        if self.reporter and self.reporter.server:
            said = self.reporter.statement(conclusion="cancelled", ended=True, finished_at=now(), options=self.options)
            with contextlib.suppress(Away, Refused):
                self.reporter.send(said, (), CANCEL_CLAIM)

    # --- The end -----------------------------------------------------------------------------------------------------

    def _conclude(self, told: int | None, code: int) -> int:
        """Report in a thread of its own, so that a signal finds us awake; the exit code."""
        answer = [code]

        def tell() -> None:
            answer[0] = guarded(lambda: self._tell(told, code), code)

        thread = threading.Thread(target=tell, daemon=True)
        thread.start()
        while thread.is_alive() and self.signals.left() > 0:
            thread.join(0.1)
        if self.reporter and thread.is_alive():
            guarded(self.reporter.keep)
        return 128 + self.signals.caught if self.signals.caught else answer[0]

    def _tell(self, told: int | None, code: int) -> int:
        if self.reporter is None:
            return code
        self.reporter.quiet()
        try:
            self._pack()
        except OSError as error:
            say(f"the log cannot be packed, and the run is told without it: {error}")
            self.logs = []
        said = {"exit_code": told, "ended": True, "finished_at": now(), "options": self.options}
        if self.signals.caught:
            said["conclusion"] = "cancelled"
        if self.left_out:
            said["announced_bytes"] = self.left_out
        delivered = self._deliver(said)
        if self.signals.caught or not delivered:
            return code if self.signals.caught else self._unanswered("the run could not be reported", code)
        return self._answered(code)

    def _pack(self) -> None:
        """The log and the files, compressed. Of a cancelled run only what there is time for."""
        cancelled = bool(self.signals.caught)
        main = self._folder / "main.gz"
        packed = pack(self.kept.end(CANCEL_LOG) if cancelled else self.kept.chunks(), main)
        self.logs = [Packed(self.args.log_name, main)]
        sizes, taken = max(self.kept.size, packed), {self.args.log_name}
        cut = not self.kept.whole or packed < self.kept.size
        patterns = [*patterns_of(self.options), *self.args.log]
        for number, path in enumerate(files_of(patterns, self.started)):
            if self.signals.left() < 2.0:
                cut = True
                break
            with contextlib.suppress(OSError):
                target = self._folder / f"{number}.gz"
                sizes += pack(chunks_of(path), target)
                self.logs.append(Packed(log_name(path, taken), target))
        self.left_out = sizes + 1 if cut else 0

    def _deliver(self, said: dict[str, Any]) -> bool:
        """Files of their own first: the words that the run has ended come with the last upload."""
        if self.reporter is None:
            return False
        *first, last = batches(self.logs[1:])
        for logs in first:
            self.reporter.deliver(self.reporter.statement(ended=False), logs, self.args.upload_seconds)
        logs = self.logs[:1] + last
        return self.reporter.deliver(
            self.reporter.statement(**said), logs + self.rules if logs else [], self.args.upload_seconds
        )

    def _answered(self, code: int) -> int:
        """Wait for the verdict, tell it, and let the gate decide if one was asked for."""
        gated = bool(self.args.gate) and code == 0
        seconds = self.args.gate_timeout if gated else self.args.wait
        outcome = self._poll(seconds, self._outcome, lambda read: not read["busy"]) if seconds > 0 else None
        if self.reporter and self.reporter.page:
            say(self.reporter.page)
        if outcome is None:
            return self._unanswered("no verdict yet", code) if gated else code
        reason = f" ({outcome['reason']})" if outcome["reason"] else ""
        say(f"{outcome['verdict']}{reason}: {outcome['sentence']}")
        answer = self._poll(seconds, lambda: self._gate(outcome), lambda read: read["result"] != "pending")
        return self._gated(answer, code, gated=gated)

    def _outcome(self) -> dict[str, Any]:
        return self._ask(f"/outcomes/{self.reporter.outcome}" if self.reporter else "")

    def _gate(self, outcome: dict[str, Any]) -> dict[str, Any]:
        path = f"/projects/{urllib.parse.quote(str(outcome['project']))}/gate/new"
        return self._ask(path, outcome=str(outcome["id"]), base=self.args.base, merge_base=self.base)

    def _ask(self, path: str, **query: str) -> dict[str, Any]:
        if self.reporter is None or self.reporter.server is None:
            raise Away("no server is set")
        return self.reporter.server.ask(path, 10.0, **query)

    def _poll(
        self, seconds: float, ask: Callable[[], dict[str, Any]], ready: Callable[[dict[str, Any]], bool]
    ) -> dict[str, Any] | None:
        until, pause = time.monotonic() + seconds, 0.2
        while True:
            with contextlib.suppress(Away):
                try:
                    read = ask()
                except Refused as refusal:
                    say(f"the server does not answer this: {refusal}")
                    return None
                if ready(read):
                    return read
            if time.monotonic() + pause > until or self.signals.caught:
                return None
            time.sleep(pause)
            pause = min(3.0, pause * 1.5)

    def _gated(self, answer: dict[str, Any] | None, code: int, *, gated: bool) -> int:
        if answer is None:
            return self._unanswered("the gate has no answer", code) if gated else code
        if answer["result"] == "not_comparable":
            if gated:
                return self._unanswered(f"not comparable: {answer['sentence']}", code)
            return code
        base = answer["base"]["sha"][:9]
        for one in answer["new"]:
            accepted = "" if one["fails"] else f" ({one['state']}, accepted)"
            size = f", {one['amount']['bytes']} bytes" if one["amount"]["bytes"] is not None else ""
            say(f"new since {base}: {one['id']} {one['title']}{size}{accepted} {one['page']}")
        if not answer["new"]:
            say(f"nothing new since {base}")
        return int(self.args.gate_code) if gated and answer["failing"] else code

    def _unanswered(self, why: str, code: int) -> int:
        if not self.args.gate or code != 0:
            return code
        strict = self.args.gate == "strict"
        say(
            f"gate: {why.rstrip('.')}; {'this fails the lane, as asked' if strict else 'the lane does not fail for that'}"
        )
        return int(self.args.gate_code) if strict else code


def batches(logs: Sequence[Packed]) -> list[list[Packed]]:
    """Uploads within the server's bounds; at least one, which may be empty."""
    found: list[list[Packed]] = [[]]
    size = 0
    for log in logs:
        more = log.path.stat().st_size
        if len(found[-1]) >= MOST_FILES or (found[-1] and size + more > MOST_BATCH):
            found.append([])
            size = 0
        found[-1].append(log)
        size += more
    return found


# --- Command line ----------------------------------------------------------------------------------------------------

OVERRIDES = ("commit", "parent", "branch", "provider", "run_id", "event", "run_url", "part", "project")
NUMBERS = ("pull_request", "attempt", "part_index", "part_of")


def fields_of(args: argparse.Namespace) -> dict[str, Any]:
    """Who we are: what the options say, else the environment."""
    found: dict[str, Any] = place(os.environ)
    found.update(overrides_of(args))
    found["lane"] = args.lane or found.get("job", "")
    for name in NUMBERS:
        text = str(found.pop(name, ""))
        if text.isdigit() and int(text) > 0:
            found[name] = int(text)
    for name in ("job", "base_branch"):
        found.pop(name, None)
    return found


def overrides_of(args: argparse.Namespace) -> dict[str, Any]:
    given = {name: getattr(args, name) for name in (*OVERRIDES, *NUMBERS)}
    return {name: value for name, value in given.items() if value not in (None, "")}


def server_of(args: argparse.Namespace) -> Server | None:
    if args.server and args.token:
        try:
            return Server(args.server, args.token)
        except ValueError as error:
            say(str(error))
            return None
    missing = " and ".join(name for name in ("server", "token") if not getattr(args, name))
    say(f"no {missing} is set: the run is not sent")
    return None


def spool_of(args: argparse.Namespace) -> Spool | None:
    return None if args.no_spool else Spool(Path(args.spool), args.spool_mb * MIB)


def flush(args: argparse.Namespace) -> int:
    """`--flush`: send the spool and nothing else. Fields that are given as options hold over those of the entries."""
    server = server_of(args)
    if server is None:
        return 1
    given = {**overrides_of(args), **({"lane": args.lane} if args.lane else {})}
    left = Reporter(server, spool_of(args), {}, Signals()).flush(given)
    say(f"{left} entries are left in the spool" if left else "the spool is empty")
    return 1 if left else 0


# Options that stand for an action of their own instead of running a command.
ACTIONS: dict[str, Callable[[argparse.Namespace], int]] = {"flush": flush}


def parser() -> argparse.ArgumentParser:
    env = os.environ.get
    made = argparse.ArgumentParser(
        prog="lane.py", description="Run a sanitizer lane and tell Leakledger what it did.",
        usage="lane.py [options] -- COMMAND [ARGUMENT…]   or   lane.py --flush", allow_abbrev=False,
    )  # fmt: skip
    add = made.add_argument
    add("--lane", default=env("LEAKLEDGER_LANE", ""), help="name of the lane (default: the CI's name of the job)")
    add("--server", default=env("LEAKLEDGER_URL", ""), help="address of Leakledger (LEAKLEDGER_URL)")
    add("--token", default=env("LEAKLEDGER_TOKEN", ""), help="a token of kind upload (better: LEAKLEDGER_TOKEN)")
    for name in OVERRIDES:
        add("--" + name.replace("_", "-"), help="name of the shard" if name == "part" else "(from the CI or git)")
    for name in NUMBERS:
        add(
            "--" + name.replace("_", "-"),
            type=int,
            metavar="N",
            help="of the shards" if "part" in name else "(from the CI)",
        )
    add("--canary", default="", metavar="SIGNATURE", help="a signature that this run must find")
    add("--log", action="append", default=[], metavar="FILE", help="a further log, or a pattern of several")
    add("--log-name", default="lane.log", type=_name, help="name of the command's own log (lane.log)")
    add("--max-log-mb", type=_count, default=500, metavar="MIB", help="of a longer log the middle is left out (500)")
    add("--heartbeat", type=float, default=30.0, metavar="SECONDS", help="between signs of life (30; 0: none)")
    add("--wait", type=float, default=30.0, metavar="SECONDS", help="for the verdict at the end (30; 0: not at all)")
    add("--upload-seconds", type=float, default=120.0, metavar="SECONDS", help="before a log goes to the spool (120)")
    add("--gate", choices=("new", "strict"), help="fail if the base does not have what this run found; strict: also "
        "if that cannot be told")  # fmt: skip
    add(
        "--base",
        default="",
        metavar="SHA",
        help="the base of the gate (default: the merge base, else what main proved last)",
    )
    add("--gate-timeout", type=float, default=120.0, metavar="SECONDS", help="for the gate's answer (120)")
    add("--gate-code", type=int, default=1, metavar="N", help="exit code of a gate that fails (1)")
    add(
        "--spool", default=env("LEAKLEDGER_SPOOL", ".leakledger-spool"), metavar="FOLDER", help="what could not be sent"
    )
    add("--spool-mb", type=_count, default=512, metavar="MIB", help="bound of the spool (512)")
    add("--no-spool", action="store_true", help="drop what cannot be sent")
    add("--suppressions", nargs="?", const=EVERY_TOOL, type=_tools, default=(), metavar="TOOLS", help="fetch the "
        "approved rules and run with them: of all tools, or of those that are named (lsan,tsan)")  # fmt: skip
    add("--suppressions-folder", default=env("LEAKLEDGER_SUPPRESSIONS", ".leakledger-suppressions"), metavar="FOLDER",
        help="the last copies, for when the server is away")  # fmt: skip
    add("--flush", action="store_true", help="send the spool, run nothing")
    return made


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return int(text)


def _tools(text: str) -> tuple[str, ...]:
    words = tuple(word for word in text.split(",") if word)
    if not words or not all(word in SUPPRESSED for word in words):
        raise argparse.ArgumentTypeError(f"one or more of {', '.join(SUPPRESSED)}, separated by commas")
    return words


def _name(text: str) -> str:
    if not Spool.SAFE.fullmatch(text):
        raise argparse.ArgumentTypeError("letters, digits and . _ + - only")
    return text


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Our options, and the command after the first `--`."""
    words = list(arguments)
    return (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])


def main(arguments: Sequence[str]) -> int:
    ours, command = split(arguments)
    made = parser()
    args = made.parse_args(ours)
    action = next((do for name, do in ACTIONS.items() if getattr(args, name)), None)
    if action:
        return action(args)
    if not command:
        made.error("say what to run: lane.py --lane asan -- ctest")
    signals = Signals()
    signals.install()
    folder = Path(tempfile.mkdtemp(prefix="leakledger-"))
    try:
        return Lane(args, command, folder, signals).run()
    finally:
        shutil.rmtree(str(folder), ignore_errors=True)


if __name__ == "__main__":
    # At once: a thread that still sends, or waits for a daemon's last words, is not worth a second of the lane.
    try:
        CODE = main(sys.argv[1:])
    except SystemExit as ended:  # argparse's
        CODE = ended.code if isinstance(ended.code, int) else 1
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(CODE & 0xFFFFFFFF if os.name == "nt" else CODE)
