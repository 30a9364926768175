"""UndefinedBehaviorSanitizer: one line each, `FILE:LINE:COL: runtime error: SENTENCE`, and perhaps a stack.

Upstream rule: the check is never named, so it is told from the sentence; every row of the table has a sample of what it was read from.
A deadly signal gives a second report in AddressSanitizer's layout.
"""

import re

from leaks.evidence import Frame, Report
from leaks.parsing.blocks import Block, LostReport, StackedBlock

TOOL = "ubsan"
SEPARATOR = " runtime error: "
MINIMAL_RUNTIME = "ubsan: "
NEEDLES = (SEPARATOR, "UndefinedBehaviorSanitizer: ", "Sanitizer: undefined-behavior ", MINIMAL_RUNTIME)

PLACE = re.compile(r":(\d{1,9})(?::(\d{1,9}))?:$")
IN_MODULE = re.compile(r"\(([^()\s]{1,500})\+(0x[0-9a-f]+)\)(?: \(BuildId: [0-9a-f]+\))?:$")
ROOTED = re.compile(r"(?:/|[A-Za-z]:[\\/])")
NOT_C = re.compile(r"\.(?:go|rs|py|rb|js|ts|java|kt|cs|php|lua|zig|swift)$")
SIGNAL = re.compile(r"==(\d{1,10})==\s?ERROR: UndefinedBehaviorSanitizer: ([A-Za-z][A-Za-z-]{2,40})\b ?(.*)$")
# A blank behind the word: a log may end in the middle of it. Up to clang 8 the tool that it was linked in with gave its name.
SUMMARY = re.compile(r"SUMMARY: (?:UndefinedBehaviorSanitizer|\w{1,40}Sanitizer(?=: undefined-behavior )): (\S+) ")
CHECK_NAME = re.compile(r"[a-z]+(?:-[a-z]+)*")
# Told by no sentence; the other names differ from the flags (`null-pointer-use` for `null`), and the sentence tells those.
TOLD_BY_NAME = frozenset({"float-divide-by-zero"})
NOWHERE = "<unknown>:"
# -fsanitize-minimal-runtime prints the name of the handler and, since clang 17, who called it.
MINIMAL = re.compile(r"ubsan: ([a-z]+(?:-[a-z]+)+)(?: by 0x[0-9a-f]+)?\s*$")
ABORTING = re.compile(r"==(\d{1,10})==\s?ABORTING")
NOTE = re.compile(r"[^\s]{1,400}: note: |\s*(?:[0-9a-f]{2} +){4,}|\s+\^[\s^~]*$")
SIGNAL_LINES = re.compile(r"==\d+==(?:Register values|HINT|The signal)|The signal is caused by")
UNKNOWN = "unrecognised"
SOON = 40  # a stack follows its line at once; symbolizer noise may stand between
AFTER_STACK = 2  # lines: a blank one and the SUMMARY

# (what the sentence begins with, the check, a sample of it)
ROWS = (
    (r"unsigned integer overflow", "unsigned-integer-overflow", "unsigned integer overflow: 0 - 1 cannot be represented in type 'unsigned int'"),
    (r"signed integer overflow", "signed-integer-overflow", "signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'"),
    (r"negation of .* type '(?:unsigned|u?size_t|uint)", "unsigned-integer-overflow", "negation of 1 cannot be represented in type 'unsigned int'"),
    (r"negation of ", "signed-integer-overflow", "negation of -2147483648 cannot be represented in type 'int'; cast to an unsigned type"),
    (r"division of .* by -1 ", "signed-integer-overflow", "division of -2147483648 by -1 cannot be represented in type 'int'"),
    (r"division by zero", "integer-divide-by-zero", "division by zero"),
    (r"shift exponent ", "shift-exponent", "shift exponent 40 is too large for 32-bit type 'int'"),
    (r"left shift of ", "shift-base", "left shift of negative value -1"),
    (r"index .* out of bounds", "bounds", "index 5 out of bounds for type 'int [4]'"),
    (r"applying (?:non-)?zero offset", "pointer-overflow", "applying non-zero offset 4 to null pointer"),
    (r"pointer index expression", "pointer-overflow", "pointer index expression with base 0x000000000000 overflowed to 0xffffffffffff"),
    (r"(?:addition|subtraction) of unsigned offset", "pointer-overflow", "addition of unsigned offset to 0x6020 overflowed to 0x6018"),
    (r"null pointer passed as argument", "nonnull-attribute", "null pointer passed as argument 1, which is declared to never be null"),
    (r"null pointer returned from function", "returns-nonnull-attribute", "null pointer returned from function declared to never return null"),
    (r"_Nonnull binding to null", "nullability-assign", "_Nonnull binding to null pointer of type 'int *'"),
    (r"\D{4,40} null pointer", "null", "member access within null pointer of type 'const struct View'"),
    (r".* misaligned address", "alignment", "load of misaligned address 0x602000000011 for type 'int', which requires 4 byte alignment"),
    (r"assumption of .* byte alignment", "alignment", "assumption of 16 byte alignment for pointer of type 'int *' failed"),
    (r".* insufficient space", "object-size", "load of address 0x7ffd with insufficient space for an object of type 'int'"),
    (r"load of value .* valid value for type '[a-z ]*(?:_B|b)ool'", "bool", "load of value 7, which is not a valid value for type 'bool'"),
    (r"load of value .* not a valid value for type '[^']+'", "enum", "load of value 9, which is not a valid value for type 'Colour'"),
    (r".* outside the range of representable values", "float-cast-overflow", "1e+30 is outside the range of representable values of type 'int'"),
    (r".* does not point to an object of type", "vptr", "member call on address 0x6020 which does not point to an object of type 'Base'"),
    (r"implicit conversion ", "implicit-conversion", "implicit conversion from type 'int' of value 300 (32-bit, signed) to type 'unsigned char'"),
    (r"variable length array bound", "vla-bound", "variable length array bound evaluates to non-positive value -1"),
    (r".* through pointer to incorrect function type", "function", "call to function f() through pointer to incorrect function type 'int (*)(int)'"),
    (r"execution reached the end of a value-returning", "return", "execution reached the end of a value-returning function without a value"),
    (r"execution reached an unreachable program point", "unreachable", "execution reached an unreachable program point"),
    (r"passing zero to ", "builtin", "passing zero to __builtin_clz(), which is not a valid argument"),
    (r"assumption is violated", "builtin", "assumption is violated during execution"),
    (r"control flow integrity check", "cfi", "control flow integrity check for type 'Base' failed during virtual call"),
)  # fmt: skip
CHECKS = tuple((re.compile(pattern), check) for pattern, check, _ in ROWS)


