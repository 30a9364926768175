"""Suppression files out of a seed: patterns cut from what a program's reports really say, whole, spoiled and foreign."""

import random
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from leaks.evidence import Frame, Report
from leaks.rule_patterns import compiled
from leaks.rule_sets import Ready, could_name_module
from leaks.rules import Rule
from leaks.symbols import stacks_of

ALONE = 5  # one rule in so many stands alone in its file,
SELDOM_ALONE = 25  # and where each file costs a run of its own, fewer
FILE_SIZES = (5, 50)
FOREIGN = (
    "libfontconfig", "g_type_init", "XtAppInitialize", "cuInit", "*", "", "^", "$", "^$", "*$", "a", "_", "e*e", "::", "operator", "main",
    "^main$", "pool", "engine", "site_", "in_", "new", "malloc", "^malloc", "interceptor", "__libc_start", "/src/", ".cpp", ".cpp$", "lib",
    "^/", "(int)", "<int>", "char", "third_party/", "engine/*.cpp", "^engine::", "anonymous", "lambda", "const$", "leaky_tests", "vendor",
    "libvendor.so", "libvendor.so$", "nptl", "libc", "phase_*", "^phase_1", "child_", "Of_*::", "int main", "a$b", "x*^y", "foo # comment",
)  # fmt: skip


class Maker:
    """Patterns for the frames of some reports."""

    def __init__(self, reports: Iterable[Report], seed: int, extra: Sequence[str] = ()) -> None:
        self.random = random.Random(seed)
        frames = {frame for report in reports for stack in stacks_of(report) for frame in stack}
        self.texts = sorted({text for frame in frames for text in texts_of(frame)} | set(extra))
        self._ways: tuple[Callable[[str], str], ...] = (
            self._whole, self._piece, self._piece, self._word, self._anchored, self._starred, self._starred, self._ended, self._spoiled,
        )  # fmt: skip

    def pattern(self) -> str:
        if self.random.random() < 0.12:
            return self.random.choice(FOREIGN)
        return self.random.choice(self._ways)(self.random.choice(self.texts))

    def _whole(self, text: str) -> str:
        return text

    def _piece(self, text: str) -> str:
        start = self.random.randrange(len(text))
        return text[start : start + self.random.randint(2, 14)]

    def _word(self, text: str) -> str:
        return self.random.choice(
            [word for word in text.replace(":", " ").replace("(", " ").replace("/", " ").split() if word] or [text]
        )

    def _anchored(self, text: str) -> str:
        return "^" + (text[: self.random.randint(1, len(text))] if self.random.random() < 0.7 else self._piece(text))

    def _ended(self, text: str) -> str:
        return text[self.random.randrange(len(text)) :] + "$"

    def _starred(self, text: str) -> str:
        """Pieces in their order with a `*` between them."""
        cuts = sorted(self.random.sample(range(len(text) + 1), min(4, len(text) + 1)))
        pieces = [text[a:b] for a, b in pairwise(cuts)]
        edge = self.random.choice
        return edge(["", "^", "*"]) + "*".join(pieces[::2]) + edge(["", "", "*", "$"])

    def _spoiled(self, text: str) -> str:
        piece = list(self._piece(text))
        piece[self.random.randrange(len(piece))] = self.random.choice("xyz_:*")
        return "".join(piece)


def texts_of(frame: Frame) -> list[str]:
    return [text for text in (frame.function, frame.file, frame.module) if text]


def files(count: int, chooser: random.Random, rule: Callable[[], str], alone: int) -> list[list[str]]:
    """`count` rules, one in `alone` of them alone in a file, the rest in files of 5 to 50."""
    found = [[rule()] for _ in range(count // alone)]
    left = count - len(found)
    while left > 0:
        size = min(chooser.randint(*FILE_SIZES), left)
        found.append([rule() for _ in range(size)])
        left -= size
    return found


def lines(maker: Maker, types: Sequence[str], modules: Sequence[str], count: int, alone: int) -> list[str]:
    """Files of lines `type:pattern`. Two of three hold only patterns that no module could match: there all is certain, and every hit
    is counted."""
    sizes = [len(one) for one in files(count, maker.random, str, alone)]
    return [
        "".join(f"{_line(maker, types, modules if number % 3 else ())}\n" for _ in range(size))
        for number, size in enumerate(sizes)
    ]


def _line(maker: Maker, types: Sequence[str], modules: Sequence[str]) -> str:
    """A pattern is as the runtime will read it: without blanks at its ends."""
    while True:
        pattern = maker.pattern().strip()
        rule = Rule("", (pattern,), "")
        if not modules or not could_name_module(Ready(rule, pattern, compiled(pattern)), modules):
            return f"{maker.random.choice(types)}:{pattern}"


# --- Valgrind --------------------------------------------------------------------------------------------------------

KINDS = ("definite", "indirect", "possible", "reachable")


def blocks(maker: Maker, proposed: Sequence[str]) -> Callable[[], str]:
    """Blocks as --gen-suppressions proposes them, and changed ones."""
    number = iter(range(1_000_000))

    def rule() -> str:
        lines = maker.random.choice(proposed).split("\n")
        kind = lines[2].strip()
        extra = [line for line in lines[3:-1] if ":" not in line or "match-leak-kinds" in line]
        extra = [line for line in extra if line.strip() != "..."]
        frames = [line.strip() for line in lines[3:-1] if line not in extra]
        frames = [_frame(maker, frame) for frame in frames[: maker.random.randint(1, len(frames))]]
        if maker.random.random() < 0.5:
            frames.insert(maker.random.randrange(len(frames) + 1), "...")
        if maker.random.random() < 0.3 and len(frames) > 2:
            del frames[maker.random.randrange(len(frames) - 1)]
        if all(frame == "..." for frame in frames):
            frames.append("fun:*")
        if kind == "Memcheck:Leak":
            extra = _kinds(maker.random, needed=frames[0].startswith("src:"))
        return "\n".join(
            ["{", f"   rule-{next(number)}", f"   {kind}", *extra, *(f"   {frame}" for frame in frames), "}"]
        )

    return rule


def _kinds(chooser: random.Random, *, needed: bool) -> list[str]:
    """Older Valgrinds refuse a `src:` right behind `Leak`."""
    chosen = chooser.sample(KINDS, chooser.randint(1, 4))
    return [] if chooser.random() < 0.4 and not needed else [f"   match-leak-kinds: {','.join(chosen)}"]


def _frame(maker: Maker, frame: str) -> str:
    sort, _, name = frame.partition(":")
    chance = maker.random.random()
    if chance < 0.4 or not name:
        return frame
    if chance < 0.5:
        return f"{sort}:*"
    if chance < 0.6:
        return maker.random.choice(
            [
                "obj:*",
                "obj:*/leaky_tests",
                "obj:*libc*",
                "obj:*libvendor.so",
                "src:pool.cpp",
                "src:*.cpp",
                "src:main.cpp",
            ]
        )
    at = maker.random.randrange(len(name))
    wild = maker.random.choice(["*", "?", "*", "x"])
    return f"{sort}:{name[:at]}{wild}{name[at + maker.random.choice([0, 1, 1, 3]) :]}"
