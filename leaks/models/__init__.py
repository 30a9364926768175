"""The entities. Import them from here; the files under this package sort them by subject."""

from leaks.models.derived import CommitLane, LaneDay, StaleMark
from leaks.models.journal import Decision, Notice
from leaks.models.lanes import Lane, LaneExpectation
from leaks.models.logs import Blob, Frame, Log, Report, ReportStack, Stack, StackFrame
from leaks.models.projects import Membership, Project, Token
from leaks.models.recipes import KeyMove, Link, LogMove, RecipeVersion, ReportMove, Resign
from leaks.models.runs import Claim, Commit, CommitPlace, LaneOutcome, Part, Run
from leaks.models.signatures import Sighting, Signature, SignatureKey
from leaks.models.suppressions import RuleFile, SuppressionUse

__all__ = [
    "Blob",
    "Claim",
    "Commit",
    "CommitLane",
    "CommitPlace",
    "Decision",
    "Frame",
    "KeyMove",
    "Lane",
    "LaneDay",
    "LaneExpectation",
    "LaneOutcome",
    "Link",
    "Log",
    "LogMove",
    "Membership",
    "Notice",
    "Part",
    "Project",
    "RecipeVersion",
    "Report",
    "ReportMove",
    "ReportStack",
    "Resign",
    "RuleFile",
    "Run",
    "Sighting",
    "Signature",
    "SignatureKey",
    "Stack",
    "StackFrame",
    "StaleMark",
    "SuppressionUse",
    "Token",
]
