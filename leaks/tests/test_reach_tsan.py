"""What ThreadSanitizer's rules would hide."""

import pytest

from leaks.evidence import Frame, Report, Stack
from leaks.parsing.dispatch import read
from leaks.reach import reach
from leaks.rule_sets import Certainty
from leaks.rule_types import TSAN_TYPES, Suppressor
from leaks.rules import parse_rules
from leaks.tests.test_reach import told
from leaks.words import Role

CERTAIN, POSSIBLE, UNDECIDABLE = Certainty

RACE = b"""==================
WARNING: ThreadSanitizer: data race (pid=7)
  Write of size 8 at 0x7b04 by thread T2:
    #0 net::bump() /src/net.cpp:4 (engine_tests+0x1139)
    #1 second /src/main.cpp:9 (engine_tests+0x1239)

  Previous read of size 8 at 0x7b04 by thread T1 (mutexes: write M9):
    #0 net::total() /src/net.cpp:5 (engine_tests+0x1149)
    #1 first /src/main.cpp:8 (engine_tests+0x1229)

  As if synchronized via sleep:
    #0 usleep <null> (engine_tests+0x31)
    #1 nap /src/nap.cpp:1 (engine_tests+0x32)

  Location is global 'net::counter' of size 8 at 0x5580 (engine_tests+0x4040)

  Mutex M9 (0x5581) created at:
    #0 pthread_mutex_init <null> (engine_tests+0x33)
    #1 make_lock /src/lock.cpp:1 (engine_tests+0x34)

  Thread T2 (tid=9, running) created by main thread at:
    #0 pthread_create <null> (engine_tests+0x35)
    #1 launch /src/launch.cpp:1 (engine_tests+0x36)

SUMMARY: ThreadSanitizer: data race /src/net.cpp:4 in net::bump()
==================
"""


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ("race:net::bump", (1, CERTAIN)),
        ("race:net::total", (1, CERTAIN)),
        ("race:^second$", (1, CERTAIN)),
        ("race:net.cpp", (1, CERTAIN)),
        ("race:engine_tests", (1, CERTAIN)),
        ("race:/engine_tests", (1, CERTAIN)),
        ("race:^/opt/build/engine", (1, POSSIBLE)),  # the folder of a module is not printed
        ("race:^/opt", (1, POSSIBLE)),
        ("race:build/", (1, POSSIBLE)),
        ("race:build/engine_tests$", (1, POSSIBLE)),
        ("race:build/others$", None),
        ("race:build/net.cpp", None),
        ("race:net::counter", (1, CERTAIN)),
        ("race_top:net::bump", (1, CERTAIN)),
        ("race_top:net::total", (1, CERTAIN)),
        ("race_top:second", None),
        ("race:engine_tests\nrace:net::bump", (2, CERTAIN)),  # here the module is asked for last
        ("race_top:bump\nrace:net.cpp", (2, CERTAIN)),
        ("race_top:bump\nrace:total", (1, CERTAIN)),  # each stack is done with before the next
        ("race:launch", None),
        ("race:make_lock", None),
        ("race:nap", None),
        ("mutex:net::bump", None),
        ("thread:launch", None),
    ],
)
def test_a_race_is_known_by_its_two_sides_and_its_variable(rules: str, found: tuple[int, str] | None) -> None:
    assert told(rules, list(read([RACE]).reports), Suppressor.TSAN) == [found]


def test_a_module_of_which_another_log_prints_the_folder() -> None:
    rules, reports = parse_rules("race:^/opt/build/engine"), read([RACE]).reports
    (match,) = reach(rules, reports, modules=["/opt/build/engine_tests"])
    assert match.is_certain


def test_without_frames_nothing_can_be_decided() -> None:
    unread = Report("tsan", "data-race", 1, "")
    assert told("race:net::bump", [unread]) == [(1, UNDECIDABLE)]
    assert told("race_top:net::bump", [unread]) == [(1, UNDECIDABLE)]
    assert told("mutex:net::bump", [unread], Suppressor.TSAN) == [None]


