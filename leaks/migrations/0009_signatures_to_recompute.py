"""What is newly derived of a signature is computed for those that exist: by stale marks, like any other time."""

from django.db import migrations

from leaks.migrations._marking import mark_signatures


class Migration(migrations.Migration):
    dependencies = [
        ("leaks", "0008_ledger_of_decisions"),
    ]

    operations = [
        migrations.RunPython(mark_signatures, migrations.RunPython.noop, elidable=True),
    ]
