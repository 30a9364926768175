"""What reports add up to is filled by stale marks, like whatever is newly derived of signatures."""

import django.db.models.deletion
from django.db import migrations, models

from leaks.migrations._marking import mark_signatures


class Migration(migrations.Migration):
    dependencies = [
        ("leaks", "0010_seen_with"),
    ]

    operations = [
        migrations.AddField(
            model_name="sighting",
            name="shape",
            field=models.CharField(blank=True, default="?", max_length=40),
        ),
        migrations.AddField(
            model_name="sighting",
            name="tests",
            field=models.TextField(blank=True, default=""),
        ),
        migrations.CreateModel(
            name="SightingSum",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tool", models.CharField(max_length=40)),
                ("kind", models.CharField(max_length=100)),
                ("shape", models.CharField(blank=True, max_length=40)),
                ("sightings", models.BigIntegerField()),
                ("records", models.BigIntegerField()),
                ("leaked_bytes", models.BigIntegerField(default=0)),
                ("largest", models.BigIntegerField(blank=True, null=True)),
                ("first", models.BigIntegerField()),
                ("last", models.BigIntegerField()),
                ("tests", models.TextField(blank=True)),
                (
                    "key",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="sighting_sums", to="leaks.signaturekey"
                    ),
                ),
                (
                    "lane",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="sighting_sums", to="leaks.lane"
                    ),
                ),
                (
                    "sample",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="leaks.log",
                    ),
                ),
                (
                    "stack",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="leaks.stack"),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["lane", "tool"], name="sighting_sums_of_a_tool")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("lane", "key", "stack", "tool", "kind", "shape"), name="sighting_sum_once"
                    )
                ],
            },
        ),
        migrations.RunPython(mark_signatures, migrations.RunPython.noop, elidable=True),
    ]
