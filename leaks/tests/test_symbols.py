"""Frames without a name get it from frames of the same build that have one."""

from leaks.evidence import Frame, Report, Stack
from leaks.parsing.frames import understood
from leaks.symbols import Symbols, missing, resolved
from leaks.words import Role

ID = "b5aa4bc9048f4b56"
NAMELESS = understood(f" (/ci/7/build/t+0x2719a2) (BuildId: {ID})")
NAMED = understood(f"in net::drop(int*) (/b/t+0x2719a2) (BuildId: {ID})")
INLINED = understood(f"net::inner() /src/a.cpp:3:9 (t+0x2719a2) (BuildId: {ID})")
OUTER = understood(f"net::outer() /src/a.cpp:8:2 (t+0x2719a2) (BuildId: {ID})")
MALLOC = understood("in malloc (/b/t+0x1)")


def report(*frames: Frame, stacks: tuple[Stack, ...] = ()) -> Report:
    return Report("lsan", "direct-leak", 1, "", frames=frames, stacks=stacks)


def functions(report: Report) -> list[str | None]:
    return [frame.function for frame in report.frames]


def test_a_report_gets_the_names_that_another_of_its_log_prints() -> None:
    found = resolved([report(MALLOC, NAMELESS), report(MALLOC, NAMED)])
    assert functions(found[0]) == ["malloc", "net::drop(int*)"]


def test_an_inlined_chain_comes_whole() -> None:
    found = resolved([report(NAMELESS), report(INLINED, OUTER)])
    assert functions(found[0]) == ["net::inner()", "net::outer()"]
    assert [frame.line for frame in found[0].frames] == [3, 8]


def test_names_known_from_earlier_logs_are_used() -> None:
    symbols = Symbols()
    symbols.learn((MALLOC, NAMED))
    assert functions(resolved([report(NAMELESS)], symbols)[0]) == ["net::drop(int*)"]


def test_other_stacks_learn_and_are_resolved_too() -> None:
    freed = Stack(Role.FREED, (NAMELESS,), "T1")
    found = resolved([report(MALLOC, stacks=(freed,)), report(MALLOC, stacks=(Stack(Role.FREED, (NAMED,)),))])
    assert found[0].stacks == (Stack(Role.FREED, (NAMED,), "T1"),)


def test_another_build_or_offset_or_no_build_id_says_nothing() -> None:
    for other in (
        understood("in net::drop(int*) (/b/t+0x2719a2) (BuildId: 00000000)"),
        understood(f"in net::drop(int*) (/b/t+0x2719a3) (BuildId: {ID})"),
        understood("in net::drop(int*) (/b/t+0x2719a2)"),
    ):
        found = resolved([report(NAMELESS), report(other)])
        assert functions(found[0]) == [None]


def test_a_place_that_is_partly_nameless_is_not_learned() -> None:
    assert functions(resolved([report(NAMELESS), report(NAMED, NAMELESS)])[0]) == [None]


def test_what_is_missing_is_listed_for_those_who_know_earlier_logs() -> None:
    assert missing([report(MALLOC, NAMELESS), report(NAMED)]) == {(ID, "0x2719a2")}
    assert missing([report(MALLOC, NAMED)]) == set()


def test_reports_with_all_their_names_stay_the_same_objects() -> None:
    reports = [report(MALLOC, NAMED)]
    assert resolved(reports)[0] is reports[0]
