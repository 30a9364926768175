"""A frame without a name gets one that another log of the project printed for the same place of the same build."""

import pytest

from leaks.models import Frame, Log, Project, Report
from leaks.parsing.dispatch import read
from leaks.symbol_names import AT_ONCE, ProjectSymbols
from leaks.tests.ledger import project, settle, submit
from leaks.tests.resigning import LEAKING, reports, sign_again, undo

pytestmark = pytest.mark.django_db

BUILD = "c0ffee0123456789c0ffee0123456789c0ffee01"
ROPE = "engine::Rope::build(int)"


def frames(*named: str, build: str = BUILD) -> str:
    """A leak whose frames lie in the engine's library; "" is one without a name, at an offset of its own."""
    lines = [
        "[doctest] test cases: 9 | 9 passed | 0 failed | 0 skipped",
        "==7==ERROR: LeakSanitizer: detected memory leaks",
        "",
        "Direct leak of 64 byte(s) in 1 object(s) allocated from:",
        "    #0 0x7f0001 in malloc ../src/libsanitizer/asan/asan_malloc_linux.cpp:69",
    ]
    for number, name in enumerate(named, 1):
        word = f"in {name} " if name else ""
        place = f"(/build/lib/libengine.so+0x{0x1000 * number:x}) (BuildId: {build})"
        lines.append(f"    #{number} 0x55000{number:03x} {word}{place}")
    lines += ["", "SUMMARY: AddressSanitizer: 64 byte(s) leaked in 1 allocation(s).", ""]
    return "\n".join(lines)


def ingest(number: int, text: str) -> None:
    submit(number, text, **LEAKING)
    settle()


def own(number: int) -> str:
    frame = Report.objects.get(log__part__outcome__run__external_id=f"r{number}").own_frame
    return frame.function if frame else ""


def test_a_log_without_symbols_meets_one_that_has_them() -> None:
    ingest(1, frames(ROPE, "engine::run()"))
    ingest(2, frames("", ""))
    assert (own(1), own(2)) == (ROPE, ROPE)
    assert len(reports()) == 1


def test_what_was_printed_stays_as_it_was() -> None:
    ingest(1, frames(ROPE, "engine::run()"))
    ingest(2, frames("", ""))
    printed = Report.objects.get(log__part__outcome__run__external_id="r2").stack
    shown = list(printed.places.order_by("position").values_list("frame__function", "frame__text"))[1:]
    assert [function for function, _ in shown] == ["", ""]
    assert all(f"(BuildId: {BUILD})" in text or BUILD in text or "libengine.so" in text for _, text in shown)


@pytest.mark.parametrize(
    ("why", "text"),
    [
        ("another build of the library", frames("", "", build="f00d" * 10)),
        ("no build id at all", frames("", "").replace(f" (BuildId: {BUILD})", "")),
    ],
)
def test_what_does_not_meet(why: str, text: str) -> None:
    ingest(1, frames(ROPE, "engine::run()"))
    ingest(2, text)
    assert own(2) == "", why
    assert len(reports()) == 2


def test_another_project_lends_no_names() -> None:
    ingest(1, frames(ROPE, "engine::run()"))
    Project.objects.update(slug="another")
    ingest(2, frames("", ""))
    assert own(2) == ""
    assert Frame.objects.filter(function=ROPE).exists()


def test_a_later_log_with_symbols_names_the_earlier_one_when_it_is_signed_again() -> None:
    ingest(1, frames("", ""))
    ingest(2, frames(ROPE, "engine::run()"))
    first = Report.objects.get(log__part__outcome__run__external_id="r1").key.signature.public_id
    assert len(reports()) == 2
    done = sign_again()
    assert (done.reports, own(1)) == (1, ROPE)
    assert len(reports()) == 1
    undo()
    assert own(1) == ""
    assert reports()[first] == 1
    assert set(Log.objects.values_list("recipe", flat=True)) == {"v1.1"}


def test_what_is_inlined_at_a_place_is_lent_as_a_whole() -> None:
    inlined = frames("engine::Slot::take(int)", ROPE).replace("0x2000)", "0x1000)")
    ingest(1, inlined)
    ingest(2, frames(""))
    assert own(2) == own(1)
    assert len(reports()) == 1


def test_names_of_the_same_log_count_too() -> None:
    ingest(1, frames(ROPE, "engine::run()") + frames("", ""))
    assert set(Report.objects.values_list("own_frame__function", flat=True)) == {ROPE}


def test_many_places_take_few_queries(django_assert_max_num_queries) -> None:
    names = ProjectSymbols(project())
    evidence = read([frames(*[""] * (3 * AT_ONCE)).encode()])
    with django_assert_max_num_queries(9):
        names.lend(evidence.reports)
    with django_assert_max_num_queries(0):
        names.lend(evidence.reports)
