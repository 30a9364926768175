"""Bytes of raw logs: stored once by content, compressed, read back as a stream. Memory is bounded on both ways.

The address of a blob is the SHA-256 of its *uncompressed* content, so the same log is the same blob whether it came
plain, as gzip or as zstd. The order that survives a kill: temporary file, fsync, rename to the address, and only then
the row.
"""

import contextlib
import hashlib
import io
import os
import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import IO, BinaryIO, cast

import zstandard
from django.conf import settings
from django.core.files import File
from django.core.files.storage import FileSystemStorage, Storage, storages
from django.utils import timezone

from leaks.models import Blob
from leaks.unpacking import Source, unpack

CHUNK = 256 * 1024
INCOMING = "incoming"
ORPHANS_LIVE = timedelta(days=1)
FRESH = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Stored:
    """The fields of a `Blob` whose bytes are in place."""

    sha256: str
    bytes: int
    stored_bytes: int


# --- Writing ---------------------------------------------------------------------------------------------------------


def store(stream: Source) -> Stored:
    """Put the content of a plain, gzip or zstd stream in place. TooLarge and Unreadable leave nothing behind."""
    storage = _storage()
    with _temporary(storage) as (file, path):
        digest, size = _squeeze(unpacked(stream), file)
        stored = Stored(digest, size, path.stat().st_size)
        _put(storage, path, address(digest))
    return stored


def address(sha256: str) -> str:
    return f"{sha256[:2]}/{sha256}.zst"


def _squeeze(chunks: Iterator[bytes], file: IO[bytes]) -> tuple[str, int]:
    """Compress into `file`, down to the disk; (SHA-256, size) of what went in."""
    digest, size = hashlib.sha256(), 0
    with zstandard.ZstdCompressor(level=3, write_checksum=True).stream_writer(file, closefd=False) as writer:
        for chunk in chunks:
            digest.update(chunk)
            size += len(chunk)
            writer.write(chunk)
    file.flush()
    os.fsync(file.fileno())
    return digest.hexdigest(), size


@contextlib.contextmanager
def _temporary(storage: Storage) -> Iterator[tuple[IO[bytes], Path]]:
    """A file that is gone afterwards unless it was renamed; on the disk of its place, where that is a folder."""
    folder = _folder(storage)
    if folder:
        (folder / INCOMING).mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder / INCOMING if folder else None, prefix="log-")
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file, Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _put(storage: Storage, path: Path, name: str) -> None:
    # Old bytes are written anew: the sweep may be about to remove them as an orphan, and goes by their age.
    if _age(storage, name) < FRESH:
        return
    if _folder(storage):
        _rename(path, Path(storage.path(name)))
    else:
        _upload(storage, path, name)


def _rename(path: Path, target: Path) -> None:
    target.parent.mkdir(exist_ok=True)
    path.replace(target)
    handle = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(handle)  # without it a power cut may undo the rename although the row is there
    finally:
        os.close(handle)


def _upload(storage: Storage, path: Path, name: str) -> None:
    with path.open("rb") as file:
        saved = storage.save(name, File(file))
    if saved != name:  # this storage does not overwrite: equal bytes stand at the address already
        storage.delete(saved)


# --- Reading ---------------------------------------------------------------------------------------------------------


def open_blob(blob: Blob) -> BinaryIO:
    """The uncompressed content as a stream to read once from front to back. Close it."""
    raw = _storage().open(address(blob.sha256), "rb")
    reader = zstandard.ZstdDecompressor().stream_reader(cast("IO[bytes]", raw), closefd=True)
    return cast("BinaryIO", io.BufferedReader(cast("io.RawIOBase", reader), CHUNK))


def unpacked(stream: Source) -> Iterator[bytes]:
    """The content of a plain, gzip or zstd stream, bounded by the setting. Raises TooLarge or Unreadable."""
    return unpack(stream, settings.LEAKLEDGER_MAX_LOG_BYTES)


# --- Sweeping --------------------------------------------------------------------------------------------------------


def sweep_orphans() -> int:
    """Remove bytes without a row that are older than a day, drafts of killed uploads among them; how many went."""
    storage = _storage()
    drafts = [name for name in _files(storage, INCOMING) if _remove_if_old(storage, name)]
    return len(drafts) + sum(_sweep_folder(storage, folder) for folder in _folders(storage))


def _sweep_folder(storage: Storage, folder: str) -> int:
    names = {name.rpartition("/")[2].removesuffix(".zst"): name for name in _files(storage, folder)}
    known = set(Blob.objects.filter(sha256__in=names).values_list("sha256", flat=True))
    return sum(_remove_if_old(storage, name) for digest, name in names.items() if digest not in known)


def _remove_if_old(storage: Storage, name: str) -> bool:
    # The age is read last: an upload of the same content that came meanwhile has made the bytes young.
    if _age(storage, name) < ORPHANS_LIVE or not storage.exists(name):
        return False
    storage.delete(name)
    return True


def _files(storage: Storage, folder: str) -> list[str]:
    try:
        return [f"{folder}/{name}" for name in storage.listdir(folder)[1]]
    except FileNotFoundError:
        return []


def _folders(storage: Storage) -> list[str]:
    try:
        return [name for name in storage.listdir("")[0] if name != INCOMING]
    except FileNotFoundError:
        return []


# --- Storage ---------------------------------------------------------------------------------------------------------


_ELSEWHERE: ContextVar[Storage | None] = ContextVar("logs kept elsewhere", default=None)


@contextlib.contextmanager
def kept_in(storage: Storage) -> Iterator[None]:
    """Keep and look for all bytes in another place within the block: what is only tried leaves nothing behind."""
    token = _ELSEWHERE.set(storage)
    try:
        yield
    finally:
        _ELSEWHERE.reset(token)


def _storage() -> Storage:
    return _ELSEWHERE.get() or storages["logs"]


def _folder(storage: Storage) -> Path | None:
    """The folder of a storage on this machine; None for an object store."""
    return Path(storage.location) if isinstance(storage, FileSystemStorage) else None


def _age(storage: Storage, name: str) -> timedelta:
    """How long ago the bytes were written; for ever where there are none."""
    try:
        return timezone.now() - storage.get_modified_time(name) if storage.exists(name) else timedelta.max
    except FileNotFoundError:  # swept in between
        return timedelta.max
