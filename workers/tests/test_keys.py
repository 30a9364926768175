import stat
from multiprocessing import get_context
from pathlib import Path

import pytest

from workers.keys import KEY_FILES, make_keys


@pytest.fixture(autouse=True)
def _no_keys_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in KEY_FILES:
        monkeypatch.delenv(variable, raising=False)


def test_missing_keys_are_made_for_this_user_only(tmp_path: Path) -> None:
    make_keys(tmp_path / "var")
    files = sorted((tmp_path / "var").iterdir())
    assert [file.name for file in files] == ["journal.key", "secret.key"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert len({file.read_text(encoding="ascii") for file in files}) == 2


def test_a_key_is_never_replaced(tmp_path: Path) -> None:
    make_keys(tmp_path)
    before = (tmp_path / "journal.key").read_bytes()
    make_keys(tmp_path)
    assert (tmp_path / "journal.key").read_bytes() == before


def test_a_key_of_the_environment_needs_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable in KEY_FILES:
        monkeypatch.setenv(variable, "given")
    make_keys(tmp_path / "var")
    assert not (tmp_path / "var").exists()


def test_processes_that_start_together_agree_on_one_key(tmp_path: Path) -> None:
    with get_context("spawn").Pool(4) as pool:
        pool.map(make_keys, [tmp_path] * 16)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["journal.key", "secret.key"]
