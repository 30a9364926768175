"""A suppression file looked at before its lines are taken over: what its runtime would refuse, what each line would have hidden."""

import codecs
from collections.abc import Iterable, Sequence

from django.db.models import Sum

from leaks.errors import BadSubmission
from leaks.ledger_words import SuppressionState, SuppressionTool
from leaks.models import Project, Suppression, SuppressionUse
from leaks.queries.reach import reach_of
from leaks.queries.suppressions import is_withdrawn
from leaks.queries.suppressions_uses import templates_of
from leaks.review_rules import refusal, tidy, warnings
from leaks.rows.suppressions_audit import ImportLine, ImportPreview, LineNote
from leaks.rows.suppressions_reach import Reach
from leaks.rule_diagnosis import Fault, Row, diagnose
from leaks.rule_types import Suppressor
from leaks.rules import Rule, parse_rules, suppressor_of
from leaks.watching import PRINTED

LARGEST = 1024 * 1024  # as of a file that a run uploads
MOST_AT_ONCE = 20  # lines that are held against all history, and that are taken over at once
MOST_LISTED = 500
WIDE_TEXT = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
BOM = "\ufeff"
LOST = "\ufffd"
CONTROLS = frozenset(map(chr, range(32))) - set("\t\n\r\f")
# Faults that a line has as it stands in the file, and that its tidied rule does not have any more.
OF_THE_FILE = frozenset({Fault.WINDOWS_LINE_END})
HINDERING = frozenset({Fault.DUPLICATE, Fault.REFUSED, Fault.UNKNOWN_TYPE})
OPEN = (SuppressionState.PROPOSED, SuppressionState.APPROVED)
KNOWN = (*OPEN, SuppressionState.REJECTED)


# --- Reading ---------------------------------------------------------------------------------------------------------


def text_of(body: bytes) -> str:
    """The text of an uploaded file. Raises BadSubmission that says what it is instead."""
    if len(body) > LARGEST:
        raise _refused(f"The file has {len(body) / LARGEST:,.1f} MiB, and a suppression file has 1 MiB at most.")
    if body.startswith(WIDE_TEXT):
        raise _refused("The file is saved as UTF-16, which no runtime reads. Save it as UTF-8.")
    return checked_text(body.decode("utf-8", "replace"))


def checked_text(text: str) -> str:
    if len(text) > LARGEST:
        raise _refused("The text is longer than 1 MiB, which no suppression file is.")
    head = text[:LARGEST]
    if any(char in head for char in CONTROLS) or head.count(LOST) > len(head) // 2:
        raise _refused("This is no text: a suppression file has one rule a line, or blocks in braces.")
    if line := _not_utf8(text):
        raise _refused(f"The file is not UTF-8: line {line:,} holds a letter of another encoding. Save it as UTF-8.")
    if not text.strip():
        raise _refused("The file is empty.")
    return text


def _not_utf8(text: str) -> int:
    """The first line with a byte that is no UTF-8, 0 if there is none. A comment may hold it: no runtime reads that."""
    lines = enumerate(text.split("\n"), start=1) if LOST in text else ()
    return next((number for number, line in lines if LOST in line and not line.lstrip().startswith("#")), 0)


def _refused(why: str) -> BadSubmission:
    return BadSubmission(why, field="file")


def rules_in(text: str) -> tuple[Rule, ...]:
    """A byte-order mark is told by itself; the rule behind it is read as its author meant it."""
    return parse_rules(text.removeprefix(BOM))


def tool_of(rules: Sequence[Rule], said: str = "") -> SuppressionTool:
    if said and said not in set(SuppressionTool):
        raise BadSubmission(f"The tool is one of {', '.join(SuppressionTool)}.", field="tool")
    return SuppressionTool(said or suppressor_of(rules) or SuppressionTool.LSAN)


# --- Looking at it ---------------------------------------------------------------------------------------------------


