"""Each rule that can stand on an outcome has a sentence: the page of a run shows it."""

import re
from pathlib import Path

import pytest

from leaks import verdict

SOURCES = Path(verdict.__file__).parent
NAMED = re.compile(r"\brule=\"([a-z_]+)\"")


def named_rules() -> set[str]:
    files = [*SOURCES.glob("*.py"), *SOURCES.glob("ingest/*.py")]
    return {rule for file in files if file.name != "truth_logs.py" for rule in NAMED.findall(file.read_text())}


def test_rules_are_named_outside_the_table() -> None:
    assert {"log_waits", "bytes_unaccounted_for"} <= named_rules()


@pytest.mark.parametrize("rule", sorted(named_rules()))
def test_a_rule_outside_the_table_has_a_sentence(rule: str) -> None:
    assert verdict.sentence(rule).endswith(".")
