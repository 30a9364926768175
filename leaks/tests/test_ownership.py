"""Whose a file is: CODEOWNERS as GitHub reads it."""

import time

import pytest

from leaks.ownership import CodeOwnersFile, in_repository, words

FILE = """
# the last match wins
*            @org/everybody
*.cu         @kernels
/src/        @core @org/core-team   # and a remark @nobody
/src/pool/*  @pool
docs/        docs@example.org
apps/**/test @testers
/src/free.cpp
[Section]
/tools/      @tools
"""

OWNED = [
    ("README.md", ("@org/everybody",)),
    ("src/engine.cpp", ("@core", "@org/core-team")),
    ("lib/src/engine.cpp", ("@org/everybody",)),
    ("src/gpu/kernel.cu", ("@core", "@org/core-team")),
    ("lib/kernel.cu", ("@kernels",)),
    ("src/pool/pool.h", ("@pool",)),
    ("src/pool/deep/pool.h", ("@core", "@org/core-team")),
    ("a/docs/b.md", ("docs@example.org",)),
    ("apps/one/two/test/x.cpp", ("@testers",)),
    ("src/free.cpp", ()),
    ("tools/x.py", ("@tools",)),
    ("", ()),
]


@pytest.mark.parametrize(("file", "owners"), OWNED)
def test_the_last_line_that_matches_decides(file: str, owners: tuple[str, ...]) -> None:
    assert CodeOwnersFile(FILE).owners_of(file) == owners


def test_without_a_line_nobody_owns_anything() -> None:
    assert not CodeOwnersFile("")
    assert not CodeOwnersFile("# only a remark\n\n")
    assert CodeOwnersFile("").owners_of("src/a.cpp") == ()


def test_a_line_that_cannot_be_read_is_told_and_the_others_count() -> None:
    read = CodeOwnersFile("[a-z @one\n*.h[ @two\n!x @three\n[z-a].c @four\nsrc/ @five\n" + "x" * 3_000)
    assert [(fault.line, fault.why) for fault in read.faults] == [
        (1, "a section is written [Name]"),
        (2, "the pattern cannot be read"),
        (3, "a pattern cannot begin with “!”"),
        (4, "a section is written [Name]"),
        (6, "longer than 2,000 characters"),
    ]
    assert read.owners_of("src/a") == ("@five",)


@pytest.mark.parametrize(
    "pattern", ["*a" * 900 + "b", "**/" * 600 + "b", "[a-z]" * 300, "?" * 1_500, "\\" * 1_500, "\0\x01", "/" * 1_000]
)
def test_a_hostile_pattern_costs_no_time(pattern: str) -> None:
    begun = time.process_time()
    CodeOwnersFile(f"{pattern} @x").owners_of("a/" * 500 + "a" * 2_000)
    assert time.process_time() - begun < 5


IN_REPOSITORY = [
    ("src/pool.cpp", [], "src/pool.cpp"),
    ("./src/pool.cpp", [], "src/pool.cpp"),
    ("../../src/pool.cpp", [], "src/pool.cpp"),
    ("/home/runner/work/engine/engine/src/pool.cpp", [], "src/pool.cpp"),
    ("/__w/engine/engine/src/pool.cpp", [], "src/pool.cpp"),
    ("/builds/group/engine/src/pool.cpp", [], "src/pool.cpp"),
    ("/work/checkout/src/pool.cpp", ["src/"], "src/pool.cpp"),
    ("/work/checkout/src/pool.cpp", ["/work/checkout"], "src/pool.cpp"),
    ("/work/checkout/src/pool.cpp", ["/work", "/work/checkout/"], "src/pool.cpp"),
    (r"C:\agent\src\pool.cpp", ["src"], "src/pool.cpp"),
    ("/opt/engine/pool.cpp", ["src/"], "opt/engine/pool.cpp"),
    ("/src/engine/pool.h", ["/src/engine"], "pool.h"),
]


@pytest.mark.parametrize(("file", "roots", "path"), IN_REPOSITORY)
def test_a_printed_path_is_put_into_the_repository(file: str, roots: list[str], path: str) -> None:
    assert in_repository(file, roots) == path


def test_words_can_be_searched_whole() -> None:
    assert words(("@a", "@org/b")) == " @a @org/b "
    assert words(()) == ""
