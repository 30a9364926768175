from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from dashboard import env


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch):
    """Set the variable X."""
    return lambda value: monkeypatch.setenv("X", value)


@pytest.mark.parametrize(
    ("word", "value"), [("1", True), ("Yes", True), ("on", True), ("0", False), ("FALSE", False), ("off", False)]
)
def test_a_flag_reads_the_usual_words(given, word: str, value: bool) -> None:
    given(word)
    assert env.flag("X") is value


@pytest.mark.parametrize("default", [True, False])
def test_an_empty_variable_counts_as_unset(given, default: bool) -> None:
    given("  ")
    assert env.flag("X", default) is default
    assert env.number("X", 7) == 7
    assert env.redis("X") is None


@pytest.mark.parametrize("word", ["maybe", "2", "truee"])
def test_a_flag_refuses_other_words(given, word: str) -> None:
    given(word)
    with pytest.raises(ImproperlyConfigured, match=r"X='.*expected one of 1, true"):
        env.flag("X")


@pytest.mark.parametrize("word", ["ten", "-1", "1.5", "0", "1e3"])
def test_a_number_refuses_what_is_none_or_too_small(given, word: str) -> None:
    given(word)
    with pytest.raises(ImproperlyConfigured, match="a whole number from 1 up"):
        env.number("X", 7, minimum=1)


def test_a_choice_refuses_unknown_words(given) -> None:
    given("loud")
    with pytest.raises(ImproperlyConfigured, match="expected one of INFO, DEBUG"):
        env.choice("X", "INFO", ("INFO", "DEBUG"))


def test_a_list_is_parted_by_commas_and_trimmed(given) -> None:
    given(" a.org, b.org ,,")
    assert env.words("X") == ["a.org", "b.org"]


def test_a_key_without_source_differs_each_time(tmp_path: Path) -> None:
    missing = tmp_path / "secret.key"
    assert env.key("X", missing) != env.key("X", missing)


def test_a_redis_socket_is_spelt_for_celery_and_for_django(given) -> None:
    given("redis+socket:///run/redis.sock?virtual_host=2")
    assert env.redis("X") == env.RedisAddress(
        celery="redis+socket:///run/redis.sock?virtual_host=2", cache="unix:///run/redis.sock?db=2"
    )


def test_logs_live_in_a_folder_by_default(tmp_path: Path) -> None:
    storage = env.log_storage("X", tmp_path)
    assert storage["OPTIONS"] == {"location": str(tmp_path)}


def test_logs_can_live_in_a_bucket(given, tmp_path: Path) -> None:
    given("s3://ledger/raw/logs?endpoint=https://s3.example.org")
    assert env.log_storage("X", tmp_path)["OPTIONS"] == {
        "bucket_name": "ledger",
        "location": "raw/logs",
        "file_overwrite": True,
        "endpoint_url": "https://s3.example.org",
    }


@pytest.mark.parametrize("address", ["s3:bucket", "/var/logs", "https://s3.example.org/bucket"])
def test_another_log_storage_is_refused(given, tmp_path: Path, address: str) -> None:
    given(address)
    with pytest.raises(ImproperlyConfigured, match="s3://bucket/prefix"):
        env.log_storage("X", tmp_path)


def test_a_refused_address_is_shown_without_its_password(given) -> None:
    given("mysql://app:hunter2@db/ledger")
    with pytest.raises(ImproperlyConfigured) as caught:
        env.database("X", "sqlite://")
    assert "hunter2" not in str(caught.value)
    assert "mysql://app:" in str(caught.value)


@pytest.mark.parametrize("address", ["https://leaks.example.org/", "http://10.0.0.1:8000", "https://example.org/leaks"])
def test_the_address_of_the_site_has_no_slash_at_its_end(given, address: str) -> None:
    given(address)
    assert env.site("X") == address.rstrip("/")


@pytest.mark.parametrize("address", ["leaks.example.org", "ftp://x", "https://", "https://x/?y=1", "https://x/#y"])
def test_an_address_of_the_site_that_is_none_is_refused(given, address: str) -> None:
    given(address)
    with pytest.raises(ImproperlyConfigured):
        env.site("X")


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("smtp+tls://u:p%40w@mail.example:587", ("mail.example", 587, True, False)),
        ("smtp+ssl://u:p%40w@mail.example:465", ("mail.example", 465, False, True)),
        ("smtp://u:p%40w@mail.example:25", ("mail.example", 25, False, False)),
    ],
)
def test_a_mail_server_is_taken_apart(given, address: str, parts: tuple[str, int, bool, bool]) -> None:
    given(address)
    found = env.mail("X")
    assert (found.host, found.port, found.use_tls, found.use_ssl) == parts
    assert (found.user, found.password) == ("u", "p@w")


def test_without_a_mail_server_no_mail_goes_anywhere(given) -> None:
    given("")
    assert env.mail("X").backend.endswith("dummy.EmailBackend")
    given("pigeon://x")
    with pytest.raises(ImproperlyConfigured):
        env.mail("X")
