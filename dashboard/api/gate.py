"""What a lane asks at its end: did this run find anything that its base does not have? And whether a fix is proven."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from ninja import Router, Schema

from dashboard.access import project_to_follow
from dashboard.api.auth import Reads
from dashboard.api.problems import Problem
from dashboard.params import Query
from dashboard.params_gate import gate_params
from leaks.errors import BadSubmission
from leaks.queries.gate_page import CASES, case_rows, find_signature, open_cases, proof
from leaks.queries.new_findings import Asked, new_findings
from leaks.rows.gate import GateAnswer as Proof
from leaks.rows.gate import GateCaseRow
from leaks.rows.leak_pages import Amount
from leaks.rows.new_findings import NewFindings, NewSignature, UnknownSignature
from leaks.rows.run_pages import OutcomeRef

router = Router(tags=["gate"], auth=Reads())

PARAMETERS = {
    "outcome": "public id of the run; else the latest of `lane` on `commit` is meant",
    "commit": "sha of the run's commit",
    "lane": "name of the lane",
    "base": "sha that must be the base",
    "merge_base": "sha that should be the base, if a run of it has a verdict",
}
PROOF_PARAMETERS = {
    "signature": "public id; empty: all that the run before shows",
    "before": "commit, run or CI run that is red; empty: where the signature was seen last",
    "after": "commit, run or CI run with the fix; empty: the newest later commit of the branch with a verdict",
    "lane": "name of the lane, where a commit has several",
    "branch": "where to look for a run after; empty: the default branch",
}
LONGEST = 200
ERRORS: frozenset[int] = frozenset({400, 401, 403, 404})


def _takes(parameters: dict[str, str]) -> dict[str, Any]:
    return {
        "parameters": [
            {"name": name, "in": "query", "schema": {"type": "string"}, "description": words}
            for name, words in parameters.items()
        ]
    }


class NewGateSignature(Schema):
    """`fails` is false where somebody accepted it: intended, third party, or the lane's canary."""

    id: str
    title: str
    kind: str
    own: bool
    state: str
    amount: Amount
    fails: bool
    page: str


class UnknownGateSignature(Schema):
    """The run shows it, and the base could not have shown whether it was there before: `why` says what it hid or did not reach."""

    id: str
    title: str
    kind: str
    own: bool
    state: str
    amount: Amount
    why: str
    page: str


class NewGateAnswer(Schema):
    """`result`: pending (ask again), not_comparable (`sentence` says why), new (`failing` of them fail), nothing_new.

    `unknown` are not among `new`, and none of them fails.
    """

    result: str
    sentence: str
    head: OutcomeRef | None
    base: OutcomeRef | None
    chosen_by: str
    failing: int
    new: list[NewGateSignature]
    more: int
    unknown: list[UnknownGateSignature]
    more_unknown: int


@router.get(
    "/projects/{slug}/gate/new",
    response={200: NewGateAnswer, frozenset({400, 401, 403, 404, 422}): Problem},
    openapi_extra=_takes(PARAMETERS),
)
def gate_new(request: HttpRequest, slug: str) -> Any:
    """Signatures of a run that its base does not have. A token of kind upload will do."""
    project, query = project_to_follow(request, slug), Query(request.GET)
    asked = Asked(**{name: query.text(name, limit=LONGEST) for name in PARAMETERS})
    if not asked.outcome and not (asked.commit and asked.lane):
        raise BadSubmission("Name the run: outcome, or commit and lane.", field="outcome")
    found = new_findings(project, asked)
    return _answer(
        found,
        [NewGateSignature(fails=one.fails, **_signature(request, slug, one)) for one in found.new],
        [UnknownGateSignature(why=one.why, **_signature(request, slug, one)) for one in found.unknown],
    )


@router.get(
    "/projects/{slug}/gate/proof",
    response={200: Proof, ERRORS | {422}: Problem},
    openapi_extra=_takes(PROOF_PARAMETERS),
)
def gate_proof(request: HttpRequest, slug: str) -> Any:
    """Is a fix proven: red before, green after? `result` is pass, fail or invalid; `reason` is a word of the gate's table."""
    project, asked = project_to_follow(request, slug), gate_params(request.GET)
    if not asked.anything:
        raise BadSubmission("Name a signature, or the run before the fix.", field="signature")
    answer = proof(project, asked, find_signature(project, asked.signature))
    if answer.missing:
        raise BadSubmission(answer.missing)
    return answer


@router.get("/projects/{slug}/gate/cases", response={200: list[GateCaseRow], ERRORS: Problem})
def gate_open_cases(request: HttpRequest, slug: str) -> Any:
    """The newest open cases, each with its present answer."""
    project = project_to_follow(request, slug)
    return list(case_rows(project, list(open_cases(project)[:CASES])))


def _answer(found: NewFindings, new: list[NewGateSignature], unknown: list[UnknownGateSignature]) -> NewGateAnswer:
    return NewGateAnswer(
        result=found.result,
        sentence=found.sentence,
        head=found.head,
        base=found.base,
        chosen_by=found.chosen_by,
        failing=found.failing,
        new=new,
        more=found.more,
        unknown=unknown,
        more_unknown=found.more_unknown,
    )


def _signature(request: HttpRequest, slug: str, one: NewSignature | UnknownSignature) -> dict[str, Any]:
    return {
        "id": one.public_id,
        "title": one.title,
        "kind": one.kind,
        "own": one.own,
        "state": one.state,
        "amount": one.amount,
        "page": request.build_absolute_uri(reverse("signature", args=[slug, one.public_id])),
    }