def import_preview(project: Project, name: str, text: str, tool: str = "", lanes: Sequence[str] = ()) -> ImportPreview:
    """Nothing is written. The reach is computed for the first `MOST_AT_ONCE` lines that can be proposed."""
    rules = rules_in(checked_text(text))
    if not rules:
        raise _refused("The file holds comments only: no rule.")
    chosen = tool_of(rules, tool)
    faults = diagnose(text.removeprefix(BOM), Suppressor(chosen))
    shown = rules[:MOST_LISTED]
    reader = _Reader(project, chosen, tuple(lanes), shown, faults)
    return ImportPreview(name, chosen.value, tuple(map(reader.line, shown)), len(rules), tuple(_of_file(text, faults)))


def _of_file(text: str, faults: Iterable[Row]) -> Iterable[LineNote]:
    if text.startswith(BOM):
        yield LineNote(
            "byte_order_mark", "The file begins with a byte-order mark: the runtime refuses its first line. Save it without.", grave=True
        )  # fmt: skip
    yield from (LineNote(row.fault, row.why) for row in faults if row.fault in OF_THE_FILE)


class _Reader:
    """Makes the lines of one file. Two queries for all of them, and those of the reach for some."""

    def __init__(
        self, project: Project, tool: SuppressionTool, lanes: tuple[str, ...], rules: Sequence[Rule], faults: Iterable[Row]
    ) -> None:  # fmt: skip
        self._project, self._tool, self._lanes = project, tool, lanes
        texts = [tidy(tool, rule.text) for rule in rules]
        self._known = _known(project, tool, texts)
        self._hits = _hits(project, tool, texts)
        self._faults: dict[int, list[Row]] = {}
        self._computed = 0
        for row in faults:
            if row.fault not in OF_THE_FILE:
                self._faults.setdefault(row.line, []).append(row)

    def line(self, rule: Rule) -> ImportLine:
        text = tidy(self._tool, rule.text)
        faults, refused = self._faults_of(rule), refusal(self._tool, text)
        known = self._known.get(text)
        notes = [LineNote(row.fault, row.why, row.fault in HINDERING) for row in faults]
        if refused is not None and not any(note.grave for note in notes):
            notes.append(LineNote("not_proposable", refused.why, grave=True))
        notes += [LineNote("warning", said) for said in warnings(self._tool, text)]
        free = refused is None and not (known and known.state in OPEN)
        return ImportLine(
            line=rule.line,
            rule=rule.text,
            takeable=free and not any(note.grave for note in notes),
            notes=tuple(notes),
            reach=self._reach(text) if refused is None or refused.broad else None,
            hits=self._hits_of(text),
            known=known.public_id if known else "",
            known_state=_state_of(known) if known else "",
        )

    def _faults_of(self, rule: Rule) -> list[Row]:
        """Those of its lines: a fault of a block may stand at any of them."""
        last = rule.line + rule.text.count("\n")
        return [row for line in range(rule.line, last + 1) for row in self._faults.get(line, ())]

    def _reach(self, text: str) -> Reach | None:
        self._computed += 1
        if self._computed > MOST_AT_ONCE:
            return None
        return reach_of(self._project, self._tool, text, self._lanes)

    def _hits_of(self, text: str) -> int | None:
        if self._tool not in PRINTED:
            return None
        return sum(self._hits.get(name, 0) for name in dict.fromkeys(templates_of(self._tool, text)))


def _state_of(one: Suppression) -> str:
    return "withdrawn" if is_withdrawn(one) else str(one.state)


def _known(project: Project, tool: SuppressionTool, texts: Sequence[str]) -> dict[str, Suppression]:
    """The suppression with the same text: one in force or under review rather than one that was rejected."""
    rows = Suppression.objects.filter(project=project, tool=tool, rule__in=texts, state__in=KNOWN)
    found: dict[str, Suppression] = {}
    for one in sorted(rows.order_by("-proposed_at"), key=lambda one: one.state not in OPEN):
        found.setdefault(one.rule, one)
    return found


def _hits(project: Project, tool: SuppressionTool, texts: Sequence[str]) -> dict[str, int]:
    names = {name for text in texts for name in templates_of(tool, text)}
    rows = SuppressionUse.objects.filter(
        outcome__lane__project=project, outcome__withdrawn_at=None, log__current=True, template__in=names
    )
    return dict(rows.order_by().values("template").annotate(hits=Sum("count")).values_list("template", "hits"))
