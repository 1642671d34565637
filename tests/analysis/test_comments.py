"""The comments of the SQL library."""

from pathlib import Path

from tracert_analysis.comments import Column, described, parse, write_comments

from tests.analysis.history import History

FILE = """\
-- What it is,
-- in a sentence.
CREATE TABLE thing (
    -- Which one.
    page UINTEGER,
    -- Where it
    -- ends.
    "end" STRUCT(a INTEGER, b VARCHAR)[]
);

INSERT INTO thing SELECT 1;
-- Nobody's business.
CREATE TABLE _private (a INTEGER);
-- As a query.
CREATE VIEW other (
    -- The only one.
    seq
) AS SELECT 1;
"""


def test_objects_and_columns_carry_the_comments_above_them() -> None:
    """Comments of several lines are one; types are kept; private names are left out."""
    thing, other = parse(FILE, "view")
    assert (thing.name, thing.comment, thing.statement) == ("thing", "What it is, in a sentence.", "TABLE")
    assert thing.columns == (
        Column("page", "UINTEGER", "Which one."),
        Column("end", "STRUCT(a INTEGER, b VARCHAR)[]", "Where it ends."),
    )
    assert (other.name, other.comment, other.statement) == ("other", "As a query.", "VIEW")
    assert other.columns == (Column("seq", None, "The only one."),)


def test_a_macro_has_its_parameters() -> None:
    """A table macro is told from one that gives a value."""
    (table,) = parse("-- Pages.\nCREATE MACRO pages_of(a, b) AS TABLE\nSELECT 1;", "macro")
    (value,) = parse("-- A number.\nCREATE MACRO number() AS 1;", "macro")
    assert (table.parameters, table.statement) == (("a", "b"), "MACRO TABLE")
    assert (value.parameters, value.statement) == ((), "MACRO")


def test_the_columns_of_an_answer_stand_behind_its_comment() -> None:
    """A line each, which may go on; the comment itself is what comes before."""
    text = "-- Pages\n-- of it.\n-- * page: The page,\n--   by number.\n-- * end: Its end.\n"
    text += "CREATE MACRO x() AS TABLE FROM y;"
    (macro,) = parse(text, "macro")
    assert "Pages of it." == macro.comment
    assert (Column("page", None, "The page, by number."), Column("end", None, "Its end.")) == macro.columns


def test_everything_public_is_described() -> None:
    """Each table, view, macro and column of the library has a comment, and the contract's names are there."""
    found = {item.name: item for item in described()}
    tables = {"header", "event", "stream_state", "page_state", "lane_state"}
    views = {"launch", "access", "page_life", "holding", "row_content", "fence", "request", "workspace"}
    views |= {"finding", "byte_write", "guard_entry", "page_last", "prefix_hit", "kv_layout"}
    macros = {"last_owner", "last_writer", "last_fence", "page_history", "launch_reads", "launch_writes"}
    macros |= {"happens_before", "missing_edge", "in_flight", "what_was_new", "page_bytes", "byte_ranges"}
    for kind, names in (("table", tables), ("view", views), ("macro", macros)):
        assert {name for name, item in found.items() if item.kind == kind} == names
    assert all(item.comment for item in found.values())
    assert all(column.comment for item in found.values() for column in item.columns)
    assert ["happens_before"] == [name for name, item in found.items() if not item.columns]


def test_a_loaded_dump_shows_the_comments(tmp_path: Path) -> None:
    """The database's own catalog has them, for every public column."""
    connection = History().read(tmp_path).connection
    write_comments(connection)
    missing = connection.execute(
        "SELECT table_name, column_name FROM duckdb_columns() "
        "WHERE NOT internal AND comment IS NULL AND table_name NOT LIKE '\\_%' ESCAPE '\\'"
    ).fetchall()
    assert missing == []
    macro = connection.execute(
        "SELECT comment FROM duckdb_functions() WHERE function_name = 'last_owner'"
    ).fetchall()
    assert macro[0][0].startswith("Who a page was granted to last")
    owner = "owner: Who that life was granted to; null when the grant lies before the history."
    assert f"\n{owner}\n" in macro[0][0]
