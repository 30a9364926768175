"""Moving keys as people do: previewed, then confirmed; and a small history to do it in."""

from django.contrib.auth.models import User

from leaks.merge_signatures import merge
from leaks.models import (
    Signature,
    SignatureKey,
)
from leaks.queries.key_sides import key_name
from leaks.queries.merge_preview import merge_preview
from leaks.queries.rule_preview import rule_preview
from leaks.queries.split_preview import split_preview
from leaks.rule_changes import make_rule
from leaks.split_signatures import split
from leaks.tests.ledger import project, settle
from leaks.tests.resigning import FETCH, HEAD, VOCAB, history
from leaks.triage_undo import undo


def three_leaks() -> User:
    """Runs with three leaks of one key each, and somebody who decides."""
    history([(FETCH,), (VOCAB,)], [(FETCH,), (HEAD,)], [(VOCAB,)])
    return User.objects.create_user("triager")


def of(word):
    return SignatureKey.objects.get(text__endswith=word).signature


def names(row):
    return [key_name(key) for key in SignatureKey.objects.filter(signature=row)]


def merged(person, into, *sources):
    ids = [row.public_id for row in sources]
    shown = merge_preview(project(), into.public_id, ids)
    given = {"fingerprint": shown.fingerprint, "reason": "the same bug"}
    return merge(project(), person, into=into.public_id, sources=ids, **given)


def parted(person, source, keys, into=""):
    shown = split_preview(project(), source.public_id, keys, into)
    given = {"fingerprint": shown.fingerprint, "reason": "two bugs"}
    return split(project(), person, source=source.public_id, keys=keys, into=into, **given)


def ruled(person, action, pattern, row):
    asked = {"action": action, "pattern": pattern, "signature": row.public_id}
    shown = rule_preview(project(), **asked)
    return make_rule(project(), person, **asked, fingerprint=shown.fingerprint, reason="always so")


def back(person, sequence):
    undo(project(), person, sequence, reason="wrong")
    settle()


def fresh(row):
    return Signature.objects.get(pk=row.pk)
