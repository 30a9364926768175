"""Who may do what to a suppression. The person who proposes a rule never approves it, and neither does one who has rewritten it."""

from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import PermissionDenied

from leaks.models import Decision, Membership, Project, Suppression
from leaks.words import MemberRole

SUBJECT = "suppression"
ROLES = (MemberRole.VIEWER, MemberRole.TRIAGER, MemberRole.APPROVER, MemberRole.ADMIN)


def role_of(project: Project, person: AbstractBaseUser) -> MemberRole | None:
    if getattr(person, "is_superuser", False) and person.is_active:
        return MemberRole.ADMIN
    role = Membership.objects.filter(project=project, user_id=person.pk).values_list("role", flat=True).first()
    return MemberRole(role) if role else None


def require(project: Project, person: AbstractBaseUser, role: MemberRole) -> MemberRole:
    """The role that the person has; raises PermissionDenied below the one that is needed."""
    held = role_of(project, person)
    if held is None or ROLES.index(held) < ROLES.index(role):
        raise PermissionDenied(f"This needs the role {role} in {project.name}.")
    return held


def why_not_approver(one: Suppression, person: AbstractBaseUser) -> str:
    """Why this person must leave the decision to somebody else."""
    if one.proposed_by_id == person.pk:
        return (
            "You proposed this suppression, so somebody else with the role approver must approve it: that is what the review is for. "
            "You can withdraw it, or mark the signature “intended”, which needs nobody else and keeps it in sight."
        )
    edited = Decision.objects.filter(
        project=one.project_id, subject_kind=SUBJECT, subject=one.public_id, what="edited", person_id=person.pk
    )
    if edited.exists():
        return "You have rewritten this proposal, so another approver must look at what you wrote."
    return ""
