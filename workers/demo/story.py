"""The demo's projects and what arrived for them, as ordinary submissions. `now` anchors the times; nothing else depends on the clock."""

import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from leaks.rows.intake import Submission, SubmittedFile
from workers.demo import device_pool, kv_cache, sample


@dataclass(frozen=True, slots=True)
class DemoProject:
    """`lanes` maps a lane to the detectors it is expected to have."""

    slug: str
    name: str
    note: str
    own_roots: tuple[str, ...]
    plumbing: tuple[str, ...]
    source_link: str
    lanes: dict[str, tuple[str, ...]]


KV_CACHE = DemoProject(
    "kv-cache-report",
    "Report 1: KV cache blocks that own each other",
    kv_cache.NOTE,
    kv_cache.OWN_ROOTS,
    (),
    "",
    {kv_cache.LANE: ("address", "leak")},
)
DEVICE_POOL = DemoProject(
    "device-pool-report",
    "Report 2: a device pool and a lane that keeps getting cancelled",
    device_pool.NOTE,
    device_pool.OWN_ROOTS,
    device_pool.PLUMBING,
    "",
    {device_pool.LANE: ("address", "leak", "undefined")},
)
SAMPLE = DemoProject(
    "sample-engine",
    "Sample: sixty days of an engine",
    sample.NOTE,
    sample.OWN_ROOTS,
    (),
    "",
    {sample.ADDRESS_LANE: ("address", "leak"), sample.UNDEFINED_LANE: ("undefined",)},
)
PROJECTS = (KV_CACHE, DEVICE_POOL, SAMPLE)


def made_up_sha(*words: object) -> str:
    return hashlib.sha1(" ".join(map(str, words)).encode(), usedforsecurity=False).hexdigest()


def one_log(name: str, content: bytes | None) -> tuple[SubmittedFile, ...]:
    return () if content is None else (SubmittedFile(name, io.BytesIO(content), len(content)),)


def kv_cache_story(now: datetime) -> Iterator[Submission]:
    start = now - timedelta(days=1)
    yield Submission(
        KV_CACHE.slug, kv_cache.LANE, kv_cache.COMMIT, branch="main", provider="by-hand", run_id="1", event="local",
        conclusion="failure", exit_code=1, ended=True, started_at=start, finished_at=start + timedelta(minutes=4),
        options=kv_cache.OPTIONS, files=one_log("kvCacheManagerTest.log", kv_cache.log()),
    )  # fmt: skip


def by_hand(commit: str, parent: str | None, at: datetime, pid: int) -> Submission:
    """The lane run on one machine, of no branch: the twelve main runs stay twelve."""
    return Submission(
        DEVICE_POOL.slug, device_pool.LANE, commit, parent=parent, provider="by-hand", run_id=f"local-{commit}", event="local",
        conclusion="failure", exit_code=1, ended=True, started_at=at, finished_at=at + timedelta(minutes=6),
        options=device_pool.OPTIONS, files=one_log("test_ltx2_video.log", device_pool.leaking_log(pid)),
    )  # fmt: skip


def pull_request(now: datetime) -> Iterator[Submission]:
    """Two runs on one commit: the second cancelled the first and skipped its own jobs. The CI showed the first as a failure."""
    start = now - timedelta(hours=8)
    cancelled = Submission(
        DEVICE_POOL.slug, device_pool.LANE, device_pool.PULL_REQUEST_COMMIT, parent=device_pool.PARENT, branch="ltx2-vae",
        pull_request=device_pool.PULL_REQUEST, provider="github", run_id="1101", event="pull_request", conclusion="failure", ended=True,
        started_at=start, finished_at=start + timedelta(minutes=18), superseded_by="1102",
        files=one_log("build.log", device_pool.cancelled_in_build(31)),
    )  # fmt: skip
    begun = start + timedelta(minutes=18)
    yield cancelled
    yield replace(
        cancelled, run_id="1102", conclusion="skipped", superseded_by=None, files=(),
        started_at=begun, finished_at=begun + timedelta(seconds=2),
    )  # fmt: skip


def main_runs(now: datetime) -> Iterator[Submission]:
    parent = None
    for number, run in enumerate(device_pool.main_runs(), start=1):
        at, commit = now - timedelta(hours=run.hours), made_up_sha("device pool main", number)
        done = run.conclusion is not None
        yield Submission(
            DEVICE_POOL.slug, device_pool.LANE, commit, parent=parent, branch="main", provider="github", run_id=str(2700 + number),
            event="push", conclusion=run.conclusion, exit_code=run.exit_code, ended=done, started_at=at,
            finished_at=at + timedelta(minutes=21) if done else None, options=device_pool.OPTIONS if run.exit_code is not None else {},
            files=one_log("asan-ubsan.log", run.log),
        )  # fmt: skip
        parent = commit


def device_pool_story(now: datetime) -> Iterator[Submission]:
    yield from main_runs(now)
    yield from pull_request(now)
    yield by_hand(device_pool.PARENT, None, now - timedelta(hours=3), 698_102)
    yield by_hand(device_pool.COMMIT, device_pool.PARENT, now - timedelta(hours=2.8), 714_711)


def sample_story(now: datetime) -> Iterator[Submission]:
    for day in sample.days():
        at = now - timedelta(days=day.days_ago, hours=2)
        commit, parent = made_up_sha("sample", day.days_ago), made_up_sha("sample", day.days_ago + 1)
        yield Submission(
            SAMPLE.slug, day.lane, commit, parent=parent, branch="main", provider="github", run_id=str(9000 - day.days_ago),
            event="push", conclusion=day.conclusion, exit_code=day.exit_code, ended=True, started_at=at,
            finished_at=at + timedelta(minutes=25), options=day.options, files=one_log(f"{day.lane}.log", day.log),
        )  # fmt: skip


def submissions(now: datetime) -> Iterator[Submission]:
    """Everything that arrives, the two reports first."""
    yield from kv_cache_story(now)
    yield from device_pool_story(now)
    yield from sample_story(now)
