"""The lane wrapper at its address, and the documents about it."""

import hashlib
import re
from pathlib import Path

from django.conf import settings
from django.test import Client

from dashboard.api.gate import PARAMETERS
from workers import lane

FILE = Path(settings.BASE_DIR) / "workers" / "lane.py"
DOCS = Path(settings.BASE_DIR) / "docs"


def test_it_is_served_as_it_stands_with_its_hash(client: Client) -> None:
    answer = client.get("/lane.py")
    assert (answer.status_code, answer.content) == (200, FILE.read_bytes())
    assert answer["Content-Type"].startswith("text/x-python")
    digest = hashlib.sha256(answer.content).hexdigest()
    assert answer["ETag"] == f'"{digest}"'
    assert client.get("/lane.py.sha256").content.decode() == f"{digest}  lane.py\n"


def test_who_has_it_is_not_sent_it_again(client: Client) -> None:
    tag = client.get("/lane.py")["ETag"]
    answer = client.get("/lane.py", headers={"If-None-Match": tag})
    assert (answer.status_code, answer.content) == (304, b"")
    assert client.get("/lane.py", headers={"If-None-Match": '"other"'}).status_code == 200


def test_it_is_only_read(client: Client) -> None:
    assert client.head("/lane.py").status_code == 200
    assert client.post("/lane.py").status_code == 405


def test_the_document_shows_the_hash_of_this_version() -> None:
    assert hashlib.sha256(FILE.read_bytes()).hexdigest() in (DOCS / "lane.md").read_text(), (
        "put the new hash into docs/lane.md"
    )


def test_every_option_and_parameter_is_explained() -> None:
    text = (DOCS / "lane.md").read_text()
    options = {
        option for action in lane.parser()._actions for option in action.option_strings if option.startswith("--")
    }
    assert {option for option in options - {"--help"} if f"`{option}" not in text} == set()
    api = (DOCS / "api.md").read_text()
    assert {name for name in PARAMETERS if f"`{name}`" not in api} == set()


def test_every_option_that_an_example_uses_is_there() -> None:
    text = (DOCS / "lane.md").read_text()
    known = {option for action in lane.parser()._actions for option in action.option_strings}
    lines = [line for line in text.splitlines() if "lane.py --" in line]
    used = {option for line in lines for option in re.findall(r"(?<=\s)--[a-z][a-z-]+", line.partition(" -- ")[0])}
    assert lines
    assert used - {"--check"} <= known
