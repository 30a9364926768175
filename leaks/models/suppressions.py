"""What a lane's log says its runtime suppressions hid, and the exact rules a run used."""

from django.db import models

from leaks.models.fields import counter
from leaks.models.logs import Log
from leaks.models.projects import Project
from leaks.models.runs import LaneOutcome


class RuleFile(models.Model):
    """The exact text of a suppression file that a run used, stored once by content."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="rule_files")
    sha256 = models.CharField(max_length=64)
    name = models.CharField(max_length=300, blank=True)
    tool = models.CharField(max_length=40, blank=True)
    text = models.TextField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "sha256"), name="rule_file_once"),)

    def __str__(self) -> str:
        return self.name or self.sha256[:12]


class SuppressionUse(models.Model):
    """A row of a "Suppressions used" table, summed over the processes of one log."""

    outcome = models.ForeignKey(LaneOutcome, on_delete=models.CASCADE, related_name="suppression_uses")
    log = models.ForeignKey(Log, on_delete=models.CASCADE, related_name="suppression_uses")
    template = models.TextField()
    count = counter()
    bytes = counter()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("log", "template"), name="suppression_use_once"),)

    def __str__(self) -> str:
        return f"{self.template}: {self.count}"
