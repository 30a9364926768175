"""Scratch projects: where a log goes that somebody drops before any set-up, so that one pipeline serves all.

Each drop gets its own, under an address nobody can guess; who has the address can read it. It ends by itself.
"""

import secrets
from collections.abc import Sequence
from datetime import timedelta

from django.utils import timezone

from leaks.models import Project

SCRATCH_LIVES = timedelta(days=7)
# What a dropped log is filed under when nobody says where it comes from. Git's own name for "no commit".
NO_COMMIT = "0" * 40
# Of two dropped logs the later: a comparison asks for two commits, the one before the change the parent of the other.
CHANGED = "1" * 40
LANE = "dropped"


def make_scratch_project(own_roots: Sequence[str] = (), plumbing: Sequence[str] = ()) -> Project:
    return Project.objects.create(
        slug=f"scratch-{secrets.token_hex(8)}",
        name="Scratch",
        own_roots=list(own_roots),
        plumbing=list(plumbing),
        public=True,
        ends_at=timezone.now() + SCRATCH_LIVES,
    )
