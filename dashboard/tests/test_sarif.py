"""SARIF 2.1.0: held to the rules of the format as they are written out below, and to what code-scanning pages need."""

import json
import re
import uuid

import pytest
from django.urls import reverse

from dashboard.exports.sarif import sarif_pieces
from leaks import models, review
from leaks.queries import sarif as queries
from leaks.queries.sarif import sarif_results
from leaks.rows.journal import JournalHead
from leaks.rows.sarif import SarifResult
from leaks.tests.ledger import LEAKY, log_text, settle, submit
from leaks.tests.reviewing import RULE, WIDER, in_days, make_reviewed

# --- The format ------------------------------------------------------------------------------------------------------

# Of each object that is used: the properties it may have (the schema allows no other) and those it must have.
TEXT, LIST, OBJECT, WHOLE = str, list, dict, int
OBJECTS: dict[str, tuple[dict[str, type], set[str]]] = {
    "sarifLog": ({"$schema": TEXT, "version": TEXT, "runs": LIST}, {"version", "runs"}),
    "run": (
        {"tool": OBJECT, "automationDetails": OBJECT, "originalUriBaseIds": OBJECT, "columnKind": TEXT, "properties": OBJECT, "results": LIST},
        {"tool"},
    ),
    "toolComponent": ({"name": TEXT, "rules": LIST}, {"name"}),
    "reportingDescriptor": ({"id": TEXT, "shortDescription": OBJECT, "properties": OBJECT}, {"id"}),
    "result": (
        {
            "ruleId": TEXT, "kind": TEXT, "level": TEXT, "message": OBJECT, "locations": LIST, "partialFingerprints": OBJECT,
            "occurrenceCount": WHOLE, "hostedViewerUri": TEXT, "suppressions": LIST, "workItemUris": LIST, "properties": OBJECT,
        },
        {"message"},
    ),
    "location": ({"physicalLocation": OBJECT, "logicalLocations": LIST}, set()),
    "physicalLocation": ({"artifactLocation": OBJECT, "region": OBJECT}, {"artifactLocation"}),
    "artifactLocation": ({"uri": TEXT, "uriBaseId": TEXT, "description": OBJECT}, set()),
    "region": ({"startLine": WHOLE}, set()),
    "logicalLocation": ({"fullyQualifiedName": TEXT, "kind": TEXT}, set()),
    "suppression": ({"guid": TEXT, "kind": TEXT, "status": TEXT, "justification": TEXT, "properties": OBJECT}, {"kind"}),
    "message": ({"text": TEXT}, {"text"}),
}  # fmt: skip
WORDS = {
    ("result", "kind"): {"notApplicable", "pass", "fail", "review", "open", "informational"},
    ("result", "level"): {"none", "note", "warning", "error"},
    ("suppression", "kind"): {"inSource", "external"},
    ("suppression", "status"): {"accepted", "underReview", "rejected"},
    ("run", "columnKind"): {"utf16CodeUnits", "unicodeCodePoints"},
    ("sarifLog", "version"): {"2.1.0"},
}
URI = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+")


def hold(name, value):
    allowed, needed = OBJECTS[name]
    assert set(value) <= set(allowed), name
    assert needed <= set(value), name
    for key, one in value.items():
        assert type(one) is allowed[key], (name, key)
        assert one in WORDS.get((name, key), {one} if not isinstance(one, list | dict) else [one]), (name, key)


def hold_result(one, rules):
    hold("result", one)
    hold("message", one["message"])
    assert one["ruleId"] in rules
    assert one["occurrenceCount"] >= 1
    assert URI.fullmatch(one["hostedViewerUri"])
    assert all(isinstance(value, str) for value in one["partialFingerprints"].values())
    for where in one.get("locations", ()):
        hold_location(where)
    for said in one["suppressions"]:
        hold("suppression", said)
        uuid.UUID(said["guid"])


def hold_location(where):
    hold("location", where)
    for logical in where.get("logicalLocations", ()):
        hold("logicalLocation", logical)
    if physical := where.get("physicalLocation"):
        hold("physicalLocation", physical)
        hold("artifactLocation", physical["artifactLocation"])
        assert URI.fullmatch(physical["artifactLocation"]["uri"])
        hold("region", physical.get("region", {}))
        assert physical.get("region", {"startLine": 1})["startLine"] >= 1


