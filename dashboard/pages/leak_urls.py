"""Addresses of signatures, commits, runs, logs, comparisons and dropped logs."""

from django.urls import path

from dashboard.pages import commit, compare, drop, log, outcome, signatures

urlpatterns = [
    path("p/<slug:slug>/signatures/", signatures.signatures, name="signatures"),
    path("p/<slug:slug>/signatures/<str:public_id>/", signatures.signature, name="signature"),
    path("p/<slug:slug>/signatures/<str:public_id>/state/", signatures.triage_signature, name="triage"),
    path("p/<slug:slug>/commits/<str:sha>/", commit.commit, name="commit"),
    path("p/<slug:slug>/runs/<str:public_id>/", outcome.outcome, name="outcome"),
    path("p/<slug:slug>/runs/<str:public_id>/progress/", outcome.progress, name="outcome_progress"),
    path("p/<slug:slug>/runs/<str:public_id>/running/", outcome.running, name="outcome_running"),
    path("p/<slug:slug>/logs/<str:public_id>/", log.log, name="log"),
    path("p/<slug:slug>/logs/<str:public_id>/raw/", log.log_raw, name="log_raw"),
    path("p/<slug:slug>/compare/", compare.compare, name="compare"),
    path("p/<slug:slug>/drop/", drop.drop_into, name="drop_into"),
    path("drop/", drop.drop, name="drop"),
]
