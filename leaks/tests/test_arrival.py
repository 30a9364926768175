"""The order of arrival, duplicates and gaps: the state follows from the set of what was said, whatever the way it came.

Ten thousand orders where nothing but values is needed; fewer through the whole ingest.
"""

import json
import random
import shutil
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from leaks.claims import content_hash, merge, merged_claim
from leaks.folding import combine_parts, find_superseded, fold_attempts, fold_lanes
from leaks.ingest.histories import read_runs, submission
from leaks.ingest.receive import receive
from leaks.ingest.replaying import SLUG, settle
from leaks.merging import NamedFacts, merge_named
from leaks.models import Project, RuleFile, StaleMark
from leaks.parsing.dispatch import read
from leaks.parts import outcome_fields
from leaks.rows.claims import JSON, ClaimRow
from leaks.rows.facts import LaneView, LogFacts
from leaks.rows.folding import Attempt, PartJudgement, RunRow
from leaks.tests.ledger import dump, wipe
from leaks.verdict import judge
from leaks.words import ClaimSource

LANES = Path(__file__).parent / "samples" / "lanes"
ORDERS = 10_000
INGESTED = 60
START = datetime(2025, 6, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Statement:
    """One message about one part of one attempt: a claim, a log, or both."""

    commit: str
    lane: str
    run: int
    attempt: int
    part: str
    claim: ClaimRow | None = None
    log: NamedFacts | None = None


@dataclass(slots=True)
class Heard:
    """What is known of a part: as rows hold it, each claim once by its content, and a log by its name."""

    claims: dict[str, ClaimRow] = field(default_factory=dict)
    logs: dict[str, NamedFacts] = field(default_factory=dict)


@cache
def known_logs() -> tuple[LogFacts, ...]:
    return tuple(read([path.read_bytes()]).facts for path in sorted(LANES.glob("*/logs/*.log")))


def claim(chance: random.Random, run: int) -> ClaimRow:
    fields: dict[str, JSON] = {
        "conclusion": chance.choice(["success", "failure", "cancelled", "skipped", "a word nobody knows", None]),
        "exit_code": chance.choice([0, 1, 124, 137, None]),
        "ended": chance.choice([True, False, None]),
        "started_at": (START + timedelta(hours=run, minutes=chance.randint(0, 2))).isoformat(),
        "superseded_by": chance.choice([None, None, "r2"]),
        "options": chance.choice([None, {"ASAN_OPTIONS": "detect_leaks=0"}, {"ASAN_OPTIONS": "detect_leaks=1"}]),
        "part_of": chance.choice([None, None, 2]),
    }
    said = {name: value for name, value in fields.items() if value is not None}
    sequence = chance.choice([None, 1, 2])
    return ClaimRow(
        source=chance.choice(list(ClaimSource)),
        sequence=sequence,
        source_time=chance.choice([None, START + timedelta(hours=run)]),
        content_hash=content_hash({**said, "sequence": sequence}),
        fields=said,
    )


def history(chance: random.Random) -> list[Statement]:
    statements = []
    for _ in range(chance.randint(4, 10)):
        run = chance.randint(1, 3)
        place = Statement(
            f"c{run % 2}", chance.choice(["asan", "tsan"]), run, chance.choice([1, 1, 2]), chance.choice(["", "a"])
        )
        log = (
            NamedFacts(f"{chance.randint(0, 10**6)}.log", chance.choice(known_logs()))
            if chance.random() < 0.6
            else None
        )
        statements.append(replace(place, claim=claim(chance, run), log=log))
    return statements


def state(statements: list[Statement]) -> dict[str, Any]:
    """All that follows from what arrived, in that order: verdicts, folded ones, and who took whose place."""
    parts: dict[tuple[Any, ...], Heard] = {}
    for one in statements:
        heard = parts.setdefault((one.commit, one.lane, one.run, one.attempt, one.part), Heard())
        if one.claim:
            heard.claims[f"{one.claim.source}{one.claim.content_hash}"] = one.claim
        if one.log:
            heard.logs[one.log.log] = one.log
    outcomes: dict[tuple[Any, ...], dict[str, Heard]] = {}
    for (*place, part), heard in parts.items():
        outcomes.setdefault(tuple(place), {})[part] = heard
    return standing({place: outcome(named) for place, named in outcomes.items()})


def outcome(named: dict[str, Heard]) -> tuple[Any, Any]:
    merged = {name: merge(heard.claims.values()) for name, heard in named.items()}
    judged = [
        PartJudgement(
            name,
            judge(merge_named(heard.logs.values()), merged_claim(heard.claims.values()), LaneView()),
            of=merged[name].part_of,
        )
        for name, heard in sorted(named.items())
    ]
    return combine_parts(judged), outcome_fields([merged[name] for name in sorted(merged)])


def standing(outcomes: dict[tuple[Any, ...], tuple[Any, Any]]) -> dict[str, Any]:
    attempts: dict[tuple[str, str], list[Attempt]] = {}
    rows = []
    for (commit, lane, run, attempt), (judgement, fields) in outcomes.items():
        key = f"{lane} r{run}" if attempt == 1 else f"{lane} r{run}#{attempt}"
        row = Attempt(key, judgement.verdict, judgement.reason, fields.started_at, f"r{run}", attempt)
        attempts.setdefault((commit, lane), []).append(row)
        named = f"{lane} {fields.superseded_by}" if fields.superseded_by else None
        cancelled = judgement.effective_claim == "cancelled"
        rows.append(RunRow(key, commit, lane, fields.started_at, fields.finished_at, cancelled, superseded_by=named))
    folded = {place: fold_attempts(found) for place, found in attempts.items()}
    commits = {commit for commit, _ in folded}
    return {
        "outcomes": outcomes,
        "lanes": folded,
        "commits": {c: fold_lanes({lane: one for (of, lane), one in folded.items() if of == c}) for c in commits},
        "superseded": find_superseded(rows),
    }


def mixed(statements: list[Statement], chance: random.Random) -> list[Statement]:
    """The same in another order, some of it twice, and claims and their logs apart."""
    apart = []
    for one in statements:
        halves = [replace(one, log=None), replace(one, claim=None)] if one.log and chance.random() < 0.5 else [one]
        apart += halves
    doubled = [*apart, *chance.sample(apart, chance.randint(0, len(apart)))]
    chance.shuffle(doubled)
    return doubled


def test_ten_thousand_orders_give_the_same_state() -> None:
    chance = random.Random(20250601)
    per_history = 100
    for _ in range(ORDERS // per_history):
        statements = history(chance)
        expected = state(statements)
        for _ in range(per_history):
            assert state(mixed(statements, chance)) == expected


def test_gaps_are_filled_as_if_there_had_been_none() -> None:
    """A part of it first, then all of it: what was concluded in between leaves no trace."""
    chance = random.Random(7)
    for _ in range(200):
        statements = history(chance)
        first = chance.sample(statements, len(statements) // 2)
        assert state([*first, *statements]) == state(statements)


# --- Through the whole ingest ----------------------------------------------------------------------------------------


def arrive(folder: Path, chance: random.Random | None) -> dict[str, list[str]]:
    """All rows after the history came in; by chance in any order, some of it twice, with all work done now and then."""
    Project.objects.get_or_create(slug=SLUG, defaults={"name": "History"})
    runs = read_runs(folder)
    if chance is not None:
        runs = [*runs, *chance.sample(runs, chance.randint(0, len(runs)))]
        chance.shuffle(runs)
    for run in runs:
        with submission(SLUG, folder, run) as given:
            receive(given)
        if chance is not None and chance.random() < 0.3:
            settle()
    settle()
    assert not StaleMark.objects.exists()
    rows = dump()
    wipe()
    RuleFile.objects.all().delete()
    return rows


@pytest.mark.soak
@pytest.mark.django_db
def test_a_history_over_several_branches_in_any_order_gives_the_same_rows(tmp_path: Path) -> None:
    """What a branch hides is held against the default branch until it has a run before of its own."""
    folder = Path(shutil.copytree(LANES / "suppressions", tmp_path / "history"))
    runs = read_runs(folder)
    topic = [{**run, "run_id": f"t{run['run_id']}", "branch": "topic", "sha": run["sha"][::-1]} for run in runs[1:]]
    (folder / "runs.json").write_text(json.dumps([*runs, *topic]))
    chance = random.Random(3)
    expected = arrive(folder, None)
    for _ in range(20):
        assert arrive(folder, chance) == expected


@pytest.mark.django_db
def test_what_is_too_broad_follows_from_the_runs_before_and_not_from_those_that_came_before(tmp_path: Path) -> None:
    """A rule is held against what its lane had leaked until then; logs of older runs may well arrive later."""
    folder = Path(shutil.copytree(LANES / "suppressions", tmp_path / "history"))
    (folder / "lsan.supp").write_text("leak:engine_tests\nleak:engine::text::\n")
    runs = [{**run, "lane": "asan-ubsan"} for run in read_runs(folder)]
    order = [runs[3], runs[0], runs[2], runs[1]]
    moments = [(run["started_at"], run["finished_at"]) for run in runs]
    dated = [
        {**run, "started_at": since, "finished_at": until} for run, (since, until) in zip(order, moments, strict=True)
    ]
    (folder / "runs.json").write_text(json.dumps(dated))
    chance = random.Random(11)
    expected = arrive(folder, None)
    assert "suppression_too_broad" in json.dumps(expected)
    for _ in range(20):
        assert arrive(folder, chance) == expected


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name",
    [
        "duplicate_run",
        *(pytest.param(one, marks=pytest.mark.soak) for one in ("fix_brings_another_bug", "suppressions")),
    ],
)
def test_a_real_history_in_any_order_gives_the_same_rows(name: str) -> None:
    chance = random.Random(name)
    expected = arrive(LANES / name, None)
    assert json.dumps(expected) != "{}"
    for _ in range(INGESTED // 3):
        assert arrive(LANES / name, chance) == expected
