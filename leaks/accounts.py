"""Accounts made from the command line."""

import secrets

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User


def account(name: str) -> tuple[User, str | None]:
    """The account of that name; where it had to be made also its password, which is kept nowhere: show it now or never."""
    user, made = get_user_model().objects.get_or_create(username=name)
    if not made:
        return user, None
    password = secrets.token_urlsafe(9)
    user.set_password(password)
    user.save(update_fields=["password"])
    return user, password
