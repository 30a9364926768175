import json
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu import Connection

from workers.fsbroker import Channel

PRODUCERS, MESSAGES = 4, 250


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "broker"


@pytest.fixture
def channel(folder: Path) -> Iterator[Channel]:
    with connected(folder) as connection:
        yield channel_of(connection)


def connected(folder: Path) -> Connection:
    """Nothing is made beforehand: the folders come with the first use."""
    options = {
        "data_folder_in": str(folder / "queue"),
        "data_folder_out": str(folder / "queue"),
        "control_folder": str(folder / "control"),
        "processed_folder": str(folder / "processed"),
    }
    return Connection("filesystem://", transport="workers.fsbroker:Transport", transport_options=options)


def channel_of(connection: Connection) -> Channel:
    channel = connection.default_channel
    assert isinstance(channel, Channel)
    return channel


def message(body: object) -> dict[str, Any]:
    return {"body": body, "properties": {"delivery_tag": "t", "delivery_info": {}}}


def bodies(channel: Channel, queue: str = "digest") -> list[object]:
    """Take all there is."""
    taken = []
    while True:
        try:
            taken.append(channel._get(queue)["body"])
        except Empty:
            return taken


def test_what_is_put_can_be_taken_once(channel: Channel, folder: Path) -> None:
    channel._put("digest", message("a"))
    channel._put("upkeep", message("b"))
    assert (channel._size("digest"), channel._size("upkeep")) == (1, 1)
    assert bodies(channel) == ["a"]
    assert bodies(channel) == []
    assert bodies(channel, "upkeep") == ["b"]
    assert list((folder / "queue").iterdir()) == []


def test_a_whole_round_through_kombu(folder: Path) -> None:
    with connected(folder) as connection:
        connection.SimpleQueue("digest").put({"id": 7})
    with connected(folder) as connection:
        taken = connection.SimpleQueue("digest").get(timeout=2)
        assert taken.payload == {"id": 7}
        taken.ack()


@pytest.mark.parametrize("content", ["", "{", "[]", "5", "{}", '{"body": 1}', '{"body": 1, "properties": {}}', "\xff"])
def test_what_is_no_message_is_moved_aside_and_holds_up_none(
    channel: Channel, folder: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    channel._put("digest", message("good"))
    (folder / "queue" / "0_bad.digest.msg").write_text(content, encoding="latin-1")
    assert bodies(channel) == ["good"]
    assert [path.name for path in (folder / "processed").iterdir()] == ["0_bad.digest.msg"]
    assert "is no message" in caplog.text


def test_a_draft_is_not_seen(channel: Channel, folder: Path) -> None:
    channel._put("digest", message("a"))
    (folder / "queue" / ".9_x.draft").write_text('{"body"')
    assert channel._size("digest") == 1
    assert bodies(channel) == ["a"]


def test_deleted_folders_are_made_again(channel: Channel, folder: Path) -> None:
    channel._put("digest", message("lost"))
    shutil.rmtree(folder)
    assert bodies(channel) == []
    assert (channel._size("digest"), channel._purge("digest")) == (0, 0)
    shutil.rmtree(folder)
    channel._put("digest", message("a"))
    assert bodies(channel) == ["a"]
    shutil.rmtree(folder)


def test_nothing_but_messages_is_written(folder: Path) -> None:
    """No tables of exchanges: two processes that start together would read each other's half-written one."""
    with connected(folder) as connection:
        connection.SimpleQueue("digest").put({"id": 7})
    assert [path.name for path in folder.iterdir()] == ["queue"]


def test_purging_leaves_other_queues_alone(channel: Channel) -> None:
    for queue in ("digest", "digest", "upkeep"):
        channel._put(queue, message(queue))
    assert channel._purge("digest") == 2
    assert bodies(channel, "upkeep") == ["upkeep"]


def test_messages_are_json_whole_from_the_first_moment(channel: Channel, folder: Path) -> None:
    """Readers that look as fast as they can while others write: not one cut file, not one message twice or lost."""
    wanted = {f"{producer}:{number}" for producer in range(PRODUCERS) for number in range(MESSAGES)}
    (folder / "queue").mkdir(parents=True)
    producers = [threading.Thread(target=produce, args=(folder, number)) for number in range(PRODUCERS)]
    taken: list[object] = []
    consumers = [threading.Thread(target=consume, args=(folder, taken, len(wanted))) for _ in range(2)]
    for thread in (*consumers, *producers):
        thread.start()
    for thread in (*producers, *consumers):
        thread.join()
    assert sorted(map(str, taken)) == sorted(wanted)
    assert not (folder / "processed").exists()


def produce(folder: Path, producer: int) -> None:
    with connected(folder) as connection:
        for number in range(MESSAGES):
            channel_of(connection)._put("digest", message(f"{producer}:{number}"))


def consume(folder: Path, taken: list[object], wanted: int) -> None:
    with connected(folder) as connection:
        deadline = time.monotonic() + 60
        while len(taken) < wanted and time.monotonic() < deadline:
            taken.extend(bodies(channel_of(connection)))


def test_a_message_names_its_queue(channel: Channel, folder: Path) -> None:
    channel._put("digest", message("a"))
    (path,) = (folder / "queue").iterdir()
    assert path.name.endswith(".digest.msg")
    assert json.loads(path.read_bytes())["body"] == "a"
