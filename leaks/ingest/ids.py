"""Public ids of what comes in: short hashes of what the row is, so that every order of arrival gives the same addresses."""

import base64
import hashlib
import json

ID_BYTES = 10


def public_id(*parts: object) -> str:
    """Sixteen lower-case letters and digits that follow from `parts` alone."""
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"), sort_keys=True, default=str)
    return base64.b32encode(hashlib.sha256(text.encode()).digest()[:ID_BYTES]).decode().lower()


def outcome_id(project: str, provider: str, run_id: str, attempt: int, lane: str) -> str:
    return public_id("outcome", project, provider, run_id, attempt, lane)


def log_id(outcome: str, part: str, name: str, sha256: str) -> str:
    """By content and not by revision: whichever of two contents comes first, each keeps its address."""
    return public_id("log", outcome, part, name, sha256)
