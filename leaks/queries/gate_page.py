"""The red-first gate: finds the runs that are meant, and the cases that wait for their proof."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from django.db.models import Q, QuerySet

from leaks.errors import BadSubmission
from leaks.lineage import root_of
from leaks.models import GateCase, LaneOutcome, Project, Sighting, Signature
from leaks.queries.chosen import RANK, Chosen, chosen, of_lane
from leaks.queries.gate_after import newest_after
from leaks.queries.gate_proofs import Question, answers
from leaks.queries.refs import REF_NEEDS
from leaks.rows.gate import GateAnswer, GateCaseRow, GatePage, GateSignature

CASES = 20
WHOLE_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class Asked(NamedTuple):
    """Public id of a signature (empty: all of the run before), two commits or runs, a lane, and the branch to look on for a run after."""

    signature: str = ""
    before: str = ""
    after: str = ""
    lane: str = ""
    branch: str = ""

    @property
    def anything(self) -> bool:
        return bool(self.signature or self.before or self.after)


def gate_page(project: Project, asked: Asked) -> GatePage:
    one = find_signature(project, asked.signature)
    answer = proof(project, asked, one) if asked.anything else None
    cases = list(open_cases(project)[: CASES + 1])
    return GatePage(
        answer=answer,
        signature=GateSignature(one.public_id, one.title) if one else None,
        cases=case_rows(project, cases[:CASES]),
        more_cases=open_cases(project).count() - CASES if len(cases) > CASES else 0,
    )


def find_signature(project: Project, public_id: str) -> Signature | None:
    """One that was merged is the one it was merged into."""
    one = Signature.objects.filter(project=project, public_id=public_id).first() if public_id else None
    return root_of(one) if one is not None and one.merged_into_id is not None else one


# --- One proof -------------------------------------------------------------------------------------------------------


def proof(project: Project, asked: Asked, one: Signature | None) -> GateAnswer:
    found = question(project, asked, one)
    return found if isinstance(found, GateAnswer) else answers([found])[0]


def question(project: Project, asked: Asked, one: Signature | None) -> Question | GateAnswer:
    """What is to be judged; else an answer that only says what is missing."""
    if asked.signature and one is None:
        return GateAnswer(missing=f"There is no signature {asked.signature} in this project.")
    before = _before(project, asked, one)
    if before.missing or not before.lanes:
        return GateAnswer(missing=before.missing or "Name the commit or run before the fix.")
    after = _named(project, asked.after, asked.lane)
    if asked.after and not after.sha:
        return GateAnswer(missing=after.missing)
    run = _one_lane(before, after, one)
    if run is None:
        return GateAnswer(missing=f"Several lanes ran on {before.sha[:9]}; name one: {', '.join(before.lanes)}.")
    return _with_after(project, asked, one, run, after)


def _with_after(project: Project, asked: Asked, one: Signature | None, before: LaneOutcome, after: Chosen) -> Question:
    if not asked.after:
        after_it = newest_after(project, [before], asked.branch)
        return Question(one, before, after_it.get(before.pk), by_itself=True)
    same = after if after.only else of_lane(after, before.lane.name)
    return Question(one, before, same.only, missing=same.missing)


def _before(project: Project, asked: Asked, one: Signature | None) -> Chosen:
    """Nobody has to know the run that shows a signature: it is where it was seen last."""
    if asked.before or one is None:
        return _named(project, asked.before, asked.lane)
    last = _last_seen(project, one, asked.lane)
    if last is None:
        return Chosen(missing=f"No run shows {one.public_id}.")
    return Chosen(last.public_id, last.run.commit.sha, {last.lane.name: last})


def _named(project: Project, named: str, lane: str) -> Chosen:
    """A run that was withdrawn is not called unknown."""
    found = chosen(project, named, lane)
    if named and not found.lanes and _withdrawn(project, named, found.sha):
        return replace(found, missing=f"{named} was withdrawn: a run that does not count proves nothing.")
    return found


def _withdrawn(project: Project, named: str, sha: str) -> bool:
    external, _, attempt = named.partition("#")
    run = Q(run__external_id=external)
    if attempt.isdecimal() and len(attempt) < 9:
        run &= Q(run__attempt=int(attempt))
    meant = run | Q(public_id=named) | (Q(run__commit__sha=sha) if sha else Q(pk=None))
    gone = LaneOutcome.objects.filter(meant, lane__project=project)
    return gone.filter(withdrawn_at__isnull=False).exists() and not gone.filter(withdrawn_at=None).exists()


def _last_seen(project: Project, one: Signature, lane: str) -> LaneOutcome | None:
    runs = LaneOutcome.objects.filter(lane__project=project, withdrawn_at=None).select_related(*REF_NEEDS)
    if not lane:
        return runs.filter(pk=one.last_seen_id).first() if one.last_seen_id else None
    shows = Sighting.objects.filter(key__signature=one, finding=True).values("outcome")
    return runs.filter(lane__name=lane, pk__in=shows).order_by("-happened_at", "-pk").first()


def _one_lane(before: Chosen, after: Chosen, one: Signature | None) -> LaneOutcome | None:
    """Of several lanes the only one that shows the signature, or that also ran after; null where that does not decide."""
    runs = list(before.lanes.values())
    if len(runs) > 1 and one is not None:
        shows = Sighting.objects.filter(outcome__in=runs, key__signature=one, finding=True)
        pks = set(shows.values_list("outcome_id", flat=True))
        runs = [run for run in runs if run.pk in pks] or runs
    if len(runs) > 1 and after.lanes:
        runs = [run for run in runs if run.lane.name in after.lanes] or runs
    return runs[0] if len(runs) == 1 else None


def commit_after(project: Project, named: str) -> str:
    """The whole hash of the commit with the fix, which need not have run yet. Raises BadSubmission for what is no commit."""
    if not named:
        return ""
    known = chosen(project, named)
    if not known.sha and not WHOLE_HASH.fullmatch(named.lower()):
        raise BadSubmission(f"{known.missing} Give the whole hash of a commit that has not run yet.", field="after")
    return known.sha or named.lower()


# --- Cases -----------------------------------------------------------------------------------------------------------


def open_cases(project: Project) -> QuerySet[GateCase]:
    cases = GateCase.objects.filter(project=project, withdrawn_at=None)
    return cases.select_related("signature__merged_into", "opened_by").order_by("-opened_at", "-pk")


def case_rows(project: Project, cases: Sequence[GateCase]) -> tuple[GateCaseRow, ...]:
    """Each with its present answer, in a dozen queries at most however many there are."""
    runs = _runs(project, cases)
    newest = newest_after(project, _waiting(cases, runs))
    asked = {case.pk: found for case in cases if (found := _asked(case, runs, newest)) is not None}
    told = dict(zip(asked, answers(list(asked.values())), strict=True))
    return tuple(_row(case, told.get(case.pk)) for case in cases)


Runs = Mapping[tuple[str, str], list[LaneOutcome]]  # commit and lane, the run that decides first


def _runs(project: Project, cases: Iterable[GateCase]) -> Runs:
    shas = {sha for case in cases for sha in (case.before, case.after) if sha}
    runs = LaneOutcome.objects.filter(run__commit__project=project, run__commit__sha__in=shas, withdrawn_at=None)
    found: dict[tuple[str, str], list[LaneOutcome]] = {}
    for run in runs.select_related(*REF_NEEDS).order_by(RANK, "-happened_at", "-pk")[:1000] if shas else ():
        found.setdefault((run.run.commit.sha, run.lane.name), []).append(run)
    return found


def _waiting(cases: Iterable[GateCase], runs: Runs) -> list[LaneOutcome]:
    """The runs before of cases for which nobody named a commit with the fix."""
    firsts = {case.pk: next(iter(runs.get((case.before, case.lane), ())), None) for case in cases if not case.after}
    return list({run.pk: run for run in firsts.values() if run is not None}.values())


def _asked(case: GateCase, runs: Runs, newest: Mapping[int, LaneOutcome]) -> Question | None:
    one = case.signature.merged_into or case.signature
    before = next(iter(runs.get((case.before, case.lane), ())), None)
    if before is None:
        return None
    if case.after:
        after = next(iter(runs.get((case.after, case.lane), ())), None)
        return Question(one, before, after, missing=f"No run of {case.lane} on {case.after[:9]} is known yet.")
    return Question(one, before, newest.get(before.pk), by_itself=True)


def _row(case: GateCase, answer: GateAnswer | None) -> GateCaseRow:
    gone = GateAnswer(missing=f"No run of {case.lane} on {case.before[:9]} is left that counts.")
    return GateCaseRow(
        public_id=case.public_id,
        signature=GateSignature(case.signature.public_id, case.signature.title),
        state=case.signature.state,
        lane=case.lane,
        before=case.before,
        after=case.after,
        opened_by=case.opened_by.get_username() if case.opened_by else "",
        opened_at=case.opened_at,
        answer=answer or gone,
    )
