"""Valgrind's XML: the same reports as in text, whatever happened to the file."""

import pytest

from leaks.parsing.dispatch import read
from leaks.parsing.valgrind_words import XML_KINDS
from leaks.words import Role

HEAD = """<?xml version="1.0"?>

<valgrindoutput>

<protocolversion>4</protocolversion>
<protocoltool>memcheck</protocoltool>

<preamble>
  <line>Memcheck, a memory error detector</line>
</preamble>

<pid>811</pid>
<ppid>810</ppid>
<tool>memcheck</tool>

<status>
  <state>RUNNING</state>
</status>

"""
TAIL = """<status>
  <state>FINISHED</state>
</status>

<errorcounts>
  <pair>
    <count>1</count>
    <unique>0x0</unique>
  </pair>
</errorcounts>

<suppcounts>
  <pair>
    <count>3</count>
    <name>known pool</name>
  </pair>
  <pair>
    <count>6</count>
    <name>drd-ld</name>
  </pair>
</suppcounts>

</valgrindoutput>
"""


def frame(function, file="a.cpp", line=7):
    place = f"      <dir>/src</dir>\n      <file>{file}</file>\n      <line>{line}</line>\n" if file else ""
    name = f"      <fn>{function}</fn>\n" if function else ""
    return f"    <frame>\n      <ip>0x11A4D0</ip>\n      <obj>/build/app</obj>\n{name}{place}    </frame>\n"


def stack(*functions):
    return "  <stack>\n" + "".join(frame(function) for function in functions) + "  </stack>\n"


def error(kind, what, *rest):
    return (
        f"<error>\n  <unique>0x0</unique>\n  <tid>1</tid>\n  <kind>{kind}</kind>\n  {what}\n"
        + "".join(rest)
        + "</error>\n\n"
    )


READ = error("InvalidRead", "<what>Invalid read of size 4</what>", stack("check", "main"))
LOST = error(
    "Leak_DefinitelyLost",
    "<xwhat>\n    <text>45 (16 direct, 29 indirect) bytes in 1 blocks are definitely lost in loss record 6 of 7</text>\n"
    "    <leakedbytes>45</leakedbytes>\n    <leakedblocks>1</leakedblocks>\n  </xwhat>",
    stack("malloc", "make"),
)


def log(*parts):
    data = "".join(parts).encode()
    evidence = read([data])
    assert evidence == read([data], fast=False)
    return evidence


def only(*parts):
    (report,) = log(*parts).reports
    return report


def functions(frames):
    return [found.function for found in frames]


def test_an_error_is_a_report():
    evidence = log(HEAD, READ, TAIL)
    (report,) = evidence.reports
    assert (report.tool, report.kind, report.pid, report.truncated) == ("valgrind", "valgrind-invalid-read", 811, False)
    assert functions(report.frames) == ["check", "main"]
    first = report.frames[0]
    assert (first.text, first.file, first.line, first.module) == ("check (/src/a.cpp:7)", "/src/a.cpp", 7, "/build/app")
    assert evidence.facts.ends_in_block is None


def test_the_line_of_a_report_is_that_of_its_sentence():
    data = HEAD + READ + TAIL
    report = only(data)
    assert report.headline == "Invalid read of size 4"
    assert report.headline in data.split("\n")[report.line - 1]


def test_a_leak_has_sizes():
    evidence = log(HEAD, LOST, TAIL)
    (report,) = evidence.reports
    assert (report.kind, report.bytes, report.objects) == ("valgrind-definitely-lost", 45, 1)
    totals = evidence.facts.totals
    assert totals is not None
    assert (totals.bytes, totals.objects, totals.reconciled) == (45, 1, None)


@pytest.mark.parametrize(("kind", "ours"), XML_KINDS.items())
def test_a_kind_is_known_without_its_sentence_too(kind, ours):
    report = only(HEAD, error(kind, "", stack("check")), TAIL)
    assert report.kind == ours
    assert report.finding is (ours not in ("valgrind-still-reachable", "valgrind-open-descriptor"))


