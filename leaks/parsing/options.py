"""The sanitizer options that a log shows: assignments, traces of the shell, and the CI's block of environment variables.

A hint in a report names options too ("try setting environment variable LSAN_OPTIONS=verbosity=1"), so a name counts only
where a shell, or a list of variables, could have put it.
"""

import re
from collections.abc import Mapping
from itertools import islice

NEEDLES = ("SAN_OPTIONS",)

NAME = re.compile(r"(?<![A-Za-z0-9_$])([A-Z]{1,4}SAN_OPTIONS)(=|: )")
# What may stand between the start of a command and the assignment.
SKIPPED = re.compile(r"(?:export|env|set|declare|sudo|exec|nohup|time|ENV|-[xiE]|[A-Za-z_][A-Za-z0-9_]*=.*)$")
# After these a new command, or the variable of a container, begins.
OPENERS = frozenset(
    {
        "&&",
        "||",
        ";",
        "|",
        "(",
        "{",
        "then",
        "do",
        "else",
        "env",
        "export",
        "-e",
        "--env",
        "-x",
        "-c",
        "--",
        "ENVIRONMENT",
    }
)
TRACE = re.compile(r"(?:\++|[$>#%]|--|-|PS[^>]*>)$")
QUOTED = re.compile(r"\$?(['\"])")
# A list that is not quoted can be cut at blanks; what goes on must look like an option, not like a variable or a command.
MORE = re.compile(r"(?:[ \t]+[a-z][a-z0-9_]*=[^\s'\"]*)*")
OPTION = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(?:\"([^\"]*)\"|'([^']*)'|([^:,\s]*))")
LONGEST = 4000
MOST_NAMES = 200
MOST_PER_LINE = 20


class Reader:
    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self._options: dict[str, dict[str, str]] = {}
        for name, value in (env or {}).items():
            if NAME.match(f"{name}="):
                self._add(name, value)

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:  # noqa: ARG002  the readers share one form
        text = text[:LONGEST]
        for found in islice(NAME.finditer(text), MOST_PER_LINE):
            before, after = text[: found.start()], text[found.end() :]
            if found[2] == "=" and _is_command(before):
                self._add(found[1], _value(before[-1:], after, alone=not before.strip()))
            elif found[2] == ": " and before.strip() in {"", "--", "-"}:
                self._add(found[1], _unquoted(after.strip()))

    def finish(self) -> dict[str, dict[str, str]]:
        return self._options

    def _add(self, name: str, value: str) -> None:
        options = self._options.setdefault(name, {})
        for option, value_ in parse(value).items():
            if option in options or len(options) < MOST_NAMES:
                options[option] = value_


def parse(value: str) -> dict[str, str]:
    """One list of options as the runtimes read it: `:`, `,` and blanks separate, quotes protect, the later one wins."""
    return {
        found[1]: next((group for group in found.groups()[1:] if group is not None), "")
        for found in OPTION.finditer(value)
    }


def _is_command(before: str) -> bool:
    """Whether a shell would read what follows `before` as an assignment."""
    tokens = before.split()
    # Something glued to the name may only be a quote, a bracket or PowerShell's word for a variable.
    if tokens and not before[-1].isspace() and tokens.pop().removeprefix("$env:").strip("\"'(`"):
        return False
    return _opens(tokens)


def _opens(tokens: list[str]) -> bool:
    for token in reversed(tokens):
        if token in OPENERS or token.endswith((";", "&&", "(")):
            return True
        if not SKIPPED.match(token):
            return token is tokens[0] and TRACE.match(token) is not None
    return True


def _value(glued: str, after: str, *, alone: bool) -> str:
    if glued in {"'", '"'}:  # the whole assignment is quoted
        return after.partition(glued)[0]
    quote = QUOTED.match(after)
    if quote:
        return after[quote.end() :].partition(quote[1])[0]
    first = re.match(r"[^\s;&|)`]*", after)
    value = first[0] if first else ""
    more = MORE.match(after, len(value)) if alone else None
    return value.rstrip("\"'") + (more[0] if more else "")


def _unquoted(text: str) -> str:
    quote = QUOTED.match(text)
    return text[quote.end() :].partition(quote[1])[0] if quote else text
