"""Searches that somebody gave a name, for everybody who reads the project. Saving and deleting are decisions."""

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import IntegrityError, transaction

from leaks import journal
from leaks.errors import BadSubmission, Conflict
from leaks.models import Project, SavedView
from leaks.rows.leak_pages import SignatureSort
from leaks.search_nodes import show
from leaks.search_parse import parse
from leaks.visible import line

SUBJECT = "saved_view"
SAVED, DELETED = "saved", "deleted"
LONGEST_NAME = 80
MOST = 100


def save(project: Project, person: AbstractBaseUser, *, name: str, query: str, sort: str = "") -> SavedView:
    """Raises SearchError for a search that cannot be read: nobody could open such a view."""
    title, text = _name(name), show(parse(query))
    if sort and sort not in set(SignatureSort):
        raise BadSubmission("There is no such order.", field="sort")
    if SavedView.objects.filter(project=project).count() >= MOST:
        raise BadSubmission(f"A project has at most {MOST} saved views; delete one first.", field="name")
    try:
        with transaction.atomic():
            view = SavedView.objects.create(project=project, name=title, query=text, sort=sort, made_by_id=person.pk)
            journal.record(project, person, SUBJECT, title, SAVED, details={"query": text, "sort": sort})
    except IntegrityError:
        raise Conflict(
            f"There is a view called “{title}” already: take another name, or delete that one first."
        ) from None
    return view


def delete(project: Project, person: AbstractBaseUser, name: str) -> None:
    with transaction.atomic():
        view = SavedView.objects.select_for_update().filter(project=project, name=name).first()
        if view is None:
            raise Conflict(f"There is no view called “{name[:LONGEST_NAME]}” any more.")
        details = {"query": view.query, "sort": view.sort}
        view.delete()
        journal.record(project, person, SUBJECT, name, DELETED, details=details)


def _name(name: str) -> str:
    title = line(name, LONGEST_NAME + 1).strip()
    if not title or len(title) > LONGEST_NAME:
        raise BadSubmission(f"Give the view a name of 1 to {LONGEST_NAME} characters.", field="name")
    return title