def check_of(sentence: str) -> str:
    return next((check for pattern, check in CHECKS if pattern.match(sentence)), UNKNOWN)


class Misbehaviour(StackedBlock):
    """One line that says what is undefined, and the stack behind it if one is printed."""

    patience = SOON
    has_end = False

    def __init__(self, number: int, headline: str, place: Frame | None, sentence: str) -> None:
        super().__init__(number, headline, None)
        self.place = place
        self.sentence = sentence
        self.check = check_of(sentence)

    def expects(self, frame_number: int) -> bool:
        return super().expects(frame_number) and not self.ended

    def welcomes(self) -> bool:
        return False

    def take(self, number: int, text: str) -> bool:
        if not text or text.isspace():
            self._blank()
            return False
        if SEPARATOR in text and (self.ended or not self.stacks[0].size):
            self.close()
            return False
        if NOTE.match(text):
            self.last = number
            return True
        match = SUMMARY.search(text)
        return match is not None and self._summary(match[1])

    def _blank(self) -> None:
        if self.stacks[0].size:
            self.ended = True
            self.patience = AFTER_STACK

    def _summary(self, name: str) -> bool:
        """It names the check with report_error_type=1 alone; in capitals it is a signal's."""
        if not CHECK_NAME.fullmatch(name):
            return False
        if name in TOLD_BY_NAME or (self.check == UNKNOWN and name != "undefined-behavior"):
            self.check = name
        self.ended = True
        self.close()
        return True

    def close(self) -> None:
        if self.done:
            return
        self.done = True
        self.ready.append(
            Report(
                tool=TOOL,
                kind=f"undefined-behavior:{self.check}",
                line=self.line,
                headline=self.headline,
                frames=self.frames,
                place=self.place,
                detail=self.sentence,
            )
        )


class Signal(StackedBlock):
    """A deadly signal in a program with this runtime."""

    def __init__(self, number: int, headline: str, pid: int, kind: str, detail: str) -> None:
        super().__init__(number, headline, pid)
        self.kind = kind
        self.detail = detail

    def take(self, number: int, text: str) -> bool:
        summary, aborting = SUMMARY.search(text), ABORTING.search(text)
        self.ended = bool((summary and summary[1] == self.kind) or (aborting and int(aborting[1]) == self.pid))
        if not self.ended and not SIGNAL_LINES.match(text):
            return False
        self.last = number
        if self.ended:
            self.close()
        return True

    def close(self) -> None:
        if self.done:
            return
        self.done = True
        self.ready.append(
            Report(
                tool=TOOL,
                kind=self.kind,
                line=self.line,
                headline=self.headline,
                frames=self.frames,
                stacks=self.other_stacks,
                pid=self.pid,
                truncated=not self.ended,
                detail=self.detail,
            )
        )


def opens(number: int, text: str) -> Block | None:
    at = text.find(SEPARATOR)
    if at > 0:
        return _misbehaviour(number, text, at)
    if match := SIGNAL.search(text):
        return Signal(number, match[0].rstrip(), int(match[1]), match[2], match[3].rstrip())
    if match := MINIMAL.match(text):
        return _closed(Misbehaviour(number, match[0].strip(), None, match[1]), match[1])
    match = SUMMARY.search(text)
    if match and CHECK_NAME.fullmatch(match[1]):
        return LostReport(number, match[0])
    return None


def _misbehaviour(number: int, text: str, at: int) -> Block | None:
    sentence = text[at + len(SEPARATOR) :].strip()
    place = _place(text[:at])
    if place:
        return Misbehaviour(number, f"{place.text}:{text[at:].rstrip()}", place, sentence)
    if text[:at].endswith(NOWHERE) and check_of(sentence) != UNKNOWN:
        return Misbehaviour(number, f"{NOWHERE}{text[at:].rstrip()}", None, sentence)
    return None


def _closed(block: Block, check: str = "") -> Block:
    if isinstance(block, Misbehaviour):
        block.check = check
    block.close()
    return block


def _place(left: str) -> Frame | None:
    """The place in front of the sentence. Without one it is another language's error."""
    match = PLACE.search(left, max(0, len(left) - 30))
    if match is None:
        module = IN_MODULE.search(left, max(0, len(left) - 700))
        return Frame(module[0][:-1], module=module[1], offset=module[2]) if module else None
    path = left[: match.start()]
    file = path if ROOTED.match(path) else path[max(path.rfind(" "), path.rfind("\t")) + 1 :]
    if not file or NOT_C.search(file):
        return None
    column = int(match[2]) if match[2] else None
    text = f"{file}{match[0][:-1]}"
    return Frame(text, file=file, line=int(match[1]), column=column)
