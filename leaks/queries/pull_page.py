"""Does this pull request leak? Its newest commit, each lane held against its own control run. At most a dozen queries."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from django.db.models.functions import Coalesce

from leaks.compare_words import grown_words
from leaks.models import Commit, LaneExpectation, LaneOutcome, Project, Run
from leaks.queries.chosen import RANK, deciding
from leaks.queries.control import controls_of
from leaks.queries.lane_answers import Held, lane_answers
from leaks.queries.refs import PROVEN, REF_NEEDS, outcome_ref
from leaks.rows.compare_pages import LaneAnswer, PullPage, PullRef, Sibling
from leaks.words import Comparison

KNOWN = 20
RUNS_LOOKED_AT = 400
LANES = 30
COMMITS_LOOKED_AT = 300
SIBLINGS = 5
TITLE_NUMBERS = re.compile(
    r"\(#(\d{1,9})\)|\bpull request [#!](\d{1,9})\b|\bmerge request \S{0,100}!(\d{1,9})\b", re.IGNORECASE
)

# Over the lanes: the first word that one of them has. What is not known outweighs what is known to be harmless.
ORDER = (
    Comparison.NEW_FINDINGS,
    Comparison.SUPPRESSED_TOTAL_GREW,
    Comparison.NOT_COMPARABLE,
    Comparison.PRE_EXISTING,
    Comparison.FIXED,
    Comparison.NO_FINDINGS,
)


def pull_page(project: Project, number: int) -> PullPage:
    runs = _runs(project, number)
    if not runs:
        return PullPage(number, known=known_pulls(project))
    newest = runs[0]
    commit = newest.commit
    heads = _heads(project, commit)
    lanes = _answers(heads)
    owed = _absent(project, {lane.lane for lane in lanes})
    word = _word(lanes)
    unknown = word is Comparison.NOT_COMPARABLE
    return PullPage(
        number=number,
        sha=commit.sha,
        title=commit.title,
        branch=newest.branch,
        word=word.value,
        answer=answer_of(word, lanes, owed),
        lanes=lanes,
        owed=owed,
        siblings=_siblings(project, commit, number) if unknown else (),
        earlier=len({run.commit_id for run in runs} - {commit.pk}),
    )


def known_pulls(project: Project) -> tuple[PullRef, ...]:
    """The pull requests that runs are known of, the latest first."""
    runs = Run.objects.filter(project=project).exclude(pull_request=None).order_by("-pk")
    rows = runs.values_list("pull_request", "commit__sha", Coalesce("started_at", "received_at"))[:RUNS_LOOKED_AT]
    newest: dict[int, PullRef] = {}
    for number, sha, at in rows:
        if number is not None:
            newest.setdefault(number, PullRef(number, sha, at))
    return tuple(list(newest.values())[:KNOWN])


def _runs(project: Project, number: int) -> list[Run]:
    """Of the pull request, the latest first."""
    runs = Run.objects.filter(project=project, pull_request=number).select_related("commit")
    return list(runs.order_by(Coalesce("started_at", "received_at").desc(), "-pk")[:RUNS_LOOKED_AT])


def _heads(project: Project, commit: Commit) -> list[LaneOutcome]:
    """The run of each lane that decides on the commit, as its own page says, whichever workflow it is of."""
    runs = LaneOutcome.objects.filter(lane__project=project, run__commit=commit, withdrawn_at=None)
    by_lane: dict[int, list[LaneOutcome]] = defaultdict(list)
    for run in runs.select_related(*REF_NEEDS).order_by("lane__name", "-happened_at", "-pk")[:RUNS_LOOKED_AT]:
        by_lane[run.lane_id].append(run)
    return [deciding(found) for found in by_lane.values()][:LANES]


def _answers(heads: Sequence[LaneOutcome]) -> tuple[LaneAnswer, ...]:
    controls = controls_of(heads)
    return lane_answers([Held(head, *controls.get(head.pk, (None, ""))) for head in heads])


def _absent(project: Project, ran: set[str]) -> tuple[str, ...]:
    """Lanes that the default branch owes today and that did not run here."""
    owed = LaneExpectation.objects.filter(lane__project=project, owed_branch=project.default_branch, valid_to=None)
    return tuple(sorted(set(owed.values_list("lane__name", flat=True)) - ran))


# --- The answer ------------------------------------------------------------------------------------------------------


def _word(lanes: Sequence[LaneAnswer]) -> Comparison:
    words = {Comparison(lane.result) for lane in lanes}
    return next((word for word in ORDER if word in words), Comparison.NOT_COMPARABLE)


BEGINNINGS: Mapping[Comparison, str] = {
    Comparison.NEW_FINDINGS: "Yes",
    Comparison.SUPPRESSED_TOTAL_GREW: "Not shown, but its suppressions hide more",
    Comparison.NOT_COMPARABLE: "Not known",
    Comparison.PRE_EXISTING: "No",
    Comparison.FIXED: "No",
    Comparison.NO_FINDINGS: "No",
}


EXONERATING = frozenset(word for word, said in BEGINNINGS.items() if said == "No")


def answer_of(word: Comparison, lanes: Sequence[LaneAnswer], owed: Sequence[str]) -> str:
    """One sentence: whether it leaks, by which lanes, and which lanes say nothing."""
    if not lanes:
        return "Not known: no lane is known to have run on its newest commit."
    told = [lane for lane in lanes if lane.result != Comparison.NOT_COMPARABLE]
    silent = [*(lane.lane for lane in lanes if lane.result == Comparison.NOT_COMPARABLE), *owed]
    grown = [lane for lane in told if lane.growth]
    if grown and word in EXONERATING:
        said = f"No new signature, but {_growth(grown)}"
    else:
        said = "; ".join((f"{BEGINNINGS[word]}: {_told(word, told, lanes)}", *([_growth(grown)] if grown else ())))
    said = f"{said}{_doubt(told)}"
    return f"{said}; nothing is known by {_names(silent)}." if silent and told else f"{said}."


def _growth(lanes: Sequence[LaneAnswer]) -> str:
    return "; ".join(grown_words(lane.counts.grew, lane.growth, f" in {lane.lane}") for lane in lanes)


def _doubt(lanes: Sequence[LaneAnswer]) -> str:
    return "".join(
        f"; in {lane.lane} {lane.caveat[:1].lower()}{lane.caveat[1:].rstrip('.')}" for lane in lanes if lane.caveat
    )


def _told(word: Comparison, told: Sequence[LaneAnswer], lanes: Sequence[LaneAnswer]) -> str:
    introduced = {lane.lane: lane.counts.introduced for lane in told if lane.counts.introduced}
    if word is Comparison.NEW_FINDINGS:
        return f"it introduces {_signatures(sum(introduced.values()))} in {_names(introduced)}"
    if not told:
        return "; ".join(map(_why_silent, lanes))
    known = sum(lane.counts.pre_existing for lane in told)
    there = f", and {_signatures(known)} {'was' if known == 1 else 'were'} there before" if known else ""
    return f"it introduces nothing by {_names(lane.lane for lane in told)}{there}"


def _why_silent(lane: LaneAnswer) -> str:
    """The head's own verdict first: what it is held against does not matter where it proved nothing."""
    if lane.head.verdict in PROVEN:
        return f"{lane.lane}: {lane.sentence[:1].lower()}{lane.sentence[1:].rstrip('.')}"
    said = f"{lane.head.verdict}: {lane.head.reason}" if lane.head.reason else lane.head.verdict
    return f"{lane.lane} proved nothing on its newest commit {lane.head.sha[:9]} ({said.replace('_', ' ')})"


