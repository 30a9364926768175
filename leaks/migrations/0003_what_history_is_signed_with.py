"""Rows from before versions: what their logs are signed with, and the places that reports named without a stack."""

from django.db import migrations
from django.db.models import F


def say_what_history_is_signed_with(apps, _schema_editor):
    """Where the settings never changed there was one version only; elsewhere nobody noted which."""
    logs = apps.get_model("leaks", "Log").objects.filter(recipe="v1")
    first = apps.get_model("leaks", "Project").objects.filter(plumbing_version=1)
    logs.filter(part__outcome__lane__project__in=first.values("pk")).update(recipe="v1.1")


def say_what_places_were_named(apps, _schema_editor):
    """A report without a stack was owned by the place it named. One that no root held had none: it keeps its identity."""
    reports = apps.get_model("leaks", "Report").objects.filter(place=None, own_frame__isnull=False)
    reports.filter(stack__places=None).update(place=F("own_frame"))


class Migration(migrations.Migration):
    dependencies = [("leaks", "0002_recipes")]

    operations = [
        migrations.RunPython(say_what_history_is_signed_with, migrations.RunPython.noop, elidable=True),
        migrations.RunPython(say_what_places_were_named, migrations.RunPython.noop, elidable=True),
    ]