def hold_all(document):
    hold("sarifLog", document)
    (run,) = document["runs"]
    hold("run", run)
    assert set(run["tool"]) == {"driver"}
    hold("toolComponent", run["tool"]["driver"])
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules))
    for rule in run["tool"]["driver"]["rules"]:
        hold("reportingDescriptor", rule)
        hold("message", rule["shortDescription"])
        assert len(rule["properties"]["tags"]) == len(set(rule["properties"]["tags"])) <= 10
    for base in run["originalUriBaseIds"].values():
        hold("artifactLocation", base)
    for one in run["results"]:
        hold_result(one, rules)
    return run


# --- What is told ----------------------------------------------------------------------------------------------------

ONE = SarifResult(
    public_id="LKS-1", title="leak · engine::get", kind="direct-leak", family="leak", state="intended", life="ongoing", own=True,
    memory_error=False, function="engine::get(int)", file="src/a b.cpp", line=7, bytes=4096, objects=1, records=3, outcomes=2, issue="",
)  # fmt: skip


def rendered(*results, kinds=(("direct-leak", "leak"),)):
    pieces = sarif_pieces("engine", kinds, results, JournalHead(3, "abc"), lambda name: f"https://l.example/{name}")
    return hold_all(json.loads("".join(pieces)))


def one_of(**values):
    (result,) = rendered(SarifResult(**{**{name: getattr(ONE, name) for name in SarifResult.__slots__}, **values}))["results"]  # fmt: skip
    return result


def test_a_signature_is_a_result_with_its_id_as_fingerprint():
    one = one_of()
    assert one["partialFingerprints"] == {"leakledger/v1": "LKS-1"}
    assert one["message"]["text"] == "leak · engine::get: 4,096 bytes in 1 objects; seen in 2 runs (LKS-1)."
    assert one["occurrenceCount"] == 3


@pytest.mark.parametrize(
    ("file", "uri", "base"),
    [
        ("src/a b.cpp", "src/a%20b.cpp", "%SRCROOT%"),
        ("./src/x/../a.cpp", "src/a.cpp", "%SRCROOT%"),
        ("src/größe.cpp", "src/gr%C3%B6%C3%9Fe.cpp", "%SRCROOT%"),
        ("/opt/x/a.cpp", "file:///opt/x/a.cpp", None),
        ("C:/x/a.cpp", "file:///C:/x/a.cpp", None),
        ('a"<b>.cpp', "a%22%3Cb%3E.cpp", "%SRCROOT%"),
    ],
)
def test_a_path_is_relative_to_the_repository_where_it_can_be(file, uri, base):
    found = one_of(file=file)["locations"][0]["physicalLocation"]["artifactLocation"]
    assert (found["uri"], found.get("uriBaseId")) == (uri, base)


@pytest.mark.parametrize(
    ("values", "level"), [({}, "warning"), ({"own": False}, "note"), ({"own": False, "memory_error": True}, "error")]
)
def test_the_level_follows_what_it_is_and_whose(values, level):
    assert one_of(**values)["level"] == level


def test_without_an_own_frame_there_is_no_location():
    assert "locations" not in one_of(function="", file="", line=None)


def test_intended_stays_a_result_that_nobody_silenced():
    one = one_of()
    assert one["suppressions"] == []
    assert one["properties"]["state"] == "intended"


def test_no_result_is_a_document_too():
    assert rendered(kinds=())["results"] == []


# --- Out of the ledger -----------------------------------------------------------------------------------------------


@pytest.fixture
def made(db):
    made = make_reviewed()
    models.Project.objects.update(public=True)
    return made


def told(client):
    answer = client.get(reverse("api:sarif", args=["engine"]))
    assert answer["Content-Type"] == "application/sarif+json"
    run = hold_all(json.loads(b"".join(answer.streaming_content)))
    return run, {one["partialFingerprints"]["leakledger/v1"]: one for one in run["results"]}


