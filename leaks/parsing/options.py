"""The sanitizer options that a log shows: assignments, traces of the shell, and the CI's block of environment variables.

A hint in a report names options too ("try setting environment variable LSAN_OPTIONS=verbosity=1"), so a name counts only
where a shell, or a list of variables, could have put it. Valgrind and compute-sanitizer get their options on the command line;
they are kept under `VALGRIND_OPTS` and `compute-sanitizer`.
"""

import re
from collections.abc import Mapping
from itertools import islice

NEEDLES = ("SAN_OPTIONS", "GORACE", "VALGRIND_OPTS", "valgrind -", 'valgrind" ', 'valgrind "', "compute-sanitizer ")

NAME = re.compile(r"(?<![A-Za-z0-9_$])([A-Z]{1,4}SAN_OPTIONS|GORACE|VALGRIND_OPTS)(=|: )")
UNSET = re.compile(r"(?:\++ |[$>#%] )?\s{0,20}unset (?:-v )?([A-Z]{1,4}SAN_OPTIONS|GORACE|VALGRIND_OPTS)\b")
# Runs no test, so what is set for it alone says nothing about one.
BUILDER = re.compile(
    r"\s{1,20}(?:\S{0,100}/)?(?:cmake (?!-E)|configure\b|autogen\.sh\b|autoreconf\b|pip3? install\b|conan install\b)"
)
# A program that takes its options on the command line, and where they are kept.
PROGRAMS = {"valgrind": "VALGRIND_OPTS", "compute-sanitizer": "compute-sanitizer"}
CALL = re.compile(r"(?:^|[\s/\"'=])(valgrind|compute-sanitizer)[\"']?(?=\s)")
SWITCH = re.compile(r"--([a-z][a-z-]{1,40})(?:=(.{0,300}))?$")
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
MOST_SWITCHES = 60


class Reader:
    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self._options: dict[str, dict[str, str]] = {}
        for name, value in (env or {}).items():
            if NAME.match(f"{name}="):
                self._add(name, value)

    def line(self, number: int, text: str, key: tuple[str, ...]) -> None:  # noqa: ARG002  the readers share one form
        text = text[:LONGEST]
        if unset := UNSET.match(text):
            self._options.pop(unset[1], None)
            return
        if called := CALL.search(text):
            self._called(PROGRAMS[called[1]], text[: called.start()], text[called.end() :])
        for found in islice(NAME.finditer(text), MOST_PER_LINE):
            before, after = text[: found.start()], text[found.end() :]
            if found[2] == "=" and _is_command(before):
                value = _value(before[-1:], after, alone=not before.strip())
                if not BUILDER.match(after, len(value)):
                    self._add(found[1], value)
            elif found[2] == ": " and before.strip() in {"", "--", "-"}:
                self._add(found[1], _unquoted(after.strip()))

    def finish(self) -> dict[str, dict[str, str]]:
        return self._options

    def _called(self, name: str, before: str, after: str) -> None:
        tokens = before.rpartition(" ")[0].split()  # without the path to the program
        if not tokens or tokens[-1].endswith("command:") or _opens(tokens):
            self._keep(name, _switches(after, spaced=name != "VALGRIND_OPTS"))

    def _add(self, name: str, value: str) -> None:
        self._keep(name, _switches(value, spaced=False) if name in PROGRAMS.values() else parse(value))

    def _keep(self, name: str, found: Mapping[str, str]) -> None:
        options = self._options.setdefault(name, {})
        for option, value in found.items():
            if option in options or len(options) < MOST_NAMES:
                options[option] = value


def parse(value: str) -> dict[str, str]:
    """One list of options as the runtimes read it: `:`, `,` and blanks separate, quotes protect, the later one wins."""
    return {
        found[1]: next((group for group in found.groups()[1:] if group is not None), "")
        for found in OPTION.finditer(value)
    }


def _switches(text: str, *, spaced: bool) -> dict[str, str]:
    """`--name=value` and, if `spaced`, `--name value`, up to the tested program: what comes behind it is the program's own."""
    found: dict[str, str] = {}
    name = ""
    for token in islice(text.replace('"', " ").replace("'", " ").split(), MOST_SWITCHES):
        if switch := SWITCH.match(token):
            name = switch[1] if spaced and switch[2] is None else ""
            found[switch[1]] = switch[2] or ""
        elif name:
            found[name], name = token, ""
        elif not token.startswith("-"):
            break
    return found


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
