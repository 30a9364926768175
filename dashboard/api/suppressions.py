"""Suppressions: the files that lanes run with, what is under review and what it would hide, and the steps of the review."""

import hashlib
from dataclasses import replace
from datetime import date
from typing import Any, cast

from django.contrib.auth.base_user import AbstractBaseUser
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from ninja import Field, Router, Schema, Status

from dashboard.access import TokenRefused, project_for, project_to_follow
from dashboard.api.auth import People, Reads
from dashboard.api.problems import Problem
from dashboard.exports.supp import render
from dashboard.params import Query
from leaks import review
from leaks.ledger_words import SuppressionTool
from leaks.models import Project, Suppression, Token
from leaks.queries import suppressions as queries
from leaks.queries.reach import reach_of
from leaks.queries.signature_page import find as find_signature
from leaks.queries.suppressions_clock import today
from leaks.queries.suppressions_offers import largest_report, offers
from leaks.queries.suppressions_page import suppression_page
from leaks.queries.suppressions_served import served
from leaks.review_rules import refusal, tidy
from leaks.rows.suppressions import Offer, OfSignature, Proposal, SuppressionLists, SuppressionPage, SuppressionRow
from leaks.rows.suppressions_reach import Reach
from workers.send import hint_marks

MOST_ROWS = 500  # of a reach
router = Router(tags=["suppressions"])
PLAIN = "text/plain; charset=utf-8"
LONGEST_RULE = 10_000
PARAMETERS = {
    "lane": "name or alias: rules for it and for all lanes; left out: all that are in force",
    "tool": "lsan, asan, tsan, ubsan or valgrind",
    "rule": "the rule as it stands in the runtime's file",
    "lanes": "names of lanes separated by commas; left out: all",
    "signature": "public id of the signature that it is proposed for",
}


class ProposalBody(Schema):
    """What a person proposes; see `Reach` for what must be looked at before."""

    tool: str = Field(description="lsan, asan, tsan, ubsan or valgrind")
    rule: str = Field(max_length=20_000, description="type:pattern, or a whole block of Valgrind's")
    reason: str = Field(max_length=20_000)
    ends_on: date = Field(description="the last day that it is served, 180 days ahead at most")
    lanes: list[str] = Field([], description="names; empty: all lanes")
    signature: str = Field("", description="public id of the signature it is about")
    alternatives: str = ""
    evidence: list[str] = Field([], description="a run, LOG:LINE, a signature, or a web address each")
    not_measured: str = ""
    cap_count: int | None = Field(None, description="hits in one run; more are raised as a finding")
    cap_bytes: int | None = Field(None, description="bytes in one run")

    def proposal(self) -> Proposal:
        given = self.dict()
        given.pop("revision", None)
        return Proposal(**{**given, "lanes": tuple(self.lanes), "evidence": tuple(self.evidence)})


class EditBody(ProposalBody):
    revision: int = Field(description="the one that was read; another one is a conflict")


class RuleReason(Schema):
    reason: str = Field(max_length=20_000, description="stands in the journal")


class Decided(RuleReason):
    revision: int = Field(description="the one that was read; another one is a conflict")


class Approval(Decided):
    wider_confirmed: bool = Field(
        default=False, description="own signatures besides the one it is proposed for may be hidden too"
    )


class Said(Schema):
    text: str = Field(max_length=20_000)


def _answers(shape: Any, status: int = 200) -> dict[Any, Any]:
    return {status: shape, frozenset({400, 401, 403, 404, 409, 422, 503}): Problem}


def _takes(*names: str) -> dict[str, Any]:
    text = {"type": "string"}
    return {
        "parameters": [{"name": name, "in": "query", "schema": text, "description": PARAMETERS[name]} for name in names]
    }


# --- Served ----------------------------------------------------------------------------------------------------------


