"""The shared fixtures do what they promise; a broken one would else show as a skip or an error somewhere else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

SKIPPING_TESTS = """
import pytest

@pytest.fixture
def tool():
    pytest.skip("no tool")

def test_by_itself():
    pytest.skip("no tool")

@pytest.mark.skip(reason="no tool")
def test_by_mark():
    pass

def test_by_fixture(tool):
    pass

@pytest.mark.xfail(reason="known")
def test_expected_failure():
    assert False
"""
SKIPPING_MODULE = "import pytest\npytest.skip('no tool', allow_module_level=True)\n"


def pytest_on(source: str, folder: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run pytest with the plugin on one file, away from the house's own settings."""
    (folder / "test_sample.py").write_text(source, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "dashboard.tests.plugin",
        "-p",
        "no:randomly",
        # Each reason once: a CI's pytest repeats them untruncated in its closing summary, a terminal's cuts them off there.
        "-rN",
        f"--rootdir={folder}",
    ]
    return subprocess.run(
        [*command, "-c", os.devnull, str(folder)],
        cwd=settings.BASE_DIR,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_where_nothing_may_hide_a_skip_fails_and_keeps_its_reason(tmp_path: Path) -> None:
    done = pytest_on(SKIPPING_TESTS, tmp_path, LEAKLEDGER_NO_SKIP="1")
    assert "1 failed, 1 xfailed, 2 errors" in done.stdout
    assert done.stdout.count("LEAKLEDGER_NO_SKIP forbids that: Skipped: no tool") == 3


def test_a_module_that_skips_itself_fails_there_too(tmp_path: Path) -> None:
    done = pytest_on(SKIPPING_MODULE, tmp_path, LEAKLEDGER_NO_SKIP="1")
    assert "1 error" in done.stdout
    assert "LEAKLEDGER_NO_SKIP forbids that: Skipped: no tool" in done.stdout


def test_elsewhere_a_skip_stays_a_skip(tmp_path: Path) -> None:
    done = pytest_on(SKIPPING_TESTS, tmp_path, LEAKLEDGER_NO_SKIP="")
    assert "3 skipped, 1 xfailed" in done.stdout


def test_the_tests_write_into_a_folder_of_their_own() -> None:
    assert settings.BASE_DIR not in settings.LEAKLEDGER_VAR.parents


@pytest.mark.redis
def test_redis_serves_the_address_as_the_settings_read_it(redis_url: str) -> None:
    script = "from django.core.cache import cache; cache.set('a', 1); print(cache.get('a'))"
    assert in_django(script, REDIS_URL=redis_url) == "1\n"


@pytest.mark.postgres
def test_postgres_serves_the_address_as_the_settings_read_it(postgres_url: str) -> None:
    script = (
        "from django.db import connection as c; k = c.cursor(); k.execute('select 6 * 7');"
        "print(c.vendor, k.fetchone()[0], c.settings_dict['OPTIONS'])"
    )
    folder = postgres_url.partition("host=")[2]
    assert in_django(script, DATABASE_URL=postgres_url) == f"postgresql 42 {{'host': '{folder}'}}\n"


def in_django(script: str, **environment: str) -> str:
    """What a script prints in a process of its own with these settings."""
    return subprocess.run(
        [sys.executable, "-c", f"import django; django.setup(); {script}"],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "dashboard.settings", **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
