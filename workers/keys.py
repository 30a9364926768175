"""The var folder and the keys in it.

Made by commands and never by settings: importing settings must leave the disk alone, so that reading a log on a
read-only machine works. No Django here, because the keys must exist before settings are read.
"""

import contextlib
import os
import secrets
import tempfile
from pathlib import Path

# Environment variable → file under var that stands in for it.
KEY_FILES = {"SECRET_KEY": "secret.key", "LEAKLEDGER_JOURNAL_KEY": "journal.key"}

BASE_DIR = Path(__file__).resolve().parent.parent


def var_folder() -> Path:
    """The folder of everything that is written at run time: `LEAKLEDGER_VAR`, or `var/` beside `manage.py`."""
    return Path(os.environ.get("LEAKLEDGER_VAR") or BASE_DIR / "var").resolve()


def make_keys(var: Path) -> None:
    """Make each key that neither the environment nor a file gives. Raises OSError when it cannot."""
    for variable, name in KEY_FILES.items():
        if not os.environ.get(variable) and not (var / name).exists():
            var.mkdir(parents=True, exist_ok=True)
            _write_once(var / name, secrets.token_urlsafe(48))


def _write_once(path: Path, text: str) -> None:
    """Link a finished file into place: of two processes that start together one wins, and neither reads half a key."""
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".key-")
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(text)
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        Path(draft).unlink()