# Before the public ids, which hold no dot.
@router.get(
    "/projects/{slug}/suppressions/{tool}.supp",
    response={200: str, frozenset({400, 401, 404}): Problem},
    openapi_extra=_takes("lane"),
    auth=Reads(),
    url_name="suppression_file",
)
def suppression_file(request: HttpRequest, slug: str, tool: str) -> HttpResponse:
    """The approved rules as the file that a runtime reads, with an ETag: the SHA-256 of its bytes. A token of kind upload will do."""
    return _file(request, project_to_follow(request, slug), tool)


@router.get(
    "/suppressions/{tool}.supp",
    response={200: str, frozenset({400, 401, 404}): Problem},
    openapi_extra=_takes("lane"),
    auth=Reads(),
    url_name="suppression_file_of_token",
)
def suppression_file_of_token(request: HttpRequest, tool: str) -> HttpResponse:
    """The same of the token's own project: a lane knows its token."""
    token = getattr(request, "auth", None)
    if not isinstance(token, Token):
        raise TokenRefused("A token is needed here: it says which project is meant.")
    return _file(request, project_to_follow(request, token.project.slug), tool)


def _file(request: HttpRequest, project: Project, tool: str) -> HttpResponse:
    if tool not in set(SuppressionTool):
        raise Http404(f"There is no {tool!r}: a file is for {', '.join(SuppressionTool)}.")
    lane = Query(request.GET).text("lane", limit=200)
    text = render(project.slug, SuppressionTool(tool), lane, served(project, tool, lane)).encode()
    etag = f'"{hashlib.sha256(text).hexdigest()}"'
    answer = HttpResponse(text, content_type=PLAIN, headers={"ETag": etag, "Cache-Control": "no-cache"})
    return cast("HttpResponse", get_conditional_response(request, etag=etag, response=answer))


# --- Read ------------------------------------------------------------------------------------------------------------


@router.get("/projects/{slug}/suppressions", response=_answers(SuppressionLists), auth=Reads())
def list_suppressions(request: HttpRequest, slug: str) -> Any:
    """What waits for an approver, what is in force, what has ended, what was rejected."""
    return queries.suppression_lists(project_for(request, slug))


@router.get(
    "/projects/{slug}/suppressions/reach",
    response=_answers(Reach),
    openapi_extra=_takes("tool", "rule", "lanes", "signature"),
    auth=Reads(),
)
def show_reach(request: HttpRequest, slug: str) -> Any:
    """What a rule would have hidden over all history. Nothing is written; why a rule cannot be proposed stands in `fault`, beside its reach if it
    has one. The sums are of all signatures, `rows` are the gravest 500."""
    project, query = project_for(request, slug), Query(request.GET)
    tool = SuppressionTool(query.word("tool", set(SuppressionTool), SuppressionTool.LSAN))
    rule = tidy(tool, request.GET.get("rule", "")[:LONGEST_RULE])
    refused = refusal(tool, rule)
    if refused is not None and not refused.broad:
        return Reach(fault=refused.why)
    lanes = tuple(filter(None, query.text("lanes", limit=2000).split(",")))
    found = reach_of(project, tool, rule, lanes, asked=query.text("signature", limit=40))
    why = found.fault or (refused.why if refused else "")
    return replace(found, fault=why, rows=found.rows[:MOST_ROWS])


@router.get("/projects/{slug}/signatures/{public_id}/rules", response=_answers(list[Offer]), auth=Reads())
def offered_rules(request: HttpRequest, slug: str, public_id: str) -> Any:
    """Rules that the frames of a signature suggest, the narrowest first, and what each of them means."""
    project = project_for(request, slug)
    one = find_signature(project, public_id)
    if one is None:
        raise Http404(f"The project has no signature {public_id!r}.")
    return list(offers(project, largest_report(one)))


@router.get("/projects/{slug}/signatures/{public_id}/suppressions", response=_answers(list[OfSignature]), auth=Reads())
def suppressions_of(request: HttpRequest, slug: str, public_id: str) -> Any:
    """What hides a signature, hid it, or is proposed for it."""
    project = project_for(request, slug)
    one = find_signature(project, public_id)
    if one is None:
        raise Http404(f"The project has no signature {public_id!r}.")
    return list(queries.of_signature(project, one))


