"""Sending webhooks in tests: payloads as the providers document them, changed where a test needs it, and signed."""

import copy
import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

from django.test import Client

from leaks.ingest import deliveries, sweep
from leaks.models import HookSecret, Project, StaleMark
from leaks.providers.gitlab import kept

PAYLOADS = Path(__file__).parent / "payloads"
GITHUB: dict[str, list[dict[str, Any]]] = json.loads((PAYLOADS / "github.json").read_text(encoding="utf-8"))
GITLAB: dict[str, dict[str, Any]] = json.loads((PAYLOADS / "gitlab.json").read_text(encoding="utf-8"))
SECRET = "It's a Secret to Everybody"
EVENT_HEADERS = {"github": ("X-GitHub-Event", "X-GitHub-Delivery"), "gitlab": ("X-Gitlab-Event", "X-Gitlab-Event-UUID")}


def make_project(slug: str = "engine", **fields: Any) -> Project:
    """A project that takes webhooks of both providers."""
    project = Project.objects.create(slug=slug, name=slug.capitalize(), **fields)
    HookSecret.objects.create(project=project, provider="github", secret=SECRET)
    HookSecret.objects.create(project=project, provider="gitlab", secret=kept(SECRET))
    return project


def signature(body: bytes, secret: str = SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def proof(provider: str, body: bytes) -> dict[str, str]:
    return {"X-Hub-Signature-256": signature(body)} if provider == "github" else {"X-Gitlab-Token": SECRET}


def send(client: Client, event: str, payload: Any, *, provider: str = "github", delivery: str = "", **headers: str):
    """POST a payload, signed unless the headers say otherwise; bytes are sent as they are."""
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    event_header, id_header = EVENT_HEADERS[provider]
    named = {event_header: event, **({id_header: delivery} if delivery else {})}
    return client.post(
        f"/hooks/{provider}/engine",
        body,
        content_type="application/json",
        headers={**named, **proof(provider, body), **headers},
    )


def settle() -> None:
    """Digest all, and derive all that hangs on it."""
    while sweep.anything_to_do():
        sweep.look()
    assert not StaleMark.objects.exists()


def read_again(project: Project) -> None:
    """All deliveries wait again, as after a lane was changed."""
    project.deliveries.update(state="received", attempts=0)
    settle()


# --- Payloads with a story -------------------------------------------------------------------------------------------


def run_event(number: int, status: str = "completed", conclusion: str | None = None, **changes: Any) -> dict[str, Any]:
    """A `workflow_run` of run `number` on its own commit of main, an hour after the one before."""
    payload = copy.deepcopy(GITHUB["workflow_run"][1])
    start = f"2026-05-01T{number % 24:02}:00"
    payload["action"] = status if status in ("requested", "in_progress", "completed") else "requested"
    payload["workflow_run"] |= {
        "id": 5000 + number, "name": "ci", "head_branch": "main", "head_sha": sha(number), "status": status,
        "conclusion": conclusion, "event": "push", "run_attempt": 1, "run_started_at": f"{start}:00Z",
        "updated_at": f"{start}:50Z", "pull_requests": [], **changes,
    }  # fmt: skip
    payload["workflow_run"]["head_repository"]["id"] = payload["repository"]["id"]
    return payload


def job_event(number: int, name: str, status: str = "completed", conclusion: str | None = None, **changes: Any):
    """A `workflow_job` of that run."""
    payload = copy.deepcopy(GITHUB["workflow_job"][1]) | {"repository": GITHUB["workflow_run"][1]["repository"]}
    start = f"2026-05-01T{number % 24:02}:0"
    payload["action"] = status
    payload["workflow_job"] |= {
        "id": 90_000 + number, "run_id": 5000 + number, "name": name, "workflow_name": "ci", "head_branch": "main",
        "head_sha": sha(number), "status": status, "conclusion": conclusion, "run_attempt": 1,
        "started_at": f"{start}1:00Z", "completed_at": f"{start}9:00Z" if status == "completed" else None, **changes,
    }  # fmt: skip
    return payload


def push_event(*numbers: int, before: int | None = None, branch: str = "main", **changes: Any) -> dict[str, Any]:
    payload = copy.deepcopy(GITHUB["push"][4])
    payload |= {
        "ref": f"refs/heads/{branch}", "before": "0" * 40 if before is None else sha(before), "after": sha(numbers[-1]),
        "created": before is None, "forced": False,
        "commits": [
            {"id": sha(n), "message": f"Change {n}\n\nmore", "timestamp": f"2026-05-01T{n % 24:02}:00:00Z"} for n in numbers
        ],
        **changes,
    }  # fmt: skip
    payload["head_commit"] = payload["commits"][-1] if payload["commits"] else None
    return payload


def sha(number: int) -> str:
    return f"a{number:039x}"


def digest_all() -> int:
    return deliveries.digest_due(until=float("inf"))