def statuses(one):
    return [said["status"] for said in one["suppressions"]]


def test_the_kinds_are_the_rules_and_the_head_of_the_journal_stands_in_it(client, made):
    made.propose()
    run, results = told(client)
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["direct-leak"]
    assert run["properties"]["journalHead"]["sequence"] == 1
    where = results[made.pool.public_id]["locations"][0]["physicalLocation"]
    assert where == {"artifactLocation": {"uri": "pool.h", "uriBaseId": "%SRCROOT%"}, "region": {"startLine": 42}}
    assert results[made.pool.public_id]["hostedViewerUri"] == f"http://testserver/p/engine/signatures/{made.pool.public_id}/"  # fmt: skip


def test_a_suppression_has_the_status_of_its_review(client, made):
    assert statuses(told(client)[1][made.pool.public_id]) == []
    one = made.propose()
    assert statuses(told(client)[1][made.pool.public_id]) == ["underReview"]
    review.reject(one, made.people["ann"], reason="Fix it.", revision=1)
    said = told(client)[1][made.pool.public_id]["suppressions"][0]
    assert (said["status"], said["justification"]) == ("rejected", "Fix it.")
    two = made.approved()
    found = told(client)[1][made.pool.public_id]
    # A reader takes a result for silenced only where nothing else was said of it.
    assert statuses(found) == ["accepted"]
    assert [other["status"] for other in found["properties"]["otherSuppressions"]] == ["rejected"]
    assert found["suppressions"][0]["properties"]["endsOn"] == two.ends_on.isoformat()
    review.revoke(two, made.people["ann"], reason="No longer.")
    assert statuses(told(client)[1][made.pool.public_id]) == ["rejected"]


def test_what_a_wide_rule_hides_besides_is_told_of_too(client, made):
    made.approved(rule=WIDER)
    assert statuses(told(client)[1][made.vocab.public_id]) == ["accepted"]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"rule": "leak:nothing_like_it"}, "it hides nothing"),
        ({"lanes": ("soak",)}, "it is for another lane"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_a_rule_that_does_not_surely_hide_all_of_it_silences_no_alert_and_is_named_beside_it(client, made, asked, why):
    made.approved(**asked)
    found = told(client)[1][made.pool.public_id]
    assert statuses(found) == [], why
    assert [one["properties"]["rule"] for one in found["properties"]["otherSuppressions"]] == [asked.get("rule", RULE)]


def test_a_rule_that_hides_one_leak_of_a_signature_and_leaves_another_silences_no_alert(client, made):
    made.approved(rule=f"leak:^{LEAKY[0]}$")
    assert statuses(told(client)[1][made.pool.public_id]) == ["accepted"]
    submit(4, log_text((("engine::Pool::get(int)", *LEAKY[1:]), 64)), exit_code=1, conclusion="failure")
    settle()
    assert models.Signature.objects.count() == 2  # an overload is no other bug
    assert statuses(told(client)[1][made.pool.public_id]) == []


def test_a_rule_past_its_last_day_silences_nothing(client, made):
    one = made.approved()
    models.Suppression.objects.filter(pk=one.pk).update(ends_on=in_days(-1))
    assert statuses(told(client)[1][made.pool.public_id]) == []


def test_what_was_fixed_is_no_alert(client, made):
    settle()
    models.Signature.objects.filter(pk=made.pool.pk).update(life="fixed")
    assert set(told(client)[1]) == {made.vocab.public_id}


def test_they_are_read_some_at_a_time_and_no_more_than_a_reader_takes(made, monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(queries, "CHUNK", 1)
    with django_assert_num_queries(5):  # the day, those in force, the signatures, and what is undecided of each chunk
        assert len(list(sarif_results(made.project))) == 2
    monkeypatch.setattr(queries, "MOST_RESULTS", 1)
    assert [one.public_id for one in sarif_results(made.project)] == [made.pool.public_id]


def test_a_stranger_gets_none(client, made):
    models.Project.objects.update(public=False)
    assert client.get(reverse("api:sarif", args=["engine"])).status_code == 404
