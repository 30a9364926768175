"""What is newly derived of a signature is computed for those that exist: by stale marks, like any other time."""

BATCH = 1000


def mark_signatures(apps, schema_editor):
    marks = apps.get_model("leaks", "StaleMark").objects
    signatures = apps.get_model("leaks", "Signature").objects.values_list("pk", flat=True).order_by("pk")
    rows = (marks.model(kind="signature", subject=str(pk)) for pk in signatures.iterator(chunk_size=BATCH))
    marks.bulk_create(rows, batch_size=BATCH, ignore_conflicts=True)
