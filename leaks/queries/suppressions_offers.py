"""Rules that the frames of a signature suggest, the narrowest first, and what each of them means.

Nothing is offered that the review would refuse, nor what does not hide the very report it is offered for.
"""

import re
from collections.abc import Iterator

from leaks.evidence import Frame, Report
from leaks.ledger_words import SuppressionTool
from leaks.libraries import PASSED_OVER
from leaks.models import Project, Signature
from leaks.models import Report as ReportRow
from leaks.own import Owner, Ownership
from leaks.parsing.names import normal, qualified
from leaks.reach import reach
from leaks.review_rules import refusal, tidy
from leaks.rows.suppressions import Offer
from leaks.rule_frames import QUOTED
from leaks.rule_sets import Certainty
from leaks.rule_types import TSAN_TYPE_OF_KIND, Suppressor, ubsan_types
from leaks.rules import parse_rules
from leaks.stored_reports import StoredReports

SHORTEST = 3
# The tool whose file hides what a tool reports. MemorySanitizer and others take none.
TOOLS = {tool.value: tool for tool in SuppressionTool}
ASAN_TYPES = {"odr-violation": "odr_violation", "alloc-dealloc-mismatch": "alloc_dealloc_mismatch"}
GLOBALS = "odr_violation"
HIDES = frozenset({Certainty.CERTAIN, Certainty.POSSIBLE})
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
PLAIN = re.compile(r"[\w.]+")  # a name of C is not mangled
UNNAMED = frozenset("({$")  # in a scope: a lambda, a function, what only its file knows
Said = tuple[str, str]

EXACT = "just this function, this overload: a changed parameter ends it"
EXACT_SHARED = "every function of exactly this name, in whatever file: several may have it, as static ones do"


def tool_of(report: ReportRow | None) -> SuppressionTool:
    """Whose file a signature's rule goes into; LeakSanitizer's where nothing is kept of it."""
    return TOOLS.get(report.tool, SuppressionTool.LSAN) if report else SuppressionTool.LSAN


def largest_report(one: Signature) -> ReportRow | None:
    rows = ReportRow.objects.filter(key__signature=one, log__current=True).select_related(
        "log__part__outcome", "own_frame"
    )
    return rows.order_by("-leaked_bytes", "-pk").first()


def offers(project: Project, report: ReportRow | None) -> tuple[Offer, ...]:
    """None where nothing is kept of it or its tool takes no rules."""
    if report is None or report.tool not in TOOLS:
        return ()
    (stored,) = StoredReports().of_rows([report.pk])
    return offers_for(stored.report, Ownership(project.own_roots, project.plumbing))


def offers_for(report: Report, ownership: Ownership) -> tuple[Offer, ...]:
    tool = TOOLS[report.tool]
    found = dict(said for said in _suggested(tool, report, ownership) if _holds(tool, said[0], report))
    return tuple(Offer(rule, means, number) for number, (rule, means) in enumerate(found.items()))


def _holds(tool: SuppressionTool, rule: str, report: Report) -> bool:
    if refusal(tool, tidy(tool, rule)) is not None:
        return False
    (match,) = reach(parse_rules(rule), [report], Suppressor(tool))
    return match.certainty in HIDES


def _suggested(tool: SuppressionTool, report: Report, ownership: Ownership) -> Iterator[Said]:
    kind, frame = _type(report), _meant(report, ownership)
    if kind == GLOBALS:
        yield from (
            (f"{kind}:^{name}$", "this global, wherever it is defined twice") for name in QUOTED.findall(report.detail)
        )
    elif frame is not None and tool is SuppressionTool.VALGRIND:
        yield from _blocks(frame, report)
    elif frame is not None and kind:
        yield from _of_function(kind, frame)
        yield from _of_places(kind, frame, own=ownership.owner(frame) is Owner.OWN)


def _meant(report: Report, ownership: Ownership) -> Frame | None:
    """The own frame, else the first that stands in few stacks: not one of the runtime, of an allocator, of the C library."""
    others = (one for one in report.frames if one.function and ownership.owner(one) not in PASSED_OVER)
    return ownership.own_frame(report) or next(others, None)


