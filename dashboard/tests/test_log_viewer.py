"""The log viewer: windows of lines, marks, jumps, hostile bytes, bounded reading, and the download."""

import io
import tracemalloc

import pytest
import time_machine
from django.urls import reverse

from dashboard.tests.leak_cast import HOSTILE, LOG, give_log, make_leak_cast
from leaks import blobs, models
from leaks.queries import logs
from leaks.tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _now():
    with time_machine.travel(cast.NOW, tick=False):
        yield


@pytest.fixture
def played():
    return make_leak_cast()


def address(log, name="log", slug="engine"):
    return reverse(name, args=[slug, log.public_id])


def page(client, log, query="", status=200):
    answer = client.get(address(log) + query)
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


def window(played, asked=None, start=None, log=None):
    found = logs.find(played.project, (log or played.log).public_id)
    assert found is not None
    return logs.window(found, asked, start)


def stretch(data, first=1, count=10):
    return logs.read_stretch(io.BytesIO(data), first, count)


# --- Bytes to lines --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1000])
def test_lines_are_physical_lines_whatever_the_chunks(monkeypatch, chunk):
    monkeypatch.setattr(logs, "CHUNK", chunk)
    data = b"one\ntwo\r\n\n\x0bfour\x85\xe2\x80\xa8 more\nlast"
    whole = data.split(b"\n")
    for first in range(1, 7):
        assert stretch(data, first).lines == whole[first - 1 :]


def test_the_end_of_the_log_is_told():
    assert stretch(b"a\nb\nc\n", 1, 3) == (logs.Stretch([b"a", b"b", b"c"], ended=True))
    assert stretch(b"a\nb\nc\n", 1, 2) == (logs.Stretch([b"a", b"b"], ended=False))
    assert stretch(b"a\nb\n", 9) == logs.Stretch([], ended=True)
    assert stretch(b"") == logs.Stretch([], ended=True)


def test_a_line_is_cut_and_the_next_one_is_found():
    long = b"x" * (logs.LINE_BYTES * 3)
    first, second = stretch(long + b"\nnext\n").lines
    assert (len(first), second) == (logs.LINE_BYTES + 1, b"next")


class Endless(io.RawIOBase):
    """One line of 64 MiB."""

    left = 64 * 1024 * 1024

    def readable(self):
        return True

    def readinto(self, buffer):
        size = min(len(buffer), self.left)
        buffer[:size] = b"x" * size
        self.left -= size
        return size


def test_memory_holds_the_window_and_not_the_log():
    tracemalloc.start()
    found = logs.read_stretch(io.BufferedReader(Endless()), 1, 500)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(found.lines), found.ended) == (1, True)
    assert peak < 4 * 1024 * 1024


# --- Lines for people ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"\x1b[1m\x1b[31mred\x1b[0m", "red"),
        (b"\x1b]0;title\x07text", "text"),
        (b"\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1b(Btext\x1b[2K", "text"),
        (b"a\tb\r", "a\tb"),
        (b"10%\r20%", "10% 20%"),
        (b"\xff\xfe", "\N{REPLACEMENT CHARACTER}" * 2),
        (b"a\x00b\x07\x1bc", "a\N{REPLACEMENT CHARACTER}b" + "\N{REPLACEMENT CHARACTER}" * 2 + "c"),
        ("exe\u202etxt".encode(), "exe\N{REPLACEMENT CHARACTER}txt"),
        ("C1 \x9b31m".encode(), "C1 \N{REPLACEMENT CHARACTER}31m"),
        ("übung 漢字".encode(), "übung 漢字"),
    ],
)
def test_what_a_terminal_would_obey_is_gone(raw, shown):
    assert logs.printable(raw) == shown


def test_hostile_bytes_are_text(client, played):
    text = page(client, played.log)
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;" in text
    assert "\x1b" not in text
    assert "\x00" not in text
    assert "\u202e" not in text


def test_a_hostile_name_is_text(client, played):
    models.Log.objects.filter(pk=played.log.pk).update(name=HOSTILE)
    assert "<script>alert" not in page(client, played.log)


# --- Windows, marks and jumps ----------------------------------------------------------------------------------------


@pytest.fixture
def long_log(played):
    lines = "".join(f"line {number}\n" for number in range(1, 1801))
    return give_log(played.cast.green, lines, "long.log")


def test_a_window_stands_around_the_asked_line(played, long_log):
    found = window(played, asked=1000, log=long_log)
    assert (found.first, found.last, found.total) == (980, 1479, 1800)
    (asked,) = [line for line in found.lines if line.asked]
    assert (asked.number, asked.text) == (1000, "line 1000")
    assert (found.previous_window, found.next_window) == (480, 1480)


def test_windows_follow_each_other_without_a_gap(played, long_log):
    numbers, start = [], 1
    while start:
        found = window(played, start=start, log=long_log)
        numbers += [line.number for line in found.lines]
        start = found.next_window
    assert numbers == list(range(1, 1801))


