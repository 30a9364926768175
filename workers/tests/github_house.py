"""A server on this machine that answers as GitHub's REST API does, and a second one that keeps the logs."""

import contextlib
import io
import json
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

REPOSITORY = "acme/engine"
TOKEN = "ghp_only_for_github"
START = "2026-05-{:02}T10:00:00Z"


def sha(number: int) -> str:
    return f"{number:040x}"


def run(number: int, **changes: Any) -> dict[str, Any]:
    """A run of the day `number` of May, on its own commit."""
    at = START.format(number)
    return {
        "id": 1000 + number, "name": "ci", "path": ".github/workflows/ci.yml", "head_branch": "main",
        "head_sha": sha(number), "run_attempt": 1, "run_number": number, "event": "push", "status": "completed",
        "conclusion": "success", "created_at": at, "updated_at": at.replace("T10", "T11"), "run_started_at": at,
        "pull_requests": [], "head_commit": {"timestamp": at.replace("T10", "T09")},
        "repository": {"id": 1, "html_url": "https://github.com/acme/engine"}, "head_repository": {"id": 1},
    } | changes  # fmt: skip


def job(of: dict[str, Any], name: str, **changes: Any) -> dict[str, Any]:
    at = of["run_started_at"]
    return {
        "id": of["id"] * 100 + len(name), "run_id": of["id"], "run_attempt": of["run_attempt"], "name": name,
        "workflow_name": "ci", "head_sha": of["head_sha"], "head_branch": of["head_branch"], "status": "completed",
        "conclusion": "success", "started_at": at, "completed_at": at.replace("10:00", "10:30"),
        "steps": [{"name": "Set up job", "number": 1, "status": "completed", "conclusion": "success"}],
    } | changes  # fmt: skip


def commit(number: int, *parents: int, title: str = "Work") -> dict[str, Any]:
    date = {"date": START.format(number).replace("T10", "T09")}
    return {
        "sha": sha(number),
        "parents": [{"sha": sha(one)} for one in parents],
        "commit": {"message": f"{title} {number}\n\nMore.", "committer": date, "author": date},
    }


