"""The file that lanes run with: the same bytes for the same rules, nothing in it that was not approved, and real runtimes read it."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from dashboard.exports.supp import render
from leaks import models, review
from leaks.ledger_words import SuppressionTool
from leaks.review_rules import refusal
from leaks.rows.suppressions import ServedRule
from leaks.rules import parse_rules
from leaks.tests.reviewing import RULE, WIDER, in_days, make_reviewed
from leaks.tokens import make_token

FILE = "/api/v1/projects/engine/suppressions/lsan.supp"
MINE = "/api/v1/suppressions/lsan.supp"


@pytest.fixture
def made(db):
    return make_reviewed()


@pytest.fixture
def fetch(client, made):
    secret = make_token(made.project, "upload", "lane")[1]

    def get(path=FILE, **query):
        headers = {"Authorization": f"Bearer {secret}"}
        if tag := query.pop("tag", ""):
            headers["If-None-Match"] = tag
        return client.get(path, query, headers=headers)

    return get


def text(answer):
    assert answer.status_code == 200
    return answer.content.decode()


# --- What stands in it -----------------------------------------------------------------------------------------------


def test_a_rule_stands_behind_its_id_its_end_and_its_reason(made, fetch):
    one = made.approved(reason="The pool keeps\r\n its blocks\nleak:injected")
    assert text(fetch()) == (
        "# Leakledger suppressions of engine for LeakSanitizer\n"
        "# Approved by a second person each, until the day that is named; a change here is no change there.\n"
        "\n"
        f"# {one.public_id}, approved by the role approver\n"
        f"# ends: {one.ends_on}\n"
        "# reason: The pool keeps its blocks leak:injected\n"
        f"{RULE}\n"
    )
    assert [rule.text for rule in parse_rules(text(fetch()))] == [RULE]


def test_only_what_is_in_force_stands_in_it(made, fetch):
    made.propose(rule="leak:Vocab::load")
    review.reject(made.propose(rule="leak:engine/vocab.cpp"), made.people["ann"], reason="No.", revision=1)
    review.revoke(made.approved(rule=WIDER), made.people["ann"], reason="Wide.")
    ended = made.approved(rule="leak:engine/pool.h")
    models.Suppression.objects.filter(pk=ended.pk).update(ends_on=in_days(-1))
    assert parse_rules(text(fetch())) == ()
    assert text(fetch()).startswith("# Leakledger suppressions")  # older runtimes refuse an empty file


def test_a_lane_gets_its_own_rules_and_those_for_all(made, fetch):
    models.Lane.objects.filter(name="soak").update(aliases=["nightly"])
    made.approved(rule=RULE)
    made.approved(rule="leak:Vocab::load", lanes=("soak",))
    for lane, rules in (("asan", 1), ("soak", 2), ("nightly", 2), ("unheard", 1), ("", 2)):
        assert len(parse_rules(text(fetch(lane=lane)))) == rules, lane
    assert "lane soak" in text(fetch(lane="soak"))


def test_older_rules_stand_first_and_of_a_renewal_the_later_end_holds(made, fetch):
    ending = made.approved(ends_on=in_days(3))
    other = made.approved(rule="leak:Vocab::load")
    renewal = made.approved(ends_on=in_days(90))
    body = text(fetch())
    assert body.index(other.public_id) < body.index(renewal.public_id)
    assert ending.public_id not in body
    assert body.count(RULE) == 1


def test_the_same_rules_give_the_same_bytes_whoever_asks_and_whatever_became_of_people(made, fetch, client):
    made.approved()
    before = fetch()
    models.Membership.objects.filter(user=made.people["ann"]).update(role="viewer")
    assert fetch().content == before.content
    assert before["ETag"] == f'"{hashlib.sha256(before.content).hexdigest()}"'
    assert "ann" not in text(before)
    assert before["Content-Type"].startswith("text/plain")


def test_who_has_it_is_not_sent_it_again_until_it_changes(made, fetch):
    made.approved()
    tag = fetch()["ETag"]
    assert (fetch(tag=tag).status_code, fetch(tag=tag).content) == (304, b"")
    made.approved(rule="leak:Vocab::load")
    assert fetch(tag=tag).status_code == 200
    models.Suppression.objects.update(ends_on=in_days(-1))
    assert parse_rules(text(fetch(tag=tag))) == ()


def test_upload_and_read_tokens_read_it_and_strangers_do_not(made, client):
    for kind, status in (("upload", 200), ("read", 200), ("badge", 404)):
        secret = make_token(made.project, kind, "x")[1]
        assert client.get(FILE, headers={"Authorization": f"Bearer {secret}"}).status_code == status
    assert client.get(FILE).status_code == 404
    assert client.get(FILE, headers={"Authorization": "Bearer wrong"}).status_code == 401


def test_a_token_says_by_itself_which_project_it_is_of(made, fetch, client):
    made.approved()
    assert fetch(MINE).content == fetch(FILE).content
    assert client.get(MINE).status_code == 401


@pytest.mark.parametrize("path", [FILE.replace("lsan", "msan"), MINE.replace("lsan", "msan"), FILE.replace("lsan", "")])
def test_there_is_no_file_for_another_tool(fetch, path):
    assert fetch(path).status_code == 404


def test_each_tool_has_a_file_of_its_own(made, fetch):
    made.approved()
    made.approved(tool="tsan", rule="race:engine::Queue", signature="")
    assert "race:" not in text(fetch())
    assert "race:engine::Queue" in text(fetch(FILE.replace("lsan", "tsan")))


# --- Real runtimes ---------------------------------------------------------------------------------------------------

LEAKY = """\
#include <cstdlib>
namespace engine { struct Pool { static void* get() { return malloc(64); } }; void* other() { return malloc(32); } }
int main() { engine::Pool::get(); engine::other(); return 0; }
"""
BLOCK = "{\n   the pool\n   Memcheck:Leak\n   match-leak-kinds: definite\n   ...\n   fun:*3getEv\n}"
REASON = "Kept by design: “Größe”; leak:* # {\n}\x1b[31m\u202e and more"


def served_file(folder: Path, tool: str, rule: str) -> Path:
    """As the server writes it, with a reason that tries to be more than a comment."""
    assert refusal(SuppressionTool(tool), rule) is None
    rules = [ServedRule("SUP-AAAAAA", rule, REASON, in_days(3), "approver")]
    path = folder / f"{tool}.supp"
    path.write_bytes(render("engine", SuppressionTool(tool), "asan", rules).encode())
    return path


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    def built(*flags: str) -> Path:
        if shutil.which("g++") is None:
            pytest.skip("g++ is not installed")
        folder = tmp_path_factory.mktemp("served")
        (folder / "leaky.cpp").write_text(LEAKY)
        command = ["g++", "-g", "-O0", "-w", *flags, str(folder / "leaky.cpp"), "-o", str(folder / "leaky")]
        subprocess.run(command, check=True, capture_output=True, timeout=100)
        return folder / "leaky"

    return built


def run(*command: str, **options: str) -> "subprocess.CompletedProcess[str]":
    env = {"PATH": os.environ["PATH"], **options}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=100)


@pytest.mark.compiled
def test_the_real_leak_sanitizer_runs_with_it_and_counts_the_hit(build, tmp_path):
    program = build("-fsanitize=address")
    rules = served_file(tmp_path, "lsan", "leak:engine::Pool::get")
    done = run(str(program), LSAN_OPTIONS=f"suppressions={rules}")
    assert "failed to parse" not in done.stderr
    assert "1         64 engine::Pool::get" in done.stderr
    assert "32 byte(s) leaked in 1 allocation(s)" in done.stderr


RUNTIMES = {
    "lsan": ("address", "LSAN_OPTIONS", "leak:engine/no_such_file.cpp"),
    "asan": ("address", "ASAN_OPTIONS", "interceptor_via_fun:engine::Codec"),
    "tsan": ("thread", "TSAN_OPTIONS", "race:engine::Queue::push"),
    "ubsan": ("undefined", "UBSAN_OPTIONS", "signed-integer-overflow:src/hash.cpp"),
}


@pytest.mark.compiled
@pytest.mark.parametrize("tool", RUNTIMES)
def test_each_sanitizer_reads_its_file_and_so_one_without_rules(build, tmp_path, tool):
    sanitize, variable, rule = RUNTIMES[tool]
    # Older runtimes of ThreadSanitizer do not start where the kernel lays out addresses too freely.
    words = ["setarch", "-R"] if tool == "tsan" else []
    words.append(str(build(f"-fsanitize={sanitize}")))
    empty = tmp_path / "none.supp"
    empty.write_text(render("engine", SuppressionTool(tool), "", ()))
    plain = run(*words)
    for path in (served_file(tmp_path, tool, rule), empty):
        done = run(*words, **{variable: f"suppressions={path}"})
        assert (done.returncode, "failed to" in done.stderr) == (plain.returncode, False), done.stderr


@pytest.mark.compiled
def test_the_real_valgrind_runs_with_it(build, tmp_path):
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    rules = served_file(tmp_path, "valgrind", BLOCK)
    done = run("valgrind", "--leak-check=full", f"--suppressions={rules}", str(build()))
    assert "definitely lost: 32 bytes in 1 blocks" in done.stderr
    assert "suppressed: 64 bytes in 1 blocks" in done.stderr
