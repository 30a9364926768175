import gzip
import io
import tarfile
import zipfile

import pytest
import zstandard

from leaks.errors import TooLarge, Unreadable
from leaks.ingest import archives
from leaks.rows.intake import SubmittedFile

LOGS = {"build/asan.log": b"leaks\n" * 500, "build/ubsan.log": b"", "tsan.log": b"races\n"}


def zipped(logs: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in logs.items():
            archive.writestr(name, content)
    return packed.getvalue()


def tarred(logs: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in logs.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def expanded(name: str, data: bytes) -> dict[str, bytes]:
    with archives.expanded([SubmittedFile(name, io.BytesIO(data))]) as files:
        return {file.name: file.stream.read() for file in files}


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("logs.zip", zipped),
        ("no-suffix", zipped),
        ("logs.tar", tarred),
        ("no-suffix", tarred),
        ("logs.tar.gz", lambda logs: gzip.compress(tarred(logs))),
        ("logs.TGZ", lambda logs: gzip.compress(tarred(logs))),
        ("logs.tar.zst", lambda logs: zstandard.compress(tarred(logs))),
    ],
)
def test_an_archive_is_its_logs(name: str, pack) -> None:
    assert expanded(name, pack(LOGS)) == LOGS


@pytest.mark.parametrize("data", [b"", b"PK", b"a plain log\n" * 40, gzip.compress(b"a packed log", mtime=0)])
def test_anything_else_stays_what_it_is(data: bytes) -> None:
    assert expanded("asan.log", data) == {"asan.log": data}


def test_archives_and_logs_come_in_the_order_given() -> None:
    files = [SubmittedFile("a.log", io.BytesIO(b"a")), SubmittedFile("b.zip", io.BytesIO(zipped(LOGS)))]
    with archives.expanded(files) as found:
        assert [file.name for file in found] == ["a.log", *LOGS]


def test_members_are_labels_and_climb_nowhere() -> None:
    names = ["../../etc/passwd", "/abs/a.log", "a\\b.log", "./c.log"]
    assert list(expanded("x.zip", zipped(dict.fromkeys(names, b"")))) == ["etc/passwd", "abs/a.log", "a/b.log", "c.log"]


def test_what_a_mac_and_a_folder_add_is_no_log() -> None:
    assert list(expanded("x.zip", zipped({"logs/": b"", "__MACOSX/logs/._a.log": b"", "logs/a.log": b""}))) == [
        "logs/a.log"
    ]


def test_a_job_of_githubs_archive_is_read_once_and_not_again_by_its_steps() -> None:
    names = [
        "0_asan.txt",
        "asan/1_Set up job.txt",
        "asan/2_Run tests.txt",
        "asan/system.txt",
        "1_lint.txt",
        "lint/1_x.txt",
    ]
    assert list(expanded("logs_4711.zip", zipped(dict.fromkeys(names, b"")))) == ["0_asan.txt", "1_lint.txt"]


def test_steps_without_their_whole_job_are_read() -> None:
    names = ["asan/1_Set up job.txt", "asan/2_Run tests.txt", "asan/notes.txt", "0_tsan.txt", "tsan/notes.txt"]
    assert list(expanded("logs.zip", zipped(dict.fromkeys(names, b"")))) == names


@pytest.mark.parametrize("pack", [zipped, tarred, lambda logs: gzip.compress(tarred(logs))])
def test_archives_in_archives_are_their_logs(pack) -> None:
    inner = {"a.zip": zipped(LOGS), "b.tar.gz": gzip.compress(tarred({"asan.log.12": b"leaks"})), "c.log": b"plain"}
    assert expanded("artifact.tgz", pack(inner)) == {
        **{f"a.zip/{name}": content for name, content in LOGS.items()},
        "b.tar.gz/asan.log.12": b"leaks",
        "c.log": b"plain",
    }


def test_a_log_that_is_named_like_an_archive_is_a_log() -> None:
    assert expanded("x.zip", zipped({"a.zip": b"==1==ERROR"})) == {"a.zip": b"==1==ERROR"}


def test_archives_nested_without_end_are_refused() -> None:
    data = b"log"
    for name in ("a.log", "b.zip", "c.zip", "d.zip"):
        data = zipped({name: data})
    with pytest.raises(Unreadable, match=r"b\.zip is an archive in an archive"):
        expanded("e.zip", data)


def test_what_nested_archives_hold_is_added_up(settings) -> None:
    settings.LEAKLEDGER_MAX_LOG_BYTES = 12_000
    inner = zipped({"a.log": bytes(5_000)})
    with pytest.raises(TooLarge):
        expanded("x.zip", zipped({f"{number}.zip": inner for number in range(3)}))


def test_links_in_a_tar_are_not_followed() -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        link = tarfile.TarInfo("asan.log")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    assert expanded("x.tar", packed.getvalue()) == {}


def test_too_many_logs_are_refused() -> None:
    with pytest.raises(TooLarge, match="200 logs"):
        expanded("x.zip", zipped({f"{number}.log": b"" for number in range(201)}))


@pytest.mark.parametrize("pack", [zipped, tarred, lambda logs: gzip.compress(tarred(logs))])
def test_a_bomb_is_refused_before_it_goes_off(settings, pack) -> None:
    settings.LEAKLEDGER_MAX_LOG_BYTES = 10_000
    with pytest.raises(TooLarge):
        expanded("x.tar.gz", pack({f"{number}.log": bytes(5_000) for number in range(3)}))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.zip", b"PK\x03\x04 and nothing more"),
        ("x.zip", zipped(LOGS)[:-40]),
        ("x.tar.gz", b"\x1f\x8b and nothing more"),
        ("x.tar", tarred(LOGS)[:600]),
    ],
)
def test_a_broken_archive_is_refused_by_its_name(name: str, data: bytes) -> None:
    with pytest.raises(Unreadable):
        expanded(name, data)


def test_a_member_with_wrong_bytes_is_refused_when_it_is_read() -> None:
    data = zipped({"a.log": b"leaks\n" * 500}).replace(b"a.log", b"a.log", 1)
    broken = bytearray(data)
    broken[45] ^= 0xFF
    with pytest.raises(Unreadable, match=r"a\.log in x\.zip"):
        expanded("x.zip", bytes(broken))


def test_an_encrypted_zip_is_refused() -> None:
    data = bytearray(zipped({"a.log": b"secret"}))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(Unreadable, match="encrypted"):
        expanded("x.zip", bytes(data))