def _signatures(number: int) -> str:
    return f"{number:,} signature{'' if number == 1 else 's'}"


def _names(names: Iterable[str]) -> str:
    *rest, last = names
    return f"{', '.join(rest)} and {last}" if rest else last


# --- The same change elsewhere -----------------------------------------------------------------------------------------


def _siblings(project: Project, commit: Commit, number: int) -> tuple[Sibling, ...]:
    """Commits that may hold the same change: their title names the pull request, or they have the same first parent."""
    newest = Commit.objects.filter(project=project).exclude(pk=commit.pk).order_by("-ordered_at", "-pk")
    rows = newest.values_list("pk", "sha", "parents", "title")[:COMMITS_LOOKED_AT]
    found = {pk: (title, why) for pk, _, parents, title in rows if (why := _why(commit, number, parents, title))}
    proven = LaneOutcome.objects.filter(run__commit__in=list(found)[:50], verdict__in=PROVEN, withdrawn_at=None)
    runs = proven.select_related(*REF_NEEDS).order_by(RANK, "-happened_at", "-pk")[:SIBLINGS]
    return tuple(Sibling(run.run.commit.sha, *found[run.run.commit_id], outcome_ref(run)) for run in runs)


def _why(commit: Commit, number: int, parents: Sequence[str], title: str) -> str:
    if any(int(digits) == number for match in TITLE_NUMBERS.findall(title) for digits in match if digits):
        return "its title names this pull request"
    if commit.parents and parents and parents[0] == commit.parents[0]:
        return f"it has the same parent {parents[0][:9]}; whether it is the same change, the ledger does not know"
    return ""
