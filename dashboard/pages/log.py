"""A raw log: a window of its lines, or all of its bytes."""

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from dashboard import params_leaks as params
from dashboard.access import project_for
from dashboard.pages.shell import page
from leaks import blobs
from leaks.models import Log, Project
from leaks.queries import logs

PLAIN_TEXT = "text/plain; charset=utf-8"


@require_safe
def log(request: HttpRequest, slug: str, public_id: str) -> HttpResponse:
    project, given = project_for(request, slug), params.log_params(request.GET)
    rows = logs.window(_log(project, public_id), given.line, given.start)
    return page(request, "pages/log.html", project, "overview", rows=rows, asked=given.line)


@require_safe
def log_raw(request: HttpRequest, slug: str, public_id: str) -> FileResponse:
    """Always an attachment of plain text: a log may hold anything, a page with scripts among it."""
    one = _log(project_for(request, slug), public_id)
    try:
        stream = blobs.open_blob(one.blob)
    except FileNotFoundError:
        raise Http404("The bytes of this log are no longer stored.") from None
    headers = {"Content-Length": str(one.blob.bytes), "X-Content-Type-Options": "nosniff"}
    return FileResponse(stream, as_attachment=True, filename=_file_name(one), content_type=PLAIN_TEXT, headers=headers)


def _file_name(one: Log) -> str:
    """The last part of the log's name, ending in .log or .txt, so that no machine runs it by its ending."""
    name = one.name.replace("\\", "/").rpartition("/")[2] or one.public_id
    return name if name.lower().endswith((".log", ".txt")) else f"{name}.log"


def _log(project: Project, public_id: str) -> Log:
    one = logs.find(project, public_id)
    if one is None:
        raise Http404(f"{project.name} has no log {public_id!r}.")
    return one
