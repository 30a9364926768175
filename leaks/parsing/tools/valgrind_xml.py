"""Valgrind's XML (--xml=yes), protocol versions 4 to 6, as docs/internals/xml-output-protocol4.txt describes them.

Read as a stream of tags and not by an XML parser: such a file may be cut anywhere, hold lines of the program between its own, several
documents, or a body without its head (a forked child writes on behind the end of its parent's document), and any number of elements
may stand on one line. Only known tags count; entities are the five of XML and character references, and there are no others to expand.
"""

import re
from html import unescape

from leaks.parsing import valgrind_words as words
from leaks.parsing.blocks import Block
from leaks.parsing.valgrind_errors import Error
from leaks.parsing.valgrind_losses import Told
from leaks.parsing.valgrind_words import Leak
from leaks.rows.facts import SuppressionHit
from leaks.words import Role

TOOL = words.TOOL
NEEDLES = ("<valgrindoutput>", "<error>", "<fatal_signal>", "<suppcounts>", "<kind>")

TAG = re.compile(r"<(/?)([a-z_]{2,20})>")
STARTS = re.compile(
    rf"<valgrindoutput>|<error>|<fatal_signal>|<suppcounts>|<kind>(?:{'|'.join(words.XML_KINDS)})</kind>"
)
# The stacks that drd puts into elements of their own.
ROLES = {
    "allocation_context": Role.ALLOCATED,
    "other_segment_start": Role.OTHER,
    "other_segment_end": Role.OTHER,
    "first_observed_at": Role.OTHER,
    "confl_wait_call": Role.OTHER,
    "acquired_at": Role.ACCESS,
}
LEAVES = {
    *("pid", "kind", "what", "text", "auxwhat", "leakedbytes", "leakedblocks", "signame", "event", "count", "name"),
    *("ip", "obj", "fn", "dir", "file", "line"),
}
PARENTS = {
    *(
        "valgrindoutput",
        "error",
        "fatal_signal",
        "xwhat",
        "xauxwhat",
        "stack",
        "frame",
        "suppcounts",
        "errorcounts",
        "pair",
    ),
    *("announcethread", "trace", "preamble", "args", "status", "usercomment"),
}
KNOWN = LEAVES | PARENTS | ROLES.keys()
DEEPEST = 32
LONGEST_TEXT = 1 << 14
LONGEST_LEAF = 3  # lines
LONGEST_TAG = 24
MOST_SEEN = 10_000
SIGNALS = frozenset({"SIGSEGV", "SIGBUS", "SIGFPE"})


