"""A lane history through the whole ingest, in this process: received, digested, judged, and all that is derived rebuilt.

Nothing is shortened but the queue: the rows are those that workers would have written.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from leaks.ingest import lease
from leaks.ingest.digest import digest
from leaks.ingest.histories import Run, main_branch, read_runs, submission
from leaks.ingest.memory import ledger_in_memory
from leaks.ingest.receive import receive
from leaks.ingest.sweep import work_off
from leaks.models import Log, Project
from leaks.queries.replay import JSONObject, answer

SLUG = "history"


def replay(
    folder: Path,
    *,
    compare: Sequence[tuple[str, str]] = (),
    gates: Sequence[tuple[str, str]] = (),
    growth: bool = False,
) -> JSONObject:
    """What came of the history, its comparisons and gates, out of a ledger that is gone afterwards."""
    runs = read_runs(folder)
    with ledger_in_memory():
        project = play(folder, runs)
        return answer(project, compare=compare, gates=gates, growth=growth)


def play(folder: Path, runs: Iterable[Run]) -> Project:
    """The runs, in the order given, into the ledger that is in place; afterwards there is nothing left to do."""
    rows = list(runs)
    project = Project.objects.create(slug=SLUG, name=folder.name, default_branch=main_branch(rows))
    for run in rows:
        with submission(SLUG, folder, run) as given:
            receive(given)
    settle()
    return project


def settle() -> None:
    """Read every log that waits, and rebuild what is stale until nothing is."""
    for log in Log.objects.filter(lease.due()).order_by("pk").values_list("pk", flat=True):
        digest(log)
    while work_off():
        pass
