"""How long the pages take over a large project on PostgreSQL, and in how many queries: the 95th percentile of many requests.

    python -m dashboard.tests.bench_scale [FACTOR]

FACTOR 1 (the default) is 1,000,000 sightings of 10,000 signatures in 100,000 outcomes. The database is the one that `DATABASE_URL` names,
where the project is made if it is missing; `dashboard.tests.bench_pages --scale` starts one of its own.
"""

import logging
import os
import sys
from collections.abc import Iterator
from itertools import cycle, islice
from time import perf_counter
from typing import Any, NamedTuple
from urllib.parse import urlencode

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
os.environ.setdefault("LEAKLEDGER_STATIC", "plain")
os.environ.setdefault("LOG_LEVEL", "ERROR")
django.setup()

from django.contrib.auth.models import User  # noqa: E402  - settings must be known first
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402

from leaks.models import Commit, LaneOutcome, Project, Signature  # noqa: E402
from leaks.words import Verdict  # noqa: E402
from workers.scale.plan import Scale  # noqa: E402
from workers.scale.project import make, smaller  # noqa: E402

SLUG = "scale"
REQUESTS = 20
GOAL_MS, GOAL_QUERIES, REACH_MS = 300, 15, 1000
SEARCHES = (
    "is:new", "is:open", "is:regressed", "state:confirmed", "lane:tsan", "lane:*ubsan", "-lane:nightly", "kind:leak",
    "tool:lsan", "tool:nobody", "own:no", "file:pool_map", "function:Arena", "test:test_pool", "test:nothing",
    "owner:@org/runtime", "owner:none", "bytes:>64k", "objects:2..5", "count:>1", "seen:>3", "first:<2w", "last:>3m",
    "commit:SHA", "id:LKS-A*", "Pool", "Pool Builder", "Pool*Get", "nothing",
    "is:open own:yes (kind:leak OR kind:data-race) -file:tools bytes:>1k",
)  # fmt: skip


class Page(NamedTuple):
    """The addresses are asked for in turn."""

    name: str
    addresses: list[str]
    goal: int = GOAL_MS


def pages(project: Project) -> list[Page]:
    home = f"/p/{project.slug}"
    sha = Commit.objects.filter(project=project).order_by("-ordered_at")[3].sha[:9]
    searches = [q.replace("SHA", sha) for q in SEARCHES]
    listed = f"{home}/signatures/?"
    sorts = ("last-seen", "first-seen", "bytes", "objects", "count", "outcomes", "title")
    return [
        *(Page(f"sorted by {sort}", [listed + urlencode({"sort": sort})]) for sort in sorts),
        Page("second page", [listed + urlencode({"sort": "bytes", "after": _middle(project)})]),
        *(Page(f"search {q}", [listed + urlencode({"q": q})]) for q in searches),
        Page(
            "completion", [f"/api/v1/projects/{project.slug}/search/complete?" + urlencode({"q": q}) for q in COMPLETED]
        ),
        Page("signatures seen most", [f"{home}/signatures/{one}/" for one in _signatures(project, "-seen_outcomes")]),
        Page("signatures, any", [f"{home}/signatures/{one}/" for one in _signatures(project, "public_id")]),
        Page("a comparison", [f"{home}/compare/?" + urlencode({"head": one}) for one in _heads(project)]),
        Page("overview", [f"{home}/"]),
        Page("lanes", [f"{home}/lanes/"]),
        Page("a run", [f"{home}/runs/{one}/" for one in _heads(project)]),
        *(
            Page(f"reach of {name}", [_reach(project, *rule) for rule in rules], REACH_MS)
            for name, rules in _rules(project)
        ),
    ]


COMPLETED = ("la", "lane:", "tool:", "test:test_p", "file:pool", "function:Get", "owner:", "id:LKS-A", "kind:")


def _rules(project: Project) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Rules about a function, a file, a class and so on to most of the history."""
    leaks = Signature.objects.filter(project=project, own=True, kind="direct-leak").order_by("public_id")
    places = list(leaks.values_list("own_frame__function", "own_frame__file")[:REQUESTS])
    yield "a function", [("lsan", f"leak:{function}") for function, _ in places]
    yield "a file", [("lsan", f"leak:{file}") for _, file in places]
    yield "a namespace", [("lsan", "leak:" + function.split("::")[0] + "::") for function, _ in places]
    yield "a word", [("lsan", "leak:Pool"), ("lsan", "leak:Arena")]
    yield "a module", [("lsan", "leak:libpool.so")]
    yield "races", [("tsan", "race:Pool"), ("tsan", "race:nothing")]
    yield "a block", [("valgrind", "{\n a\n Memcheck:Leak\n ...\n fun:*Pool*\n}")]


def _reach(project: Project, tool: str, rule: str) -> str:
    return f"/api/v1/projects/{project.slug}/suppressions/reach?" + urlencode({"tool": tool, "rule": rule})


def _middle(project: Project) -> str:
    return Signature.objects.filter(project=project).order_by("-last_bytes", "public_id")[50].public_id


def _signatures(project: Project, order: str) -> list[str]:
    return list(
        Signature.objects.filter(project=project).order_by(order).values_list("public_id", flat=True)[:REQUESTS]
    )


def _heads(project: Project) -> list[str]:
    found = LaneOutcome.objects.filter(lane__project=project, verdict=Verdict.FINDINGS).order_by("-happened_at")
    return list(found.values_list("public_id", flat=True)[:REQUESTS])


def seconds(client: Client, address: str) -> float:
    begin = perf_counter()
    answer = client.get(address)
    taken = perf_counter() - begin
    assert answer.status_code == 200, (address, answer.status_code)
    return taken


def count_queries(client: Client, address: str) -> int:
    """Counted on the cursor: the log of queries is emptied by every request."""
    seen: list[str] = []

    def count(execute: Any, sql: str, *rest: Any) -> Any:
        seen.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(count):
        seconds(client, address)
    return len(seen)


def main(factor: float) -> None:
    logging.disable(logging.WARNING)
    call_command("migrate", verbosity=0, skip_checks=True)
    if not Project.objects.filter(slug=SLUG).exists():
        begin = perf_counter()
        make(SLUG, smaller(Scale(), factor), lambda _: None)
        print(f"seeded in {perf_counter() - begin:.0f} s")
    project = Project.objects.get(slug=SLUG)
    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.get(username=f"{SLUG}-triager"))
    print(f"{'page':70} {'median':>7} {'p95':>7} {'queries':>7}   ms of {REQUESTS} requests each, {connection.vendor}")
    for page in pages(project):
        show(client, page)


def show(client: Client, page: Page) -> None:
    queries = max(count_queries(client, address) for address in page.addresses)
    taken = sorted(seconds(client, address) for address in islice(cycle(page.addresses), REQUESTS))
    median, late = 1000 * taken[REQUESTS // 2], 1000 * taken[-(REQUESTS // 20) - 1]
    over = " *" * (late > page.goal) + " q" * (queries > GOAL_QUERIES)
    print(f"{page.name:70} {median:7.0f} {late:7.0f} {queries:7}{over}", flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0)
