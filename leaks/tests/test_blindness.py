"""What blinds a lane, what only narrows it, and where each option is told."""

from dataclasses import replace

import pytest

from leaks.blindness import FOR_ALL, LEAK_SWITCHES, NARROWERS, OTHER_SWITCHES
from leaks.rows.facts import LaneView, MergedClaim
from leaks.tests.makers import GREEN, facts, mark, summary
from leaks.verdict import judge
from leaks.witnesses import VARIABLES
from leaks.words import Detector, Flag, MarkKind, Reason, Verdict

CTEST = replace(summary(3), runner="ctest", text="100% tests passed, 0 tests failed out of 3")
EVERYTHING = LaneView(detectors=tuple(Detector))


RAN = (mark(MarkKind.DETECTOR_RAN, value="memcheck"), mark(MarkKind.DETECTOR_RAN, value="cuda"))


def watched(**more):
    """A green run in which every tool ran that runs the program."""
    return facts(*RAN, mark(MarkKind.DETECTOR_RAN, value="threads"), **more)


def options(switch, value=None):
    """The option of a row, in the variable that is read last."""
    return {VARIABLES[switch.detector][-1]: {switch.option: value or min(switch.values)}}


def told(judged):
    return [line.text for line in judged.because if not line.number]


@pytest.mark.parametrize("switch", [*LEAK_SWITCHES, *OTHER_SWITCHES], ids=lambda switch: switch.option)
def test_a_detector_that_is_off_blinds_and_its_option_is_told(switch):
    judged = judge(watched(options=options(switch)), GREEN, EVERYTHING)
    assert judged.verdict is Verdict.BLINDED
    assert told(judged) == [f"{switch.option}={min(switch.values)} is set."]
    assert (Flag.LEAK_DETECTION_OFF in judged.flags) is (switch in LEAK_SWITCHES)


@pytest.mark.parametrize("switch", [*LEAK_SWITCHES, *OTHER_SWITCHES], ids=lambda switch: switch.option)
def test_it_does_not_blind_a_lane_that_does_not_expect_the_detector(switch):
    others = LaneView(detectors=tuple(detector for detector in Detector if detector is not switch.detector))
    assert judge(watched(options=options(switch)), GREEN, others).verdict is Verdict.CLEAN


@pytest.mark.parametrize("switch", [*NARROWERS, *FOR_ALL], ids=lambda switch: f"{switch.detector}-{switch.option}")
def test_an_option_that_takes_a_part_away_blinds_nothing_and_is_told(switch):
    judged = judge(watched(options=options(switch)), GREEN, EVERYTHING)
    assert judged.verdict is Verdict.CLEAN
    assert f"{switch.option}={min(switch.values)}: {switch.means}." in told(judged)


@pytest.mark.parametrize("switch", [*LEAK_SWITCHES, *OTHER_SWITCHES, *NARROWERS], ids=lambda switch: switch.option)
def test_another_value_says_nothing(switch):
    judged = judge(watched(options=options(switch, "2")), GREEN, EVERYTHING)
    assert (judged.verdict, told(judged)) == (Verdict.CLEAN, [])


@pytest.mark.parametrize("value", ["0", "false", "no", "No"])
def test_each_word_for_off_is_understood(value):
    judged = judge(watched(options={"ASAN_OPTIONS": {"detect_leaks": value}}), GREEN, EVERYTHING)
    assert judged.verdict is Verdict.BLINDED


def test_a_line_that_two_pickers_pick_is_told_once():
    judged = judge(watched(options={"LSAN_OPTIONS": {"exitcode": "0"}}, tests=CTEST), GREEN, EVERYTHING)
    assert told(judged).count("exitcode=0: a report leaves the exit code alone.") == 1


def test_a_success_that_came_in_part_from_a_cache_says_so():
    judged = judge(facts(tests=replace(summary(3), cached=2)), GREEN, LaneView())
    assert judged.verdict is Verdict.CLEAN
    assert told(judged) == ["2 of the results are repeated from a cache: those tests did not run now."]


def test_a_success_that_came_from_a_cache_alone_proves_nothing():
    judged = judge(facts(tests=replace(summary(3), cached=3)), GREEN, LaneView())
    assert (judged.verdict, judged.reason) == (Verdict.NO_VERDICT, Reason.ZERO_TESTS)


@pytest.mark.parametrize("value", ["|| true", "| tee", "| while", "set +e", "continue-on-error"])
def test_a_masking_mark_makes_the_steps_word_worthless(value):
    log = facts(mark(MarkKind.MASKING, 3, value, value))
    judged = judge(log, MergedClaim("success"), LaneView())
    assert (judged.verdict, judged.reason) == (Verdict.NO_VERDICT, Reason.UNDETERMINED)
    assert 3 in [line.number for line in judged.because]


@pytest.mark.parametrize(
    ("values", "blind"),
    [
        ({"log_path": "/tmp/asan", "exitcode": "0"}, True),
        ({"log_path": "/tmp/asan", "halt_on_error": "0"}, True),
        ({"log_path": "/tmp/asan"}, False),
        ({"log_path": "stderr", "exitcode": "0"}, False),
        ({"suppressions": "asan.supp"}, False),
        ({"abort_on_error": "1"}, False),
    ],
)
def test_reports_that_go_elsewhere_blind_unless_the_exit_code_tells(values, blind):
    judged = judge(watched(options={"ASAN_OPTIONS": values}), GREEN, LaneView())
    assert (judged.verdict is Verdict.BLINDED) is blind
    assert not blind or any("log_path=" in text for text in told(judged))
