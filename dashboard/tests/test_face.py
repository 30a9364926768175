import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from django.conf import settings
from django.template import engines
from django.template.loader import get_template

from dashboard import formats
from dashboard.templatetags import bulk, face
from leaks.rows.lane_pages import CommitCell
from leaks.words import Verdict

NOW = datetime(2026, 3, 11, 15, 0, tzinfo=UTC)
FOLDER = Path(settings.BASE_DIR) / "templates"
TEMPLATES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.html"))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "–"),
        (0, "0 B"),
        (1, "1 B"),
        (1023, "1,023 B"),
        (1024, "1 KiB"),
        (91_456, "89.3 KiB"),
        (564_624, "551 KiB"),
        (1_048_000, "1,023 KiB"),
        (1_048_500, "1 MiB"),
        (-2048, "-2 KiB"),
        (3 * 2**40, "3 TiB"),
        (5000 * 2**50, "5,000 PiB"),
    ],
)
def test_sizes_have_binary_prefixes(value, words):
    assert formats.size(value) == words


def test_a_size_keeps_the_exact_figure_in_its_title():
    assert face.size(91_456) == '<span class="size" title="91,456 bytes">89.3 KiB</span>'
    assert "not known" in face.size(None)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "under a minute"),
        (59, "under a minute"),
        (60, "1 min"),
        (5 * 3600 + 59, "5 h"),
        (3 * 86400, "3 d"),
        (400 * 86400, "1 y"),
    ],
)
def test_a_length_of_time_is_said_in_its_largest_unit(seconds, words):
    assert formats.length_of_time(timedelta(seconds=seconds)) == words


@time_machine.travel(NOW, tick=False)
def test_times_are_relative_with_the_moment_in_the_title():
    assert face.when(NOW - timedelta(hours=5)) == (
        '<time datetime="2026-03-11T10:00:00+00:00" title="2026-03-11 10:00:00 UTC">5 h ago</time>'
    )
    assert ">in 2 d<" in face.when(NOW + timedelta(days=2, hours=3))
    assert ">5 h<" in face.since(NOW - timedelta(hours=5))
    assert "not known" in face.when(None)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("main", "main"),
        ("a::b::c", "a::b::c"),
        ("tensorrt::batch_manager::KVCacheBlock::setBlockKey", "…::KVCacheBlock::setBlockKey"),
        ("a_name_that_is_longer_than_thirty_characters", "a_name_that_is_longer_than_thirty_characters"),
        ("long_namespace::Map<std::pair<a::b, c::d>>::at", "…::Map<std::pair<a::b, c::d>>::at"),
        ("(anonymous namespace)::long_enough::Helper::run", "…::long_enough::Helper::run"),
        ("long_namespace_name::Ptr::operator->", "…::Ptr::operator->"),
        ("::rooted", "::rooted"),
        ("", ""),
    ],
)
def test_functions_lose_namespaces_from_the_left_and_never_half_a_name(function, words):
    assert formats.short_function(function, 30) == words


def test_a_commit_shows_nine_characters_and_keeps_all():
    assert face.sha("d1b0ea3a8fff") == '<code class="sha" title="d1b0ea3a8fff">d1b0ea3a8</code>'


def test_filters_escape_what_comes_from_outside():
    for shown in (face.sha("<b>"), face.function("<b>"), face.function("a::<b>")):
        assert "<b>" not in shown


def test_every_verdict_has_a_shape_of_its_own_and_a_word():
    assert len({face.mark(word) for word in Verdict}) == len(Verdict)
    assert face.word(Verdict.NO_VERDICT) == "no verdict"


def test_every_verdict_has_colours_for_badge_and_cell():
    sheet = (Path(settings.BASE_DIR) / "dashboard/static/leakledger.css").read_text()
    tokens = (Path(settings.BASE_DIR) / "dashboard/static/tokens.css").read_text()
    for word in Verdict:
        assert f"--v-{word}:" in tokens
        assert word is Verdict.NO_VERDICT or f".cell-{word} {{ --tone: var(--v-{word}); }}" in sheet


def test_cells_escape_what_comes_from_outside():
    cell = CommitCell('"><x>', "<script>", NOW, Verdict.NO_VERDICT, "", "", 0)
    html = bulk.commit_cells("engine", [cell])
    assert "<script>" not in html
    assert '"><x>' not in html
    assert "no run" in html


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_compiles(name):
    get_template(name)


@pytest.mark.parametrize("name", TEMPLATES)
def test_nothing_is_inline(name):
    """The content policy would refuse it, and only in a browser."""
    text = re.sub(r"\{#.*?#\}|\{%.*?%\}", "", (FOLDER / name).read_text())
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|hx-on|javascript:", text)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text))


def test_no_template_asks_another_host():
    for name in TEMPLATES:
        assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", (FOLDER / name).read_text()), name


def test_an_unknown_value_in_a_template_is_no_error():
    template = engines["django"].from_string("{% load face %}{{ nothing|size }}{{ nothing|number }}")
    assert "–" in template.render({"nothing": None})
