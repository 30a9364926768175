"""The search language: what it takes, what it refuses and where, and that a search printed is the same search."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from leaks.search_nodes import EVERYTHING, All, AnyOf, Node, Not, Term, show, terms
from leaks.search_parse import DEEPEST, LONGEST, MOST_WORDS, SearchError, parse
from leaks.search_words import WORDS


def free(text: str, *, quoted: bool = False) -> Term:
    return Term("", text, quoted)


A, B, C = free("a"), free("b"), free("c")

READ = [
    ("", EVERYTHING),
    (" \t\n ", EVERYTHING),
    ("a", A),
    ("a b", All((A, B))),
    ("a AND b", All((A, B))),
    ("a OR b", AnyOf((A, B))),
    ("a b OR c", AnyOf((All((A, B)), C))),
    ("a (b OR c)", All((A, AnyOf((B, C))))),
    ("-a", Not(A)),
    ("NOT a", Not(A)),
    ("NOT NOT a", A),
    ("-(a b)", Not(All((A, B)))),
    ("((a))", A),
    ("a or b and not c", All((A, free("or"), B, free("and"), free("not"), C))),
    ('"a OR b"', free("a OR b", quoted=True)),
    (r'"say \"a\" \\ b"', free(r'say "a" \ b', quoted=True)),
    ("is:new lane:tsan", All((Term("is", "new"), Term("lane", "tsan")))),
    ("IS:new", Term("is", "new")),
    ('lane:"my lane"', Term("lane", "my lane", quoted=True)),
    ("lane:OR", Term("lane", "OR")),
    ("kind:undefined-behavior:null", Term("kind", "undefined-behavior:null")),
    ("std::vector<int>::push_back", free("std::vector<int>::push_back")),
    ("operator()", free("operator()")),
    ("function:foo(int)", Term("function", "foo(int)")),
    ("a-b", free("a-b")),
    ("a - b", All((A, free("-"), B))),
    ("ORDER NOTE", All((free("ORDER"), free("NOTE")))),
    ("bytes:>64k", Term("bytes", ">64k")),
    ("\u202e\U0001f4a9 ünïcödé", All((free("\u202e\U0001f4a9"), free("ünïcödé")))),
]

# Search, the culprit, a part of what is said, what was probably meant.
REFUSED = [
    ("is:nwe", "is:nwe", "is: has no value", "is:new"),
    ("state:inteded lane:x", "state:inteded", "no value", "state:intended"),
    ("own:maybe", "own:maybe", "no value", ""),
    ("lan:tsan", "lan:tsan", "no word lan:", "lane:tsan"),
    ("own:yes onw:yes", "onw:yes", "no word onw:", "own:yes"),
    ("bytes:5..1", "bytes:5..1", "ends below", "bytes:1..5"),
    ("last:3w..1d", "last:3w..1d", "ends below", "last:1d..3w"),
    ("error: foo", "error:", "quotes", ""),
    ("lane:", "lane:", "needs a value", ""),
    ("lane: tsan", "lane:", "without a blank", ""),
    ("lane:(a b)", "lane:", "needs a value", ""),
    ("xyz:", "xyz:", "no word", ""),
    ("bytes:>64q", "bytes:>64q", "cannot be read", ""),
    ("bytes:", "bytes:", "needs a value: a size", ""),
    ("bytes:-5", "bytes:-5", "cannot be read", ""),
    ("bytes:9999999999T", "bytes:9999999999T", "cannot be read", ""),
    ("seen:many", "seen:many", "a number", ""),
    ("seen:..", "seen:..", "cannot be read", ""),
    ("first:<2", "first:<2", "an age or a day", ""),
    ("first:2026-13-01", "first:2026-13-01", "cannot be read", ""),
    ("first:1w..2026-01-01", "first:1w..2026-01-01", "cannot be read", ""),
    ("first:<999999y", "first:<999999y", "cannot be read", ""),
    ("commit:xyz", "commit:xyz", "digits of a commit", ""),
    ("commit:abc", "commit:abc", "digits of a commit", ""),
    ("a OR", "OR", "missing behind", ""),
    ("OR a", "OR", "between two", ""),
    ("a OR OR b", "OR", "between two", ""),
    ("a AND", "AND", "missing behind", ""),
    ("NOT", "NOT", "missing behind", ""),
    ("()", ")", "missing before", ""),
    ("(a", "(", "never closed", ""),
    ("a)", ")", "never opened", ""),
    ('a "b', '"', "never closed", ""),
    ('""', '""', "nothing between", ""),
    ("a\x00b", "\x00", "cannot be searched", ""),
    ("*".join("abcdefghij"), "a*b*c*d*e*f*g*h*i*j", "stars", ""),
]


@pytest.mark.parametrize(("text", "tree"), READ)
def test_what_a_search_means(text: str, tree: Node) -> None:
    assert parse(text) == tree
    assert parse(show(tree)) == tree


@pytest.mark.parametrize(("text", "culprit", "words", "instead"), REFUSED)
def test_an_error_points_at_the_bad_word(text: str, culprit: str, words: str, instead: str) -> None:
    with pytest.raises(SearchError) as caught:
        parse(text)
    error = caught.value
    assert words in str(error)
    assert error.parts[1] == culprit
    assert "".join(error.parts) == text
    assert error.instead == instead


def test_the_place_is_counted_from_one() -> None:
    with pytest.raises(SearchError) as caught:
        parse("a OR OR b")
    assert caught.value.position == 6


def test_a_wrong_word_is_told_all_words() -> None:
    with pytest.raises(SearchError) as caught:
        parse("colour:red")
    assert caught.value.allowed == tuple(WORDS)


@pytest.mark.parametrize("text", ["a" * (LONGEST + 1), "a" * 10_000, "(" * 10_000])
def test_a_search_has_a_greatest_length(text: str) -> None:
    with pytest.raises(SearchError, match="2,000 characters"):
        parse(text)


def test_brackets_may_be_nested_and_not_without_end() -> None:
    assert parse("(" * DEEPEST + "a" + ")" * DEEPEST) == A
    with pytest.raises(SearchError, match="no deeper"):
        parse("(" * 900 + "a" + ")" * 900)


def test_a_search_has_a_greatest_number_of_words() -> None:
    assert len(list(terms(parse("a " * MOST_WORDS)))) == MOST_WORDS
    with pytest.raises(SearchError, match="60 words"):
        parse("a " * (MOST_WORDS + 1))


def test_many_signs_of_negation_are_one_or_none() -> None:
    assert parse("-" * 1_000 + "a") == A
    assert parse("NOT " * 41 + "a") == Not(A)


def test_every_word_has_an_example_that_can_be_read() -> None:
    for word in WORDS.values():
        assert parse(word.example) == Term(word.name, word.example.partition(":")[2])
        for value in word.values:
            parse(f"{word.name}:{value}")


# --- Properties ------------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        "a",
        "OR",
        "AND",
        "NOT",
        "-",
        "(",
        ")",
        '"',
        " ",
        "is:new",
        "is:",
        "lane:",
        "x:y",
        "::",
        "*",
        "\\",
        "bytes:>1k",
        "\x00",
        "é",
    ]
)
TEXTS = st.one_of(
    st.text(max_size=80), st.lists(PIECES, max_size=25).map("".join), st.lists(PIECES, max_size=25).map(" ".join)
)


def read(text: str) -> Node | SearchError:
    try:
        return parse(text)
    except SearchError as error:
        return error


@given(TEXTS)
def test_any_text_is_a_search_or_an_error_that_points_into_it(text: str) -> None:
    found = read(text)
    if isinstance(found, SearchError):
        assert 0 <= found.start < found.end <= len(found.text)
        assert str(found)


@given(TEXTS)
def test_a_search_printed_is_the_same_search(text: str) -> None:
    found = read(text)
    if not isinstance(found, SearchError):
        assert parse(show(found)) == found


VALUES = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12).filter(
    lambda text: text.strip() or text
)
LEAVES = st.builds(Term, st.sampled_from(["", "lane", "file", "owner"]), VALUES, quoted=st.just(value=True))


@given(LEAVES)
@example(Term("", "\\", quoted=True))
@example(Term("", 'a\\"b', quoted=True))
@example(Term("lane", "a\\\\b", quoted=True))
def test_anything_can_be_searched_for_in_quotes(term: Term) -> None:
    assert parse(show(term)) == term
