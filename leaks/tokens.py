"""Tokens for lanes and scripts: a secret that is shown once, and the hash by which it is known again."""

import hashlib
import secrets
from datetime import datetime

from leaks.models import Project, Token

PREFIX = {Token.Kind.UPLOAD: "llu_", Token.Kind.READ: "llr_", Token.Kind.BADGE: "llb_"}
HINT_LENGTH = 12


def make_token(project: Project, kind: str, purpose: str, expires: datetime | None = None) -> tuple[Token, str]:
    """A new token and its secret, which is kept nowhere: show it now or never."""
    kind = Token.Kind(kind)
    secret = PREFIX[kind] + secrets.token_urlsafe(32)
    token = Token.objects.create(
        project=project,
        kind=kind,
        purpose=purpose,
        hash=hash_of(secret),
        hint=secret[:HINT_LENGTH],
        expires_at=expires,
    )
    return token, secret


def hash_of(secret: str) -> str:
    # Plain SHA-256 is enough: a secret of 256 random bits cannot be guessed, whatever the hash costs.
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
