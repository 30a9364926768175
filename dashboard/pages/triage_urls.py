"""Addresses of what people decide: owner and issue, merge, split and rules, the journal and its way back."""

from django.urls import path

from dashboard.pages import drafts, journal, key_rules, merges, triage

urlpatterns = [
    path("p/<slug:slug>/signatures/<str:public_id>/owner/", triage.set_owner, name="owner"),
    path("p/<slug:slug>/signatures/<str:public_id>/drafts/", drafts.drafts, name="drafts"),
    path("p/<slug:slug>/signatures/<str:public_id>/issue/", triage.set_issue, name="issue"),
    path("p/<slug:slug>/signatures/<str:public_id>/merge/", merges.merge, name="merge"),
    path("p/<slug:slug>/signatures/<str:public_id>/split/", merges.split, name="split"),
    path("p/<slug:slug>/key-rules/", key_rules.key_rules, name="key_rules"),
    path("p/<slug:slug>/key-rules/<str:rule>/end/", key_rules.end, name="key_rule_end"),
    path("p/<slug:slug>/journal/", journal.journal, name="journal"),
    path("p/<slug:slug>/journal/export.<str:form>", journal.export, name="journal_export"),
    path("p/<slug:slug>/journal/<int:sequence>/undo/", journal.undo, name="undo"),
]
