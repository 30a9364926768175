from django.urls import reverse

from leaks import verdict
from leaks.truth import tables


def page(client):
    answer = client.get(reverse("truth"))
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_tables_are_published_for_everybody(client):
    html = page(client)
    assert html.count("<table") == len(tables())
    for row in verdict.describe():
        assert f'<tr id="rule-{row["name"]}">' in html


def test_each_row_shows_its_example(client):
    html = page(client)
    assert html.count('data-name="Example"') == sum(len(table.rows) for table in tables())
    assert "==711==ERROR: LeakSanitizer: detected memory leaks" in html


def test_every_page_leads_to_it(client, db):
    assert f'href="{reverse("truth")}"' in client.get("/").content.decode()


def test_it_is_read_only(client):
    assert client.post(reverse("truth")).status_code == 405
