"""From the text of the search box to a tree, or to an error that points at the bad word.

    search  = [ any ]
    any     = all { "OR" all }
    all     = one { [ "AND" ] one }
    one     = ( "-" | "NOT" ) one | "(" any ")" | term
    term    = [ word ":" ] ( value | '"' value '"' )

The parser is LALR, so its time grows with the length alone; what the grammar cannot say well (an open quote, an open bracket, a bound) is
looked at first, so that the error can say it.
"""

import re
from typing import NamedTuple, NoReturn

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedInput, UnexpectedToken

from leaks.errors import BadSubmission
from leaks.search_nodes import EVERYTHING, Node, Term, all_of, any_of, negated
from leaks.search_values import NAMES, BadValue, check, closest, pattern
from leaks.search_words import WORDS

LONGEST = 2_000
DEEPEST = 20
MOST_WORDS = 60

# A bracket that hangs on a word belongs to it: operator(), foo(int). A name with `::` behind it is a C++ name and no word of ours.
GRAMMAR = r"""
search: [any]
?any: all (_OR all)*          -> any_of
?all: one (_AND? one)*        -> all_of
?one: (_MINUS | _NOT) one     -> negated
    | "(" any ")"
    | term
term: FIELD (VALUE | QUOTED)  -> fielded
    | (PLAIN | QUOTED)        -> free

_OR.4: /OR(?![^\s()"])/
_AND.4: /AND(?![^\s()"])/
_NOT.4: /NOT(?![^\s()"])/
_MINUS.4: /-(?=[^\s)])/
FIELD.3: /[A-Za-z][A-Za-z_-]*:(?!:)/
QUOTED: /"(?:[^"\\]|\\.)*"/s
VALUE: /[^\s()"]+(?:\([^\s()"]*\)[^\s()"]*)*/
PLAIN: /(?!(?:OR|AND|NOT)(?![^\s()"]))[^\s()"]+(?:\([^\s()"]*\)[^\s()"]*)*/
%ignore /\s+/
"""
PIECES = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s()"]+(?:\([^\s()"]*\)[^\s()"]*)*|[()"]', re.DOTALL)
# Line ends and tabs come along when somebody pastes; nothing else below the blank can be meant.
BLANKS = str.maketrans("\t\n\v\f\r", " " * 5)
UNSEARCHABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class SearchError(BadSubmission):
    """`start` and `end` mark the culprit in `text`; `allowed` is what could stand there, `instead` what was probably meant."""

    def __init__(self, message: str, start: int, end: int, *, allowed: tuple[str, ...] = (), instead: str = "") -> None:
        super().__init__(message, field="q")
        self.text, self.start, self.end = "", start, end
        self.allowed, self.instead = allowed, instead

    @property
    def position(self) -> int:
        """Counted from 1, as people do."""
        return self.start + 1

    @property
    def parts(self) -> tuple[str, str, str]:
        """What stands before the culprit, the culprit, and what stands behind it."""
        return self.text[: self.start], self.text[self.start : self.end], self.text[self.end :]


class Builder(Transformer[Token, Node]):
    """Called by the parser while it reads; a value is judged where it stands."""

    def search(self, children: list[Node | None]) -> Node:
        return (children[0] if children else None) or EVERYTHING

    def any_of(self, children: list[Node]) -> Node:
        return any_of(children)

    def all_of(self, children: list[Node]) -> Node:
        return all_of(children)

    def negated(self, children: list[Node]) -> Node:
        return negated(children[0])

    @v_args(inline=True)
    def free(self, value: Token) -> Node:
        text, quoted = _unquoted(value)
        try:
            pattern(text, quoted, whole=False)
        except BadValue as error:
            raise SearchError(str(error), *_span(value)) from None
        return Term("", text, quoted)

    @v_args(inline=True)
    def fielded(self, field: Token, value: Token) -> Node:
        name, (text, quoted) = field[:-1].lower(), _unquoted(value)
        word = WORDS.get(name)
        if word is None:
            raise _unknown_word(field, value)
        if value.start_pos != field.end_pos:
            raise SearchError(f"Write the value right behind {name}:, without a blank.", *_span(field))
        try:
            check(word, text, quoted)
        except BadValue as error:
            better = f"{name}:{error.instead}" if error.instead else ""
            raise SearchError(str(error), *_span(field, value), allowed=word.values, instead=better) from None
        return Term(name, text, quoted)


PARSER = Lark(GRAMMAR, start="search", parser="lalr", transformer=Builder(), maybe_placeholders=False)


