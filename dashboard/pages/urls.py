"""Addresses of the home page, overview, lanes, settings and the administration."""

from django.apps import apps
from django.contrib import admin
from django.urls import URLPattern, URLResolver, path

from dashboard.pages import badge, compare_badge, home, lane_script, lanes, notices_page, overview, settings_page, truth

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.home, name="home"),
    path("lane.py", lane_script.lane_script, name="lane_script"),
    path("lane.py.sha256", lane_script.lane_digest, name="lane_digest"),
    path("truth/", truth.truth, name="truth"),
    path("badge/<slug:slug>/compare/pull/<int:number>.svg", compare_badge.pull_svg, name="pull_badge"),
    path("badge/<slug:slug>/compare/pull/<int:number>.json", compare_badge.pull_json, name="pull_badge_json"),
    path("badge/<slug:slug>/compare/<str:head>.svg", compare_badge.compare_svg, name="compare_badge"),
    path("badge/<slug:slug>/<path:name>.svg", badge.badge_svg, name="badge"),
    path("badge/<slug:slug>/<path:name>.json", badge.badge_json, name="badge_json"),
    path("p/<slug:slug>/", overview.overview, name="overview"),
    path("p/<slug:slug>/lanes/", lanes.lanes, name="lanes"),
    path("p/<slug:slug>/lanes/<path:name>/", lanes.lane, name="lane"),
    path("p/<slug:slug>/settings/", settings_page.settings, name="settings"),
    path("p/<slug:slug>/settings/notices/", notices_page.notices, name="notices"),
    path("p/<slug:slug>/settings/resign/", settings_page.progress, name="resign_progress"),
]

# A deployment can do without the administration: it is one line of INSTALLED_APPS.
if apps.is_installed("django.contrib.admin"):
    urlpatterns.append(path("admin/", admin.site.urls))