def archive(**logs: str) -> bytes:
    """GitHub's zip: each job whole, and again a file a step."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as zipped:
        for number, (name, text) in enumerate(logs.items()):
            zipped.writestr(f"{number}_{name}.txt", text)
            zipped.writestr(f"{name}/1_Set up job.txt", text)
    return packed.getvalue()


@dataclass
class Asked:
    path: str
    query: dict[str, str]
    authorization: str
    host: str


Reply = tuple[int, dict[str, str], bytes]


@dataclass
class Hub:
    """`attempts[run id, attempt]` = run, its jobs. `logs` likewise: an archive, or the status that stands for it.

    `trouble`: answers given instead of the next ones to paths that hold the word.
    """

    url: str = ""
    store: str = ""
    page: int = 100
    attempts: dict[tuple[int, int], tuple[dict[str, Any], list[dict[str, Any]]]] = field(default_factory=dict)
    logs: dict[tuple[int, int], bytes | int] = field(default_factory=dict)
    job_logs: dict[int, bytes] = field(default_factory=dict)
    commits: list[dict[str, Any]] = field(default_factory=list)
    trouble: list[tuple[str, Reply]] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    stored: list[Asked] = field(default_factory=list)
    after: Callable[[Asked], None] = lambda _asked: None

    def add(self, run: dict[str, Any], *jobs: dict[str, Any], logs: bytes | int = 410) -> None:
        self.attempts[run["id"], run["run_attempt"]] = (run, list(jobs))
        self.logs[run["id"], run["run_attempt"]] = logs

    def paths(self, word: str) -> list[str]:
        return [one.path for one in self.asked if word in one.path]

    def answer(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        self.after(asked)
        for number, (word, reply) in enumerate(self.trouble):
            if word in asked.path:
                del self.trouble[number]
                return reply
        words = asked.path.removeprefix(f"/repos/{REPOSITORY}/").split("/")
        return self._commits(asked) if words == ["commits"] else self._actions(asked, words[1:])

    def _actions(self, asked: Asked, words: list[str]) -> Reply:
        match words:
            case ["workflows"]:
                ci = {"id": 7, "name": "ci", "path": ".github/workflows/ci.yml"}
                return self._paged(asked, "workflows", [ci])
            case ["runs"] | ["workflows", "7", "runs"]:
                return self._paged(asked, "workflow_runs", self._runs(asked))
            case ["runs", number, "attempts", attempt, *rest]:
                return self._attempt(asked, (int(number), int(attempt)), rest)
            case ["jobs", number, "logs"]:
                there = int(number) in self.job_logs
                return self._moved(f"job/{number}") if there else said(404, "Not Found")
        return said(404, "Not Found")

    def _runs(self, asked: Asked) -> list[dict[str, Any]]:
        latest = {number: self.attempts[number, attempt][0] for number, attempt in sorted(self.attempts)}
        since, _, until = asked.query.get("created", "*..*").partition("..")
        listed = [
            one
            for one in latest.values()
            if asked.query.get("branch", one["head_branch"]) == one["head_branch"]
            and (since == "*" or one["created_at"] >= since)
            and (until == "*" or one["created_at"] <= until)
        ]
        return sorted(listed, key=lambda one: one["created_at"], reverse=True)

    def _attempt(self, asked: Asked, place: tuple[int, int], rest: list[str]) -> Reply:
        if place not in self.attempts:
            return said(404, "Not Found")
        run, jobs = self.attempts[place]
        if rest == ["jobs"]:
            return self._paged(asked, "jobs", jobs)
        if rest == ["logs"]:
            logs = self.logs[place]
            return said(logs, "Gone") if isinstance(logs, int) else self._moved(f"run/{place[0]}/{place[1]}")
        return 200, {}, json.dumps(run).encode()

    def _moved(self, path: str) -> Reply:
        return 302, {"Location": f"{self.store}/{path}?sig=secret"}, b""

    def _commits(self, asked: Asked) -> Reply:
        newest = sorted(self.commits, key=lambda one: one["sha"], reverse=True)
        since = asked.query["since"]
        return self._paged(asked, "", [one for one in newest if one["commit"]["committer"]["date"] >= since])

    def _paged(self, asked: Asked, name: str, rows: list[Any]) -> Reply:
        number, headers = int(asked.query.get("page", 1)), {}
        shown = rows[(number - 1) * self.page : number * self.page]
        if number * self.page < len(rows):
            query = "&".join(f"{key}={value}" for key, value in (asked.query | {"page": number + 1}).items())
            url = f"{self.url}{asked.path}?{query}"
            headers["Link"] = f'<{url}>; rel="next", <{url}>; rel="last"'
        document = {"total_count": len(rows), name: shown} if name else shown
        return 200, headers, json.dumps(document).encode()

    def keep(self, asked: Asked) -> Reply:
        self.stored.append(asked)
        words = asked.path.strip("/").split("/")
        body = self.job_logs[int(words[1])] if words[0] == "job" else self.logs[int(words[1]), int(words[2])]
        return 200, {}, body if isinstance(body, bytes) else b""


def said(status: int, message: str, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, named, json.dumps({"message": message}).encode()


@contextlib.contextmanager
def hub_running() -> Iterator[Hub]:
    hub = Hub()
    with _serving(hub.answer) as url, _serving(hub.keep) as store:
        hub.url, hub.store = url, store
        yield hub


@contextlib.contextmanager
def _serving(answer: Callable[[Asked], Reply]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            heads = (self.headers.get("Authorization", ""), self.headers.get("Host", ""))
            status, headers, body = answer(Asked(parts.path, query, *heads))
            with contextlib.suppress(OSError):
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_words: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
