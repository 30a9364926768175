"""What signatures were seen with, in one column; it is filled by stale marks, like whatever is newly derived of them."""

from django.db import migrations, models

from leaks.migrations._marking import mark_signatures


class Migration(migrations.Migration):
    dependencies = [
        ("leaks", "0009_signatures_to_recompute"),
    ]

    operations = [
        migrations.AddField(
            model_name="signature",
            name="seen_with",
            field=models.TextField(blank=True, default=""),
            preserve_default=False,
        ),
        migrations.RunPython(mark_signatures, migrations.RunPython.noop, elidable=True),
    ]