def parse(text: str) -> Node:
    """Raises SearchError."""
    try:
        shown = _searchable(text)
        _look_at(shown)
        return _parsed(shown)
    except SearchError as error:
        error.text = text[:LONGEST].translate(BLANKS)
        raise


def _parsed(text: str) -> Node:
    try:
        return PARSER.parse(text)  # type: ignore[return-value]  # the builder gives nodes, Lark says trees
    except UnexpectedInput as error:
        _refuse(text, error)


def _searchable(text: str) -> str:
    if len(text) > LONGEST:
        raise SearchError(
            f"A search may have {LONGEST:,} characters; this one has {len(text):,}.", LONGEST - 1, LONGEST
        )
    shown = text.translate(BLANKS)
    found = UNSEARCHABLE.search(shown)
    if found is not None:
        raise SearchError("This character cannot be searched for.", *found.span())
    return shown


class _Piece(NamedTuple):
    text: str
    start: int
    end: int


def _look_at(text: str) -> None:
    """Bounds, open quotes and open brackets."""
    pieces = [_Piece(found[0], *found.span()) for found in PIECES.finditer(text)]
    words = [piece for piece in pieces if piece.text not in {"(", ")"}]
    if len(words) > MOST_WORDS:
        extra = words[MOST_WORDS]
        raise SearchError(f"A search may have {MOST_WORDS} words.", extra.start, extra.end)
    opened: list[_Piece] = []
    for piece in pieces:
        _weigh(piece, opened)
    if opened:
        raise SearchError("This bracket is never closed.", opened[-1].start, opened[-1].end)


def _weigh(piece: _Piece, opened: list[_Piece]) -> None:
    _, start, end = piece
    if piece.text == '"':
        raise SearchError("This quote is never closed.", start, end)
    if piece.text == "(":
        opened.append(piece)
    if len(opened) > DEEPEST:
        raise SearchError(f"Brackets may stand in {DEEPEST} brackets, no deeper.", start, end)
    if piece.text == ")":
        if not opened:
            raise SearchError("This bracket was never opened.", start, end)
        opened.pop()


def _unquoted(token: Token) -> tuple[str, bool]:
    if token.type != "QUOTED":
        return str(token), False
    text = re.sub(r'\\(["\\])', r"\1", token[1:-1])
    if not text:
        raise SearchError("There is nothing between these quotes.", *_span(token))
    return text, True


def _span(first: Token, last: Token | None = None) -> tuple[int, int]:
    return first.start_pos or 0, (last or first).end_pos or 0


def _unknown_word(field: Token, value: Token) -> SearchError:
    name = field[:-1]
    better = closest(name, NAMES)
    hint = "" if better else ' To search for it as text, put it into quotes: "…".'
    shown = f"{better}:{value}" if better else ""
    span = _span(field, value if better else None)  # what was meant takes the place of all of it
    return SearchError(f"There is no word {name}:.{hint}", *span, allowed=NAMES, instead=shown)


BARE = re.compile(r"(?:^|[\s(-])([A-Za-z][A-Za-z_-]{0,60}:)$")
# What stands in the place of a value or of a search, by the kind of token the parser stumbled over.
SAID = {
    "_OR": "OR stands between two searches; one of them is missing here.",
    "_AND": "AND stands between two searches; one of them is missing here.",
    "RPAR": "Something is missing before this bracket.",
}


def _refuse(text: str, error: UnexpectedInput) -> NoReturn:
    """The parser stopped: behind a word without a value, or where a search should stand."""
    token = error.token if isinstance(error, UnexpectedToken) else None
    end = len(text) if token is None or token.type == "$END" else token.start_pos or 0
    if token is None:
        end = error.pos_in_stream or 0
    field = BARE.search(text[:end].rstrip())
    if field is not None:
        raise _without_value(field[1], field.span(1)) from None
    if token is None or token.type == "$END":
        raise _cut_short(text[:end].rstrip()) from None
    raise SearchError(SAID.get(token.type, "This cannot stand here."), *_span(token)) from None


def _without_value(field: str, span: tuple[int, int]) -> SearchError:
    word = WORDS.get(field[:-1].lower())
    if word is None:
        return SearchError(f"There is no word {field}", *span, allowed=NAMES)
    takes = f"{field} needs a value: {word.shape.value}, such as {word.example}."
    return SearchError(takes, *span, allowed=word.values)


def _cut_short(text: str) -> SearchError:
    return SearchError("Something is missing behind this.", len(text) - len(text.rsplit(maxsplit=1)[-1]), len(text))
