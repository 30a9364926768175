"""What could stand at a place of a search: the words of the language, or the values that this project has for one of them."""

import re
from collections.abc import Callable, Iterable, Iterator

from django.db.models import Q, QuerySet

from leaks.models import Lane, LaneOutcome, Membership, Project, Report, Signature
from leaks.rows.leak_pages import Completion, Suggestion
from leaks.search_nodes import quote
from leaks.search_words import WORDS, Word

MOST = 12
LATEST_OUTCOMES = 30  # that tests are taken from: all of them would be all of history
# The piece that ends at the cursor: a sign before it, the word with its colon, the value so far.
PIECE = re.compile(r"""(?P<sign>-?)(?:(?P<word>[A-Za-z_-]{1,40}):(?!:))?(?P<value>"[^"]{0,200}|[^\s()"]{0,200})$""")
PLAIN = re.compile(r"[\w@./+~][^\s()\"*]*")


def complete(project: Project, text: str) -> Completion:
    """Suggestions for what `text` ends with. At most one query."""
    found = PIECE.search(_last_piece(text))
    if found is None:
        return Completion(len(text), ())
    start = len(text) - len(found["value"]) - (len(found["word"]) + 1 if found["word"] else 0)
    word = WORDS.get((found["word"] or "").lower())
    if found["word"]:
        return Completion(start, tuple(_values(project, word, found["value"].strip('"'))) if word else ())
    return Completion(start, tuple(_words(found["value"])))


def _last_piece(text: str) -> str:
    """What stands behind the last blank or bracket that is in no quotes."""
    start = max((place.end() for place in re.finditer(r'"[^"]*"?|[\s(]', text) if place[0][0] != '"'), default=0)
    return text[start:]


def _words(typed: str) -> Iterator[Suggestion]:
    if not typed.startswith('"'):
        names = [word for word in WORDS.values() if word.name.startswith(typed.lower())]
        yield from (Suggestion(f"{word.name}:", word.help, word.example) for word in names[: len(WORDS)])


def _values(project: Project, word: Word, typed: str) -> Iterator[Suggestion]:
    known = word.values if word.name not in VALUES else (*word.values, *VALUES[word.name](project, typed))
    fitting = [value for value in dict.fromkeys(known) if typed.lower() in value.lower()]
    for value in sorted(fitting, key=lambda one: not one.lower().startswith(typed.lower()))[:MOST]:
        yield Suggestion(
            f"{word.name}:{value if PLAIN.fullmatch(value) or value in word.values else quote(value)}", "", ""
        )


# --- Values of a project ---------------------------------------------------------------------------------------------


def _lanes(project: Project, typed: str) -> Iterable[str]:
    return Lane.objects.filter(project=project, name__icontains=typed).values_list("name", flat=True)[:MOST]


def _kinds(project: Project, _typed: str) -> Iterable[str]:
    pairs = Signature.objects.filter(project=project).values_list("family", "kind").distinct().order_by()
    return [one for pair in pairs[: 20 * MOST] for one in pair]


def _owners(project: Project, typed: str) -> Iterable[str]:
    people = Membership.objects.filter(project=project, user__username__icontains=typed).order_by("user__username")
    return people.values_list("user__username", flat=True)[:MOST]


def _tools(project: Project, _typed: str) -> Iterable[str]:
    return sorted(set(_lately(project).values_list("tool", flat=True).distinct()[: 4 * MOST]))


def _tests(project: Project, typed: str) -> Iterable[str]:
    found = _lately(project).filter(test__icontains=typed).exclude(test="")
    return found.values_list("test", flat=True).distinct().order_by("test")[:MOST]


def _lately(project: Project) -> QuerySet[Report]:
    latest = LaneOutcome.objects.filter(lane__project=project, reports__gt=0).order_by("-happened_at")
    return Report.objects.filter(log__part__outcome__in=latest.values("pk")[:LATEST_OUTCOMES]).order_by()


def _of_frames(column: str) -> Callable[[Project, str], Iterable[str]]:
    def values(project: Project, typed: str) -> Iterable[str]:
        named = Signature.objects.filter(~Q(**{column: ""}), project=project, **{f"{column}__icontains": typed})
        return named.order_by(column).values_list(column, flat=True).distinct()[:MOST]

    return values


def _ids(project: Project, typed: str) -> Iterable[str]:
    found = Signature.objects.filter(project=project, public_id__istartswith=typed).order_by("public_id")
    return found.values_list("public_id", flat=True)[:MOST]


VALUES: dict[str, Callable[[Project, str], Iterable[str]]] = {
    "lane": _lanes,
    "kind": _kinds,
    "tool": _tools,
    "owner": _owners,
    "test": _tests,
    "file": _of_frames("own_frame__file"),
    "function": _of_frames("own_frame__function"),
    "id": _ids,
}
