"""The report as JSON: the keys and shapes that programs rely on."""

import json

from tracert_analysis.report.as_json import render

from tests.analysis.report.example import CALL, report

VALUE = json.loads(render(report()))


def test_the_keys_of_the_contract_are_there() -> None:
    """None is renamed; additions stand beside them."""
    promised = {
        "tool",
        "dump",
        "error",
        "verdict",
        "pages",
        "lanes",
        "acquitted",
        "findings",
        "what_was_new",
        "in_flight",
        "evidence",
        "reproduce",
    }
    assert promised <= set(VALUE)
    verdict = {"code", "name", "confidence", "sentence", "resource", "launch", "seq", "missing_edge", "fix"}
    assert verdict | {"counterfactual"} <= set(VALUE["verdict"])
    page = {"page", "life", "last_owner", "previous_owner", "last_writer", "last_fence", "lives"}
    assert page <= set(VALUE["pages"][0])
    assert {"events", "lost", "torn", "truncated", "first_seq", "unknown"} <= set(VALUE["evidence"])


def test_the_missing_edge_has_from_to_and_call() -> None:
    """The two launches with their streams, and the call."""
    edge = VALUE["verdict"]["missing_edge"]
    assert (edge["from"]["launch"], edge["from"]["stream"]) == (1838, 0)
    assert (edge["to"]["launch"], edge["to"]["stream"]) == (1841, 1)
    assert edge["call"] == CALL


def test_a_resource_has_only_what_applies() -> None:
    """A row has a generation and no life."""
    assert VALUE["verdict"]["resource"] == {"kind": "row", "id": 3, "generation": 2}
    assert VALUE["acquitted"][0]["resource"] == {"kind": "page", "id": None}


def test_the_error_says_whether_it_misleads() -> None:
    """A boolean, beside the code and the name as the runtime gave them."""
    assert VALUE["error"]["code"] == 719
    assert VALUE["error"]["name"] == "LAUNCH_FAILURE"
    assert VALUE["error"]["misleading"] is True


def test_every_statement_points_to_a_query() -> None:
    """The SQL stands in the report itself."""
    assert VALUE["queries"] == [
        {"id": 1, "about": "rules that the history breaks", "sql": "SELECT * FROM finding"}
    ]
    assert VALUE["verdict"]["query"] == 1
