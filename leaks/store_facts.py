"""Facts, judgements and their lines as JSON and back. What the databases cannot hold is replaced here."""

from typing import Any, TypeVar

from pydantic import TypeAdapter

from leaks.rows.facts import Judgement, Line, LogFacts

_FACTS = TypeAdapter(LogFacts)
_JUDGEMENT = TypeAdapter(Judgement)

Number = TypeVar("Number", int, int | None)

LARGEST = 2**63 - 1  # of a big integer column
LARGEST_SMALL = 2**31 - 1  # of an integer column
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def facts_to_json(facts: LogFacts) -> dict[str, Any]:
    """Without the defaults: most logs say little, and the column is read with every judgement."""
    return _object(_FACTS.dump_python(facts, mode="json", exclude_defaults=True))


def facts_from_json(value: dict[str, Any]) -> LogFacts:
    return _FACTS.validate_python(value)


def judgement_to_json(judgement: Judgement) -> dict[str, Any]:
    return _object(_JUDGEMENT.dump_python(judgement, mode="json"))


def judgement_from_json(value: dict[str, Any]) -> Judgement:
    return _JUDGEMENT.validate_python(value)


def lines_to_json(lines: tuple[Line, ...]) -> list[dict[str, Any]]:
    return [{"log": line.log, "line": line.number, "text": storable(line.text)} for line in lines]


def storable(text: str | None, limit: int | None = None) -> str:
    """The text as both databases take it: PostgreSQL refuses NUL and what is longer than its column."""
    return (text or "").replace("\0", REPLACEMENT)[:limit]


def bounded(number: Number, largest: int = LARGEST) -> Number:
    """A number as its column takes it: a log may print any number of digits."""
    return None if number is None else max(0, min(number, largest))


def _object(value: Any) -> dict[str, Any]:
    return {key: _plain(inner) for key, inner in value.items()}


def _plain(value: Any) -> Any:
    """Every string in it made storable: a jsonb column refuses NUL as a text column does."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(key): _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value
