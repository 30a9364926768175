"""Addresses that several pages of leaks give out."""

from collections.abc import Callable
from urllib.parse import urlencode

from django.urls import reverse


def outcome_link(slug: str, signature: str = "") -> Callable[[str], str]:
    """For figures: the public id of an outcome to its page, narrowed to the reports of a signature."""

    def link(outcome: str) -> str:
        address = reverse("outcome", args=[slug, outcome])
        return f"{address}?{urlencode({'signature': signature})}#reports" if signature else address

    return link
