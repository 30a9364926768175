"""Gzip and zstd undone on the way, recognised by the first bytes. Memory stays bounded, and so does what comes out.

A stream that ends early is refused and not read as a shorter log: what is missing may be the report.
"""

import zlib
from collections.abc import Generator, Iterator
from typing import IO, Protocol, cast

import zstandard

from leaks.errors import TooLarge, Unreadable

CHUNK = 256 * 1024
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
LARGEST_ZSTD_WINDOW = 128 * 1024 * 1024  # what the zstd tool reads without being asked for more


class Source(Protocol):
    def read(self, size: int, /) -> bytes: ...


def unpack(stream: Source, limit: int) -> Iterator[bytes]:
    """The content in chunks. Raises TooLarge past `limit` bytes, and Unreadable where it claims to be packed and is not."""
    size = 0
    for chunk in _plain(stream):
        size += len(chunk)
        if size > limit:
            raise TooLarge(f"The log is larger than {limit:,} bytes, counted after decompression.")
        yield chunk


def _plain(stream: Source) -> Iterator[bytes]:
    head = _read_head(stream)
    chunks = _chunks(head, stream)
    if head.startswith(GZIP):
        return _gunzip(chunks)
    return _unzstd(chunks) if head.startswith(ZSTD) else chunks


def _read_head(stream: Source) -> bytes:
    """Four bytes, unless there are fewer: a socket may hand out one at a time."""
    head = b""
    while len(head) < len(ZSTD) and (piece := stream.read(len(ZSTD) - len(head))):
        head += piece
    return head


def _chunks(head: bytes, stream: Source) -> Iterator[bytes]:
    if head:
        yield head
    while chunk := stream.read(CHUNK):
        yield chunk


def _gunzip(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Any number of members one after the other, as `cat a.gz b.gz` makes them; zeros behind the last are padding."""
    decoder = zlib.decompressobj(wbits=31)
    for chunk in chunks:
        rest = chunk
        while rest:
            if decoder.eof and not (rest := rest.lstrip(b"\0")):
                break
            decoder = zlib.decompressobj(wbits=31) if decoder.eof else decoder
            yield _inflate(decoder, rest)
            rest = decoder.unconsumed_tail or decoder.unused_data
    yield from _drain(decoder)


def _inflate(decoder: "zlib._Decompress", data: bytes) -> bytes:
    try:
        return decoder.decompress(data, CHUNK)
    except zlib.error as error:
        raise Unreadable(f"The log starts like gzip but is not: {error}.") from error


def _drain(decoder: "zlib._Decompress") -> Iterator[bytes]:
    while not decoder.eof and (chunk := _inflate(decoder, b"")):
        yield chunk
    if not decoder.eof:
        raise Unreadable("The gzip stream ends early; upload what there is uncompressed, it is then marked as cut.")


def _unzstd(chunks: Iterator[bytes]) -> Iterator[bytes]:
    source = _Watched(chunks)
    decoder = zstandard.ZstdDecompressor(max_window_size=LARGEST_ZSTD_WINDOW)
    reader = decoder.stream_reader(cast("IO[bytes]", source), read_across_frames=True)
    try:
        while chunk := reader.read(CHUNK):
            yield chunk
    except zstandard.ZstdError as error:
        raise Unreadable(f"The log starts like zstd but is not: {error}.") from error
    if not source.complete:
        raise Unreadable("The zstd stream ends early; upload what there is uncompressed, it is then marked as cut.")


class _Watched:
    """Compressed bytes on their way to the zstd reader, which takes a cut stream for a whole one."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._pending = bytearray()
        self._walk = _walk_frames()
        self._wanted = next(self._walk)
        self.complete = False

    def read(self, _size: int = -1) -> bytes:
        chunk = next(self._chunks, b"")
        self._pending += chunk
        while len(self._pending) >= abs(self._wanted):
            self._step()
        self.complete = self._wanted < 0 and not self._pending
        return chunk

    def _step(self) -> None:
        piece = bytes(self._pending[: abs(self._wanted)])
        del self._pending[: abs(self._wanted)]
        self._wanted = self._walk.send(piece)


def _walk_frames() -> Generator[int, bytes, None]:
    """Ask for the next so many bytes of a zstd stream (RFC 8878); as a negative number where it may end before them."""
    while True:
        magic = yield -4
        if magic != ZSTD:  # a skippable frame: only its size counts
            yield int.from_bytes((yield 4), "little")
            continue
        descriptor = (yield 1)[0]
        yield _header_size(descriptor)
        last = False
        while not last:
            header = int.from_bytes((yield 3), "little")
            last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
            yield 1 if kind == 1 else size
        if descriptor & 4:
            yield 4


def _header_size(descriptor: int) -> int:
    single = descriptor >> 5 & 1
    return (1 - single) + (0, 1, 2, 4)[descriptor & 3] + (single, 2, 4, 8)[descriptor >> 6]
