"""Made-up histories in several orders, with gaps between and messages doubled: always the same rows.

What is left out: two contents under one name in one part, where the later arrival is the later revision by definition.
"""

import random
from datetime import timedelta
from typing import Any

import pytest

from leaks.tests.ledger import MORNING, Place, dump, log_text, named, project, settle, submit, wipe

PLACES: list[Place] = [(f"engine::Pool::f{number}(int)", "/src/engine/pool.h", number + 1) for number in range(4)]
SOURCES = ["upload", "job_event", "lane_wrapper", "back_fill"]
Event = tuple[int, list[tuple[str, str]], dict[str, Any]]


def history(chance: random.Random) -> list[Event]:
    """Up to a dozen statements about four runs, some of them cancelled, repeated, in parts, or corrected later."""
    return [event(chance) for _ in range(chance.randint(4, 12))]


def event(chance: random.Random) -> Event:
    number, attempt = chance.randint(1, 4), chance.choice([1, 1, 2])
    start = MORNING + timedelta(hours=number, minutes=7 * attempt)
    leaks = [(place, 8 * chance.randint(1, 3)) for place in PLACES if chance.random() < 0.3]
    log = log_text(*leaks, hidden=chance.choice([0, 0, 10, 20]))
    logs = [(f"l{chance.randint(0, 10**9)}.log", log)] if chance.random() < 0.7 else []
    return number, logs, {
        "attempt": attempt,
        "branch": "main" if number < 4 else "topic",
        "part": chance.choice(["", "", "a", "b"]),
        "part_of": chance.choice([None, None, 2]),
        "started_at": start + timedelta(minutes=chance.choice([0, 0, 0, 600])),
        "finished_at": start + timedelta(minutes=chance.choice([10, 70, 620])),
        "conclusion": chance.choice(["success", "failure", "cancelled", "cancelled", None]),
        "exit_code": chance.choice([0, 1, None]),
        "source": chance.choice(SOURCES),
        "superseded_by": chance.choice([None, None, None, "r2", "r3#2"]),
        "options": chance.choice([{}, {"ASAN_OPTIONS": "detect_leaks=1"}]),
    }  # fmt: skip


def rows_after(events: list[Event], chance: random.Random, settling: float) -> dict[str, list[str]]:
    """Play the events; after each of them, by chance, all work is done before the next one."""
    project()
    for number, logs, fields in events:
        submit(number, files=named(*logs), **fields)
        if chance.random() < settling:
            settle()
    settle()
    rows = dump()
    wipe()
    return rows


@pytest.mark.django_db
@pytest.mark.parametrize("seed", [3, 22, 57, 110])
def test_a_history_in_any_order_gives_the_same_rows(seed: int) -> None:
    chance = random.Random(seed)
    events = history(chance)
    expected = rows_after(events, chance, settling=0)
    for settling in (0.5, 1):
        chance.shuffle(events)
        doubled = [*events, *chance.sample(events, len(events) // 2)]
        assert rows_after(doubled, chance, settling) == expected
