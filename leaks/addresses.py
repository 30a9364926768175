"""Addresses of pages for those who tell about them from outside of the web server: mails, webhooks, commit statuses.

The web server's own tables of addresses decide; a test holds the two together.
"""

from urllib.parse import quote

PATHS = {
    "overview": "/p/{}/",
    "lane": "/p/{}/lanes/{}/",
    "commit": "/p/{}/commits/{}/",
    "outcome": "/p/{}/runs/{}/",
    "signature": "/p/{}/signatures/{}/",
    "log": "/p/{}/logs/{}/",
    "suppression": "/p/{}/suppressions/{}/",
    "settings": "/p/{}/settings/",
}
SAFE = "/~:@!$&'()*+,;="  # what Django leaves as it is in a path


def address(site: str, page: str, *arguments: str) -> str:
    """The address of a page; empty where nobody has said under which address the site is known."""
    return site.rstrip("/") + path(page, *arguments) if site else ""


def path(page: str, *arguments: str) -> str:
    return PATHS[page].format(*(quote(argument, safe=SAFE) for argument in arguments))
