"""The API at /api/v1/: its routers, its errors, its description."""

from typing import Any, cast

from django.http import Http404, HttpRequest
from django.urls import URLPattern
from ninja import NinjaAPI, Router
from ninja.openapi.schema import OpenAPISchema

from dashboard.api import (
    code_owners,
    comment,
    commits,
    compare,
    gate,
    growth,
    journal,
    logs,
    outcomes,
    projects,
    recipes,
    signature,
    signatures,
    suppressions,
    suppressions_audit,
    triage,
    withdraw,
)
from dashboard.api.problems import CONTENT_TYPE, install, with_problems

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


class LedgerAPI(NinjaAPI):
    def get_openapi_schema(self, **options: Any) -> OpenAPISchema:
        """ninja declares every answer as plain JSON; errors are not."""
        schema = super().get_openapi_schema(**options)
        for operations in schema["paths"].values():
            for operation in operations.values():
                _declare_problems(operation["responses"])
        return schema


def _declare_problems(responses: dict[int, dict[str, Any]]) -> None:
    for status, response in responses.items():
        if status >= 400 and "application/json" in response.get("content", {}):
            response["content"] = {CONTENT_TYPE: response["content"]["application/json"]}


elsewhere = Router()


@elsewhere.api_operation(METHODS, "/{path:rest}", include_in_schema=False)
def nothing_here(request: HttpRequest, rest: str) -> None:  # noqa: ARG001 - ninja passes it by name
    """Django's own 404 is a page."""
    raise Http404(f"There is nothing at {rest!r}.")


# No docs page: ninja's loads its scripts from elsewhere. /api/v1/openapi.json can be read by any viewer.
api = LedgerAPI(title="Leakledger", version="1", docs_url=None, urls_namespace="api")
install(api)
for router in (
    logs.router,
    outcomes.router,
    commits.router,
    signatures.router,
    projects.router,
    recipes.router,
    gate.router,
    compare.router,
    growth.router,
    comment.router,
    suppressions_audit.router,
    suppressions.router,
    triage.router,
    journal.router,
    withdraw.router,
    code_owners.router,
    signature.router,
    elsewhere,
):  # the last one matches what nothing before it did
    api.add_router("", router)


def addresses() -> list[URLPattern]:
    patterns = cast("list[URLPattern]", api.urls[0])
    for pattern in patterns:
        pattern.callback = with_problems(pattern.callback)
    return patterns


urlpatterns = addresses()
app_name = "api"
