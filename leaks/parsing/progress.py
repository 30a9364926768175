"""The table of the lines that are counted together: most of what runners and builds print while all is well."""

from collections.abc import Sequence
from types import ModuleType
from typing import cast

from leaks.parsing import build, marks
from leaks.parsing.runners import cargo, ctest, gtest, listed, script
from leaks.parsing.walk import Hearing, Listener, RunListener

# A run, who is told of it, and who makes nothing of its lines though they hold a word of his.
RUNS = (
    (gtest.RUN_OF_TESTS, (gtest, marks), (script,)),
    (ctest.RUN_OF_TESTS, (ctest, marks), (listed, cargo)),
    (build.RUN_OF_STEPS, (build,), ()),
)


def hearings(modules: Sequence[ModuleType], readers: Sequence[Listener]) -> list[Hearing]:
    """The runs, with the readers of one log; those of `modules`, in their order."""
    by_module = dict(zip(modules, readers, strict=True))
    return [
        Hearing(
            run,
            tuple([cast("RunListener", by_module[module]).run for module in told]),
            sum(1 << modules.index(module) for module in (*told, *deaf)),
        )
        for run, told, deaf in RUNS
    ]
