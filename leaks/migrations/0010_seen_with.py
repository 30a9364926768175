"""What signatures were seen with, in one column; it is filled by stale marks, like whatever is newly derived of them."""

from django.db import migrations, models

BATCH = 1000


def mark_signatures(apps, schema_editor):
    marks = apps.get_model("leaks", "StaleMark").objects
    signatures = apps.get_model("leaks", "Signature").objects.values_list("pk", flat=True).order_by("pk")
    rows = (marks.model(kind="signature", subject=str(pk)) for pk in signatures.iterator(chunk_size=BATCH))
    marks.bulk_create(rows, batch_size=BATCH, ignore_conflicts=True)


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
        migrations.RunPython(mark_signatures, migrations.RunPython.noop),
    ]
