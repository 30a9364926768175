"""Kombu's file-system transport without its ways to end a worker.

It writes a message under its final name, so that a reader may find half of it; it gives up at a file that is no
message; it gives up when its folder is deleted; and it keeps tables of exchanges in files that two starting processes
may tear. Here a message appears whole, by a rename; what is no message is moved aside and logged; folders are made
again; and there are no tables: Celery sends to queues by their name. That a message got lost is no harm: the work
stands in the database.
"""

import json
import logging
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from time import monotonic
from typing import Any

from kombu.transport import filesystem, virtual

SUFFIX = ".msg"
DRAFT = ".draft"  # beside a leading dot: readers look for SUFFIX at the end

logger = logging.getLogger(__name__)


class Channel(filesystem.Channel):
    """One folder for both directions, and nothing beside it: no fan-out to queues that other processes bound."""

    supports_fanout = False
    get_table = virtual.Channel.get_table  # type: ignore[assignment]  # kombu's stubs narrow it in this transport
    _delete = virtual.Channel._delete  # noqa: SLF001  the tables again

    @property
    def folder(self) -> Path:
        return Path(self.data_folder_in)

    # Kombu's stubs ignore the same: the base has a `message` and takes no more.
    def _put(self, queue: str, payload: dict[str, Any], **_kwargs: Any) -> None:  # type: ignore[override]
        name = f"{round(monotonic() * 1000)}_{uuid.uuid4()}"
        try:
            self._publish(name, queue, payload)
        except FileNotFoundError:
            self._make_folders()
            self._publish(name, queue, payload)

    def _publish(self, name: str, queue: str, payload: dict[str, Any]) -> None:
        draft = self.folder / f".{name}{DRAFT}"
        draft.write_text(json.dumps(payload), encoding="utf-8")
        draft.replace(self.folder / f"{name}.{queue}{SUFFIX}")

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:  # noqa: ARG002  kombu's signature
        for path in sorted(self._messages(queue)):
            payload = self._take(path)
            if payload is not None:
                return payload
        raise Empty

    def _take(self, path: Path) -> dict[str, Any] | None:
        """The message, or null if another worker was faster or the file is no message. Who removes the file has it."""
        try:
            payload = _message(path.read_bytes())
            if payload is None:
                self._set_aside(path)
                return None
            path.unlink()
        except FileNotFoundError:
            return None
        return payload

    def _set_aside(self, path: Path) -> None:
        aside = Path(self.processed_folder)
        aside.mkdir(parents=True, exist_ok=True)
        path.replace(aside / path.name)
        logger.warning("%s is no message; moved into %s", path.name, aside)

    def _messages(self, queue: str) -> Iterator[Path]:
        """The files of a queue. A name is `<anything without a dot>.<queue>.msg`."""
        try:
            names = os.listdir(self.folder)  # noqa: PTH208  half the cost of iterdir, several times a second
        except FileNotFoundError:
            self._make_folders()
            names = []
        return (self.folder / name for name in names if name.partition(".")[2] == f"{queue}{SUFFIX}")

    def _size(self, queue: str) -> int:
        return sum(1 for _ in self._messages(queue))

    def _purge(self, queue: str) -> int:
        paths = list(self._messages(queue))
        for path in paths:
            path.unlink(missing_ok=True)
        return len(paths)

    def _make_folders(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)


class Transport(filesystem.Transport):
    """Named in the settings as `workers.fsbroker:Transport`."""

    Channel = Channel
    implements = filesystem.Transport.implements.extend(exchange_type=frozenset(["direct", "topic"]))


def _message(data: bytes) -> dict[str, Any] | None:
    """The envelope, or null if it is none: an empty, a foreign or a cut file."""
    try:
        payload = json.loads(data)
        whole = "delivery_tag" in payload["properties"] and "delivery_info" in payload["properties"]
    except (ValueError, KeyError, TypeError):
        return None
    return payload if whole and "body" in payload else None
