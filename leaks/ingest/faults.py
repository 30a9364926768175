"""Places where a test can stop or kill a worker. Inert unless LEAKLEDGER_FAULTS names a folder.

`reach("claimed")` looks for files in that folder: `claimed.kill…` is used up and kills this process, as a power cut
would; while `claimed.hold` is there the process waits, having written its pid into `claimed.held`.
"""

import os
import signal
import time
from pathlib import Path

FOLDER = os.environ.get("LEAKLEDGER_FAULTS")


def reach(point: str) -> None:
    if FOLDER:
        _obey(Path(FOLDER), point)


def _obey(folder: Path, point: str) -> None:
    for order in sorted(folder.glob(f"{point}.kill*")):
        order.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    while (folder / f"{point}.hold").exists():
        (folder / f"{point}.held").write_text(str(os.getpid()), encoding="ascii")
        time.sleep(0.02)
