"""Query strings of the pages of gates, growth and own share, as typed values."""

from django.http import QueryDict

from dashboard.params import Query
from leaks.queries.gate_page import Asked

NAMED = 200  # a commit's hash, a run's id, a lane, a branch


def gate_params(values: QueryDict) -> Asked:
    """`?signature=&before=&after=&lane=&branch=`: as the gate's command takes them."""
    query = Query(values)
    return Asked(**{name: query.text(name, limit=NAMED) for name in Asked._fields})


def own_params(values: QueryDict) -> str:
    """`?run=`: the run that is looked at; else the newest with findings."""
    return Query(values).text("run", limit=NAMED)
