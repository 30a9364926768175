"""Column shapes that several models share."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from django.db import models
from django.db.models import Q


def word_field(words: type[StrEnum], **options: Any) -> models.CharField[Any, Any]:
    """A column that holds one of `words`. The constraint that makes it so is `word_constraint`."""
    return models.CharField(max_length=40, choices=[(word.value, word.value) for word in words], **options)


def word_constraint(name: str, column: str, words: Iterable[str], *, blank: bool = False) -> models.CheckConstraint:
    """Refuse any other word in the database itself: a choice list alone is only checked by forms."""
    allowed = [str(word) for word in words] + ([""] if blank else [])
    return models.CheckConstraint(name=name, condition=Q(**{f"{column}__in": allowed}))


def counter(**options: Any) -> models.BigIntegerField[Any, Any]:
    """Bytes, objects, counts: 64 bits, since a leaking soak test passes 2 GiB easily."""
    return models.BigIntegerField(**options)
