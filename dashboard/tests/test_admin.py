"""Django's administration serves the rarer settings; it is for superusers alone, and what it changes is journalled."""

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from leaks.models import Decision, Project

pytestmark = pytest.mark.django_db


def signed_in(*, superuser: bool) -> Client:
    users = get_user_model().objects
    user = users.create_superuser("root", password="long-enough-1") if superuser else users.create_user("someone")
    client = Client()
    client.force_login(user)
    return client


def test_nobody_but_a_superuser_gets_in() -> None:
    assert Client().get("/admin/").status_code == 302
    assert signed_in(superuser=False).get("/admin/").status_code == 302
    assert signed_in(superuser=True).get("/admin/").status_code == 200


def test_a_change_is_a_decision_in_the_projects_journal() -> None:
    project = Project.objects.create(slug="engine", name="Engine")
    client = signed_in(superuser=True)
    page = client.get(f"/admin/leaks/project/{project.pk}/change/")
    assert page.status_code == 200
    form = page.context["adminform"].form
    values = {name: form.initial.get(name) for name in form.fields if form.initial.get(name) not in (None, [], "")}
    values.update(name="Engine 2", own_roots="[]", plumbing="[]")
    answer = client.post(f"/admin/leaks/project/{project.pk}/change/", values)
    assert answer.status_code == 302, answer.context["adminform"].form.errors
    project.refresh_from_db()
    assert project.name == "Engine 2"
    assert Decision.objects.filter(project=project).exists()
