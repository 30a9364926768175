"""What the journal keeps of a change, in words for people."""

import pytest

from leaks.growth_words import steady_sentence
from leaks.rows.growth import Steady
from leaks.rows.journal import said_of

SAID = [
    ({"emptied": True, "batch": "0a"}, (("nothing was left there", "yes"),)),
    ({"undoes": 7, "what": "took_in"}, (("undoes entry", "7"), ("which was", "a merge into this one"))),
    ({"undoes": 7, "what": "intended"}, (("undoes entry", "7"), ("which was", "intended"))),
    ({"into": "LKS-1", "emptied": False}, (("to", "LKS-1"), ("nothing was left there", "no"))),
    ({"from": {"LKS-1": 2}}, (("keys from", "LKS-1 2"),)),
    ({"before": "", "after": "ann"}, (("before", "–"), ("after", "ann"))),
    ({"what": ["took_in"]}, (("which was", "took_in"),)),
    ("a text", ()),
]


@pytest.mark.parametrize(("details", "said"), SAID)
def test_details_are_said_in_plain_words(details, said):
    assert said_of(details) == said


def test_one_run_is_one_run():
    assert steady_sentence(Steady(64, 64, 1, 1)) == "64 bytes in 1 run that shows it, on 1 commit"
