"""What holds for any log: the fast way gives what the plain way gives, arrival changes nothing, and a cut log never claims more."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leaks.parsing.dispatch import read
from leaks.tests.big_log import BigLog, Shape

LOGS = sorted((Path(__file__).parent / "logs").glob("*/*.log"))
TEXTS = [path.read_bytes() for path in LOGS]
BIG = [
    b"".join(BigLog(Shape(blocks=60, distinct=9, per_process=20, depth=6, stamped=stamped, seed=3)))
    for stamped in (False, True)
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
        b"a.cpp:1:2: runtime error: division by zero",
        b"=" * 65,
    ]
)
PLACE = st.floats(0, 0.999)
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("drop"), PLACE),
        st.tuples(st.just("repeat"), PLACE, PLACE),
        st.tuples(st.just("insert"), PLACE, LINES),
        st.tuples(st.just("cut"), PLACE, PLACE),
        st.tuples(st.just("overwrite"), PLACE, PLACE, st.sampled_from([b"z", b" ", b"0", b"F", b"#", b"\r", b"\xc3"])),
    ),
    max_size=12,
)


def changed(data, changes):
    lines = data.split(b"\n")
    for what, place, *rest in changes:
        at = int(place * len(lines))
        if what == "drop" and len(lines) > 1:
            del lines[at]
        elif what == "repeat":
            lines.insert(at, lines[int(rest[0] * len(lines))])
        elif what == "insert":
            lines.insert(at, rest[0])
        elif what == "cut":
            lines[at] = lines[at][: int(rest[0] * (len(lines[at]) + 1))]
        elif what == "overwrite":
            spot = int(rest[0] * (len(lines[at]) + 1))
            lines[at] = lines[at][:spot] + rest[1] + lines[at][spot + 1 :]
    return b"\n".join(lines)


def pieces(data, sizes):
    at = 0
    while at < len(data):
        for size in sizes:
            yield data[at : at + size]
            at += size


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(TEXTS + BIG * 10), CHANGES, st.floats(0, 1), st.booleans())
def test_the_fast_way_gives_what_the_plain_way_gives(data, changes, cut, is_cut):
    data = changed(data, changes)
    if is_cut:
        data = data[: int(cut * len(data))]
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
