"""Addresses of the home page, overview, lanes, settings and the administration."""

from django.apps import apps
from django.contrib import admin
from django.urls import URLPattern, URLResolver, path

from dashboard.pages import home, lanes, overview, settings_page

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.home, name="home"),
    path("p/<slug:slug>/", overview.overview, name="overview"),
    path("p/<slug:slug>/lanes/", lanes.lanes, name="lanes"),
    path("p/<slug:slug>/lanes/<path:name>/", lanes.lane, name="lane"),
    path("p/<slug:slug>/settings/", settings_page.settings, name="settings"),
    path("p/<slug:slug>/settings/resign/", settings_page.progress, name="resign_progress"),
]

# A deployment can do without the administration: it is one line of INSTALLED_APPS.
if apps.is_installed("django.contrib.admin"):
    urlpatterns.append(path("admin/", admin.site.urls))
