"""The rows of uploaded logs. Called inside the caller's transaction, with the part locked and the bytes in place.

Same name and content: the same log, whichever revision it is. Same name, other content: the next revision, which is the
current one from now on. Other name: another log. However many files come, it is a handful of queries.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from leaks.blobs import Stored
from leaks.ingest.ids import log_id
from leaks.models import Blob, Log, Part
from leaks.rows.intake import ReceivedLog


@dataclass(frozen=True, slots=True)
class StoredFile:
    name: str
    announced_bytes: int | None
    bytes: Stored


def log_rows(part: Part, files: list[StoredFile]) -> tuple[ReceivedLog, ...]:
    known = _known(part, files)
    fresh = [file for file in files if (file.name, file.bytes.sha256) not in known]
    made = {log.name: log for log in _make(part, fresh, known.values())}
    return tuple(
        _received(made[file.name], duplicate=False)
        if file.name in made
        else _received(known[file.name, file.bytes.sha256], duplicate=True)
        for file in files
    )


def _known(part: Part, files: list[StoredFile]) -> dict[tuple[str, str], Log]:
    logs = Log.objects.filter(part=part, name__in=[file.name for file in files])
    return {(log.name, log.blob.sha256): log for log in logs.select_related("blob").defer("facts")}


def _make(part: Part, files: list[StoredFile], known: Iterable[Log]) -> list[Log]:
    if not files:
        return []
    last: dict[str, int] = {}
    for log in known:
        last[log.name] = max(log.revision, last.get(log.name, 0))
    # First, since a name may have one current revision only.
    Log.objects.filter(part=part, name__in=[file.name for file in files], current=True).update(current=False)
    blobs = _blobs(files)
    return Log.objects.bulk_create(
        [_row(part, file, blobs[file.bytes.sha256], last.get(file.name, 0) + 1) for file in files]
    )


def _row(part: Part, file: StoredFile, blob: Blob, revision: int) -> Log:
    return Log(
        public_id=log_id(part.outcome.public_id, part.name, file.name, file.bytes.sha256),
        part=part,
        name=file.name,
        revision=revision,
        blob=blob,
        announced_bytes=file.announced_bytes,
    )


def _blobs(files: list[StoredFile]) -> Mapping[str, Blob]:
    stored = {file.bytes.sha256: file.bytes for file in files}
    rows = [Blob(sha256=one.sha256, bytes=one.bytes, stored_bytes=one.stored_bytes) for one in stored.values()]
    Blob.objects.bulk_create(rows, ignore_conflicts=True)
    return {blob.sha256: blob for blob in Blob.objects.filter(sha256__in=stored)}


def _received(log: Log, *, duplicate: bool) -> ReceivedLog:
    return ReceivedLog(log.public_id, log.name, log.revision, duplicate)
