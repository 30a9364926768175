import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from dashboard import settings as settings_module

DOCUMENT = settings.BASE_DIR / "docs" / "settings.md"


def variables_read() -> set[str]:
    """Names that settings.py asks `dashboard.env` for."""
    tree = ast.parse(Path(settings_module.__file__).read_text(encoding="utf-8"))
    calls = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("env.")
    ]
    return {ast.literal_eval(call.args[0]) for call in calls}


def import_settings(**environment: str) -> subprocess.CompletedProcess[str]:
    """Read the settings in a process of their own, with nothing but `environment`."""
    command = [sys.executable, "-c", "import dashboard.settings as s; print(s.SECRET_KEY, s.LEAKLEDGER_JOURNAL_KEY)"]
    clean = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return subprocess.run(command, cwd=settings.BASE_DIR, env=clean, capture_output=True, text=True, check=False)


def test_every_variable_read_is_documented_and_every_documented_one_is_read() -> None:
    documented = set(re.findall(r"^\| `([A-Z_]+)`", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE))
    assert documented == variables_read()
    assert len(documented) > 10


def test_settings_stay_short() -> None:
    assert len(Path(settings_module.__file__).read_text(encoding="utf-8").splitlines()) <= 200


def test_importing_the_settings_writes_nothing(tmp_path: Path) -> None:
    done = import_settings(LEAKLEDGER_VAR=str(tmp_path / "var"))
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_keys_come_from_the_var_folder_when_the_environment_has_none(tmp_path: Path) -> None:
    (tmp_path / "secret.key").write_text("from the file\n", encoding="ascii")
    done = import_settings(LEAKLEDGER_VAR=str(tmp_path), LEAKLEDGER_JOURNAL_KEY="from the environment")
    assert done.stdout == "from the file from the environment\n"


@pytest.mark.parametrize(
    ("name", "value"),
    [("REDIS_URL", "http://cache"), ("DATABASE_URL", "mysql://x"), ("LOG_STORAGE", "ftp://x"), ("DEBUG", "perhaps")],
)
def test_nonsense_stops_the_start_with_the_name_of_the_variable(name: str, value: str) -> None:
    done = import_settings(**{name: value})
    assert done.returncode != 0
    assert f"ImproperlyConfigured: {name}='{value}' in the environment: expected" in done.stderr


def test_a_team_set_up_uses_redis_for_queue_and_cache() -> None:
    print_both = "import dashboard.settings as s; print(s.CELERY_BROKER_URL, s.CACHES['default']['LOCATION'])"
    environment = {"PATH": os.environ["PATH"], "REDIS_URL": "redis://cache:6379/3"}
    command = [sys.executable, "-c", print_both]
    done = subprocess.run(command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "redis://cache:6379/3 redis://cache:6379/3\n"


def test_the_policy_opens_neither_inline_script_nor_eval() -> None:
    directives = settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]
    assert directives["default-src"] == ["'none'"]
    assert not any("unsafe" in source for sources in directives.values() for source in sources)


def test_requests_are_not_wrapped_in_a_transaction() -> None:
    # On SQLite that would hold the one write lock for as long as a page renders.
    assert not settings.DATABASES["default"].get("ATOMIC_REQUESTS")
