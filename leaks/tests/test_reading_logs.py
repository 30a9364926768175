"""Whole logs with known answers: every report with its place, its stacks and its sums."""

import json
from pathlib import Path

import pytest

from leaks.parsing.dispatch import read, read_path
from leaks.parsing.prefixes import Prefixes

LOGS = Path(__file__).parent / "logs"
TOOLS = ("asan", "lsan", "ubsan", "tsan", "go-race", "msan")
CASES = sorted(path for tool in TOOLS for path in (LOGS / tool).glob("*.log"))


def frame(found):
    return [found.function, found.file, found.line, found.column, found.module, found.offset]


def said(report, wanted):
    """The report in the form of the answers, as far as the answer goes into it."""
    answer = {"tool": report.tool, "kind": report.kind, "line": report.line, "count": report.count, "pid": report.pid}
    answer["frames"] = [frame(one) for one in report.frames[: len(wanted["frames"]) if "depth" in wanted else None]]
    if report.bytes is not None:
        answer |= {"bytes": report.bytes, "objects": report.objects}
    if report.truncated:
        answer["truncated"] = True
    if "depth" in wanted:
        answer["depth"] = len(report.frames)
    if report.stacks:
        answer["stacks"] = [[s.role.value, s.thread, [f.function for f in s.frames[:6]]] for s in report.stacks]
    if report.place:
        answer["place"] = frame(report.place)
    return answer


def test_there_are_logs():
    assert len(CASES) > 35


@pytest.mark.parametrize("path", CASES, ids=[f"{path.parent.name}/{path.stem}" for path in CASES])
def test_a_log_is_read_as_its_answer_says(path):
    answer = json.loads(path.with_suffix(".json").read_text())
    evidence = read_path(path)
    assert len(evidence.reports) == len(answer["reports"])
    for report, wanted in zip(evidence.reports, answer["reports"], strict=True):
        assert said(report, wanted) == wanted
    facts = evidence.facts
    totals = facts.totals
    sums = (
        [totals.bytes, totals.objects, totals.summary_bytes, totals.summary_objects, totals.reconciled]
        if totals
        else None
    )
    assert sums == answer.get("totals")
    assert [[hit.count, hit.bytes, hit.template] for hit in facts.suppressions] == answer.get("suppressions", [])
    assert (facts.ends_in_block.number if facts.ends_in_block else None) == answer.get("ends_in_block")


@pytest.mark.parametrize("path", CASES, ids=[f"{path.parent.name}/{path.stem}" for path in CASES])
def test_a_line_number_is_that_of_grep(path):
    lines = path.read_bytes().split(b"\n")
    for report in read_path(path).reports:
        line = lines[report.line - 1].decode("utf-8", "replace")
        words = report.headline.split()[:2]
        assert all(word in line for word in words), (report.headline, line)


def is_bare(path):
    return all(Prefixes().peek(line)[0] == line for line in path.read_text(errors="replace").splitlines())


BARE = [path for path in CASES if path.parent.name in ("tsan", "msan", "lsan") and is_bare(path)]


@pytest.mark.parametrize("path", BARE, ids=[f"{path.parent.name}/{path.stem}" for path in BARE])
def test_what_grep_prints_in_front_of_each_line_changes_no_report(path):
    data = path.read_bytes()
    plain = read([data]).reports
    grepped = read([b"".join(b"out/x.log:" + line for line in data.splitlines(keepends=True))]).reports
    seen = [(r.kind, r.frames, [(s.role, s.frames) for s in r.stacks], r.bytes, r.count) for r in plain]
    assert [(r.kind, r.frames, [(s.role, s.frames) for s in r.stacks], r.bytes, r.count) for r in grepped] == seen
