"""The table that LeakSanitizer prints of what its rules hid."""

import pytest

from leaks.parsing.dispatch import read
from leaks.rows.facts import LaneView, MergedClaim
from leaks.verdict import judge
from leaks.words import Verdict

FENCE = "-" * 53 + "\n"
TABLE = FENCE + "Suppressions used:\n  count      bytes template\n{rows}" + FENCE + "\n"


def used(rows: str) -> list[tuple[int, int, str]]:
    facts = read([TABLE.format(rows=rows).encode()]).facts
    return [(hit.count, hit.bytes, hit.template) for hit in facts.suppressions]


@pytest.mark.parametrize(
    ("row", "hit"),
    [
        ("      1          8 DevicePool\n", (1, 8, "DevicePool")),
        ("     12     123456 std::vector<int>::push_back\n", (12, 123456, "std::vector<int>::push_back")),
        ("      1          8 a rule # with a comment\n", (1, 8, "a rule # with a comment")),
        # `leak:` alone hides everything, and its row ends with a blank where the template would stand.
        ("      1          8 \n", (1, 8, "")),
        ("      1          8\n", (1, 8, "")),
    ],
)
def test_a_row_is_a_rule_with_what_it_hid(row: str, hit: tuple[int, int, str]) -> None:
    assert used(row) == [hit]


def test_a_rule_without_a_template_blinds() -> None:
    log = "ok 1 - pool\n1..1\n" + TABLE.format(rows="      1          8 \n")
    judged = judge(read([log.encode()]).facts, MergedClaim(exit_code=0), LaneView())
    assert judged.verdict is Verdict.BLINDED
