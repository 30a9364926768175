"""Rules that the frames of a signature suggest, the narrowest first, and what each of them means."""

from collections.abc import Iterable, Iterator

from leaks.evidence import Frame, Report
from leaks.ledger_words import SuppressionTool
from leaks.models import Project, Signature
from leaks.models import Report as ReportRow
from leaks.own import Ownership
from leaks.parsing.names import qualified
from leaks.rows.suppressions import Offer
from leaks.rule_types import TSAN_TYPE_OF_KIND, ubsan_types
from leaks.stored_reports import StoredReports

SHORTEST = 3
# The tool whose file hides what a tool reports. MemorySanitizer and others take none.
TOOLS = {tool.value: tool for tool in SuppressionTool}


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
    tool, kind = TOOLS[report.tool], _type(stored.report)
    own = Ownership(project.own_roots, project.plumbing).own_frame(stored.report)
    frame = own or next((one for one in stored.report.frames if one.function), None)
    if frame is None or not kind:
        return ()
    if tool is SuppressionTool.VALGRIND:
        return tuple(_block(frame, stored.report))
    found = dict.fromkeys(_lines(kind, frame, stored.report.frames))
    return tuple(Offer(rule, means, number) for number, (rule, means) in enumerate(found))


def _type(report: Report) -> str:
    """The type that a rule for this report has."""
    if report.tool == "tsan":
        return TSAN_TYPE_OF_KIND.get(report.kind, "")
    if report.tool == "ubsan":
        return ubsan_types(report.kind)[0]
    if report.tool == "asan":
        return "odr_violation" if report.kind == "odr-violation" else "interceptor_via_fun"
    return "leak" if report.tool in ("lsan", "valgrind") else ""


def _lines(kind: str, frame: Frame, frames: Iterable[Frame]) -> Iterator[tuple[str, str]]:
    """The function tied to both ends, the function anywhere, its file, its class or namespace, its module."""
    name = qualified(frame.function) if frame.function else ""
    if frame.function and " #" not in frame.function:
        yield f"{kind}:^{frame.function}$", "just this function, this overload: a changed parameter ends it"
    if len(name) >= SHORTEST:
        yield f"{kind}:{name}", "this function, all its overloads, and every name that holds this text"
    if frame.file and len(_last(frame.file)) >= SHORTEST:
        yield f"{kind}:{_two(frame.file)}", "every function of this file, own or not, whatever it allocates"
    scope = name.rpartition("::")[0]
    if len(scope) >= SHORTEST:
        yield f"{kind}:{scope}::", "every function of this class or namespace"
    module = frame.module or next((one.module for one in frames if one.module and not frame.file), None)
    if module and len(_last(module)) >= SHORTEST:
        yield f"{kind}:{_last(module)}", "the whole program or library: every report with a frame in it"


def _block(frame: Frame, report: Report) -> Iterator[Offer]:
    """Names stand mangled in Valgrind's blocks, and a log prints them as they are read: a glob over the last name fits both."""
    name = qualified(frame.function) if frame.function else ""
    last = name.rpartition("::")[2]
    if not report.kind.endswith(("lost", "reachable")) or len(last) < SHORTEST:
        return
    kinds = {"definitely": "definite", "indirectly": "indirect", "possibly": "possible", "still": "reachable"}
    leak = next((word for start, word in kinds.items() if f"-{start}-" in report.kind), "definite")
    plain = not set(frame.function or "") & {"(", ":", "<"}  # a name of C is not mangled
    pattern = name if plain else f"*{len(last)}{last}*"
    yield Offer(
        _text(last, leak, f"fun:{pattern}"),
        "leaks of this kind below this function; its mangled name by its last part",
        0,
    )
    if frame.file:
        yield Offer(
            _text(last, leak, f"src:{_last(frame.file)}"), "leaks of this kind below any function of this file", 1
        )


def _text(name: str, leak: str, line: str) -> str:
    return f"{{\n   {name}\n   Memcheck:Leak\n   match-leak-kinds: {leak}\n   ...\n   {line}\n}}"


def _last(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _two(path: str) -> str:
    """The file with its folder: a bare name is in many trees."""
    parts = path.replace("\\", "/").rsplit("/", 2)
    return "/".join(parts[-2:]) if len(parts) > 1 and parts[-2] not in ("", ".", "..") else parts[-1]
