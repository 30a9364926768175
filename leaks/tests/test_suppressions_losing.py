"""A new rule may take the hits of one in force, though it stands behind it in the file: some texts of a frame are asked before others."""

import pytest

from leaks.queries.reach import reach_of
from leaks.queries.suppressions_losing import losing
from leaks.tests.ledger import log_text, submit
from leaks.tests.reviewing import RULE, make_reviewed


@pytest.fixture
def made(db):
    for number in (11, 12, 13):  # so that no report has the number of its log
        submit(number, log_text())
    return make_reviewed()


def told(made, one):
    return losing(made.project, one, reach_of(made.project, one.tool, one.rule))


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("leak:libengine.so", "may lose hits"),  # the module is asked first, and a frame with a source line prints none
        ("leak:Pool::get(unsigned long)", ""),  # the same text: the first rule of the file has the hit
        ("leak:pool.h", ""),  # the file is asked after the function
        ("leak:Vocab", ""),  # other leaks
    ],
)
def test_what_is_asked_before_takes_hits_of_a_rule_in_force(made, rule, said):
    old = made.approved()
    found = told(made, made.propose(rule=rule, signature=""))
    assert len(found) == bool(said)
    assert all(f"{old.public_id} ({RULE}) is in force and {said}" in sentence for sentence in found)


def test_an_inner_frame_is_asked_before_an_outer_one(made):
    old = made.approved(rule="leak:pool.h")
    (said,) = told(made, made.propose(rule="leak:Pool::get", signature=""))
    assert f"{old.public_id} (leak:pool.h) is in force and loses hits" in said


def test_rules_of_other_lanes_and_proposals_lose_nothing(made):
    made.approved(lanes=("soak",))
    made.propose(rule="leak:^engine::Pool::get(unsigned long)$")
    assert told(made, made.propose(rule="leak:libengine.so", signature="", lanes=("asan",))) == ()