def test_the_page_links_its_lines_and_windows(client, played, long_log):
    text = page(client, long_log, "?line=1000")
    assert '<tr id="L1000" class="asked ">' in text
    assert 'href="?from=480"' in text
    assert 'href="?from=1480"' in text
    assert "lines 980 to 1,479 of 1,800" in text


def test_reports_are_marked_and_lead_to_their_signature(client, played):
    line = next(line for line in window(played).lines if line.number == 7)
    assert [mark.signature for mark in line.marks] == [played.signature.public_id]
    assert f'href="/p/engine/signatures/{played.signature.public_id}/"' in page(client, played.log)


def test_many_reports_on_one_line_are_counted(played):
    for number in range(5):
        cast.make_signature(played.red, f"engine::Many{number}", 32, number + 3)
    line = next(line for line in window(played).lines if line.number == 12)
    assert (len(line.marks), line.more_marks) == (2, 4)


def test_the_lines_of_the_verdict_are_marked(client, played):
    assert [line.number for line in window(played).lines if line.because] == [7]
    assert "the verdict rests on this line" in page(client, played.log)


def test_lines_of_another_log_are_not_marked_here(played):
    other = give_log(played.red, LOG + "more\n", "other.log")
    assert not any(line.because for line in window(played, log=other).lines)


def test_jumps_lead_to_the_first_and_to_the_neighbouring_reports(client, played):
    found = window(played, asked=7)
    assert (found.first_report, found.previous_report, found.next_report) == (7, None, 12)
    found = window(played, asked=12)
    assert (found.previous_report, found.next_report) == (7, None)
    assert 'href="?line=12#L12">Next report' in page(client, played.log, "?line=7")


# --- Edges -----------------------------------------------------------------------------------------------------------


def test_an_empty_log_says_so(client, played):
    empty = give_log(played.cast.green, "", "empty.log")
    assert "The log is empty" in page(client, empty)


def test_a_line_after_the_end_says_so(client, played):
    assert "The log ends before that line" in page(client, played.log, "?line=999999")


def test_bytes_that_are_gone_say_so(client, played):
    models.Blob.objects.filter(logs=played.log).update(sha256="0" * 64)
    assert "no longer stored" in page(client, played.log)
    assert client.get(address(played.log, "log_raw")).status_code == 404


def test_a_replaced_revision_says_that_it_does_not_count(client, played):
    models.Log.objects.filter(pk=played.log.pk).update(current=False)
    assert "nothing in it counts" in page(client, played.log)


@pytest.mark.parametrize("query", ["?line=x", "?line=-1", "?from=99999999999"])
def test_a_place_that_is_no_line_is_refused(client, played, query):
    page(client, played.log, query, status=400)


def test_strangers_and_unknown_ids_get_404(client, played):
    assert client.get(reverse("log", args=["engine", "nope"])).status_code == 404
    models.Project.objects.update(public=False)
    client.force_login(cast.make_user("stranger"))
    page(client, played.log, status=404)
    assert client.get(address(played.log, "log_raw")).status_code == 404


def test_it_costs_at_most_fifteen_queries(client, played, django_assert_max_num_queries):
    client.force_login(played.cast.people["triager"])
    with django_assert_max_num_queries(15):
        page(client, played.log, "?line=7")


# --- Download --------------------------------------------------------------------------------------------------------


def test_the_download_is_the_log_to_the_byte_and_only_text(client, played):
    answer = client.get(address(played.log, "log_raw"))
    assert b"".join(answer.streaming_content) == LOG.encode()
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Disposition"] == 'attachment; filename="lane.log"'
    assert answer["Content-Length"] == str(len(LOG.encode()))


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("a/b/../evil.html", "evil.html.log"),
        ("c:\\logs\\x.TXT", "x.TXT"),
        ('q"uote\r\nSet-Cookie: x', None),
        ("run.bat", "run.bat.log"),
    ],
)
def test_the_name_of_the_download_is_harmless(client, played, name, file):
    models.Log.objects.filter(pk=played.log.pk).update(name=name)
    given = client.get(address(played.log, "log_raw"))["Content-Disposition"]
    assert given.startswith("attachment; ")
    assert "\n" not in given
    assert file is None or file in given


def test_the_download_is_streamed(client, played, monkeypatch):
    big = give_log(played.cast.green, "x" * 3_000_000, "big.log")
    read = []
    real = blobs.open_blob

    def watched(blob):
        stream = real(blob)
        read.append(stream)
        return stream

    monkeypatch.setattr(blobs, "open_blob", watched)
    answer = client.get(address(big, "log_raw"))
    first = next(iter(answer.streaming_content))
    assert len(first) < 100_000
    answer.close()
    assert read[0].closed
