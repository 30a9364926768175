"""What the settings page shows: lanes with their open expectations, members, tokens, the end of the journal."""

from datetime import datetime

from leaks.models import Decision, Lane, LaneExpectation, Membership, Project, Token
from leaks.rows.settings_page import JournalLine, LaneSetting, MemberLine, SettingsPage, TokenLine

JOURNAL_SHOWN = 20
SHOWN = 200


def settings_page(project: Project, now: datetime) -> SettingsPage:
    return SettingsPage(
        lanes=_lanes(project), members=_members(project), tokens=_tokens(project, now), journal=_journal(project)
    )


def _lanes(project: Project) -> tuple[LaneSetting, ...]:
    open_now = {row.lane_id: row for row in LaneExpectation.objects.filter(lane__project=project, valid_to=None)}
    lanes = Lane.objects.filter(project=project).order_by("name")[:SHOWN]
    return tuple(_lane(lane, open_now.get(lane.pk)) for lane in lanes)


def _lane(lane: Lane, expected: LaneExpectation | None) -> LaneSetting:
    return LaneSetting(
        name=lane.name,
        aliases=tuple(lane.aliases),
        patterns=tuple(lane.patterns),
        detectors=tuple(expected.detectors) if expected else (),
        owed_branch=expected.owed_branch if expected else "",
        canary=expected.canary if expected else "",
        since=expected.valid_from if expected else None,
    )


def _members(project: Project) -> tuple[MemberLine, ...]:
    rows = Membership.objects.filter(project=project).order_by("user__username")[:SHOWN]
    return tuple(MemberLine(*values) for values in rows.values_list("user__username", "role"))


def _tokens(project: Project, now: datetime) -> tuple[TokenLine, ...]:
    rows = Token.objects.filter(project=project).order_by("-created_at")[:SHOWN]
    return tuple(_token(row, now) for row in rows)


def _token(row: Token, now: datetime) -> TokenLine:
    return TokenLine(
        hint=row.hint,
        kind=row.kind,
        purpose=row.purpose,
        created_at=row.created_at,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
        ended=row.expires_at is not None and row.expires_at <= now,
    )


def _journal(project: Project) -> tuple[JournalLine, ...]:
    rows = Decision.objects.filter(project=project).select_related("person", "token").order_by("-sequence")
    return tuple(_entry(row) for row in rows[:JOURNAL_SHOWN])


def _entry(row: Decision) -> JournalLine:
    token = f"token {row.token.hint}" if row.token else "the clock"
    return JournalLine(
        sequence=row.sequence,
        actor=row.person.get_username() if row.person else token,
        what=row.what,
        subject_kind=row.subject_kind,
        subject=row.subject,
        reason=row.reason,
        at=row.at,
    )
