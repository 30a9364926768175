"""Who may see and do what: tokens for lanes and scripts, memberships for people, public projects for everyone.

A stranger gets the same answer for a project that is not there and for one that is not theirs: 404.
"""

from datetime import datetime, timedelta

from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest
from django.utils import timezone

from leaks.errors import PermanentError
from leaks.models import Membership, Project, Token
from leaks.tokens import hash_of
from leaks.words import MemberRole

# Each role may do what the roles before it may.
ROLES = (MemberRole.VIEWER, MemberRole.TRIAGER, MemberRole.APPROVER, MemberRole.ADMIN)
SCHEME = "bearer"
NOTE_USE_EVERY = timedelta(minutes=1)


class TokenRefused(PermanentError):
    """No token, one nobody made, or one past its end: who asks must show another."""


# --- Tokens ----------------------------------------------------------------------------------------------------------


def token_of(request: HttpRequest) -> Token:
    """The token a request shows in `Authorization: Bearer …`. Raises TokenRefused."""
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != SCHEME or not secret.strip():
        raise TokenRefused("A token is needed: send the header Authorization: Bearer TOKEN.")
    token = Token.objects.select_related("project").filter(hash=hash_of(secret.strip())).first()
    if token is None or _is_over(token.project.ends_at):
        raise TokenRefused("This token is not known.")
    if _is_over(token.expires_at):
        raise TokenRefused(f"This token expired on {token.expires_at:%Y-%m-%d %H:%M} UTC.")
    _note_use(token)
    return token


def upload_token(request: HttpRequest) -> Token:
    """The token of a request that wants to write. Raises TokenRefused, or PermissionDenied for a token that only reads."""
    token = token_of(request)
    if token.kind != Token.Kind.UPLOAD:
        raise PermissionDenied("This token may only read; an upload needs one of kind upload.")
    return token


def _is_over(moment: datetime | None) -> bool:
    return moment is not None and moment <= timezone.now()


def _note_use(token: Token) -> None:
    """Once a minute is exact enough, and spares a busy lane a write for every request."""
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > NOTE_USE_EVERY:
        Token.objects.filter(pk=token.pk).update(last_used_at=now)


# --- Projects --------------------------------------------------------------------------------------------------------


def project_for(request: HttpRequest, slug: str) -> Project:
    """The project, if whoever asks may read it. Raises Http404 otherwise."""
    project = _living().filter(slug=slug).first()
    if project is None or not may(request, project, MemberRole.VIEWER):
        raise Http404(f"There is no project {slug!r}.")
    return project


def project_to_follow(request: HttpRequest, slug: str) -> Project:
    """The project, for each of its readers and for a token that uploads to it. Raises Http404 otherwise."""
    project = _living().filter(slug=slug).first()
    if project is None or not may_follow(request, project):
        raise Http404(f"There is no project {slug!r}.")
    return project


def project_with_badge(request: HttpRequest, slug: str, secret: str) -> Project | None:
    """The project, for each of its readers and for whoever shows a badge token of it: one that stands in an address."""
    project = _living().filter(slug=slug).first()
    if project is None or may(request, project, MemberRole.VIEWER):
        return project
    shown = (
        Token.objects.filter(project=project, kind=Token.Kind.BADGE, hash=hash_of(secret)).first() if secret else None
    )
    if shown is None or _is_over(shown.expires_at):
        return None
    _note_use(shown)
    return project


def projects_for(request: HttpRequest) -> QuerySet[Project]:
    """Projects to list for whoever asks. A scratch project is found by its address alone."""
    if _is_superuser(request):
        return _living()
    mine = Q(memberships__user_id=request.user.pk) if request.user.is_authenticated else Q(pk=None)
    return _living().filter(mine | Q(public=True, ends_at=None)).distinct()


def may(request: HttpRequest, project: Project, role: MemberRole) -> bool:
    """Whether whoever asks has the role, or one that includes it. A token reads its project and has no other role."""
    if role == MemberRole.VIEWER and (project.public or _is_token_of(request, project, Token.Kind.READ)):
        return True
    held = role_in(request, project)
    return held is not None and ROLES.index(held) >= ROLES.index(role)


def may_follow(request: HttpRequest, project: Project) -> bool:
    """Whether whoever asks may see what came of an upload: each reader, and the token that uploads."""
    return _is_token_of(request, project, Token.Kind.UPLOAD) or may(request, project, MemberRole.VIEWER)


def require(request: HttpRequest, project: Project, role: MemberRole) -> None:
    """Raises PermissionDenied for a reader of the project who lacks the role."""
    if not may(request, project, role):
        raise PermissionDenied(f"This needs the role {role} in {project.name}.")


def role_in(request: HttpRequest, project: Project) -> MemberRole | None:
    """The role of the person, looked up once a request: a template asks many times."""
    roles: dict[int, MemberRole | None] = vars(request).setdefault("roles_by_project", {})
    if project.pk not in roles:
        roles[project.pk] = _look_up_role(request, project)
    return roles[project.pk]


def _look_up_role(request: HttpRequest, project: Project) -> MemberRole | None:
    if not request.user.is_authenticated:
        return None
    if _is_superuser(request):
        return MemberRole.ADMIN
    role = Membership.objects.filter(project=project, user_id=request.user.pk).values_list("role", flat=True).first()
    return MemberRole(role) if role else None


def _is_superuser(request: HttpRequest) -> bool:
    return request.user.is_active and request.user.is_superuser


def _is_token_of(request: HttpRequest, project: Project, *kinds: Token.Kind) -> bool:
    token = getattr(request, "auth", None)
    return isinstance(token, Token) and token.project_id == project.pk and token.kind in kinds


def _living() -> QuerySet[Project]:
    return Project.objects.filter(Q(ends_at=None) | Q(ends_at__gt=timezone.now()))
