from django.apps import AppConfig


class WorkersConfig(AppConfig):
    """The queue: an app only so that its management commands are found; it has no rows."""

    name = "workers"
    label = "workers"
