"""Which functions are proposed as plumbing, and which never are."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from leaks.evidence import Frame, Report, Stack
from leaks.own import Ownership
from leaks.parsing.frames import understood
from leaks.plumbing import Proposal, propose, stacks_of
from leaks.signature import identify
from leaks.words import Role

ROOT = Path(__file__).resolve().parents[2]
MALLOC = "in malloc (/b/t+0x1)"
INC = "in util::Counter::inc(int) src/util/counter.cpp:3"
IMAGES = "in sched::count_images() src/sched/count.cpp:9"
TOKENS = "in sched::count_tokens() src/sched/count.cpp:19"


def frames(*texts: str) -> tuple[Frame, ...]:
    return tuple(map(understood, texts))


def test_of(number: int) -> str:
    return f"in DOCTEST_ANON_FUNC_{number} tests/t{number}.cpp:5"


test_of.__test__ = False  # type: ignore[attr-defined]


def proposed(*stacks: Sequence[str], plumbing: Sequence[str] = ()) -> list[str]:
    return [one.function for one in propose((frames(*texts) for texts in stacks), Ownership(plumbing=plumbing))]


SERVES = {
    "a helper with callers out of another namespace": [[INC, IMAGES], [INC, TOKENS]],
    "a helper whose callers are closures": [
        [INC, "in sched::count_images()::$_0::operator()() const src/sched/count.cpp:9"],
        [INC, "in sched::count_tokens()::{lambda()#1}::operator()() const src/sched/count.cpp:19"],
    ],
    "a helper that many classes of its own namespace use": [
        ["in k::copy(void*) src/copy.cpp:3", f"in k::{name}::run() src/{name}.cpp:5"] for name in "ABCD"
    ],
    "a helper without any namespace": [
        ["in copy_bytes src/copy.c:3", "in load_page src/page.c:5"],
        ["in copy_bytes src/copy.c:3", "in load_row src/row.c:5"],
    ],
}
OWNS = {
    "a culprit that many tests call": [[INC, test_of(number)] for number in range(20)],
    "a culprit of one caller": [[INC, IMAGES, test_of(number)] for number in range(20)],
    "a culprit that its own class calls": [
        ["in k::Meter::add(int) src/m.cpp:1", f"in k::Meter::{name}() src/m.cpp:9"] for name in ("run", "stream", "stop")
    ],
    "a culprit that its own module calls": [
        ["in k::Block::set_key() src/k.cpp:1", f"in k::{name}::run() src/k.cpp:9"] for name in ("Manager", "Window")
    ],
    "a function below a culprit": [
        ["in a::f() src/a.cpp:1", "in b::dispatch() src/b.cpp:1", f"in c{number}::run() src/c{number}.cpp:1"]
        for number in range(9)
    ],
    "main": [[f"in a{number}::f() src/a.cpp:{number}", "in main src/main.cpp:3"] for number in range(9)],
}  # fmt: skip


@pytest.mark.parametrize("stacks", SERVES.values(), ids=SERVES.keys())
def test_what_serves_functions_that_have_nothing_to_do_with_each_other_is_proposed(stacks):
    assert len(proposed(*stacks)) == 1


@pytest.mark.parametrize("stacks", OWNS.values(), ids=OWNS.keys())
def test_what_is_not_plumbing_is_not_proposed(stacks):
    assert proposed(*stacks) == []


POOL = ["in dev::alloc_aligned(unsigned long) src/dev/a.cpp:1", "in dev::Pool::get(unsigned long) src/dev/p.cpp:1"]
BUFFER = "in dev::Buf::Buf(unsigned long) src/dev/p.cpp:9"
USERS = [f"in models::{name}() src/models/{name}.cpp:3" for name in ("rope", "mask", "encode")]


def test_a_chain_of_helpers_is_seen_through():
    stacks = [[MALLOC, *POOL, BUFFER, user, test_of(1)] for user in USERS]
    assert proposed(*stacks) == ["dev::Buf::Buf"]
    direct = [[MALLOC, *POOL, user] for user in USERS]
    assert proposed(*stacks, *direct) == ["dev::Pool::get", "dev::Buf::Buf"]


def test_how_often_something_was_seen_changes_nothing_but_the_count():
    stacks = [[INC, IMAGES], [INC, TOKENS]]
    once = propose((frames(*texts) for texts in stacks), Ownership())
    often = propose((frames(*texts) for texts in stacks * 50), Ownership())
    assert once == [Proposal("util::Counter::inc", 2, 2)]
    assert often == [Proposal("util::Counter::inc", 100, 2)]


def test_the_best_serves_most():
    other = "in util::grow(int) src/util/grow.cpp:3"
    stacks = [[INC, IMAGES], [INC, TOKENS], *([other, user] for user in USERS)]
    assert proposed(*stacks) == ["util::grow", "util::Counter::inc"]


def test_what_the_project_knows_already_is_not_proposed_again():
    assert proposed([INC, IMAGES], [INC, TOKENS], plumbing=["util::Counter::inc"]) == []


def test_both_sides_of_a_race_speak():
    race = Report("tsan", "data-race", 1, "", frames(INC, IMAGES), (Stack(Role.PREVIOUS_ACCESS, frames(INC, TOKENS)),))
    made = Report("tsan", "data-race", 1, "", (), (Stack(Role.THREAD_CREATED, frames(INC, TOKENS)),))
    assert [one.function for one in propose(stacks_of([race]), Ownership())] == ["util::Counter::inc"]
    assert list(stacks_of([made])) == [()]


def test_a_proposal_that_is_accepted_parts_its_users_however_a_compiler_prints_it():
    stacks = [
        ["in util::(anonymous namespace)::bump(int*) src/util/u.cpp:3", f"in util::inc_{name} src/util/u.cpp:9", *rest]
        for name in "ab"
        for rest in ([IMAGES], [TOKENS])
    ]
    accepted = Ownership(plumbing=["util::bump", "util::inc_a", "util::inc_b"])

    def key(*texts: str) -> str:
        return identify(Report("x", "heap-use-after-free", 1, "", frames(*texts)), accepted).hash

    bare = ["in bump src/util/u.cpp:3", "in util::inc_a(int) src/util/u.cpp:9"]
    assert key(*stacks[0]) == key(*bare, IMAGES) != key(*bare, TOKENS)


# --- The command -----------------------------------------------------------------------------------------------------

LOG = """\
==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000014 at pc 0x1 bp 0x2 sp 0x3
READ of size 4 at 0x602000000014 thread T0
    #0 0x1 in util::copy(void*) /src/util/copy.cpp:3:5
    #1 0x2 in {user} /src/user.cpp:9:5

SUMMARY: AddressSanitizer: heap-buffer-overflow /src/util/copy.cpp:3:5 in util::copy(void*)
==7==ABORTING
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Without settings and without a database, from anywhere."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("DJANGO")}
    command = [sys.executable, str(ROOT / "manage.py"), "propose_plumbing", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60, env=env)


def test_the_command_reads_logs_and_folders_and_prints_one_object(tmp_path: Path) -> None:
    for number, user in enumerate(("kv::load(int)", "image::load(int)", "image::store(int)")):
        (tmp_path / f"{number}.log").write_text(LOG.replace("{user}", user))
    ended = run(str(tmp_path))
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout) == {"plumbing": [{"function": "util::copy", "seen": 3, "successors": 3}]}


def test_a_log_that_cannot_be_read_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(LOG.replace("{user}", "kv::load(int)"))
    ended = run(str(tmp_path / "missing.log"), str(tmp_path / "a.log"))
    assert ended.returncode == 2
    assert "missing.log" in ended.stderr
    assert json.loads(ended.stdout) == {"plumbing": []}
