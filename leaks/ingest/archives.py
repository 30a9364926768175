"""A zip or tar of logs: several logs of one part. Nothing is written to disk under a member's name.

Members are read one after the other, in the order given, and each only once.
"""

import re
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import IO, BinaryIO, cast

from django.conf import settings

from leaks import blobs
from leaks.errors import TooLarge, Unreadable
from leaks.ingest.validation import MOST_FILES
from leaks.rows.intake import SubmittedFile

ZIP = b"PK\x03\x04"
PACKED_TAR = (".tar.gz", ".tgz", ".tar.zst", ".tzst")
ARCHIVE = (".zip", ".tar", *PACKED_TAR)
DEEPEST = 3  # archives in archives: the artifact of a run is a zip around what was uploaded, which may be a tar of tars
WHOLE_JOB = re.compile(r"-?\d+_([^/]+)\.txt")
STEP = re.compile(r"/(?:\d+_[^/]+|system)\.txt\Z")
USTAR_AT, USTAR = 257, b"ustar"
SPOOL_IN_MEMORY = 1024 * 1024
CHUNK = 256 * 1024
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
        unpacking = Unpacking(stack)
        found = tuple(member for file in files for member in unpacking.expand(file, DEEPEST))
        if len(found) > MOST_FILES:
            raise TooLarge(f"More than {MOST_FILES} logs at once.")
        yield found


class Unpacking:
    """Archives on their way to logs; what they claim to hold is added up over all of them."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._size = 0

    def expand(self, file: SubmittedFile, depth: int) -> Iterator[SubmittedFile]:
        lister = _lister(file) if file.stream.seekable() else None
        if lister is None:
            yield file
        elif not depth:
            raise Unreadable(f"{file.name} is an archive in an archive in an archive: unpack it first.")
        else:
            for member in self._members(file, lister):
                yield from self._member(file.name, member, depth)

    def _members(self, file: SubmittedFile, list_members: Lister) -> list[Member]:
        try:
            packed = file.name.lower().endswith(PACKED_TAR) and not _starts_with(file.stream, ZIP)
            members = list_members(self._spooled(blobs.unpacked(file.stream)) if packed else file.stream)
        except BROKEN as error:
            raise Unreadable(f"The archive {file.name} cannot be read: {error}.") from error
        # A zip member yields no more than the size it names, so adding these up bounds a bomb too.
        self._size += sum(member.size for member in members)
        if self._size > settings.LEAKLEDGER_MAX_LOG_BYTES:
            raise TooLarge(f"What is in {file.name} is larger than {settings.LEAKLEDGER_MAX_LOG_BYTES:,} bytes.")
        return members

    def _member(self, archive: str, member: Member, depth: int) -> Iterator[SubmittedFile]:
        stream = cast("BinaryIO", MemberStream(archive, member))
        if not member.name.lower().endswith(ARCHIVE):
            yield SubmittedFile(member.name, stream)
            return
        # An archive is listed from its end, and a packed member cannot seek.
        inner = SubmittedFile(member.name, self._spooled(iter(partial(stream.read, CHUNK), b"")))
        yield from (
            replace(file, name=f"{member.name}/{file.name}") if file is not inner else file
            for file in self.expand(inner, depth - 1)
        )

    def _spooled(self, chunks: Iterable[bytes]) -> BinaryIO:
        """In a file of its own: listing a compressed tar would read it without a bound."""
        plain = self._stack.enter_context(tempfile.SpooledTemporaryFile(SPOOL_IN_MEMORY))  # noqa: SIM115 - the stack closes it
        for chunk in chunks:
            plain.write(chunk)
        plain.seek(0)
        return cast("BinaryIO", plain)


def _lister(file: SubmittedFile) -> Lister | None:
    if _starts_with(file.stream, ZIP):
        return _zip_members
    if file.name.lower().endswith(PACKED_TAR) or _starts_with(file.stream, USTAR, at=USTAR_AT):
        return _tar_members
    return None


def _starts_with(stream: BinaryIO, magic: bytes, at: int = 0) -> bool:
    begin = stream.tell()
    stream.seek(at)
    found = stream.read(len(magic)) == magic
    stream.seek(begin)
    return found


def _zip_members(stream: BinaryIO) -> list[Member]:
    archive = zipfile.ZipFile(stream)
    infos = [info for info in archive.infolist() if not info.is_dir() and _is_wanted(info.filename)]
    twice = _steps_of_whole_jobs({info.filename for info in infos})
    infos = [info for info in infos if info.filename not in twice]
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


def _steps_of_whole_jobs(names: set[str]) -> set[str]:
    """GitHub's archive holds each job whole (`0_build.txt`) and again a file a step (`build/3_Run tests.txt`): that is read once."""
    jobs = {match[1] for name in names if (match := WHOLE_JOB.fullmatch(name))}
    return {name for name in names if "/" in name and name.rpartition("/")[0] in jobs and STEP.search(name)}


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
