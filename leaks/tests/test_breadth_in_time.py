"""A rule is too broad by what its lane had leaked until then, in whatever order the logs arrive."""

from itertools import permutations
from typing import Any

import pytest

from leaks.models import RuleFile
from leaks.tests.ledger import log_text, outcome, project, settle, submit
from leaks.words import Verdict

LEAKING: dict[str, Any] = {"exit_code": 1, "conclusion": "failure"}
PLACES = [(f"engine::{name}()", f"/src/engine/parts/{name}.cpp", 3) for name in ("alpha", "beta", "gamma")]


@pytest.mark.django_db
@pytest.mark.parametrize("order", list(permutations((1, 2, 3))))
@pytest.mark.parametrize(
    ("rule", "verdict"), [("leak:engine/parts/", Verdict.BLINDED), ("leak:parts/beta.cpp", Verdict.CLEAN)]
)
def test_a_folder_that_all_own_leaks_of_a_lane_lie_in_is_too_broad(order, rule, verdict):
    logs = {1: log_text(*((place, 64) for place in PLACES)), 2: log_text(), 3: log_text()}
    rules = RuleFile.objects.create(project=project(), sha256="0", text=f"{rule}\n")
    for number in order:
        submit(number, logs[number], options={"ASAN_OPTIONS": "color=never"}, **(LEAKING if number == 1 else {}))
        if number != 1:
            outcome(number).rule_files.add(rules)
        settle()
    assert [outcome(number).verdict for number in (2, 3)] == [verdict, verdict]


@pytest.mark.django_db
@pytest.mark.parametrize("order", list(permutations((1, 2, 3))))
def test_a_file_that_shows_later_under_a_known_identity_is_weighed_too(order):
    """The functions moved into one folder; the run that shows it may be read after the one that hides it."""
    elsewhere = [(function, f"/src/engine/z_{number}/x.cpp", 3) for number, (function, _, _) in enumerate(PLACES)]
    logs = {1: log_text(*((one, 64) for one in elsewhere)), 2: log_text(*((one, 64) for one in PLACES)), 3: log_text()}
    rules = RuleFile.objects.create(project=project(), sha256="0", text="leak:engine/parts/\n")
    for number in order:
        submit(number, logs[number], options={"ASAN_OPTIONS": "color=never"}, **(LEAKING if number != 3 else {}))
        if number == 3:
            outcome(number).rule_files.add(rules)
        settle()
    assert outcome(3).verdict == Verdict.BLINDED
