"""A zip or tar of logs: several logs of one part. Nothing is written to disk under a member's name.

Members are read one after the other, in the order given, and each only once.
"""

import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import IO, BinaryIO, cast

from django.conf import settings

from leaks import blobs
from leaks.errors import TooLarge, Unreadable
from leaks.ingest.validation import MOST_FILES
from leaks.rows.intake import SubmittedFile

ZIP = b"PK\x03\x04"
PACKED_TAR = (".tar.gz", ".tgz", ".tar.zst", ".tzst")
USTAR_AT, USTAR = 257, b"ustar"
SPOOL_IN_MEMORY = 1024 * 1024
BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, NotImplementedError, RuntimeError, EOFError)


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive: its name as a label, the size it claims, and how to open it."""

    name: str
    size: int
    open: Callable[[], IO[bytes]]


Lister = Callable[[BinaryIO], list[Member]]


@contextmanager
def expanded(files: Iterable[SubmittedFile]) -> Iterator[tuple[SubmittedFile, ...]]:
    """The files, each archive replaced by what is in it, to be read within the block. Raises TooLarge or Unreadable."""
    with ExitStack() as stack:
        found = tuple(member for file in files for member in _expand(file, stack))
        if len(found) > MOST_FILES:
            raise TooLarge(f"More than {MOST_FILES} logs at once.")
        yield found


def _expand(file: SubmittedFile, stack: ExitStack) -> Iterator[SubmittedFile]:
    if not file.stream.seekable():
        yield file
    elif _starts_with(file.stream, ZIP):
        yield from _members(file, _zip_members)
    elif file.name.lower().endswith(PACKED_TAR):
        yield from _members(SubmittedFile(file.name, _unpacked(file.stream, stack)), _tar_members)
    elif _starts_with(file.stream, USTAR, at=USTAR_AT):
        yield from _members(file, _tar_members)
    else:
        yield file


def _starts_with(stream: BinaryIO, magic: bytes, at: int = 0) -> bool:
    begin = stream.tell()
    stream.seek(at)
    found = stream.read(len(magic)) == magic
    stream.seek(begin)
    return found


def _unpacked(stream: BinaryIO, stack: ExitStack) -> BinaryIO:
    """The plain tar in a file of its own: listing a compressed one would read it without a bound."""
    plain = stack.enter_context(tempfile.SpooledTemporaryFile(SPOOL_IN_MEMORY))  # noqa: SIM115 - the stack closes it
    for chunk in blobs.unpacked(stream):
        plain.write(chunk)
    plain.seek(0)
    return cast("BinaryIO", plain)


def _members(file: SubmittedFile, list_members: Lister) -> Iterator[SubmittedFile]:
    try:
        members = list_members(file.stream)
    except BROKEN as error:
        raise Unreadable(f"The archive {file.name} cannot be read: {error}.") from error
    # A zip member yields no more than the size it names, so adding these up bounds a bomb too.
    if sum(member.size for member in members) > settings.LEAKLEDGER_MAX_LOG_BYTES:
        raise TooLarge(f"What is in {file.name} is larger than {settings.LEAKLEDGER_MAX_LOG_BYTES:,} bytes.")
    for member in members:
        yield SubmittedFile(member.name, cast("BinaryIO", MemberStream(file.name, member)))


def _zip_members(stream: BinaryIO) -> list[Member]:
    archive = zipfile.ZipFile(stream)
    infos = [info for info in archive.infolist() if not info.is_dir() and _is_wanted(info.filename)]
    return [
        Member(_label(info.filename), info.file_size, partial(archive.open, info)) for info in infos[: MOST_FILES + 1]
    ]


def _tar_members(stream: BinaryIO) -> list[Member]:
    archive = tarfile.open(fileobj=stream, mode="r:")  # noqa: SIM115 - holds nothing but the stream, which the caller closes
    infos = [info for info in archive if info.isfile() and _is_wanted(info.name)]
    return [Member(_label(info.name), info.size, partial(_tar_open, archive, info)) for info in infos[: MOST_FILES + 1]]


def _tar_open(archive: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    return cast("IO[bytes]", archive.extractfile(info))


def _is_wanted(name: str) -> bool:
    """Not what a Mac adds to every archive."""
    return not name.startswith("__MACOSX/") and not name.rpartition("/")[2].startswith("._")


def _label(name: str) -> str:
    """A member's name as a log's name: it is shown and linked, so nothing that climbs out of a folder."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    return "/".join(parts)


class MemberStream:
    """A member, opened when it is first read: many logs would else be open at once."""

    def __init__(self, archive: str, member: Member) -> None:
        self._archive = archive
        self._member = member
        self._file: IO[bytes] | None = None

    def read(self, size: int = -1) -> bytes:
        try:
            self._file = self._file or self._member.open()
            return self._file.read(size)
        except BROKEN as error:
            raise Unreadable(f"{self._member.name} in {self._archive} cannot be read: {error}.") from error
