from pathlib import Path

from django.contrib.staticfiles import finders
from plotly.offline import get_plotlyjs_version

from dashboard.static_finders import PlotlyFinder


def test_the_bundle_is_found_and_is_the_version_the_python_side_expects() -> None:
    path = finders.find("plotly.min.js")
    assert path is not None
    with Path(path).open(encoding="utf-8") as file:
        assert f"plotly.js v{get_plotlyjs_version()}" in file.read(200)


def test_nothing_else_of_the_package_is_offered() -> None:
    assert [name for name, _ in PlotlyFinder().list([])] == ["plotly.min.js"]
    assert PlotlyFinder().find("datasets/iris.csv.gz") == []


def test_our_own_static_files_are_found() -> None:
    assert finders.find("plotly.css")
