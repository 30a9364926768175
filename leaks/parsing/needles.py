"""Many plain words looked for in one pass: which lines hold a word of whom, and which words a line holds.

Most lines of a log concern nobody, so this pass is what reading them costs. The automaton of Aho and Corasick looks at each byte
once, however many words there are; a search per word, or an alternation of a regular expression, was measured several times slower.
"""

from collections.abc import Iterable, Sequence
from functools import cache, reduce
from operator import or_

from ahocorasick_rs import AhoCorasick, BytesAhoCorasick, Implementation

Wanted = tuple[int, int, int]  # where a line starts and ends, and one bit for each of those whom it concerns
LINE_END = ord("\n")
BEHIND = 1 << 60  # where nothing stands


@cache
def _automaton(words: tuple[str, ...]) -> BytesAhoCorasick:
    """Milliseconds of work, once in a process."""
    return BytesAhoCorasick([word.encode() for word in words], implementation=Implementation.DFA)


class Needles:
    """The words of several listeners; bit N of an answer stands for the listener at place N."""

    def __init__(self, listeners: Iterable[Sequence[str]]) -> None:
        who: dict[str, int] = {}
        for place, words in enumerate(listeners):
            for word in words:
                who[word] = who.get(word, 0) | 1 << place
        self._find = _automaton(tuple(who)).find_matches_as_indexes
        self._who = list(who.values())

    def lines(self, data: bytes) -> "Lines":
        """The lines of `data` that hold a word."""
        return Lines(data, self._find(data, overlapping=True), self._who)


class Lines:
    """The lines that hold a word, in their order. Words within words, and such as overlap, all count."""

    __slots__ = ("_alike", "_data", "_hits", "_who", "_words", "first", "turn", "word")

    def __init__(self, data: bytes, hits: list[tuple[int, int, int]], who: list[int]) -> None:
        self._data = data
        hits.append((-1, BEHIND, 0))
        self._hits = (
            hits  # number of the word, where it starts, where it ends; behind the last one a hit behind everything
        )
        self._words = [word for word, _, _ in hits]  # to compare many of them at once
        self._who = who
        self._alike: tuple[int, int, list[int]] = (0, 0, [])  # from which hit to which these words follow each other
        self.first = 0  # the first hit of the line that was found last
        self.word = -1  # the number of its word
        self.turn = 0  # the next hit

    def next(self, at: int) -> Wanted | None:
        """The next one, from the line on that starts at `at`."""
        hits, turn, of, data = self._hits, self.turn, self._who, self._data
        while hits[turn][1] < at:
            turn += 1
        found = hits[turn][1]
        if found == BEHIND:
            return None
        end = data.find(b"\n", found)
        if end < 0:
            end = len(data)
        self.first, self.word = turn, hits[turn][0]
        who = 0
        while hits[turn][1] < end:
            who |= of[hits[turn][0]]
            turn += 1
        self.turn = turn
        return data.rfind(b"\n", at, found) + 1 or at, end, who

    def alike(self, words: list[int], most: int, *, at_start: bool) -> tuple[int, int]:
        """How far these words follow each other again and again from the line that was found last on, and how often.

        `at_start`: the first of them begins its line, so behind a prefix it ends what is alike.
        """
        first, size, found, hits, data = self.first, len(words), self._words, self._hits, self._data
        start, turn, known = self._alike
        if known is not words or not start <= first < turn or (first - start) % size:
            turn = first
            last = turn + most * size
            while turn < last and found[turn : turn + size] == words:
                if at_start and data[hits[turn][1] - 1] != LINE_END and hits[turn][1]:
                    break
                turn += size
            self._alike = first, turn, words
        return hits[turn][1] if turn > first else 0, (turn - first) // size

    @property
    def first_place(self) -> int:
        """Where the first word stands."""
        return self._hits[0][1]

    def between(self, first: int, end: int) -> tuple[list[int], int]:
        """The words from the hit `first` up to `end`, and one bit for each of those whom they concern."""
        hits, turn = self._hits, first
        while hits[turn][1] < end:
            turn += 1
        words = self._words[first:turn]
        return words, reduce(or_, [self._who[word] for word in words], 0)

    def follow(self, words: list[int], end: int) -> bool:
        """Whether these words, and no others, stand from the line that was found last up to `end`. If so, they are passed by."""
        hits, first = self._hits, self.first
        last = first + len(words)
        if self._words[first:last] != words or not hits[last - 1][1] < end <= hits[last][1]:
            return False
        self.turn = last
        return True

    def before(self, end: int, at: int, mask: int) -> tuple[list[Wanted], int]:
        """Those from `at` up to `end` that concern somebody in `mask`, and which hit is the next behind them."""
        hits, turn, of = self._hits, self.turn, self._who
        found: dict[tuple[int, int], int] = {}
        while True:
            word, place, _ = hits[turn]
            if place >= end:
                break
            turn += 1
            who = of[word] & mask
            if who and place >= at:
                line = self._data.rfind(b"\n", at, place) + 1 or at, self._data.find(b"\n", place)
                found[line] = found.get(line, 0) | who
        return [(start, stop, who) for (start, stop), who in found.items()], turn


class Rows:
    """The rows of a table, each with a word without which it says nothing of a line. Rows may share one."""

    def __init__(self, words: Sequence[str]) -> None:
        self._find = AhoCorasick(words).find_matches_as_indexes

    def of(self, text: str) -> Sequence[int]:
        """The places of the rows whose word stands in the line, in the order of the table."""
        found = self._find(text, overlapping=True)
        return sorted({place for place, _, _ in found}) if found else ()


class AnyOf:
    """Whether some text holds any of the words: asked before a search that costs more."""

    def __init__(self, words: Sequence[str]) -> None:
        self._find = BytesAhoCorasick([word.encode() for word in words]).find_matches_as_indexes

    def stand_in(self, text: bytes) -> bool:
        return bool(self._find(text))
