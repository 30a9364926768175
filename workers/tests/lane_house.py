"""A real house for lanes to report to: web server, worker, database and broker; and lanes that are started as a CI starts them."""

import contextlib
import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings

from leaks.models import LaneOutcome, Project
from leaks.tokens import make_token
from workers.tests import farm as farming
from workers.tests.farm import Farm

LANE = Path(settings.BASE_DIR) / "workers" / "lane.py"
SLUG = "engine"


@dataclass
class House:
    farm: Farm
    token: str
    port: int
    web: "subprocess.Popen[bytes] | None" = None
    lanes: "list[subprocess.Popen[bytes]]" = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    # --- The web server ----------------------------------------------------------------------------------------------

    def open(self) -> None:
        program = [sys.executable, "-m", "gunicorn", "dashboard.wsgi:application", "--bind", f"127.0.0.1:{self.port}"]
        threads = ["--worker-class", "gthread", "--threads", "4", "--no-control-socket", "--log-level", "warning"]
        environment = {
            **self.farm._environment(),
            "LEAKLEDGER_STATIC": "plain",
            "SECRET_KEY": settings.SECRET_KEY,
            "LEAKLEDGER_JOURNAL_KEY": settings.LEAKLEDGER_JOURNAL_KEY,
        }
        with (self.farm.var / "web.log").open("ab") as log:
            self.web = subprocess.Popen(
                program + threads, cwd=settings.BASE_DIR, env=environment, stdout=log, stderr=log
            )
        self.farm.wait_for(self._answers, "the web server does not answer")

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/lane.py.sha256")
            connection.getresponse()
        except OSError:
            return False
        else:
            return True
        finally:
            connection.close()

    def shut(self) -> None:
        if self.web:
            self.web.terminate()
            self.web.wait()

    # --- Lanes -------------------------------------------------------------------------------------------------------

    def environment(self, **more: str) -> dict[str, str]:
        """Of a lane on no CI, whatever runs the tests."""
        kept = {"PATH": os.environ["PATH"], "LEAKLEDGER_URL": self.url, "LEAKLEDGER_TOKEN": self.token}
        return {**kept, **more}

    def start(self, folder: Path, commit: str, *words: str, **more: str) -> "subprocess.Popen[bytes]":
        lane = subprocess.Popen(
            lane_words(commit, *words), cwd=folder, env=self.environment(**more), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        self.lanes.append(lane)
        return lane

    def run(self, folder: Path, commit: str, *words: str, **more: str) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            lane_words(commit, *words), cwd=folder, env=self.environment(**more), capture_output=True, check=False,
            timeout=100,
        )  # fmt: skip

    # --- What came of it ---------------------------------------------------------------------------------------------

    def outcome(self, commit: str) -> LaneOutcome:
        return LaneOutcome.objects.select_related("run__commit", "lane").get(run__commit__sha__startswith=commit)

    def wait_for(self, commit: str, **columns: Any) -> LaneOutcome:
        def there() -> bool:
            return LaneOutcome.objects.filter(run__commit__sha__startswith=commit, **columns).exists()

        self.farm.wait_for(there, f"no outcome of {commit} with {columns}")
        return self.outcome(commit)

    def close(self) -> None:
        for lane in self.lanes:
            with contextlib.suppress(ProcessLookupError):
                lane.kill()
            lane.communicate()
        self.shut()


def lane_words(commit: str, *words: str) -> list[str]:
    """`words` are options and, after `--`, the command."""
    return [sys.executable, str(LANE), "--lane", "asan", "--commit", commit, "--branch", "main", *words]


def alone(folder: Path, *words: str, **more: str) -> "subprocess.CompletedProcess[bytes]":
    """A lane without a server."""
    environment = {"PATH": os.environ["PATH"], **more}
    return subprocess.run(
        lane_words("abcdef012", *words), cwd=folder, env=environment, capture_output=True, check=False, timeout=100
    )


@contextlib.contextmanager
def housed() -> Iterator[House]:
    with farming.embedded() as farm:
        project = Project.objects.create(slug=SLUG, name="Engine", own_roots=["/src/engine"])
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        house = House(farm, make_token(project, "upload", "tests")[1], port)
        try:
            house.open()
            farm.start()
            yield house
        finally:
            house.close()


class Used(NamedTuple):
    """Seconds of processor time and bytes of memory of a lane and its command."""

    seconds: float
    memory: int


# A small process starts the lane and asks what it used: the memory of whoever forks is counted in.
MEASURE = """
import os, subprocess, sys
with open("out", "wb") as out:
    lane = subprocess.Popen(sys.argv[1:], stdout=out, stderr=subprocess.DEVNULL)
used = os.wait4(lane.pid, 0)[2]
print(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
"""


def measured(folder: Path, command: list[str], environment: dict[str, str] | None = None) -> Used:
    """Run a lane with its output in the file `out`."""
    words = lane_words("abcdef012", "--no-spool", "--", *command)
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *words], cwd=folder, env=environment or {"PATH": os.environ["PATH"]},
        capture_output=True, check=True,
    )  # fmt: skip
    seconds, memory = done.stdout.split()
    return Used(float(seconds), int(memory))


def until(seconds: float, condition: Any) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
