"""From a search to a condition on signatures: one row a word, and one query in the end, however many words there are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property

from django.db.models import BooleanField, Exists, F, Func, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce, Upper

from leaks.ledger_words import LifeCycle
from leaks.models import Lane, LaneOutcome, Project, Sighting, SignatureKey
from leaks.search_lines import has_line
from leaks.search_nodes import AnyOf, Node, Not, Term
from leaks.search_parse import parse
from leaks.search_values import Bound, Pattern, bounds, choice, flag, pattern
from leaks.search_words import CLOSED, LIFE, NOBODY, OPEN, WORDS, Shape
from leaks.words import SignatureState

# Seen in the latest runs, and nobody said that it may stay.
OPEN_SIGNATURES = Q(
    life__in=(LifeCycle.NEW, LifeCycle.ONGOING, LifeCycle.REGRESSED),
    state__in=(SignatureState.UNTRIAGED, SignatureState.CONFIRMED, SignatureState.CANNOT_TELL),
)
# An age grows as a moment falls.
YOUNGER = {"lt": "gt", "lte": "gte", "gt": "lt", "gte": "lte"}
LAST_HEX = "g"  # sorts behind every digit of a hash
MOST_LANES = 500
NOTHING = Q(pk__in=())


class Like(Func):
    """LIKE with a pattern of our own, since Django's lookups escape every star. What is null is an empty text."""

    template = r"%(expressions)s ESCAPE '\'"
    arg_joiner = " LIKE "
    output_field = BooleanField()

    def __init__(self, column: str, like: str) -> None:
        super().__init__(Upper(Coalesce(F(column), Value(""))), Upper(Value(like)))


@dataclass(frozen=True)
class Asked:
    """What a condition depends on besides the words."""

    project: Project
    now: datetime

    @cached_property
    def lanes(self) -> Mapping[str, int]:
        """Name -> id. Asked for once, however many words name a lane."""
        lanes = Lane.objects.filter(project=self.project).order_by("name")
        return dict(lanes.values_list("name", "pk")[:MOST_LANES])


def condition(asked: Asked, text: str) -> Q:
    """The condition that a search stands for. Raises SearchError."""
    return compiled(parse(text), asked)


def compiled(node: Node, asked: Asked) -> Q:
    if isinstance(node, Term):
        return COMPILERS[node.word](node, asked)
    if isinstance(node, Not):
        return ~compiled(node.of, asked)
    parts = [compiled(part, asked) for part in node.parts]
    return Q(*parts, _connector=Q.OR if isinstance(node, AnyOf) else Q.AND)


# --- Texts -----------------------------------------------------------------------------------------------------------


def _matches(column: str, wanted: Pattern) -> Q:
    if len(wanted.pieces) > 1:
        return Q(Like(column, "%".join(map(_escaped, wanted.pieces))))
    return Q(**{f"{column}__{'iexact' if wanted.whole else 'icontains'}": wanted.pieces[0]})


def _escaped(text: str) -> str:
    for special in "\\%_":
        text = text.replace(special, f"\\{special}")
    return text


def _pattern(term: Term) -> Pattern:
    return pattern(term.text, term.quoted, whole=WORDS[term.word].shape is Shape.NAME)


def _column(*columns: str) -> "Compiler":
    """Any of these columns of a signature matches."""

    def compile_it(term: Term, _asked: Asked) -> Q:
        wanted = _pattern(term)
        return Q(*(_matches(column, wanted) for column in columns), _connector=Q.OR)

    return compile_it


def _free(term: Term, _asked: Asked) -> Q:
    """What the signature says about itself in one column; where nobody filled that yet, what it is made of."""
    found = pattern(term.text, term.quoted, whole=False)
    wanted = Pattern(("", *found.pieces, ""), whole=True) if len(found.pieces) > 1 else found
    keys = SignatureKey.objects.filter(_matches("text", wanted), signature=OuterRef("pk"))
    columns = [_matches(column, wanted) for column in ("title", "own_frame__function", "own_frame__file")]
    unfilled = Q(search_text="") & Q(*columns, Exists(keys), _connector=Q.OR)
    return _matches("search_text", wanted) | _matches("public_id", wanted) | unfilled


def _owner(term: Term, _asked: Asked) -> Q:
    if term.text.lower() == NOBODY and not term.quoted:
        return Q(owner=None, code_owners="")
    wanted = _pattern(term)
    first, *rest = wanted.pieces
    spaced = (f" {first}", *rest[:-1], f"{rest[-1]} ") if rest else (f" {first} ",)
    words = Pattern(("", *spaced, ""), whole=True)
    return _matches("owner__username", wanted) | _matches("code_owners", words)


