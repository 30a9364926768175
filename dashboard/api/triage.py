"""What people decide about signatures, as the pages do it: states, owner, issue, merge, split, rules, undo.

Decisions are people's: each way needs the session of somebody with the role triager. A token, of whatever kind, decides nothing.
"""

from typing import Any, cast

from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from ninja import Field, Router, Schema
from ninja.errors import HttpError

from dashboard.access import project_for, require
from dashboard.api.auth import People
from dashboard.api.problems import Problem, problem
from leaks import triage
from leaks.key_moves import Moved
from leaks.lineage import root_of
from leaks.merge_signatures import merge
from leaks.models import Project, Signature
from leaks.queries.merge_preview import merge_preview
from leaks.queries.rule_preview import rule_preview, rules
from leaks.queries.split_preview import split_preview
from leaks.queries.tombstone import tombstone_page
from leaks.rows.key_moves import MergePreview, RulePreview, RuleRow, SplitPreview
from leaks.rule_changes import end_rule, make_rule
from leaks.split_signatures import split
from leaks.triage_changes import Batch, Hindered
from leaks.triage_undo import undo
from leaks.words import MemberRole
from workers.send import hint_marks

router = Router(tags=["triage"], auth=People())

ID = Field(max_length=40, description="public id of a signature")
Ids = list[str]


class Why(Schema):
    reason: str = Field(max_length=10_000, description="why; stands in the journal")
    evidence: list[str] = Field([], max_length=20, description="ids of runs, LOG:LINE, signatures, web addresses")
    not_measured: str = Field("", max_length=10_000, description="what was argued and not measured")

    def grounds(self) -> dict[str, Any]:
        return {"reason": self.reason, "evidence": self.evidence, "not_measured": self.not_measured}


class States(Why):
    state: str
    duplicate_of: str = Field("", max_length=40, description="for the state duplicate: of which signature")
    expected: dict[str, str] = Field(description="id → the state that the person saw; names the signatures to change")


class OwnerChange(Schema):
    owner: str = Field(max_length=150, description="username of a member; empty: nobody")
    reason: str = Field("", max_length=10_000)
    expected: dict[str, str] = Field(
        description="id → the username that the person saw; names the signatures to change"
    )


class Issue(Schema):
    issue_url: str = Field(max_length=500)
    reason: str = Field("", max_length=10_000)
    expected: str = Field("", description="the address that the person saw")


class Done(Schema):
    """`sequence` is the entry of the journal to undo all of it by; 0 where nothing had to change."""

    sequence: int
    changed: Ids
    unchanged: Ids


class Sources(Schema):
    sources: Ids = Field(max_length=50, description="signatures that are merged into the one in the address")


class Merge(Why, Sources):
    fingerprint: str = Field(max_length=64, description="of the preview that the person saw")


class Keys(Schema):
    keys: Ids = Field(max_length=2_000, description="names of keys as the preview gives them: recipe:hash")
    into: str = Field("", max_length=40, description="a signature that comes back; empty: a new one")


class Split(Why, Keys):
    fingerprint: str = Field(max_length=64, description="of the preview that the person saw")


class Rule(Schema):
    action: str = Field(description="merge or split")
    pattern: str = Field(max_length=600, description="glob over the whole text of a key")
    signature: str = ID

    def asked(self) -> dict[str, str]:
        return {"action": self.action, "pattern": self.pattern, "signature": self.signature}


class MakeRule(Why, Rule):
    fingerprint: str = Field(max_length=64, description="of the preview that the person saw")


class MovedKeys(Schema):
    """`into` leads to what was moved; `emptied` are merged into it; `sequence` is the entry to undo it by."""

    into: str
    keys: int
    emptied: Ids
    sequence: int


class Reason(Schema):
    reason: str = Field(max_length=10_000, description="why; stands in the journal")


class Undo(Reason):
    alone: bool = Field(default=False, description="of many states or owners set at once, this one only")


def _answers(shape: Any) -> dict[Any, Any]:
    return {200: shape, frozenset({400, 401, 403, 404, 409, 422, 503}): Problem}


@router.post("/projects/{slug}/signatures/states", response=_answers(Done))
def set_states(request: HttpRequest, slug: str, body: States) -> Any:
    """Give signatures a state: all of them, or none and a 409 whose `errors` say of each what stands in its way."""
    project = _project(request, slug)
    words = {"state": body.state, "duplicate_of": body.duplicate_of, **body.grounds()}
    try:
        done = triage.set_states(project, _person(request), list(body.expected), expected=body.expected, **words)
    except Hindered as error:
        return _hindered(error)
    return _done(done)


@router.post("/projects/{slug}/signatures/owners", response=_answers(Done))
def set_owners(request: HttpRequest, slug: str, body: OwnerChange) -> Any:
    """Give signatures an owner, or take it away."""
    project, ids = _project(request, slug), list(body.expected)
    try:
        done = triage.set_owners(
            project, _person(request), ids, owner=body.owner, reason=body.reason, expected=body.expected
        )
    except Hindered as error:
        return _hindered(error)
    return _done(done)


@router.post("/projects/{slug}/signatures/{public_id}/issue", response=_answers(Done))
def set_issue(request: HttpRequest, slug: str, public_id: str, body: Issue) -> Any:
    """Link an issue, or take the link away."""
    one = _signature(_project(request, slug), public_id)
    decision = triage.set_issue(one, _person(request), url=body.issue_url, reason=body.reason, expected=body.expected)
    return Done(sequence=decision.sequence, changed=[public_id], unchanged=[])


