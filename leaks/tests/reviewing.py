"""A project with leaks and people, and a proposal as a person would send it: for the tests of the review."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User

from leaks import models, review
from leaks.rows.suppressions import Proposal
from leaks.tests.ledger import LEAKY, OTHER, log_text, project, settle, submit
from leaks.words import MemberRole

RULE = "leak:engine::Pool::get"
WIDER = "leak:/src/engine/"


def today():
    """The database's clock is not travelled in: tests count from the real day."""
    return datetime.now(UTC).date()


def in_days(days: int):
    return today() + timedelta(days=days)


@dataclass
class Reviewed:
    """`pool` leaks in lane asan, `vocab` in asan and soak. `ann` and `bea` are approvers, `tom` a triager, `vic` a viewer."""

    project: models.Project
    pool: models.Signature
    vocab: models.Signature
    people: dict[str, User]

    def proposal(self, **values: Any) -> Proposal:
        asked = Proposal(
            tool="lsan",
            rule=RULE,
            reason="The pool keeps its blocks by design.",
            ends_on=in_days(30),
            signature=self.pool.public_id,
        )
        return replace(asked, **values)

    def propose(self, by: str = "tom", **values: Any) -> models.Suppression:
        return review.propose(self.project, self.people[by], self.proposal(**values))

    def approve(self, one: models.Suppression, by: str = "ann", **values: Any) -> models.Suppression:
        said = {"reason": "Seen, and agreed.", "revision": one.revision, **values}
        return review.approve(one, self.people[by], **said)

    def approved(self, **values: Any) -> models.Suppression:
        return self.approve(self.propose(**values), wider_confirmed=True)

    def decisions(self, one: models.Suppression) -> list[str]:
        rows = models.Decision.objects.filter(subject_kind="suppression", subject=one.public_id)
        return list(rows.order_by("sequence").values_list("what", flat=True))


def person(name: str, role: MemberRole | None = None) -> User:
    user = User.objects.create_user(name)
    if role:
        models.Membership.objects.create(project=project(), user=user, role=role)
    return user


def make_reviewed() -> Reviewed:
    failed = {"exit_code": 1, "conclusion": "failure"}
    submit(1, log_text((LEAKY, 4096), (OTHER, 64)), **failed)
    submit(2, log_text((LEAKY, 4096)), **failed)
    submit(3, log_text((OTHER, 64)), lane="soak", **failed)
    settle()
    people = {
        "ann": person("ann", MemberRole.APPROVER),
        "bea": person("bea", MemberRole.APPROVER),
        "tom": person("tom", MemberRole.TRIAGER),
        "vic": person("vic", MemberRole.VIEWER),
        "out": person("out"),
    }
    pool = models.Signature.objects.get(title__contains="Pool")
    vocab = models.Signature.objects.get(title__contains="Vocab")
    return Reviewed(project(), pool, vocab, people)
