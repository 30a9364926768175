"""The recipe against real logs of known bugs, and the measure itself."""

import pytest

from leaks.tests.bench_signatures import main, proposed_plumbing, sightings
from leaks.tests.labelled import SAMPLES, Labelled, full_stack, load, of_depth, ours, top3
from leaks.tests.scoring import Several, Sighting, score, score_several


@pytest.fixture(scope="module")
def logs() -> list[Labelled]:
    return [log for log in load(SAMPLES) if log.label["bug_id"]]


def test_without_any_configuration_bugs_are_told_apart_and_kept_together(logs):
    found = score(sightings(logs, ours(), "site_id", visible=True))
    assert found.logs > 70
    assert (found.precision, found.recall, found.bcubed_f1) >= (0.85, 0.85, 0.93), found
    assert found.merged <= 2, found


def test_with_the_plumbing_it_proposes_no_two_bugs_are_one(logs):
    found = score(sightings(logs, ours(proposed_plumbing(logs)), "site_id", visible=True))
    assert found.precision == 1.0, found
    assert found.recall >= 0.85, found
    assert found.bcubed_f1 >= 0.95, found


def test_no_trivial_recipe_and_no_fixed_depth_is_as_good(logs):
    best = score(sightings(logs, ours(proposed_plumbing(logs)), "site_id", visible=True))
    for recipe in (top3, full_stack, *map(of_depth, range(1, 9))):
        assert score(sightings(logs, recipe, "site_id", visible=True)).f1 < best.f1 - 0.05


def test_logs_with_several_bugs_show_them_under_their_own_signatures(logs):
    recipe = ours()
    several = [
        Several(frozenset(log.label["bug_ids"]), log.signatures(recipe), log.group)
        for log in load(SAMPLES, "multi.jsonl")
    ]
    alone = [(Sighting(log.label["bug_id"], None, log.group), log.signatures(recipe)) for log in logs]
    assert len(several) == 3
    assert score_several(several, alone) == (1.0, 1.0)


def test_clean_logs_have_no_signature():
    clean = [log for log in load(SAMPLES) if not log.label["bug_id"]]
    assert clean
    assert not any(log.reports for log in clean)


def test_the_benchmark_prints_its_table_for_the_logs_of_the_tests(capsys):
    main([])
    printed = capsys.readouterr().out
    assert "baseline full stack" in printed
    assert "depth 8" in printed


# --- The measure -----------------------------------------------------------------------------------------------------


def scores(*signatures: str | None, bugs: str = "XXYY"):
    return score(Sighting(bug, signature) for bug, signature in zip(bugs, signatures, strict=True))


def test_the_right_answer_scores_full():
    found = scores("1", "1", "2", "2")
    assert (found.precision, found.recall, found.f1, found.bcubed_f1, found.split, found.merged) == (1, 1, 1, 1, 0, 0)


def test_one_signature_for_all_costs_precision():
    found = scores("1", "1", "1", "1")
    assert (found.precision, found.recall, found.bcubed_precision, found.merged) == (2 / 6, 1, 0.5, 2)


def test_no_two_alike_costs_recall():
    found = scores("1", "2", "3", None)
    assert (found.precision, found.recall, found.bcubed_recall, found.split) == (1, 0, 0.5, 2)


def test_logs_without_a_signature_are_not_alike():
    assert scores(None, None, None, None).signatures == 4


def test_groups_are_not_compared():
    found = score([Sighting("X", "1", "a"), Sighting("X", "2", "b")])
    assert (found.bugs, found.split, found.recall) == (2, 0, 1)


def test_a_bug_in_company_is_found_by_a_signature_it_has_alone():
    alone = [(Sighting("X", None), ["1", "2"]), (Sighting("Y", None), ["3"])]
    assert score_several([Several(frozenset("XY"), ["2", "9"])], alone) == (0.5, 0.5)
