"""What a signature was seen with: how it is written down, and that a word finds its own lines, each by itself."""

from collections.abc import Callable
from datetime import timedelta
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from leaks import models, search_lines
from leaks.search_lines import seen_with
from leaks.search_values import Pattern, pattern
from leaks.standing_signatures import rebuild_signatures
from leaks.tests import cast
from leaks.words import Verdict

TEXT = seen_with(
    tool=["lsan"],
    test=["test_Rope", "Suite.Huge", "a_b"],
    function=["engine::Pool::Get(int)", "main"],
    file=["src/pool.h", "tests/main.cpp", "100%.cpp"],
)


def held(lines: str, word: str) -> list[str]:
    """What stands there behind one of the words."""
    return [line.removeprefix(f"{word}:") for line in lines.split("\n") if line.startswith(f"{word}:")]


def _column(text: str) -> int:
    project, _ = models.Project.objects.get_or_create(slug="lines", defaults={"name": "lines"})
    return models.Signature.objects.update_or_create(
        project=project, public_id="LKS-LINES", defaults={"title": "x", "family": "leak", "kind": "leak", "seen_with": text}
    )[0].pk  # fmt: skip


def _finds(pk: int, word: str, wanted: Pattern) -> bool:
    condition = search_lines.has_line("seen_with", word, wanted)
    found = models.Signature.objects.filter(condition, pk=pk).exists()
    assert models.Signature.objects.filter(~condition, pk=pk).exists() is not found
    return found


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("word", "text", "whole", "found"),
    [
        ("tool", "lsan", True, True),
        ("tool", "LSan", True, True),
        ("tool", "san", True, False),
        ("tool", "*san", True, True),
        ("tool", "main", True, False),
        ("tool", "l*", True, True),
        ("tool", "lsan*get", True, False),  # begins in one line and ends in another
        ("tool", "*", True, True),
        ("test", "rope", False, True),
        ("test", "huge", False, True),
        ("test", "est", False, True),
        ("test", "test:", False, False),  # what stands before the next line
        ("test", "tool", False, False),
        ("test", "main", False, False),
        ("test", "test_*e", False, True),
        ("test", "test_*huge", False, False),
        ("test", "suite.*", False, True),
        ("test", "suite*u*e", False, True),
        ("test", "suite*p*e", False, False),
        ("test", "a?b", False, False),
        ("test", "axb", False, False),
        ("function", "Pool::Get(int)", False, True),
        ("function", "engine::*", False, True),
        ("function", "*engine", False, False),
        ("function", "pool.h", False, False),
        ("file", "*.h", False, True),
        ("file", "*l.h", False, True),
        ("file", "src*cpp", False, False),
        ("file", "100%", False, True),
        ("file", "1%", False, False),
        ("file", "pool.h", False, True),
        ("file", "pool_h", False, False),
    ],
)
def test_a_word_finds_its_own_lines_and_no_text_that_reaches_into_the_next(
    word: str, text: str, whole: bool, found: bool
) -> None:
    assert _finds(_column(TEXT), word, pattern(text, quoted=False, whole=whole)) is found


class AnyLines(TestCase):
    """The database says the same as the pattern does of texts in hand."""

    @given(
        st.lists(st.text("ab:\\%_.t", min_size=1, max_size=8), max_size=4),
        st.text("ab*:\\%_.t", min_size=1, max_size=8).filter(lambda text: text.count("*") < 7),
        st.booleans(),
    )
    def test_a_line_is_found_as_its_text_would_be(self, texts: list[str], asked: str, whole: bool) -> None:
        wanted = pattern(asked, quoted=False, whole=whole)
        pk = _column(seen_with(tool=["t"], test=texts, file=["a:test:b"]))
        assert _finds(pk, "test", wanted) is any(wanted.fits(text) for text in texts)


@pytest.mark.django_db
def test_many_stars_over_a_long_line_cost_no_more_than_looking_once() -> None:
    pk = _column(seen_with(test=["a" * 200] * 24))
    begin = perf_counter()
    assert not _finds(pk, "test", pattern("a*a*a*a*a*a*b", quoted=False, whole=True))
    assert perf_counter() - begin < 2


def test_each_text_stands_once_in_small_letters_and_on_one_line() -> None:
    assert seen_with(tool=["LSan", "lsan", ""], test=["a\nb"]) == "\ntool:lsan\ntest:a b\n"
    assert seen_with(tool=[], test=[""]) == ""


def test_no_word_crowds_out_the_others_and_all_together_stay_short() -> None:
    text = seen_with(tool=["lsan"], test=[f"t{n}" for n in range(99)], file=["src/a.cpp"])
    assert (len(held(text, "test")), held(text, "tool"), held(text, "file")) == (24, ["lsan"], ["src/a.cpp"])
    assert len(seen_with(test=["x" * 300 + str(n) for n in range(99)], file=["y" * 999] * 9)) <= search_lines.LONGEST


# --- Where it comes from ---------------------------------------------------------------------------------------------


@pytest.fixture
def shown(db: None) -> Callable[..., models.Signature]:
    """Makes outcomes that show one signature, each in a test, and derives its columns."""
    project = cast.make_project()
    lane = models.Lane.objects.create(project=project, name="asan")

    def show(*tests: str) -> models.Signature:
        for number, test in enumerate(tests):
            at = cast.NOW - timedelta(days=30 - number)
            outcome = cast.make_outcome(lane, cast.make_commit(project, f"{test}{number}", at), at, Verdict.FINDINGS)
            one = cast.make_signature(outcome, f"engine::{test}", 64, 1)
            _join(one, test)
        return _rebuilt()

    return show


def _join(one: models.Signature, test: str) -> None:
    """What the cast makes a signature of its own belongs to the first one."""
    models.Report.objects.filter(key__signature=one).update(test=test, tool="lsan")
    models.Sighting.objects.filter(key__signature=one).update(tool="lsan")
    first = models.Signature.objects.order_by("pk")[0]
    models.SignatureKey.objects.filter(signature=one).update(signature=first)


def _rebuilt() -> models.Signature:
    first = models.Signature.objects.order_by("pk")[0]
    rebuild_signatures([first.pk])
    first.refresh_from_db()
    return first


def test_all_tests_that_ever_triggered_it_are_held_and_both_its_names(shown: Callable[..., Any]) -> None:
    text = shown("one", "two", "three").seen_with
    assert held(text, "tool") == ["lsan"]
    assert held(text, "test") == ["one", "three", "two"]
    assert held(text, "function")[0] == "engine::three"
    assert held(text, "file")[0].endswith("pool.cpp")


def test_a_withdrawn_run_triggers_nothing(shown: Callable[..., Any]) -> None:
    shown("one", "two", "three")
    models.LaneOutcome.objects.filter(run__commit__sha=cast.sha_of("two1")).update(withdrawn_at=cast.NOW)
    assert held(_rebuilt().seen_with, "test") == ["one", "three"]
