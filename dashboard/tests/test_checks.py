from pathlib import Path

import pytest
from django.core import checks as django_checks

from dashboard import checks


def ids(found) -> list[str]:
    return [message.id for message in found]


def test_the_house_as_tested_has_nothing_to_complain_about() -> None:
    assert django_checks.run_checks() == []


def test_a_var_folder_under_a_file_is_an_error(settings, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings.LEAKLEDGER_VAR = tmp_path / "file" / "var"
    assert ids(checks.check_var()) == ["leakledger.E001"]


def test_a_var_folder_that_is_still_to_be_made_is_fine(settings, tmp_path: Path) -> None:
    settings.LEAKLEDGER_VAR = tmp_path / "new" / "var"
    assert ids(checks.check_var()) == []


def test_another_time_zone_is_an_error(settings) -> None:
    settings.TIME_ZONE = "Europe/Berlin"
    assert ids(checks.check_time_zone()) == ["leakledger.E002"]


def test_a_plotly_without_its_bundle_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(checks, "PLOTLY_FOLDER", tmp_path)
    assert ids(checks.check_plotly()) == ["leakledger.E003"]


def test_debug_pages_for_other_machines_are_an_error(settings) -> None:
    settings.DEBUG = True
    settings.ALLOWED_HOSTS = ["leaks.example.org"]
    assert ids(checks.check_hosts()) == ["leakledger.E004"]


def test_a_shared_database_with_a_local_queue_is_a_warning(monkeypatch: pytest.MonkeyPatch, settings) -> None:
    settings.REDIS = None
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", "django.db.backends.postgresql")
    assert ids(checks.check_queue()) == ["leakledger.W001"]


def test_keys_of_one_process_are_a_warning(monkeypatch: pytest.MonkeyPatch, settings, tmp_path: Path) -> None:
    settings.LEAKLEDGER_VAR = tmp_path
    monkeypatch.delenv("SECRET_KEY")
    found = list(checks.check_keys())
    assert ids(found) == ["leakledger.W002"]
    assert "SECRET_KEY" in found[0].msg


def test_every_check_gives_a_hint(settings, tmp_path: Path) -> None:
    settings.USE_TZ = False
    assert all(message.hint for message in checks.check_time_zone())
