import gzip
import hashlib
import io
import os
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
import zstandard
from django.core.files.storage import InMemoryStorage, storages
from django.test import override_settings
from hypothesis import given, settings
from hypothesis import strategies as st

from leaks import blobs
from leaks.errors import TooLarge, Unreadable
from leaks.models import Blob
from leaks.unpacking import _walk_frames, unpack

TEXT = b"==1==ERROR: LeakSanitizer: detected memory leaks\n" * 400
LIMIT = 10 * 1024 * 1024
PACK: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstandard.compress}


@pytest.fixture(autouse=True)
def logs(tmp_path: Path, settings) -> Path:
    """An own, empty folder of logs."""
    settings.STORAGES = {
        **settings.STORAGES,
        "logs": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(tmp_path)}},
    }
    return tmp_path


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def unpacked(data: bytes, limit: int = LIMIT) -> bytes:
    return b"".join(unpack(io.BytesIO(data), limit))


def blob(stored: blobs.Stored) -> Blob:
    return Blob(sha256=stored.sha256, bytes=stored.bytes, stored_bytes=stored.stored_bytes)


class Trickle(io.BytesIO):
    """Hands out one byte at a time, as a socket may."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(size or 0, 1))


# --- Storing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_the_address_is_that_of_the_content_however_it_came(logs: Path, pack) -> None:
    stored = blobs.store(io.BytesIO(pack(TEXT)))
    digest = hashlib.sha256(TEXT).hexdigest()
    assert (stored.sha256, stored.bytes) == (digest, len(TEXT))
    assert files(logs) == [f"{digest[:2]}/{digest}.zst"]
    assert stored.stored_bytes == (logs / files(logs)[0]).stat().st_size < len(TEXT) / 10


def test_what_was_stored_comes_back_as_a_stream() -> None:
    stored = blobs.store(io.BytesIO(TEXT))
    with blobs.open_blob(blob(stored)) as stream:
        assert stream.readline() == TEXT.splitlines(keepends=True)[0]
        assert stream.read() == TEXT[len(TEXT) // 400 :]


def test_an_empty_log_is_a_blob_too() -> None:
    stored = blobs.store(io.BytesIO())
    assert stored.bytes == 0
    with blobs.open_blob(blob(stored)) as stream:
        assert stream.read() == b""


@pytest.mark.parametrize(
    "data", [gzip.compress(TEXT, mtime=0)[:-9], zstandard.compress(TEXT)[:-1], b"\x1f\x8bno gzip at all"]
)
def test_what_is_refused_leaves_nothing(logs: Path, data: bytes) -> None:
    with pytest.raises(Unreadable):
        blobs.store(io.BytesIO(data))
    assert files(logs) == []


def test_a_read_that_breaks_off_leaves_nothing(logs: Path) -> None:
    class Broken(io.BytesIO):
        def read(self, _size: int | None = -1, /) -> bytes:
            raise OSError("connection reset")

    with pytest.raises(OSError, match="reset"):
        blobs.store(Broken())
    assert files(logs) == []


def test_the_bound_counts_after_decompression(settings, logs: Path) -> None:
    settings.LEAKLEDGER_MAX_LOG_BYTES = 1000
    assert blobs.store(io.BytesIO(b"x" * 1000)).bytes == 1000
    before = files(logs)
    with pytest.raises(TooLarge, match="1,000 bytes"):
        blobs.store(io.BytesIO(gzip.compress(b"x" * 1001)))
    assert files(logs) == before


def test_an_object_store_gets_the_same_bytes(settings) -> None:
    settings.STORAGES = {**settings.STORAGES, "logs": {"BACKEND": "django.core.files.storage.InMemoryStorage"}}
    stored = [blobs.store(io.BytesIO(TEXT)) for _ in range(2)]
    storage = storages["logs"]
    assert isinstance(storage, InMemoryStorage)
    assert storage.listdir(stored[0].sha256[:2])[1] == [f"{stored[0].sha256}.zst"]
    with blobs.open_blob(blob(stored[1])) as stream:
        assert stream.read() == TEXT


def test_old_bytes_are_written_anew_so_that_the_sweep_spares_them(logs: Path) -> None:
    stored = blobs.store(io.BytesIO(TEXT))
    path = logs / blobs.address(stored.sha256)
    age(path, timedelta(hours=2))
    blobs.store(io.BytesIO(TEXT))
    assert time.time() - path.stat().st_mtime < 60


# --- Unpacking -------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=5000), max_size=4), st.sampled_from(["gzip", "zstd"]))
def test_members_one_after_the_other_are_read_to_the_last(pieces: list[bytes], kind: str) -> None:
    assert unpacked(b"".join(PACK[kind](piece) for piece in pieces)) == b"".join(pieces)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=3000), st.integers(1, 400), st.sampled_from(["gzip", "zstd"]), st.data())
def test_a_cut_anywhere_is_noticed(piece: bytes, times: int, kind: str, data: st.DataObject) -> None:
    whole = PACK[kind](piece * times)
    cut = data.draw(st.integers(4, len(whole) - 1))
    with pytest.raises(Unreadable):
        unpacked(whole[:cut])


def test_zeros_behind_gzip_are_padding_and_other_bytes_are_not() -> None:
    assert unpacked(gzip.compress(TEXT) + bytes(700)) == TEXT
    with pytest.raises(Unreadable, match="is not"):
        unpacked(gzip.compress(TEXT) + b"trailing")


def test_a_skippable_frame_is_skipped() -> None:
    skippable = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"notes"
    assert unpacked(zstandard.compress(TEXT) + skippable + zstandard.compress(b"end")) == TEXT + b"end"


@pytest.mark.parametrize("options", [{"write_checksum": True}, {"write_content_size": False}, {"level": 19}])
def test_every_header_of_zstd_is_walked(options: dict) -> None:
    data = os.urandom(300_000) + bytes(300_000)
    packed = zstandard.ZstdCompressor(**options).compress(data)
    streamed = zstandard.ZstdCompressor(**options).compressobj()
    for frame in (packed, streamed.compress(data) + streamed.flush()):
        assert unpacked(frame) == data
        with pytest.raises(Unreadable):
            unpacked(frame[:-1])


def test_the_walk_asks_for_the_next_frame_as_something_that_may_be_missing() -> None:
    walk = _walk_frames()
    assert next(walk) == -4


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_a_stream_may_hand_out_one_byte_at_a_time(pack) -> None:
    assert b"".join(unpack(Trickle(pack(b"a line\n")), LIMIT)) == b"a line\n"


def bomb(kind: str, size: int) -> bytes:
    packer = zlib.compressobj(wbits=31) if kind == "gzip" else zstandard.ZstdCompressor().compressobj()
    zeros = bytes(1024 * 1024)
    return b"".join([*(packer.compress(zeros) for _ in range(size)), packer.flush()])


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_a_bomb_is_given_up_at_the_bound(kind: str) -> None:
    sizes: list[int] = []
    chunks = unpack(io.BytesIO(bomb(kind, 64)), LIMIT)
    with pytest.raises(TooLarge):
        sizes.extend(len(chunk) for chunk in chunks)
    assert sum(sizes) <= LIMIT
    assert max(sizes) <= 1024 * 1024


MEASURE = """
import resource, sys, zlib, io
sys.path.insert(0, sys.argv[1])
from leaks.unpacking import unpack
packer = zlib.compressobj(wbits=31)
data = b"".join([packer.compress(b"x" * 1048576) for _ in range(200)] + [packer.flush()])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert sum(map(len, unpack(io.BytesIO(data), 1 << 30))) == 200 * 1048576
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_two_hundred_megabytes_of_one_line_pass_in_little_memory() -> None:
    root = str(Path(__file__).resolve().parents[2])
    run = subprocess.run([sys.executable, "-c", MEASURE, root], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 20 * 1024, "KiB more than before"


# --- Sweeping --------------------------------------------------------------------------------------------------------


def age(path: Path, by: timedelta) -> None:
    then = time.time() - by.total_seconds()
    os.utime(path, (then, then))


@pytest.mark.django_db
def test_the_sweep_takes_old_bytes_without_a_row(logs: Path) -> None:
    kept, orphan, young = (blobs.store(io.BytesIO(text)) for text in (b"kept", b"orphan", b"young"))
    blob(kept).save()
    for stored in (kept, orphan):
        age(logs / blobs.address(stored.sha256), timedelta(days=2))
    assert blobs.sweep_orphans() == 1
    assert files(logs) == sorted(blobs.address(stored.sha256) for stored in (kept, young))


@pytest.mark.django_db
def test_the_sweep_takes_drafts_of_killed_uploads(logs: Path) -> None:
    (logs / "incoming").mkdir()
    for name, days in (("log-old", 2), ("log-young", 0)):
        (logs / "incoming" / name).write_bytes(b"half a log")
        age(logs / "incoming" / name, timedelta(days=days))
    assert blobs.sweep_orphans() == 1
    assert files(logs) == ["incoming/log-young"]


@pytest.mark.django_db
def test_a_sweep_before_the_first_log_finds_nothing(tmp_path: Path, settings) -> None:
    nowhere = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path / "none"}}
    with override_settings(STORAGES={**settings.STORAGES, "logs": nowhere}):
        assert blobs.sweep_orphans() == 0
