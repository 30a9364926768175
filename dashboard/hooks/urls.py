"""Where the CI providers send their webhooks. With and without the slash at the end: a POST is not redirected."""

from django.urls import URLPattern, re_path

from dashboard.hooks.github import github
from dashboard.hooks.gitlab import gitlab

urlpatterns: list[URLPattern] = [
    re_path(r"^hooks/github/(?P<slug>[-a-zA-Z0-9_]+)/?$", github, name="github_hook"),
    re_path(r"^hooks/gitlab/(?P<slug>[-a-zA-Z0-9_]+)/?$", gitlab, name="gitlab_hook"),
]
