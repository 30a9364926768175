from pathlib import Path

import pytest

from leaks.tests.boundaries import RANKS, ROOMS, House, place_of

BASE_DIR = Path(__file__).resolve().parent.parent.parent


def faults(sources: dict[str, str]) -> list[str]:
    """Faults of a made-up house: `{"leaks/words": "import os"}` is the file leaks/words.py."""
    return House({f"{path}.py": text for path, text in sources.items()}).faults()


def test_the_house_keeps_its_arrows() -> None:
    files = [path for room in ROOMS for path in sorted((BASE_DIR / room).rglob("*.py"))]
    sources = {path.relative_to(BASE_DIR).as_posix(): path.read_text(encoding="utf-8") for path in files}
    assert len(sources) > 20, "the walk found next to nothing: it looks in the wrong place"
    assert House(sources).faults() == []


def test_the_table_names_no_module_twice() -> None:
    patterns = [pattern for rank in RANKS for pattern in rank.patterns]
    assert len(patterns) == len(set(patterns))


def test_a_package_pattern_covers_the_package_and_what_is_in_it() -> None:
    assert place_of("leaks.models") == place_of("leaks.models.runs") == (5, 0)
    assert place_of("leaks.models_of_mine") is None


@pytest.mark.parametrize(
    "sources",
    [
        {"leaks/flags": "from leaks.words import Verdict", "leaks/words": ""},
        {"leaks/flags": "from leaks import signature, words", "leaks/words": "", "leaks/signature": ""},
        {
            "leaks/models/runs": "from leaks.models import base\nfrom django.db import models",
            "leaks/models/base": "",
        },
        {"workers/tasks": "from leaks.ingest import digest", "leaks/ingest/digest": ""},
        {"dashboard/intake": "from workers.send import hint", "workers/send": ""},
        {"leaks/store": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from leaks.words import Verdict"},
        {"leaks/tests/test_gate": "from workers import tasks", "workers/tasks": ""},
        {"leaks/apps": "def ready():\n    import leaks.anything"},
        {"leaks/migrations/0001_initial": "import leaks.anything"},
        {"leaks/models/__init__": "from leaks.models.runs import Run", "leaks/models/runs": ""},
        {"workers/lane": "import json\nfrom urllib import request"},
    ],
)
def test_what_the_table_allows_passes(sources: dict[str, str]) -> None:
    assert faults(sources) == []


@pytest.mark.parametrize(
    ("sources", "word"),
    [
        ({"leaks/novelty": ""}, "no rank"),
        ({"leaks/words": "import leaks.flags"}, "above"),
        ({"leaks/words": "from leaks import flags", "leaks/flags": ""}, "above"),
        ({"leaks/words": "from . import flags", "leaks/flags": ""}, "above"),
        ({"leaks/parsing/tools/asan": "from ...own import of", "leaks/own": ""}, "above"),
        ({"leaks/errors": "from leaks.words import Verdict"}, "right"),
        (
            {"leaks/store": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import leaks.ingest.digest"},
            "above",
        ),
        (
            {"leaks/parsing/tools/asan": "from leaks.parsing.tools import lsan", "leaks/parsing/tools/lsan": ""},
            "know",
        ),
        ({"leaks/parsing/runners/ctest": "import leaks.parsing.tools.asan"}, "know"),
        ({"leaks/parsing/build": "import leaks.parsing.options"}, "know"),
        ({"leaks/verdict": "import django"}, "standard library"),
        ({"leaks/verdict": "from django.db import models"}, "standard library"),
        ({"dashboard/figures": "from leaks.queries import lanes", "leaks/queries/lanes": ""}, "Django-free"),
        ({"leaks/ingest/digest": "from workers import tasks", "workers/tasks": ""}, "no arrow"),
        ({"leaks/store": "import dashboard.intake"}, "no arrow"),
        ({"workers/tasks": "from dashboard import intake"}, "no arrow"),
        ({"leaks/store": "def later():\n    import json"}, "top of the file"),
        ({"leaks/store": "class Later:\n    import json"}, "top of the file"),
        ({"leaks/store": "if True:\n    import json"}, "top of the file"),
        ({"leaks/store": "try:\n    import json\nexcept ImportError:\n    json = None"}, "top of the file"),
        (
            {"leaks/store": "import typing\nif typing.TYPE_CHECKING:\n    pass\nelse:\n    import json"},
            "top of the file",
        ),
        ({"leaks/tests/test_gate": "def test_it():\n    import json"}, "top of the file"),
        ({"leaks/parsing/__init__": "VERSION = 1"}, "__init__"),
        ({"leaks/tests/__init__": '"""Words."""'}, "__init__"),
        ({"workers/lane": "from leaks import words"}, "alone"),
        ({"workers/lane": "import requests"}, "alone"),
        ({"workers/send": "from workers import lane", "workers/lane": ""}, "no rank"),
        ({"leaks/store": "from leaks.tests import boundaries", "leaks/tests/boundaries": ""}, "no rank"),
        ({"leaks/models/a": "import leaks.models.b", "leaks/models/b": "import leaks.models.a"}, "ring"),
    ],
)
def test_a_breach_is_found(sources: dict[str, str], word: str) -> None:
    found = faults(sources)
    assert found
    assert any(word in fault for fault in found), found


def test_a_fault_names_the_file_and_the_line() -> None:
    assert faults({"leaks/words": "\n\nimport leaks.flags"}) == [
        "leaks/words.py:3: leaks.words may not import leaks.flags: rank 4 is above rank 0"
    ]
