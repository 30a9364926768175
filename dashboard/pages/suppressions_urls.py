"""Addresses of the review of suppressions. Fixed words stand before the public ids."""

from django.urls import path

from dashboard.pages import (
    suppressions,
    suppressions_audit,
    suppressions_import,
    suppressions_preview,
    suppressions_propose,
    suppressions_steps,
)

urlpatterns = [
    path("p/<slug:slug>/suppressions/", suppressions.suppressions, name="suppressions"),
    path("p/<slug:slug>/suppressions/audit/", suppressions_audit.audit, name="suppressions_audit"),
    path("p/<slug:slug>/suppressions/import/", suppressions_import.import_file, name="suppression_import"),
    path("p/<slug:slug>/suppressions/propose/", suppressions_propose.propose, name="suppression_propose"),
    path("p/<slug:slug>/suppressions/propose/reach/", suppressions_preview.preview, name="suppression_preview"),
    path("p/<slug:slug>/suppressions/of/<str:public_id>/", suppressions.of_signature, name="suppressions_of"),
    path("p/<slug:slug>/suppressions/<str:public_id>/", suppressions.suppression, name="suppression"),
    path("p/<slug:slug>/suppressions/<str:public_id>/edit/", suppressions_propose.edit, name="suppression_edit"),
    path("p/<slug:slug>/suppressions/<str:public_id>/<slug:step>/", suppressions_steps.step, name="suppression_step"),
]
