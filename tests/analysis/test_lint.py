"""What the SQL library may not do."""

import pytest
from tracert_analysis.lint import event_complaints, family_complaints, file_complaints, hidden


@pytest.mark.parametrize(
    ("text", "relations"),
    [
        ("CREATE VIEW x AS SELECT * FROM launch", ["launch"]),
        ("CREATE VIEW x AS FROM launch", ["launch"]),
        ("INSERT INTO x SELECT l.*, 1 FROM launch AS l JOIN event AS e USING (seq)", ["launch"]),
        ("WITH a AS (FROM event), b AS (SELECT *, 1 AS one FROM a) SELECT * FROM b", ["event"]),
        ("SELECT seq FROM launch UNION ALL FROM fence", ["fence"]),
        ("SELECT * FROM (SELECT l.seq, l.* FROM launch AS l SEMI JOIN event USING (seq))", ["launch"]),
        ("CREATE MACRO x(a) AS TABLE FROM last_owner(a)", ["last_owner"]),
        ("SELECT COLUMNS(*) FROM launch", ["launch"]),
    ],
)
def test_a_star_that_hides_columns_is_found(text: str, relations: list[str]) -> None:
    """Also through a chain of common table expressions, and where only `FROM` is written."""
    assert relations == hidden(text)


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE x (a INTEGER); INSERT INTO x SELECT seq FROM launch",
        "CREATE VIEW x AS WITH a AS (SELECT seq FROM event) SELECT *, 1 FROM a",
        "SELECT seq FROM (FROM event WHERE kind = 'launch')",
        "SELECT count(*) FROM launch WHERE EXISTS (FROM event) AND seq IN (SELECT seq FROM (FROM fence))",
        "FROM (SELECT seq FROM launch) AS l SEMI JOIN event AS e USING (seq)",
        "WITH RECURSIVE a AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM a WHERE n < 3) FROM a",
        "CREATE MACRO x(a) AS (SELECT count(*) FROM launch)",
        "SELECT * FROM (VALUES (1), (2)) AS v (n)",
        "-- SELECT * FROM launch\nSELECT 1",
    ],
)
def test_a_star_that_hides_nothing_is_fine(text: str) -> None:
    """Its columns stand in the file, or go nowhere."""
    assert [] == hidden(text)


def test_long_lines_and_unknown_kinds_are_told_with_their_place() -> None:
    """A kind that is misspelt would be a rule that is never broken."""
    where = "e.kind IN ('alloc', 'fre') AND kind <> 'hold' AND resource_kind = 'page'"
    text = f"-- {'x' * 118}\nSELECT seq FROM event AS e WHERE {where}"
    assert [
        "findings/TR1.sql:1: 121 characters, and 120 are enough",
        "findings/TR1.sql: fre is no kind of event",
    ] == list(file_complaints("findings/TR1.sql", text, {"alloc", "hold"}))


def test_the_columns_of_event_are_the_fields_of_events() -> None:
    """A field without a column would be dropped silently; a column without a field would be always null."""
    assert [
        "tables/event.sql: no column for the field life of alloc",
        "tables/event.sql: no kind of event has a field extra",
    ] == list(event_complaints(["seq", "page", "extra"], {"alloc": ["page", "life"]}))


def test_kinds_are_asked_of_the_table_that_has_them() -> None:
    """A kind of another family would be one that is never met."""
    text = """
    SELECT seq FROM _told_page WHERE kind = 'free' UNION ALL
    SELECT e.seq FROM launch AS l JOIN _told_rest AS e USING (seq) WHERE e.kind IN ('match', 'launch')
    UNION ALL
    SELECT seq FROM _told_fence, (SELECT seq FROM _told_step WHERE kind = 'schedule')
    """
    assert ["views/x.sql: _told_rest has no launch"] == list(
        file_complaints("views/x.sql", text, {"free", "match", "launch", "schedule"})
    )


def test_the_columns_of_a_family_are_the_fields_of_its_kinds() -> None:
    """A field that its table lacks would be passed over."""
    tables = {"_told_page": ["page"], "_told_step": ["page_count"], "_told_rest": ["node"]}
    assert ["tables/_told.sql: _told_page has no column for the field life of alloc"] == list(
        family_complaints(tables, {"alloc": ["page", "life"], "schedule": ["pages"], "match": ["node"]})
    )
