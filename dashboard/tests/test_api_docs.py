"""The examples of docs/api.md run as they stand."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

from dashboard import intake
from dashboard.api.projects import PARAMETERS
from dashboard.api.statements import LogForm
from leaks.models import Claim, Log, Project
from leaks.tokens import make_token

TEXT = (Path(settings.BASE_DIR) / "docs" / "api.md").read_text(encoding="utf-8")
SHELL = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)

# What Jenkins and Buildkite set in a job's environment.
OF_THE_CI = {
    "GIT_COMMIT": "d1b0ea3a8f00d000000000000000000000000002",
    "GIT_BRANCH": "main",
    "JOB_NAME": "engine/main",
    "BUILD_NUMBER": "17",
    "BUILD_URL": "https://ci.example/job/engine/17/",
    "BUILD_RESULT": "ABORTED",
    "BUILDKITE_STEP_KEY": "tsan",
    "BUILDKITE_COMMIT": "d1b0ea3a8f00d000000000000000000000000002",
    "BUILDKITE_BRANCH": "main",
    "BUILDKITE_BUILD_ID": "018f-42",
    "BUILDKITE_RETRY_COUNT": "0",
    "BUILDKITE_PARALLEL_JOB": "1",
    "BUILDKITE_PARALLEL_JOB_COUNT": "2",
    "BUILDKITE_BUILD_URL": "https://buildkite.com/e/engine/builds/4",
    "BUILDKITE_COMMAND_EXIT_STATUS": "-1",
}


@pytest.mark.django_db(transaction=True)
def test_the_examples_run(live_server, tmp_path: Path, monkeypatch) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    monkeypatch.setattr(intake, "hint_logs", lambda _ids: None)
    monkeypatch.setattr(intake, "hint_marks", lambda: None)
    project = Project.objects.create(slug="engine", name="Engine")
    for name in ("asan.log", "ubsan.log"):
        (tmp_path / name).write_text(f"{name}\n")
    environment = {
        "PATH": os.environ["PATH"],
        "SERVER": live_server.url,
        "TOKEN": make_token(project, "upload", "docs")[1],
        "READ_TOKEN": make_token(project, "read", "docs")[1],
        "PROJECT": "engine",
        **OF_THE_CI,
    }
    for example in SHELL:
        run = subprocess.run(
            ["/bin/sh", "-ec", example], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        answers = [json.loads(answer) for answer in run.stdout.replace("}{", "}\n{").splitlines()]
        assert answers
        assert not [answer for answer in answers if "status" in answer]
    assert set(Log.objects.values_list("name", flat=True)) == {"asan.log", "ubsan.log.gz"}
    assert Claim.objects.filter(fields__conclusion="cancelled").exists()


def test_every_field_and_parameter_is_explained() -> None:
    names = {*LogForm.model_fields, *PARAMETERS}
    assert {name for name in names if f"`{name}`" not in TEXT} == set()