# --- Choices, numbers and moments ------------------------------------------------------------------------------------


def _is(term: Term, asked: Asked) -> Q:
    word = choice(WORDS["is"], term.text)
    if word in {OPEN, CLOSED}:
        return OPEN_SIGNATURES if word == OPEN else ~OPEN_SIGNATURES
    return Q(life=word) if word in LIFE else _state(term, asked)


def _state(term: Term, _asked: Asked) -> Q:
    return Q(state=choice(WORDS["state"], term.text).replace("-", "_"))


def _own(term: Term, _asked: Asked) -> Q:
    return Q(own=flag(WORDS["own"], term.text))


def _figure(column: str) -> "Compiler":
    def compile_it(term: Term, _asked: Asked) -> Q:
        return Q(*(Q(**{f"{column}__{bound.operator}": bound.value}) for bound in bounds(WORDS[term.word], term.text)))

    return compile_it


def _moment(column: str) -> "Compiler":
    def compile_it(term: Term, asked: Asked) -> Q:
        return Q(*(_since(column, bound, asked.now) for bound in bounds(WORDS[term.word], term.text)))

    return compile_it


def _since(column: str, bound: Bound, now: datetime) -> Q:
    if isinstance(bound.value, timedelta):
        return Q(**{f"{column}__{YOUNGER[bound.operator]}": now - bound.value})
    if not isinstance(bound.value, date):
        raise TypeError(bound)
    start = datetime.combine(bound.value, datetime.min.time(), tzinfo=UTC)
    return DAYS[bound.operator](column, start, start + timedelta(days=1))


# A day is a stretch of time: on it, before it, behind it.
DAYS: dict[str, Callable[[str, datetime, datetime], Q]] = {
    "exact": lambda column, start, end: Q(**{f"{column}__gte": start, f"{column}__lt": end}),
    "gt": lambda column, _, end: Q(**{f"{column}__gte": end}),
    "gte": lambda column, start, _: Q(**{f"{column}__gte": start}),
    "lt": lambda column, start, _: Q(**{f"{column}__lt": start}),
    "lte": lambda column, _, end: Q(**{f"{column}__lt": end}),
}


# --- What sightings and reports know ---------------------------------------------------------------------------------


def _lane(term: Term, asked: Asked) -> Q:
    """The proof of a signature's life names all its lanes; where there is none yet, its sightings are asked."""
    wanted = _pattern(term)
    names = [name for name in asked.lanes if wanted.fits(name)]
    if not names:
        return NOTHING
    sightings = Sighting.objects.filter(outcome__lane__name__in=names, outcome__lane__project=asked.project)
    unproved = Q(life_proof={}, seen_outcomes__gt=0) & _shown_in(sightings)
    # PostgreSQL does not know whether what is absent has a key, and would not know the opposite either.
    proved = Q(life_proof__has_key="lanes") & Q(
        *(Q(life_proof__lanes__has_key=name) for name in names), _connector=Q.OR
    )
    return proved | unproved


def _shown_in(sightings: QuerySet[Sighting]) -> Q:
    standing = sightings.filter(outcome__withdrawn_at=None, key=OuterRef("pk"))
    return Q(pk__in=SignatureKey.objects.filter(Exists(standing)).values("signature"))


def _line(term: Term, _asked: Asked) -> Q:
    """What it was seen with stands in one column: asking its sightings would take the longer the older a project is."""
    return has_line("seen_with", term.word, _pattern(term))


def _commit(term: Term, asked: Asked) -> Q:
    """A range and not LIKE: the index of the hashes serves it in every collation."""
    sha = term.text.lower()
    on = LaneOutcome.objects.filter(run__commit__sha__gte=sha, run__commit__sha__lt=sha + LAST_HEX)
    seen = Sighting.objects.filter(outcome__in=on.filter(run__project=asked.project, withdrawn_at=None).values("pk"))
    return Q(pk__in=seen.values("key__signature"))


Compiler = Callable[[Term, Asked], Q]
COMPILERS: dict[str, Compiler] = {
    "": _free,
    "is": _is,
    "state": _state,
    "lane": _lane,
    "kind": _column("kind", "family"),
    "tool": _line,
    "own": _own,
    "file": _line,
    "function": _line,
    "test": _line,
    "owner": _owner,
    "bytes": _figure("last_bytes"),
    "objects": _figure("last_objects"),
    "count": _figure("last_count"),
    "seen": _figure("seen_outcomes"),
    "first": _moment("first_seen_at"),
    "last": _moment("last_seen_at"),
    "commit": _commit,
    "id": _column("public_id"),
}
