from django.apps import AppConfig


class LeaksConfig(AppConfig):
    """The ledger: parsing, signatures, verdicts and every row that is kept."""

    name = "leaks"
    label = "leaks"
    default_auto_field = "django.db.models.BigAutoField"
