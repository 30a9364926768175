"""The saved views of a project, by name. One query."""

from leaks.models import Project, SavedView
from leaks.rows.leak_pages import SavedSearch


def saved_views(project: Project) -> tuple[SavedSearch, ...]:
    views = SavedView.objects.filter(project=project).order_by("name")
    return tuple(SavedSearch(name, query, sort) for name, query, sort in views.values_list("name", "query", "sort"))