@router.get("/projects/{slug}/suppressions/{public_id}", response=_answers(SuppressionPage), auth=Reads())
def show_suppression(request: HttpRequest, slug: str, public_id: str) -> Any:
    """One suppression: its reach as of now, the stack it is about, comments, what it hid in runs, journal."""
    project = project_for(request, slug)
    return suppression_page(project, _found(project, public_id))


# --- Steps of the review ---------------------------------------------------------------------------------------------


@router.post("/projects/{slug}/suppressions", response=_answers(SuppressionRow, 201), auth=People())
def propose(request: HttpRequest, slug: str, body: ProposalBody) -> Any:
    """Propose a rule. The role triager; somebody else approves it."""
    project = project_for(request, slug)
    one = review.propose(project, _person(request), body.proposal())
    return Status(201, _row(project, one))


@router.post("/projects/{slug}/suppressions/{public_id}/edit", response=_answers(SuppressionRow), auth=People())
def edit(request: HttpRequest, slug: str, public_id: str, body: EditBody) -> Any:
    """Change a proposal: its proposer, or an approver, who then leaves the decision to another one."""
    project = project_for(request, slug)
    one = review.edit(_found(project, public_id), _person(request), body.proposal(), revision=body.revision)
    return _row(project, one)


@router.post("/projects/{slug}/suppressions/{public_id}/approve", response=_answers(SuppressionRow), auth=People())
def approve(request: HttpRequest, slug: str, public_id: str, body: Approval) -> Any:
    """Put a rule in force. The role approver, and not who proposed it."""
    project = project_for(request, slug)
    one = review.approve(_found(project, public_id), _person(request), **body.dict())
    return _row(project, one)


@router.post("/projects/{slug}/suppressions/{public_id}/reject", response=_answers(SuppressionRow), auth=People())
def reject(request: HttpRequest, slug: str, public_id: str, body: Decided) -> Any:
    """Refuse a proposal. The role approver."""
    project = project_for(request, slug)
    return _row(project, review.reject(_found(project, public_id), _person(request), **body.dict()))


@router.post("/projects/{slug}/suppressions/{public_id}/withdraw", response=_answers(SuppressionRow), auth=People())
def withdraw(request: HttpRequest, slug: str, public_id: str, body: RuleReason) -> Any:
    """Take one's own proposal back."""
    project = project_for(request, slug)
    return _row(project, review.withdraw(_found(project, public_id), _person(request), reason=body.reason))


@router.post("/projects/{slug}/suppressions/{public_id}/revoke", response=_answers(SuppressionRow), auth=People())
def revoke(request: HttpRequest, slug: str, public_id: str, body: RuleReason) -> Any:
    """End an approved rule before its day. The role approver."""
    project = project_for(request, slug)
    return _row(project, review.revoke(_found(project, public_id), _person(request), reason=body.reason))


@router.post(
    "/projects/{slug}/suppressions/{public_id}/comments", response=_answers(SuppressionRow, 201), auth=People()
)
def comment(request: HttpRequest, slug: str, public_id: str, body: Said) -> Any:
    """Say something about a proposal; it changes no state."""
    project = project_for(request, slug)
    one = _found(project, public_id)
    review.comment(one, _person(request), body.text)
    return Status(201, _row(project, one))


def _found(project: Project, public_id: str) -> Suppression:
    one = queries.find(project, public_id)
    if one is None:
        raise Http404(f"The project has no suppression {public_id!r}.")
    return one


def _row(project: Project, one: Suppression) -> SuppressionRow:
    """As it is now, and a hint that what hangs on it is stale."""
    hint_marks()
    return queries.row_of(_found(project, one.public_id), today(project), one.comments.count())


def _person(request: HttpRequest) -> AbstractBaseUser:
    return cast("AbstractBaseUser", request.user)
