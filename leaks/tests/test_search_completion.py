"""What is offered while a search is typed."""

import pytest

from leaks import models
from leaks.queries.search_completion import complete
from leaks.search_parse import parse
from leaks.tests import cast
from leaks.words import MemberRole

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    played = cast.make_cast()
    models.Lane.objects.create(project=played.project, name="my lane")
    cast.make_user("grace", played.project, MemberRole.TRIAGER)
    models.Report.objects.update(test='test "rope"')
    return played.project


OFFERED = [
    ("", "is:"),
    ("la", "lane:"),
    ("is:new LA", "lane:"),
    ("(ow", "own:"),
    ("-ow", "own:"),
    ("is:", "is:open"),
    ("is:ne", "is:new"),
    ("state:third_", None),
    ("own:", "own:yes"),
    ("lane:asan", "lane:asan-ubsan"),
    ("lane:my", 'lane:"my lane"'),
    ('lane:"my l', 'lane:"my lane"'),
    ("lane:zzz", None),
    ("kind:le", "kind:leak"),
    ("tool:", "tool:asan"),
    ("owner:gr", "owner:grace"),
    ("owner:no", "owner:none"),
    ("test:rope", r'test:"test \"rope\""'),
    ("file:pool", "file:src/pool.cpp"),
    ("function:Rope", "function:engine::RopeCache::Build"),
    ("bytes:", None),
    ("std::", None),
    ("colour:", None),
    ('"is:', None),
    ("is:new ", "is:"),
    ("first:", "first:<1w"),
]


@pytest.mark.parametrize(("typed", "offered"), OFFERED)
def test_the_end_of_the_text_is_completed(project, typed, offered):
    texts = [one.text for one in complete(project, typed).suggestions]
    assert (offered in texts) if offered else texts == []


@pytest.mark.parametrize(
    ("typed", "start"),
    [("la", 0), ("is:new la", 7), ("is:new -la", 8), ("(lane:a", 1), ('a lane:"my l', 2), ("is:new ", 7)],
)
def test_a_suggestion_takes_the_place_of_the_piece_that_is_typed(project, typed, start):
    assert complete(project, typed).start == start


@pytest.mark.parametrize(
    ("typed", "offered"), [(typed, offered) for typed, offered in OFFERED if offered and not offered.endswith(":")]
)
def test_what_is_offered_can_be_searched_for(project, typed, offered):
    parse(offered)


@pytest.mark.parametrize("typed", ["", "la", "lane:a", "kind:", "tool:", "test:r", "owner:", "file:x", "id:L"])
def test_it_costs_one_query_at_most(project, typed, django_assert_max_num_queries):
    with django_assert_max_num_queries(1):
        complete(project, typed)


@pytest.mark.parametrize(
    "typed", ["\x00", 'lane:"', "(" * 2_000, "lane:%", "a\u202e:", "-" * 2_000, '"' * 1_999, "lane:" + "x" * 1_900]
)
def test_any_text_is_answered(project, typed):
    complete(project, typed)
