from django.apps import AppConfig

import dashboard.checks  # noqa: F401  importing it registers the system checks


class DashboardConfig(AppConfig):
    """The web side: pages, API, webhooks, settings."""

    name = "dashboard"
    label = "dashboard"