def global_race(name: str, at: int, variable: int, *, pid: int = 7, kind: str = "data-race") -> Report:
    """A race at an address, in a variable that begins at another one."""
    detail = (
        f"Write of size 4 at {at:#x} by thread T2; Location is global '{name}' of size 4 at {variable:#x} (app+0x4040)"
    )
    frames = (Frame(f"hit_{name}", f"hit_{name}", f"/src/{name}.cpp", module="app"),)
    return Report("tsan", kind, 1, "", frames, pid=pid, detail=detail)


@pytest.mark.parametrize(
    ("rule", "other", "found"),
    [
        ("race:^first$", global_race("second", 0x5584, 0x5584), POSSIBLE),
        ("race:^first$", global_race("second", 0x5587, 0x5587), POSSIBLE),
        ("race:^first$", global_race("second", 0x5588, 0x5588), None),
        ("race:^first$", global_race("second", 0x557C, 0x557C), None),
        ("race:^first$", global_race("second", 0x5584, 0x5584, pid=8), None),  # in another process
        ("race:^first$", global_race("second", 0x5584, 0x5584, kind="data-race-on-vptr"), None),
        (
            "race:^hit_first$",
            global_race("second", 0x5584, 0x5584),
            None,
        ),  # by its stack: that place of the code is remembered
        ("race:hit_first\nrace:first", global_race("second", 0x5584, 0x5584), None),
        ("race:^first$\nrace:second", global_race("second", 0x5584, 0x5584), CERTAIN),
    ],
)
def test_a_rule_about_a_variable_hides_later_races_in_the_cell_it_begins(
    rule: str, other: Report, found: Certainty | None
) -> None:
    matches = reach(parse_rules(rule), [global_race("first", 0x5580, 0x5580), other])
    assert [match.certainty for match in matches] == [CERTAIN, found]


def test_a_race_before_it_stays_and_so_does_one_beside_a_variable_that_begins_amid_a_cell() -> None:
    first, second = global_race("first", 0x5580, 0x5580), global_race("second", 0x5584, 0x5584)
    assert told("race:^first$", [second, first]) == [None, (1, CERTAIN)]
    assert told("race:^second$", [second, first]) == [(1, CERTAIN), None]


def thread_report(kind: str, *others: tuple[Role, str], detail: str = "") -> Report:
    stacks = tuple(Stack(role, (Frame(name, name, f"/src/{name}.cpp"),)) for role, name in others)
    return Report("tsan", kind, 1, "", (Frame("own", "own", "/src/own.cpp"),), stacks, detail=detail)


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("data-race-on-vptr", "race"),
        ("heap-use-after-free", "race"),
        ("lock-order-inversion", "deadlock"),
        ("thread-leak", "thread"),
        ("double-lock", "mutex"),
        ("destroy-of-locked-mutex", "mutex"),
        ("signal-unsafe-call", "signal"),
        ("signal-spoils-errno", "signal"),
    ],
)
def test_each_kind_has_its_type(kind: str, word: str) -> None:
    types = [name for name in TSAN_TYPES if told(f"{name}:own", [thread_report(kind)], Suppressor.TSAN) != [None]]
    assert types == [word, *(["race_top"] if word == "race" else [])]


def test_of_a_lock_order_the_stacks_that_acquire_count() -> None:
    order = "Cycle in lock order graph: M1 (0x1) => M2 (0x2) => M1"
    report = thread_report(
        "lock-order-inversion",
        (Role.OTHER, "acquired"),
        (Role.PREVIOUS_ACCESS, "held"),
        (Role.OTHER, "created"),
        detail=order,
    )
    for name, hidden in (("acquired", True), ("held", True), ("created", False)):
        assert (told(f"deadlock:{name}", [report]) == [(1, CERTAIN)]) is hidden


def test_what_a_library_calls_may_be_ignored() -> None:
    access = (Frame("memcpy", "memcpy", module="libtsan.so"), Frame("send", "send", "/v.c", module="/opt/libvendor.so"))
    assert told("called_from_lib:libvendor", [Report("tsan", "data-race", 1, "", access)]) == [(1, POSSIBLE)]
    assert told("called_from_lib:libvendor", [Report("tsan", "data-race", 1, "", access[1:])]) == [None]
