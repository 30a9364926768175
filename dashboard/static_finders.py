"""A static finder that offers one file of the plotly package: `plotly.min.js`.

Naming the package's folder in STATICFILES_DIRS would be less code, but it also holds a second bundle of 5 MB and data
sets, and collecting all of it takes a minute.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import plotly
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage, Storage

PLOTLY_FOLDER = Path(plotly.__file__).parent / "package_data"
PLOTLY_NAME = "plotly.min.js"


class PlotlyFinder(BaseFinder):
    """Finds `plotly.min.js`, so that `{% static 'plotly.min.js' %}` is the bundle the Python side was tested with."""

    def find(self, path: str, find_all: bool = False, **_kwargs: Any) -> Any:
        """The absolute path, or a list of it under `find_all`; an empty list when it is another file."""
        if path != PLOTLY_NAME:
            return []
        found = str(PLOTLY_FOLDER / PLOTLY_NAME)
        return [found] if find_all else found

    def list(self, _ignore_patterns: Any) -> Iterator[tuple[str, Storage]]:
        """The one file, with the storage that holds it."""
        yield PLOTLY_NAME, FileSystemStorage(location=PLOTLY_FOLDER)
