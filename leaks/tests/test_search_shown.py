"""Stars where there is nothing, and functions whose printed name ends with their parameters."""

import pytest

from leaks.models import Signature
from leaks.queries.signatures import matching
from leaks.tests.ledger import LEAKY, OTHER, log_text, project, settle, submit

pytestmark = pytest.mark.django_db


@pytest.fixture
def known():
    submit(1, log_text((LEAKY, 64), (OTHER, 32)), exit_code=1, conclusion="failure")
    settle()


@pytest.mark.parametrize(
    ("text", "found"),
    [("test:*", 0), ("-test:*", 2), ("function:*::get", 1), ("function:*::Pool::*", 1), ("function:*::put", 0)],
)  # fmt: skip
def test_a_star_is_any_text_but_not_none(known, text, found):
    assert not Signature.objects.filter(seen_with__contains="\ntest:").exists()
    assert matching(project(), text).count() == found
