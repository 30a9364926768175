"""Moments as numbers: microseconds since 1970, UTC."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(at: datetime) -> int:
    return (at - EPOCH) // timedelta(microseconds=1)


def moment(number: int) -> datetime:
    return EPOCH + timedelta(microseconds=number)