def _type(report: Report) -> str:
    """The type that a rule for this report has."""
    if report.tool == "tsan":
        return TSAN_TYPE_OF_KIND.get(report.kind, "")
    if report.tool == "ubsan":
        return ubsan_types(report.kind)[0]
    if report.tool == "asan":
        return ASAN_TYPES.get(report.kind, "interceptor_via_fun")
    return "leak" if report.tool == "lsan" else ""


def _of_function(kind: str, frame: Frame) -> Iterator[Said]:
    """The function tied to both ends, the function anywhere."""
    printed, name = _text(frame.function), _text(qualified(frame.function) if frame.function else "")
    if printed and " #" not in printed:
        yield f"{kind}:^{printed}$", EXACT if _is_one(frame.function or "") else EXACT_SHARED
    if len(name) >= SHORTEST:
        yield f"{kind}:{name}", "this function, all its overloads, and every name that holds this text"


def _of_places(kind: str, frame: Frame, *, own: bool) -> Iterator[Said]:
    """Its file, its class or namespace, the library of what is not own."""
    if frame.file and len(_last(frame.file)) >= SHORTEST:
        yield f"{kind}:{_two(frame.file)}", "every function of this file, own or not, whatever it does"
    scope = qualified(frame.function or "").rpartition("::")[0]
    if len(scope) >= SHORTEST and not set(scope) & UNNAMED:
        yield f"{kind}:{scope}::", "every function of this class or namespace"
    if frame.module and not own and len(_last(frame.module)) >= SHORTEST:
        yield f"{kind}:{_last(frame.module)}", "the whole library: every report with a frame in it"


def _text(name: str | None) -> str:
    """A `$` would be the end of the text: compilers number lambdas with it, anew at each change."""
    return (name or "").replace("$", "*")


def _is_one(printed: str) -> bool:
    """Whether the linker knows a single function of this name: it has a scope that is not its file's own."""
    scope = qualified(printed).rpartition("::")[0]
    return bool(scope) and "(anonymous" not in scope and "$" not in printed and "lambda" not in printed


# --- Valgrind --------------------------------------------------------------------------------------------------------


LEAK_KINDS = {"definitely": "definite", "indirectly": "indirect", "possibly": "possible", "still": "reachable"}


def _blocks(frame: Frame, report: Report) -> Iterator[Said]:
    """Names stand mangled in Valgrind's blocks, and a log prints them as they are read: a glob over their parts fits both."""
    leak = next((word for start, word in LEAK_KINDS.items() if f"-{start}-" in report.kind), None)
    pattern, name = _glob(frame.function or ""), normal(qualified(frame.function or "")).rpartition("::")[2]
    if leak is None:
        return
    if pattern:
        yield (
            _block(name, leak, f"fun:{pattern}"),
            "leaks of this kind below this function, all its overloads and instances",
        )
    if frame.file:
        yield (
            _block(name or _last(frame.file), leak, f"src:{_last(frame.file)}"),
            "leaks of this kind below any function of this file",
        )


def _glob(printed: str) -> str:
    """The identifiers of a name, each behind its length as in the mangled form; template arguments stand between them."""
    if PLAIN.fullmatch(printed):
        return printed
    *scopes, last = normal(qualified(printed)).replace("~", "").split("::")
    if not IDENTIFIER.fullmatch(last) or last.startswith("operator"):
        return ""
    parts = [word for word in scopes if IDENTIFIER.fullmatch(word) and word != "std"]
    if parts and parts[-1] == last:  # a constructor or destructor has no name of its own
        parts.pop()
    return "*" + "*".join(f"{len(word)}{word}" for word in (*parts, last)) + "*"


def _block(name: str, leak: str, line: str) -> str:
    return f"{{\n   {name}\n   Memcheck:Leak\n   match-leak-kinds: {leak}\n   ...\n   {line}\n}}"


def _last(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _two(path: str) -> str:
    """The file with its folder: a bare name is in many trees."""
    parts = path.replace("\\", "/").rsplit("/", 2)
    return "/".join(parts[-2:]) if len(parts) > 1 and parts[-2] not in ("", ".", "..") else parts[-1]