def test_a_kind_of_tomorrow_is_kept():
    report = only(HEAD, error("Tomorrow", "<what>Something new</what>", stack("check")), TAIL)
    assert (report.kind, report.detail) == ("unrecognised", "Something new")


def test_entities_are_resolved_once():
    what = "<what>Argument &apos;a&apos; of function f&amp;lt; &#60;&#x3e;</what>"
    report = only(HEAD, error("X", what, stack("q::Queue&lt;T&gt;::push", "operator&amp;&amp;")), TAIL)
    assert report.detail == "Argument 'a' of function f&lt; <>"
    assert functions(report.frames) == ["q::Queue<T>::push", "operator&&"]


def test_declared_entities_are_not_expanded():
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b SYSTEM "file:///etc/passwd">]>\n'
    assert functions(only(bomb, HEAD, error("InvalidRead", "", stack("&a;&b;")), TAIL).frames) == ["&a;&b;"]


@pytest.mark.parametrize(
    ("introduction", "role"),
    [
        ("  <auxwhat>Address 0x4a is 0 bytes inside a block of size 16 free&apos;d</auxwhat>\n", Role.FREED),
        ("  <auxwhat>Address 0x4a is 0 bytes after a block of size 16 alloc'd</auxwhat>\n", Role.ALLOCATED),
        (
            (
                "  <xauxwhat>\n    <text>This conflicts with a previous write of size 4 by thread #2</text>\n"
                "    <hthreadid>2</hthreadid>\n  </xauxwhat>\n"
            ),
            Role.PREVIOUS_ACCESS,
        ),
        ("  <auxwhat>Lock at 0x1 was first observed</auxwhat>\n", Role.OTHER),
        ("  <auxwhat>followed by a later acquisition of lock at 0x1</auxwhat>\n", Role.OTHER),
        ("  <allocation_context>\n", Role.ALLOCATED),
        ("  <other_segment_start>\n", Role.OTHER),
        ("  <first_observed_at>\n    <what>mutex</what>\n    <address>0x1</address>\n", Role.OTHER),
        ("", Role.OTHER),
    ],
)
def test_the_further_stacks_have_roles(introduction, role):
    report = only(
        HEAD, error("InvalidRead", "<what>Invalid read of size 4</what>", stack("f"), introduction, stack("g")), TAIL
    )
    assert functions(report.frames) == ["f"]
    assert [(one.role, functions(one.frames)) for one in report.stacks] == [(role, ["g"])]


def test_stacks_outside_of_errors_belong_to_nobody():
    announced = "<announcethread>\n  <hthreadid>3</hthreadid>\n" + stack("clone") + "</announcethread>\n"
    assert functions(only(HEAD, announced, READ, announced, TAIL).frames) == ["check", "main"]


def test_project_suppressions_are_hits():
    assert [(hit.template, hit.count) for hit in log(HEAD, TAIL).facts.suppressions] == [("known pool", 3)]


def test_a_cut_file_gives_what_is_complete():
    data = HEAD + READ
    cut = data[: data.index("<fn>main") + len("<fn>main</fn>\n")]
    evidence = log(cut)
    (report,) = evidence.reports
    assert (functions(report.frames), report.truncated) == (["check", "main"], True)
    assert evidence.facts.ends_in_block is not None


@pytest.mark.parametrize("size", range(0, len(HEAD + READ + LOST), 37))
def test_a_cut_never_invents_a_report(size):
    assert len(log((HEAD + READ + LOST)[:size]).reports) <= 2


def test_a_forked_child_writes_a_second_body_behind_the_first():
    first, second = log(HEAD, LOST, TAIL, "\n", READ, LOST, TAIL).reports
    assert (first.kind, first.count, first.bytes, first.pid) == ("valgrind-definitely-lost", 2, 90, 811)
    assert (second.kind, second.pid) == ("valgrind-invalid-read", None)


def test_an_error_inside_of_another_ends_that_one():
    first, second = log(HEAD, READ[: READ.index("<fn>main")], LOST, TAIL).reports
    assert (first.kind, first.truncated, functions(first.frames)) == ("valgrind-invalid-read", True, ["check", None])
    assert (second.kind, second.truncated) == ("valgrind-definitely-lost", False)


