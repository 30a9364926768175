"""A signature that nothing leads to any more: its address stays, and says where its keys went."""

from django.http import HttpRequest, HttpResponse

from dashboard.pages.shell import page
from leaks.models import Project, Signature
from leaks.queries.tombstone import tombstone_page

GONE = 410


def tombstone(request: HttpRequest, project: Project, one: Signature) -> HttpResponse:
    return page(request, "pages/tombstone.html", project, "signatures", GONE, rows=tombstone_page(project, one))
