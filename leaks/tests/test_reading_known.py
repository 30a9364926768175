"""Leak records taken whole: where a record only looks like the next one, each line must be read by itself."""

import pytest

from leaks.parsing.dispatch import read
from leaks.parsing.known import KnownRecords
from leaks.parsing.lines import Limits
from leaks.parsing.stacks import Stacks
from leaks.parsing.tools.lsan import LeakCheck
from leaks.tests.big_log import BigLog, Shape

BANNER = "==7==ERROR: LeakSanitizer: detected memory leaks\n\n"
SUMMARY = "SUMMARY: AddressSanitizer: 24 byte(s) leaked in 3 allocation(s).\n"
FRAMES = ("in malloc a.c:1", "in grow src/pool.c:9", "in main m.c:3")


def record(frames=FRAMES, kind="Direct"):
    lines = [f"    #{number} 0x55b2e83ec46{number} {frame}\n" for number, frame in enumerate(frames)]
    return f"{kind} leak of 8 byte(s) in 1 object(s) allocated from:\n{''.join(lines)}\n"


def prefixed(prefix, text):
    return "".join(f"{prefix}{line}\n" for line in text.splitlines())


PLAIN = BANNER + record() * 3 + SUMMARY
NOISE = record().replace("    #1", "addr2line: DWARF error\n    #1")
CTEST = prefixed("12: ", PLAIN)

# Logs in which something differs from a run of plain records.
ODD = {
    "a frame without the prefix of its record": CTEST.replace("12:     #1", "    #1", 1),
    "a blank line without the prefix": CTEST.replace("m.c:3\n12: \n", "m.c:3\n\n"),
    "a prefix without its blank": CTEST.replace("12: \n", "12:\n"),
    "the next record behind another prefix": CTEST.replace("m.c:3\n12: \n12: Direct", "m.c:3\n12: \n13: Direct"),
    "a record of another process in between": CTEST.replace("12: Direct", prefixed("13: ", record()) + "12: Direct", 2),
    "a prefix that no tool is known for": prefixed("~~ ", BANNER + record() + record(FRAMES[:2]) + record(FRAMES[:1])),
    "a prefix that holds the end of a segment": prefixed("I/x(12): ", BANNER)
    + prefixed("I/a\rb(12): ", record() * 3 + SUMMARY),
    "a prefix without a key": prefixed("log.txt:", BANNER + record() * 3),
    "a sentence in front of a record": PLAIN.replace("Direct leak", "note: Direct leak"),
    "a sentence in front of a SUMMARY": PLAIN.replace("SUMMARY", "Error: SUMMARY"),
    "a frame behind the blank line": PLAIN.replace("\n\nSUMMARY", "\n\n    #3 0x55b2e83ec463 in start s.c:1\nSUMMARY"),
    "a foreign line behind the blank line": PLAIN.replace("\n\nDirect", "\n\n[srv] up\nDirect"),
    "a record that lacks a frame": PLAIN.replace("    #1 0x55b2e83ec461 in grow src/pool.c:9\n", "", 1),
    "a number that stands twice": PLAIN.replace("    #2", "    #1", 1),
    "a record without frames": BANNER + record(()) * 3 + SUMMARY,
    "returns at the ends": PLAIN.replace("\n", "\r\n"),
    "a return in a frame": PLAIN.replace("in grow", "in g\rrow"),
    "a progress bar in front of a record": PLAIN.replace("Direct", "10%\r20%\rDirect", 1),
    "stamps on some lines": "".join(
        f"2026-03-14T09:26:53.1234567Z {line}\n" if number % 7 else f"{line}\n"
        for number, line in enumerate(PLAIN.splitlines())
    ),
    "a stamp behind a stamp": prefixed("2026-03-14T09:26:53.1234567Z 2026-03-14T09:26:53.1234567Z ", PLAIN),
    "no banner": record() * 3 + SUMMARY,
    "no SUMMARY": BANNER + record() * 3,
    "a log that ends in a record": (BANNER + record() * 3)[:-20],
    "an odd record behind plain ones": BANNER + record() * 3 + NOISE + record() * 3 + SUMMARY,
    "the same behind a prefix": prefixed("12: ", BANNER + record() * 3 + NOISE + record() * 3 + SUMMARY),
    "a foreign line behind plain records": BANNER
    + record() * 3
    + record().replace("\n\n", "\n\n[srv] up\n")
    + record() * 2
    + SUMMARY,
    "a log that ends in a prefix that its own lines have taught": "Direct leak of 8 byte(s) in 1 object(s) allocated from:\n"
    "x> Indirect leak of 24 byte(s) in 3 object(s) allocated from:\nx>   ",
    "another error in between": PLAIN.replace("\n\nDirect", "\n\n==9==ERROR: AddressSanitizer: SEGV\n\nDirect", 1),
    "a count that is asked for": BANNER
    + "nm -C app | grep -c __asan_\n"
    + record() * 2
    + record().replace("    #0", "0\n    #0")
    + SUMMARY,
}


