"""Addresses of signatures, commits, runs, logs, comparisons and dropped logs."""

from django.urls import path

from dashboard.pages import commit, compare, drop, log, outcome, signature, signatures, triage, withdraw

urlpatterns = [
    path("p/<slug:slug>/signatures/", signatures.signatures, name="signatures"),
    path("p/<slug:slug>/signatures/change/", signatures.change_many, name="change_many"),
    path("p/<slug:slug>/signatures/views/", signatures.save_view, name="save_view"),
    path("p/<slug:slug>/signatures/views/delete/", signatures.delete_view, name="delete_view"),
    path("p/<slug:slug>/signatures/<str:public_id>/", signature.signature, name="signature"),
    path("p/<slug:slug>/signatures/<str:public_id>/state/", triage.triage_signature, name="triage"),
    path("p/<slug:slug>/commits/<str:sha>/", commit.commit, name="commit"),
    path("p/<slug:slug>/runs/<str:public_id>/", outcome.outcome, name="outcome"),
    path("p/<slug:slug>/runs/<str:public_id>/progress/", outcome.progress, name="outcome_progress"),
    path("p/<slug:slug>/runs/<str:public_id>/running/", outcome.running, name="outcome_running"),
    path("p/<slug:slug>/runs/<str:public_id>/withdraw/", withdraw.withdraw, name="withdraw"),
    path("p/<slug:slug>/runs/<str:public_id>/restore/", withdraw.restore, name="restore"),
    path("p/<slug:slug>/logs/<str:public_id>/", log.log, name="log"),
    path("p/<slug:slug>/logs/<str:public_id>/raw/", log.log_raw, name="log_raw"),
    path("p/<slug:slug>/compare/", compare.compare, name="compare"),
    path("p/<slug:slug>/compare/<str:base>/<str:head>/progress/", compare.progress, name="compare_progress"),
    path("p/<slug:slug>/drop/", drop.drop_into, name="drop_into"),
    path("drop/", drop.drop, name="drop"),
]
