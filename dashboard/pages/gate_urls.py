"""Addresses of pull requests, gates, growth and own share."""

from django.urls import path

from dashboard.pages import compare, gate, growth, own_share

urlpatterns = [
    path("p/<slug:slug>/pull/<int:number>/", compare.pull, name="pull"),
    path("p/<slug:slug>/gate/", gate.gate, name="gate"),
    path("p/<slug:slug>/gate/open/", gate.open_case, name="gate_open"),
    path("p/<slug:slug>/gate/<str:public_id>/withdraw/", gate.withdraw_case, name="gate_withdraw"),
    path("p/<slug:slug>/signatures/<str:public_id>/growth/", growth.growth, name="growth"),
    path("p/<slug:slug>/own/", own_share.own_share, name="own_share"),
]
