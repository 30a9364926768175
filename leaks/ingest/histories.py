"""A lane history in a folder: `runs.json`, the logs it names, and the suppression files that options name.

    runs.json   [{run_id, sha, parent_sha, branch, pr, event, lane, attempt, started_at, finished_at, ci_conclusion, exit_code,
                  log, env, superseded_by}], oldest first

`log` is a path in the folder, null where there is none. What is missing in a run was not said.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from leaks.errors import BadSubmission
from leaks.growth import workload_of
from leaks.ingest.validation import VARIABLE
from leaks.parsing.options import Reader
from leaks.parts import moment
from leaks.rows.intake import Submission, SubmittedFile, SubmittedRules

PROVIDER = "replay"
LANE = "lane"
MAIN = "main"
RULE_OPTION = "suppressions"
Run = Mapping[str, Any]


def read_runs(folder: Path) -> list[Run]:
    """The runs as they stand there. Raises BadSubmission where the file is none."""
    try:
        runs = json.loads((folder / "runs.json").read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise BadSubmission(f"runs.json cannot be read: {error}.") from None
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        raise BadSubmission("runs.json holds no list of runs.")
    return runs


def main_branch(runs: list[Run]) -> str:
    """The branch that counts as the default one: main, else that of the first run of no pull request."""
    branches = [run["branch"] for run in runs if run.get("branch") and run.get("pr") is None]
    return MAIN if MAIN in branches or not branches else str(branches[0])


@contextmanager
def submission(project: str, folder: Path, run: Run) -> Iterator[Submission]:
    """The run as an upload of its lane would say it; its log can be read within the block."""
    with ExitStack() as stack:
        try:
            files = tuple(_opened(folder, run, stack))
            yield _submission(project, folder, run, files)
        except (TypeError, ValueError, AttributeError) as error:
            raise BadSubmission(f"A value of run {run.get('run_id')} cannot be read: {error}.") from None


def _submission(project: str, folder: Path, run: Run, files: tuple[SubmittedFile, ...]) -> Submission:
    env = _environment(run.get("env") or {})
    return Submission(
        project=project,
        lane=str(run.get("lane") or LANE),
        commit=str(run.get("sha") or ""),
        parent=run.get("parent_sha"),
        branch=run.get("branch"),
        pull_request=_whole(run.get("pr")),
        provider=PROVIDER,
        run_id=str(run.get("run_id") or ""),
        attempt=_whole(run.get("attempt")) or 1,
        event=str(run.get("event") or ""),
        conclusion=run.get("ci_conclusion"),
        exit_code=_whole(run.get("exit_code")),
        ended=_ended(run),
        started_at=moment(run.get("started_at")),
        finished_at=moment(run.get("finished_at")),
        options=env,
        workload=workload_of(env, {}),
        superseded_by=run.get("superseded_by"),
        files=files,
        rules=tuple(_rules(folder, env)),
    )


def _ended(run: Run) -> bool:
    """Nobody would write down the end, the word or the exit code of a run that goes on."""
    return any(run.get(name) is not None for name in ("finished_at", "ci_conclusion", "exit_code"))


def _environment(env: Mapping[str, Any]) -> dict[str, str]:
    """Variables by names that a shell takes; what is null was unset."""
    return {name: str(value) for name, value in env.items() if value is not None and VARIABLE.fullmatch(name)}


def _whole(value: object) -> int | None:
    return None if value is None else int(str(value))


# --- Files -----------------------------------------------------------------------------------------------------------


def _opened(folder: Path, run: Run, stack: ExitStack) -> Iterator[SubmittedFile]:
    """The run's log, none where the history has none; one that is named and not there is a fault of the history."""
    if not run.get("log"):
        return
    path = _inside(folder, str(run["log"]))
    if path is None:
        raise BadSubmission(f"The log {run['log']} of run {run.get('run_id')} is not in the history.")
    stream: BinaryIO = stack.enter_context(path.open("rb"))
    yield SubmittedFile(path.name, stream)


def _rules(folder: Path, env: Mapping[str, str]) -> Iterator[SubmittedRules]:
    """The suppression files that the run's options name, as far as they are in the history."""
    named = {options[RULE_OPTION] for options in Reader(env).finish().values() if options.get(RULE_OPTION)}
    for name in sorted(named):
        # A lane names the file by its own folders: what comes along lies under the last part of that.
        plain = PurePosixPath(name.replace("\\", "/"))
        path = _inside(folder, str(plain)) or _inside(folder, plain.name)
        if path is not None:
            yield SubmittedRules(plain.name, path.read_text(encoding="utf-8", errors="replace"))


def _inside(folder: Path, name: str) -> Path | None:
    """The file of that name in the folder, and nowhere else."""
    path = (folder / name).resolve()
    return path if path.is_relative_to(folder.resolve()) and path.is_file() else None
