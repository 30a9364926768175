"""Addresses of the site. Addresses hold public ids, never row ids."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("login/", LoginView.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("api/v1/", include("dashboard.api.root")),
    path("", include("dashboard.hooks.urls")),
    path("", include("dashboard.pages.urls")),
    path("", include("dashboard.pages.suppressions_urls")),
    path("", include("dashboard.pages.leak_urls")),
    path("", include("dashboard.pages.triage_urls")),
    path("", include("dashboard.pages.gate_urls")),
]

handler400 = "dashboard.pages.errors.bad_request"
handler403 = "dashboard.pages.errors.forbidden"
handler404 = "dashboard.pages.errors.not_found"