class Document(Told):
    """One process's document. `sure` once something in it is Valgrind's: `<error>` alone is a word of other formats too."""

    def __init__(self, number: int, headline: str) -> None:
        super().__init__(number, headline, None)
        self.leaks: list[Leak] = []
        self.hits: list[SuppressionHit] = []
        self.sure = False
        self.error: Error | None = None
        self._path: list[str] = []
        self._text: str | None = None  # of the leaf that is open
        self._since = number
        self._rest = ""  # the start of a tag that the next line ends
        self._pair: dict[str, str] = {}
        self._seen: set[tuple[str, ...]] = set()

    @property
    def process(self) -> object:
        return ("xml", self.line)

    @property
    def has_end(self) -> bool:  # type: ignore[override]
        return self.sure

    def expects(self, frame_number: int) -> bool:  # noqa: ARG002  blocks share one form
        return False

    def take(self, number: int, text: str) -> bool:
        """A line without a tag is left to others, though it may be the rest of a sentence."""
        if self._text is not None and number > self._since + LONGEST_LEAF:
            self._text = None
        data, self._rest = self._rest + text, ""
        taken = self._tags(number, data)
        if taken:
            self.last = number if self.sure else number - 2  # a word of another format is no report that could be cut
        return taken

    def _tags(self, number: int, data: str) -> bool:
        at, taken = 0, False
        for tag in TAG.finditer(data):
            if tag[2] not in KNOWN:
                continue
            self._write(data[at : tag.start()])
            at, taken = tag.end(), True
            if tag[1]:
                self._ends(number, tag[2])
            else:
                self._begins(number, tag[2])
        cut = data.rfind("<", max(at, len(data) - LONGEST_TAG))
        if cut >= at and ">" not in data[cut:] and (taken or self.error):
            self._rest = data[cut:]
        self._write(data[at : len(data) - len(self._rest)] + "\n")
        return taken

    def _write(self, text: str) -> None:
        if self._text is not None and len(self._text) < LONGEST_TEXT:
            self._text += text[:LONGEST_TEXT]

    def _begins(self, number: int, name: str) -> None:
        if name in ("error", "fatal_signal"):
            self._finish(truncated=True)
            self._path.clear()
            self.error = Error(number)
            self.done = False  # on one line with the end of the document before
        elif name == "valgrindoutput":
            self.sure, self.done, self.pid = True, False, None
        elif self.error and name == "stack":
            self.error.begin_stack(next((ROLES[part] for part in self._path if part in ROLES), None))
        elif self.error and name == "frame":
            self.error.frame = {}
        elif name == "kind" and self.error is None:  # the head of the file is cut off
            self.error = Error(number)
        if len(self._path) < DEEPEST:
            self._path.append(name)
        self._text = "" if name in LEAVES else None
        self._since = number

    def _ends(self, number: int, name: str) -> None:
        if self._text is not None and self._path and self._path[-1] == name:
            self._leaf(number, name, unescape(self._text).strip())
        self._text = None
        if name in self._path:
            del self._path[len(self._path) - 1 - self._path[::-1].index(name) :]
        if name in ("error", "fatal_signal"):
            self._finish(truncated=False)
        elif name == "frame" and self.error:
            self.error.end_frame()
        elif name == "pair" and "suppcounts" in self._path:
            self._count(number)
        elif name == "valgrindoutput":
            self._complete()

    def _leaf(self, number: int, name: str, text: str) -> None:
        if self.error is None:
            self._outside(name, text)
        elif self.error.frame is not None:
            self.error.frame[name] = text
        elif name in ("what", "text", "auxwhat", "event"):
            self.error.says(number, text)
        elif name == "kind":
            self.error.kind, self.sure = text, True
        elif name == "signame":
            self.error.signal, self.sure = text, True
        elif name in ("leakedbytes", "leakedblocks") and text.isascii() and text.isdigit():
            setattr(self.error, name.removeprefix("leaked"), int(text[:18]))

    def _outside(self, name: str, text: str) -> None:
        if name == "pid" and text.isascii() and text.isdigit() and self.pid is None:
            self.pid = int(text[:10])
        elif "pair" in self._path:
            self._pair[name] = text

    def _count(self, number: int) -> None:
        count = self._pair.get("count", "")
        name = self._pair.get("name")
        if count.isascii() and count.isdigit() and name and not words.BUILT_IN.match(name):
            self.hits.append(SuppressionHit(int(count[:18]), 0, name, number))
        self._pair = {}

    def _finish(self, *, truncated: bool) -> None:
        error, self.error = self.error, None
        if error is None or not (error.kind or error.signal):
            self.done = self.done or (error is not None and not self.sure)
            return
        if truncated:
            error.end_frame()
        texts = tuple(frame.text for frame in error.primary.frames) if error.primary else ()
        if not error.signal or self._is_new(error, texts, truncated=truncated):
            self.ready.append(error.report(self.pid, truncated=truncated))
        if error.leak:
            self.leaks.append(error.leak)
        if len(self._seen) < MOST_SEEN:
            self._seen.add(texts)

    def _is_new(self, signal: Error, texts: tuple[str, ...], *, truncated: bool) -> bool:
        """Whether the program died of something that no error told of. A signal that was raised has no cause."""
        told = texts in self._seen or (truncated and bool(self._seen))
        return signal.signal in SIGNALS and bool(signal.sentence and texts) and not told

    def _complete(self) -> None:
        self._finish(truncated=True)
        self.done = self.ended = True

    def close(self) -> None:
        if not self.done:
            self._finish(truncated=True)
            self.done = True


def opens(number: int, text: str) -> Block | None:
    if not STARTS.search(text):
        return None
    block = Document(number, text.strip()[:LONGEST_TAG])
    block.take(number, text)
    return block
