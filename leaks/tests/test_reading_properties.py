"""What holds for any log: the fast way gives what the plain way gives, arrival changes nothing, and a cut log never claims more."""

from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leaks.parsing.dispatch import read
from leaks.parsing.known import KnownRecords
from leaks.tests.big_log import BigLog, Shape

LOGS = sorted((Path(__file__).parent / "logs").glob("*/*.log"))
TEXTS = [path.read_bytes() for path in LOGS]
SMALL = Shape(blocks=60, distinct=9, per_process=20, depth=6, seed=3)
# Every dress in which records are taken whole: a stack seen once, seen often, behind stamps, behind prefixes, among other reports.
BIG = [
    b"".join(BigLog(replace(SMALL, **changes)))
    for changes in (
        {},
        {"distinct": 60},
        {"distinct": 2, "depth": 3},
        {"stamped": True},
        {"style": "gcc", "errors": 2},
        {"prefix": "12: "},
        {"prefix": "{process}: ", "distinct": 3},
        {"prefix": "svc-1  | ", "stamped": True},
        {"prefix": "[1,0]<stderr>:", "unsymbolised": 1.0},
    )
]

LINES = st.sampled_from(
    [
        b"",
        b"    ",
        b"[ RUN      ] Session.Close",
        b"addr2line: DWARF error",
        b"progress 10%\rprogress 20%",
        b"12: foreign",
        b"\xff\xfe\0",
        b"    #3 0x55b2e83ec460 in f a.c:1",
        b"SUMMARY: AddressSanitizer: 8 byte(s) leaked in 1 allocation(s).",
        b"==7==ABORTING",
        b"==10007==ERROR: LeakSanitizer: detected memory leaks",
        b"Direct leak of 8 byte(s) in 1 object(s) allocated from:",
        b"2026-03-14T09:26:53.1234567Z ",
        b"2026-03-14T09:26:53.1234567Z",
        b"12: ",
        b"    #0 0x55b2e83ec460",
        b"    #1 0x55b2e83ec460 in g b.c:2",
        b"The 3 top leak(s):",
        b"Omitting 4 more leak(s).",
        b"##[error]Process completed with exit code 1.",
        b"a.cpp:1:2: runtime error: division by zero",
        b"=" * 65,
    ]
)
PLACE = st.floats(0, 0.999)
DRESSES = [
    b"12: ",
    b"3: ",
    b"svc-1  | ",
    b"[1,0]<stderr>:",
    b"2026-03-14T09:26:53.1234567Z ",
    b"[gw1] ",
    b"log.txt:",
    b"x> ",
]


def drop(lines, at):
    lines[at : at + 1] = [] if len(lines) > 1 else lines


def repeat(lines, at, place):
    lines.insert(at, lines[int(place * len(lines))])


def insert(lines, at, line):
    lines.insert(at, line)


def cut(lines, at, place):
    lines[at] = lines[at][: int(place * (len(lines[at]) + 1))]


def overwrite(lines, at, place, byte):
    spot = int(place * (len(lines[at]) + 1))
    lines[at] = lines[at][:spot] + byte + lines[at][spot + 1 :]


def end_in_returns(lines, at, count):
    lines[at : at + count] = [line + b"\r" for line in lines[at : at + count]]


def dress(lines, at, count, prefix):
    lines[at : at + count] = [prefix + line for line in lines[at : at + count]]


def weave(lines, at, count):
    """Two parts of the log, line by line in turn."""
    pairs = zip_longest(lines[at : at + count], lines[at + count : at + 2 * count])
    lines[at : at + 2 * count] = [line for pair in pairs for line in pair if line is not None]


CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just(drop), PLACE),
        st.tuples(st.just(repeat), PLACE, PLACE),
        st.tuples(st.just(insert), PLACE, LINES),
        st.tuples(st.just(cut), PLACE, PLACE),
        st.tuples(st.just(end_in_returns), PLACE, st.integers(1, 80)),
        st.tuples(st.just(dress), PLACE, st.integers(1, 80), st.sampled_from(DRESSES)),
        st.tuples(st.just(weave), PLACE, st.integers(1, 40)),
        st.tuples(
            st.just(overwrite),
            PLACE,
            PLACE,
            st.sampled_from([b"z", b" ", b"0", b"F", b"#", b"\r", b"\n", b"\0", b"\xc3"]),
        ),
    ),
    max_size=12,
)


def changed(data, changes):
    lines = data.split(b"\n")
    for change, place, *rest in changes:
        change(lines, int(place * len(lines)), *rest)
    return b"\n".join(lines)


def pieces(data, sizes):
    at = 0
    while at < len(data):
        for size in sizes:
            yield data[at : at + size]
            at += size


def take_stacks_for_rare(records):
    """As if no stack of the batch before had come before: a log must be long for that."""
    records._mostly_rare = True


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(TEXTS + BIG * 10), CHANGES, st.floats(0, 1), st.booleans(), st.booleans())
def test_the_fast_way_gives_what_the_plain_way_gives(data, changes, cut, is_cut, mostly_rare):
    data = changed(data, changes)
    if is_cut:
        data = data[: int(cut * len(data))]
    with pytest.MonkeyPatch.context() as patch:
        if mostly_rare:
            patch.setattr(KnownRecords, "begin_batch", take_stacks_for_rare)
        assert read([data]) == read([data], fast=False)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(TEXTS + BIG), CHANGES, st.lists(st.integers(1, 5000), min_size=1, max_size=5))
def test_how_a_log_arrives_changes_nothing(data, changes, sizes):
    data = changed(data, changes)
    assert read(pieces(data, sizes)) == read([data])


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=3000))
def test_any_bytes_can_be_read(data):
    facts = read([data]).facts
    if not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.removeprefix(b"\xef\xbb\xbf")
        assert facts.lines == text.count(b"\n") + (not text.endswith(b"\n") and bool(text))


@pytest.mark.parametrize("path", LOGS, ids=[f"{path.parent.name}/{path.stem}" for path in LOGS])
def test_a_cut_log_invents_nothing_and_claims_nothing(path):
    data = path.read_bytes()
    whole = read([data])
    kinds = {report.kind for report in whole.reports} | {"unrecognised", "undefined-behavior:unrecognised"}
    for cut in range(1, len(data), max(1, len(data) // 150)):
        evidence = read([data[:cut]])
        assert evidence.facts.findings <= whole.facts.findings
        assert {report.kind for report in evidence.reports} <= kinds
        last = evidence.reports[-1] if evidence.reports else None
        if last and last.truncated and last.line not in {report.line for report in whole.reports if report.truncated}:
            assert evidence.facts.ends_in_block, f"cut at byte {cut}"


def test_a_batch_may_end_anywhere_in_a_record():
    log = BigLog(Shape(blocks=700, distinct=40, per_process=90, seed=5))
    data = b"".join(log)
    assert len(data) > 1_000_000
    expected = read([data], fast=False)
    for shift in range(0, 3000, 211):
        evidence = read([b"x" * shift + b"\n" + data])
        assert evidence.facts.totals == expected.facts.totals
        assert [(r.kind, r.count, r.bytes, r.frames) for r in evidence.reports] == [
            (r.kind, r.count, r.bytes, r.frames) for r in expected.reports
        ]
        assert [r.line - 1 for r in evidence.reports] == [r.line for r in expected.reports]
