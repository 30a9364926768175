"""The answer to "is it mine?" in one sentence, and the run that would make two sides comparable."""

import pytest

from leaks.compare_words import ADVICE, Places, advice, answer
from leaks.comparison import COMPARISONS, compare
from leaks.rows.comparison import Compared, Difference, Measure, SignatureChange
from leaks.tests.test_comparison import ROWS
from leaks.words import Change, Comparison

PLACES = Places("asan", "asan", "6621576ac", "d1b0ea3a8", base_proven=True, head_proven=True)


def result(word, **counts):
    changes = [
        SignatureChange(f"{kind}{number}", Change[kind], Measure(1), Measure(1), "")
        for kind, count in counts.items()
        for number in range(count)
    ]
    return Compared(word, "rule", "Sentence.", tuple(changes))


@pytest.mark.parametrize(
    ("compared", "said"),
    [
        (
            result(Comparison.PRE_EXISTING, IDENTICAL=9),
            "all of its 9 signatures are at the base as well, the same to the byte",
        ),
        (
            result(Comparison.PRE_EXISTING, IDENTICAL=1),
            "its only signature is at the base as well, the same to the byte",
        ),
        (result(Comparison.PRE_EXISTING, IDENTICAL=2, OTHER_BYTES=1), "as well, 2 of them the same to the byte"),
        (result(Comparison.PRE_EXISTING, OTHER_BYTES=1), "with other sizes or counts"),
        (result(Comparison.NEW_FINDINGS, INTRODUCED=1), "The head introduces 1 signature"),
        (
            result(Comparison.NEW_FINDINGS, INTRODUCED=2, UNKNOWN=1),
            "introduces 2 signatures; of 1 signature of the base it could not",
        ),
        (result(Comparison.FIXED, FIXED=1), "introduces nothing, and 1 signature of the base is gone"),
        (result(Comparison.NO_FINDINGS), "neither side found anything"),
        (result(Comparison.NOT_COMPARABLE, UNKNOWN=2), "Whether the head introduces anything is not known"),
        (result(Comparison.SUPPRESSED_TOTAL_GREW), "its suppressions hide more"),
    ],
)
def test_an_answer(compared, said):
    assert said in answer(compared)


def grown(*pairs, word=Comparison.PRE_EXISTING):
    changes = [
        SignatureChange(f"s{at}", Change.OTHER_BYTES, before, after, "") for at, (before, after) in enumerate(pairs)
    ]
    return Compared(word, "rule", "Sentence.", tuple(changes))


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([(Measure(1, 192, 3), Measure(1, 320, 5))], "1 that was there before leaks more: 192 B → 320 B"),
        ([(Measure(1, 192, 3), Measure(1, 192, 5))], "1 that was there before leaks more: 3 objects → 5 objects"),
        ([(Measure(1), Measure(4))], "1 that was there before leaks more: 1 report → 4 reports"),
        (
            [
                (Measure(1, 9, 1), Measure(1, 1_000, 1)),
                (Measure(1, 1, 1), Measure(1, 2, 1)),
                (Measure(1, 9), Measure(1, 8)),
            ],
            "2 that were there before leak more: 10 B → 1,002 B",
        ),
    ],
)
def test_what_was_there_before_and_leaks_more_is_no_exoneration(pairs, said):
    assert answer(grown(*pairs)) == f"No new signature, but {said}"


def test_what_grew_is_said_beside_what_is_fixed_or_introduced():
    for word in (Comparison.FIXED, Comparison.NEW_FINDINGS):
        told = answer(grown((Measure(1, 192, 3), Measure(1, 320, 5)), word=word))
        assert "; 1 that was there before leaks more: 192 B → 320 B" in told


def test_what_the_base_could_not_have_shown_and_a_doubt_are_in_the_answer():
    unknown = SignatureChange("a", Change.UNKNOWN, None, Measure(1), "")
    told = answer(Compared(Comparison.NEW_FINDINGS, "rule", "", (unknown,), caveat="The base ran fewer tests."))
    assert "; the base ran fewer tests; of 1 signature of the head the base could not have shown" in told


def test_nothing_is_exonerated_where_the_sides_cannot_be_compared():
    for _, base, head, word in ROWS:
        if word is Comparison.NOT_COMPARABLE:
            assert answer(compare(base, head)) == "Whether the head introduces anything is not known"


def test_every_refusal_has_its_advice():
    rules = {row.rule for row in COMPARISONS if row.result is Comparison.NOT_COMPARABLE}
    assert {*ADVICE, "base_without_verdict", "head_without_verdict"} == rules
    for rule, base, head, word in ROWS:
        told = advice(
            compare(base, head),
            PLACES._replace(head_proven=rule != "head_without_verdict", base_proven=rule != "base_without_verdict"),
        )
        assert told.endswith("would make it so.") == (word is Comparison.NOT_COMPARABLE)


def test_the_options_of_the_head_are_named():
    apart = (Difference("ASAN_OPTIONS max_leaks", "0 by default", "1"), Difference("verdict", "a", "b"))
    refused = Compared(Comparison.NOT_COMPARABLE, "other_options", "", differences=apart)
    assert advice(refused, PLACES) == (
        "A run of asan on 6621576ac under the same options as the head (ASAN_OPTIONS max_leaks: 1) would make it so."
    )