def test_a_file_without_its_head_is_read():
    lines = (HEAD + READ + READ + TAIL).split("\n")
    start = next(index for index, line in enumerate(lines) if "<kind>" in line)
    assert only("\n".join(lines[start:])).count == 2


def test_several_documents_are_several_processes():
    other = READ.replace("check", "other")
    assert [report.pid for report in log(HEAD, READ, TAIL, HEAD.replace("811", "812"), other, TAIL).reports] == [
        811,
        812,
    ]


def test_elements_may_stand_on_one_line():
    data = (HEAD + READ + LOST + TAIL + READ).replace("\n", "")
    assert [report.count for report in log(data).reports] == [2, 1]


def test_a_tag_may_be_split_over_two_lines():
    assert functions(only(HEAD, READ.replace("<stack>", "<sta\nck>"), TAIL).frames) == ["check", "main"]


def test_a_sentence_may_be_split_over_two_lines():
    what = "<what>Source and destination overlap in strcpy(0x1, 0x2)\n</what>"
    report = only(HEAD, error("Overlap", what, stack("f")), TAIL)
    assert (report.kind, report.detail) == ("valgrind-overlap", "Source and destination overlap in strcpy(0x1, 0x2)")


@pytest.mark.parametrize("prefix", ["2026-03-14T09:26:53.1234567Z ", "12: ", "app-1  | "])
def test_prefixes_of_the_ci_are_no_hindrance(prefix):
    data = "".join(prefix + line for line in (HEAD + READ + TAIL).splitlines(keepends=True))
    assert functions(only(data).frames) == ["check", "main"]


def test_output_of_the_program_stands_between():
    lines = (HEAD + READ + TAIL).splitlines(keepends=True)
    assert functions(only("a < b and <int> > c & d\n".join(lines)).frames) == ["check", "main"]


def test_a_report_of_another_tool_behind_a_cut_name_is_not_swallowed():
    data = HEAD + READ
    cut = data[: data.index("<fn>main") + len("<fn>ma")] + "\n"
    asan = "==9==ERROR: AddressSanitizer: heap-use-after-free on address 0x1\n    #0 0x1 in poll a.c:1\n==9==ABORTING\n"
    assert [report.tool for report in log(cut, asan).reports] == ["valgrind", "asan"]


SIGNAL = (
    "<fatal_signal>\n  <tid>1</tid>\n  <signo>11</signo>\n  <signame>{}</signame>\n"
    "  <event>Access not within mapped region</event>\n{}</fatal_signal>\n"
)


def test_a_deadly_signal_is_a_report_if_nothing_told_of_it_before():
    assert only(HEAD, SIGNAL.format("SIGSEGV", stack("check", "main")), TAIL).kind == "SEGV"
    assert only(HEAD, READ, SIGNAL.format("SIGSEGV", stack("check", "main")), TAIL).kind == "valgrind-invalid-read"
    assert log(HEAD, SIGNAL.format("SIGABRT", stack("check", "main")), TAIL).reports == ()


@pytest.mark.parametrize(
    "text",
    [
        '<testsuite name="a"><testcase name="b"><error>boom</error></testcase></testsuite>\n',
        "<error>\n  boom\n</error>\n",
        "<error>",
        "<kind>of a document</kind>\n",
        "<suppcounts>\n</suppcounts>\n",
        "<error><kind>",
        "<frame><fn>f</fn></frame>",
    ],
)
def test_words_of_other_formats_are_no_reports(text):
    evidence = log(text)
    assert (evidence.reports, evidence.facts.ends_in_block) == ((), None)


def test_a_hostile_file_costs_little():
    deep = "<stack>" * 20_000 + "<frame>" * 20_000 + "</frame>" * 20_000
    assert (
        len(log(HEAD, "<error><kind>InvalidRead</kind>", deep, "<" * 60_000, "&" * 60_000, "</error>", TAIL).reports)
        == 1
    )
