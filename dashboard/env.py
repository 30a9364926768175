"""Reading the environment: typed, and loud on nonsense.

Every reader takes the variable's name and its default, and raises `ImproperlyConfigured` with the name, the value and
what would have been right. An empty variable counts as unset: that is how compose files pass on what nobody gave.
Each name read here is explained in `docs/settings.md`.
"""

import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off"}
REDIS_SCHEMES = ("redis", "rediss", "redis+socket")
# `manifest` names files by content (1.4 s); `compressed` adds gzip for a deployment; `plain` needs no collectstatic.
STATIC_STORAGES = {
    "manifest": "django.contrib.staticfiles.storage.ManifestStaticFilesStorage",
    "compressed": "whitenoise.storage.CompressedManifestStaticFilesStorage",
    "plain": "django.contrib.staticfiles.storage.StaticFilesStorage",
}
DATABASE_SCHEMES = ("sqlite", "postgres", "postgresql")


@dataclass(frozen=True)
class RedisAddress:
    """One Redis, spelt twice: Celery and Django's cache disagree about Unix sockets."""

    celery: str
    cache: str


class Mail(NamedTuple):
    """The mail server, in the order in which settings take it apart."""

    backend: str
    host: str
    port: int
    user: str
    password: str
    use_tls: bool
    use_ssl: bool


def text(name: str, default: str = "") -> str:
    """The variable as it stands, without surrounding blanks."""
    return os.environ.get(name, "").strip() or default


def flag(name: str, default: bool = False) -> bool:
    """A switch: 1/true/yes/on or 0/false/no/off. Anything else is an error, never a silent False."""
    word = text(name).lower()
    if word in TRUE | FALSE:
        return word in TRUE
    if word:
        raise _bad(name, "one of 1, true, yes, on, 0, false, no, off")
    return default


def number(name: str, default: int, minimum: int = 0) -> int:
    """A whole number not below `minimum`."""
    word = text(name, str(default))
    if not word.isdecimal() or int(word) < minimum:
        raise _bad(name, f"a whole number from {minimum} up")
    return int(word)


def choice(name: str, default: str, words: tuple[str, ...]) -> str:
    """One of the given words."""
    word = text(name, default)
    if word not in words:
        raise _bad(name, "one of " + ", ".join(words))
    return word


def words(name: str, default: tuple[str, ...] = ()) -> list[str]:
    """A list separated by commas."""
    return [word.strip() for word in text(name, ",".join(default)).split(",") if word.strip()]


def folder(name: str, default: Path) -> Path:
    """A folder, made absolute; it need not exist."""
    return Path(text(name, str(default))).resolve()


def key(name: str, file: Path) -> str:
    """A secret: from the environment, else from `file`, else a random one that lasts as long as this process."""
    given = text(name)
    if not given and file.is_file():
        given = file.read_text(encoding="ascii").strip()
    return given or secrets.token_urlsafe(48)


def database(name: str, default: str) -> dict[str, Any]:
    """A `DATABASES` entry out of an address such as `postgres://user:password@host/name`."""
    address = text(name, default)
    if urlsplit(address).scheme not in DATABASE_SCHEMES:
        raise _bad(name, "an address that starts with postgres:// or sqlite:///")
    return dict(environ.Env.db_url_config(address))


def redis(name: str) -> RedisAddress | None:
    """Where Redis is, or None for the embedded queue."""
    address = text(name)
    if not address:
        return None
    parts = urlsplit(address)
    if parts.scheme not in REDIS_SCHEMES:
        raise _bad(name, "an address that starts with " + ", ".join(f"{scheme}://" for scheme in REDIS_SCHEMES))
    if parts.scheme != "redis+socket":
        return RedisAddress(celery=address, cache=address)
    number_of_database = parse_qs(parts.query).get("virtual_host", ["0"])[0]
    return RedisAddress(celery=address, cache=f"unix://{parts.netloc}{parts.path}?db={number_of_database}")


def site(name: str) -> str:
    """The address under which people know this site, without a slash at its end; empty where nobody said."""
    address = text(name).rstrip("/")
    parts = urlsplit(address)
    if address and (parts.scheme not in {"http", "https"} or not parts.netloc or parts.query or parts.fragment):
        raise _bad(name, "an address such as https://leaks.example.org")
    return address


def mail(name: str) -> Mail:
    """Where mails go out: `smtp+tls://user:password@host:587`, `smtp+ssl://…`, `consolemail://`. Unset: nowhere."""
    address = text(name)
    if not address:
        return Mail("django.core.mail.backends.dummy.EmailBackend", "", 25, "", "", use_tls=False, use_ssl=False)
    if urlsplit(address).scheme not in environ.Env.EMAIL_SCHEMES:
        raise _bad(name, "an address such as smtp+tls://user:password@host:587")
    found = environ.Env.email_url_config(address)
    return Mail(
        found["EMAIL_BACKEND"],
        found["EMAIL_HOST"] or "localhost",
        found["EMAIL_PORT"] or 25,
        found["EMAIL_HOST_USER"] or "",
        found["EMAIL_HOST_PASSWORD"] or "",
        use_tls=found.get("EMAIL_USE_TLS", False),
        use_ssl=found.get("EMAIL_USE_SSL", False),
    )


def queue_folders(base: Path) -> dict[str, Any]:
    """Options of the file-system broker."""
    queue = str(base / "queue")
    folders = {"data_folder_in": queue, "data_folder_out": queue}
    return {
        **folders,
        "control_folder": str(base / "control"),
        "processed_folder": str(base / "processed"),
        "polling_interval": 0.2,
    }


def log_lines(name: str) -> dict[str, Any]:
    """A `LOGGING` that prints one line an event."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["console"], "level": choice(name, "INFO", ("DEBUG", "INFO", "WARNING", "ERROR"))},
        # A 400, 403 or 404 is an answer like another; Django writes a warning with a traceback of each.
        "loggers": {"django.request": {"level": "ERROR"}},
    }


def log_storage(name: str, default: Path) -> dict[str, Any]:
    """A `STORAGES` entry for raw logs: the folder `default`, or `s3://bucket/prefix?endpoint=https://…`.

    Access keys are not part of the address: the client reads `AWS_ACCESS_KEY_ID` and its kin by itself.
    """
    address = text(name)
    if not address:
        return {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(default)}}
    parts = urlsplit(address)
    if parts.scheme != "s3" or not parts.netloc:
        raise _bad(name, "empty, or an address such as s3://bucket/prefix?endpoint=https://host")
    options: dict[str, Any] = {"bucket_name": parts.netloc, "location": parts.path.strip("/"), "file_overwrite": True}
    query = parse_qs(parts.query)
    if "endpoint" in query:
        options["endpoint_url"] = query["endpoint"][0]
    return {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options}


def _bad(name: str, wanted: str) -> ImproperlyConfigured:
    # An address may carry a password, and this sentence ends up in logs.
    shown = re.sub(r"(://[^/:@]*:)[^/@]*@", r"\1…@", text(name))
    return ImproperlyConfigured(f"{name}={shown!r} in the environment: expected {wanted}.")