@router.post("/projects/{slug}/signatures/{public_id}/merge/preview", response=_answers(MergePreview))
def preview_merge(request: HttpRequest, slug: str, public_id: str, body: Sources) -> Any:
    """What a merge would move. Nothing is written."""
    return merge_preview(_project(request, slug), public_id, body.sources)


@router.post("/projects/{slug}/signatures/{public_id}/merge", response=_answers(MovedKeys))
def do_merge(request: HttpRequest, slug: str, public_id: str, body: Merge) -> Any:
    """Merge what was previewed into the signature of the address."""
    project, person = _project(request, slug), _person(request)
    confirmed = {"fingerprint": body.fingerprint, **body.grounds()}
    return _moved(merge(project, person, into=public_id, sources=body.sources, **confirmed))


@router.post("/projects/{slug}/signatures/{public_id}/split/preview", response=_answers(SplitPreview))
def preview_split(request: HttpRequest, slug: str, public_id: str, body: Keys) -> Any:
    """The keys of a signature, and what would leave it. Nothing is written."""
    return split_preview(_project(request, slug), public_id, body.keys, body.into)


@router.post("/projects/{slug}/signatures/{public_id}/split", response=_answers(MovedKeys))
def do_split(request: HttpRequest, slug: str, public_id: str, body: Split) -> Any:
    """Split what was previewed off the signature of the address."""
    project, person = _project(request, slug), _person(request)
    confirmed = {"fingerprint": body.fingerprint, **body.grounds()}
    return _moved(split(project, person, source=public_id, keys=body.keys, into=body.into, **confirmed))


@router.get("/projects/{slug}/key-rules", response=_answers(list[RuleRow]))
def list_rules(request: HttpRequest, slug: str) -> Any:
    """Rules over the text of keys, those in force first."""
    return list(rules(_project(request, slug)))


@router.post("/projects/{slug}/key-rules/preview", response=_answers(RulePreview))
def preview_rule(request: HttpRequest, slug: str, body: Rule) -> Any:
    """Which keys a rule would move. Nothing is written."""
    return rule_preview(_project(request, slug), **body.asked())


@router.post("/projects/{slug}/key-rules", response=_answers(MovedKeys))
def do_rule(request: HttpRequest, slug: str, body: MakeRule) -> Any:
    """Make a rule that was previewed: it moves the keys there are, and those still to come."""
    project, person = _project(request, slug), _person(request)
    return _moved(make_rule(project, person, **body.asked(), fingerprint=body.fingerprint, **body.grounds()))


@router.post("/projects/{slug}/key-rules/{rule}/end", response=_answers(Done))
def do_end(request: HttpRequest, slug: str, rule: str, body: Reason) -> Any:
    """End a rule; what it moved stays. Undo the entry that made it to move that back."""
    decision = end_rule(_project(request, slug), _person(request), rule, reason=body.reason)
    return Done(sequence=decision.sequence, changed=[decision.subject], unchanged=[])


@router.post("/projects/{slug}/journal/{sequence}/undo", response=_answers(Done))
def do_undo(request: HttpRequest, slug: str, sequence: int, body: Undo) -> Any:
    """Undo a decision about signatures, and all that was done in the same step; a 409 says what hangs on it."""
    done = undo(_project(request, slug), _person(request), sequence, reason=body.reason, alone=body.alone)
    hint_marks()
    return _done(done)


def elsewhere(request: HttpRequest, slug: str, one: Signature) -> HttpResponse | None:
    """Where a signature was merged: the way to the other one. Not to be kept by the caller, for a merge can be undone."""
    if one.merged_into is not None:
        address = reverse("api:show_signature", args=[slug, root_of(one).public_id])
        headers = {"Location": request.build_absolute_uri(address), "Cache-Control": "no-store"}
        return HttpResponse(status=308, headers=headers)
    if one.gone_at is not None:
        raise HttpError(410, _gone(one))
    return None


def _gone(one: Signature) -> str:
    """As its page says it."""
    went_to = tombstone_page(one.project, one).went_to
    where = f"what led to it leads to {', '.join(went_to)} now" if went_to else "its keys went elsewhere"
    return f"Nothing leads to {one.public_id} any more: {where}. Its page has the journal."


def _project(request: HttpRequest, slug: str) -> Project:
    project = project_for(request, slug)
    require(request, project, MemberRole.TRIAGER)
    return project


def _signature(project: Project, public_id: str) -> Signature:
    one = Signature.objects.select_related("project").filter(project=project, public_id=public_id).first()
    if one is None:
        raise HttpError(404, f"The project has no signature {public_id!r}.")
    return one


def _person(request: HttpRequest) -> AbstractBaseUser:
    return cast("AbstractBaseUser", request.user)


def _done(done: Batch) -> Done:
    return Done(sequence=done.sequence, changed=list(done.changed), unchanged=list(done.unchanged))


def _moved(moved: Moved) -> MovedKeys:
    hint_marks()
    return MovedKeys(into=moved.into, keys=moved.keys, emptied=list(moved.emptied), sequence=moved.sequence)


def _hindered(error: Hindered) -> HttpResponse:
    return problem(409, str(error), {one.public_id: one.why for one in error.hindrances})