@pytest.fixture(params=[False, True], ids=["as it comes", "taken for rare"])
def _mostly_rare(request, monkeypatch):
    """Stacks that hardly repeat are split together with others; a log must be long for that."""
    if request.param:
        monkeypatch.setattr(KnownRecords, "begin_batch", lambda records: setattr(records, "_mostly_rare", True))


@pytest.mark.usefixtures("_mostly_rare")
@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_what_is_odd_is_read_as_if_nothing_were_taken_whole(text):
    assert read([text.encode()]) == read([text.encode()], fast=False)


@pytest.mark.usefixtures("_mostly_rare")
@pytest.mark.parametrize("most", range(1, 5))
def test_the_bound_on_reports_drops_the_same_ones(most):
    stacks = [(*FRAMES[:2], f"in caller{number} c.c:{number}") for number in range(3)]
    text = BANNER + NOISE + "".join(record(stack) for stack in stacks) + NOISE + SUMMARY
    limits = Limits(reports=most)
    evidence = read([text.encode()], limits=limits)
    assert evidence == read([text.encode()], limits=limits, fast=False)
    assert len(evidence.reports) == most
    assert evidence.facts.findings == 5


@pytest.mark.usefixtures("_mostly_rare")
def test_a_check_is_waited_for_from_its_last_record_on(monkeypatch):
    monkeypatch.setattr(LeakCheck, "patience", 6)
    text = BANNER + record() * 4 + NOISE * 2 + record() + "[srv] up\n" * 9 + SUMMARY
    evidence = read([text.encode()])
    assert evidence == read([text.encode()], fast=False)
    assert [report.count for report in evidence.reports] == [7]


# Logs whose records are all taken whole, but for the first one of a check, which may be.
WHOLE = {
    "plain": PLAIN,
    "a stamp on each line": prefixed("2026-03-14T09:26:53.1234567Z ", PLAIN),
    "ctest": CTEST,
    "compose": prefixed("svc-1  | ", PLAIN),
    "mpirun": prefixed("[1,0]<stderr>:", PLAIN),
    "a stamp and ctest": prefixed("2026-03-14T09:26:53.1234567Z 12: ", PLAIN),
    "a progress bar elsewhere": "10%\r20%\r30%\n" + PLAIN,
    "narrow addresses": PLAIN.replace("0x55b2e83ec46", "0x4f"),
    "without a source": PLAIN.replace("in grow src/pool.c:9", " (/bin/app+0x1f)"),
}


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_plain_records_are_taken_whole(text, monkeypatch):
    taken = []
    tally = KnownRecords._tally

    def listening(*given):
        taken.append(tally(*given))
        return taken[-1]

    monkeypatch.setattr(KnownRecords, "_tally", listening)
    evidence = read([text.encode()])
    assert [frames for frames in taken if frames] == [3, 3, 3]
    assert [(report.count, report.bytes) for report in evidence.reports] == [(3, 24)]
    assert evidence == read([text.encode()], fast=False)


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_rare_stacks_are_split_together(text, monkeypatch):
    """All but the last of a check, of which only the SUMMARY says that it has ended."""
    taken = []
    rare_ones = KnownRecords._rare_ones

    def listening(records, data, record, number, check):
        found = rare_ones(records, data, record, number, check)
        taken.append(found[1] - number)
        return found

    monkeypatch.setattr(KnownRecords, "begin_batch", lambda records: setattr(records, "_mostly_rare", True))
    monkeypatch.setattr(KnownRecords, "_rare_ones", listening)
    assert read([text.encode()]) == read([text.encode()], fast=False)
    assert taken == [10]


@pytest.mark.parametrize(("distinct", "least", "most"), [(900, 0.6, 1), (30, 0, 0.3)])
def test_stacks_are_split_together_as_long_as_they_are_new(distinct, least, most, monkeypatch):
    """From the second batch on."""
    split = []
    several = Stacks.several

    def listening(stacks, bodies):
        split.append(len(bodies))
        return several(stacks, bodies)

    monkeypatch.setattr(Stacks, "several", listening)
    data = b"".join(BigLog(Shape(blocks=900, distinct=distinct, seed=2)))
    assert read([data]) == read([data], fast=False)
    assert least < sum(split) / len(data) < most
