"""The entities. Import them from here; the files under this package sort them by subject."""

from leaks.models.derived import CommitLane, LaneDay, SightingSum, StaleMark
from leaks.models.hooks import Delivery, HookRefused, HookSecret, JobName
from leaks.models.journal import Decision
from leaks.models.lanes import Lane, LaneExpectation
from leaks.models.logs import Blob, Frame, Log, Report, ReportStack, Stack, StackFrame
from leaks.models.notices import CommitStatus, Notice, NoticeRule, Sending, StatusTarget
from leaks.models.projects import Membership, Project, Token
from leaks.models.recipes import KeyMove, Link, LogMove, RecipeVersion, ReportMove, Resign
from leaks.models.runs import Claim, Commit, CommitPlace, LaneOutcome, Part, Run, RunClaim
from leaks.models.signatures import GateCase, KeyRule, SavedView, Sighting, Signature, SignatureKey
from leaks.models.suppressions import RuleFile, Suppression, SuppressionComment, SuppressionUse

__all__ = [
    "Blob",
    "Claim",
    "Commit",
    "CommitLane",
    "CommitPlace",
    "CommitStatus",
    "Decision",
    "Delivery",
    "Frame",
    "GateCase",
    "HookRefused",
    "HookSecret",
    "JobName",
    "KeyMove",
    "KeyRule",
    "Lane",
    "LaneDay",
    "LaneExpectation",
    "LaneOutcome",
    "Link",
    "Log",
    "LogMove",
    "Membership",
    "Notice",
    "NoticeRule",
    "Part",
    "Project",
    "RecipeVersion",
    "Report",
    "ReportMove",
    "ReportStack",
    "Resign",
    "RuleFile",
    "Run",
    "RunClaim",
    "SavedView",
    "Sending",
    "Sighting",
    "SightingSum",
    "Signature",
    "SignatureKey",
    "Stack",
    "StackFrame",
    "StaleMark",
    "StatusTarget",
    "Suppression",
    "SuppressionComment",
    "SuppressionUse",
    "Token",
]
