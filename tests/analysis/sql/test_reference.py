"""The SQL files explain themselves, and the reference page is what they say."""

import importlib.util
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import duckdb
import pytest
from tracert_analysis import library
from tracert_analysis.comments import parse
from tracert_analysis.reference import UndocumentedError, commented, entries, rules, typed

ROOT = Path(__file__).parents[3]
CONTRACT_TABLES = {"header", "event", "stream_state", "page_state", "lane_state"}
CONTRACT_VIEWS = {
    "launch",
    "access",
    "page_life",
    "holding",
    "row_content",
    "fence",
    "request",
    "workspace",
    "finding",
}
CONTRACT_MACROS = {
    "last_owner(page, before := NULL)",
    "last_writer(page, before := NULL)",
    "last_fence(page, before := NULL)",
    "page_history(page)",
    "launch_reads(launch)",
    "launch_writes(launch)",
    "happens_before(a, b)",
    "missing_edge(finding)",
    "in_flight()",
    "what_was_new(launch)",
}
ADDED_VIEWS = {"byte_write", "guard_entry", "page_last", "prefix_hit", "kv_layout"}
ADDED_MACROS = {"page_bytes(page, before := NULL)", "byte_ranges(first, until)"}


def module(name: str) -> ModuleType:
    """A script of `docs/`, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_every_public_object_and_column_has_a_comment() -> None:
    """`entries` refuses what has none, and finds a type for every column: one that other tools have, too."""
    for entry in entries():
        assert entry.comment.endswith((".", ")")), entry.name
        for column in entry.columns:
            assert column.comment.endswith((".", "?")), f"{entry.name}.{column.name}"
            assert column.type
            assert "HUGEINT" not in column.type, f"{entry.name}.{column.name}"


def test_the_contract_is_there() -> None:
    """Tables, views and macros by the names that users were promised, and those that were added."""
    found = entries()
    assert {entry.name for entry in found if entry.kind == "table"} == CONTRACT_TABLES
    assert {entry.name for entry in found if entry.kind == "view"} == CONTRACT_VIEWS | ADDED_VIEWS
    macros = {f"{entry.name}({', '.join(entry.parameters)})" for entry in found if entry.kind == "macro"}
    assert macros == CONTRACT_MACROS | ADDED_MACROS


def test_every_finding_states_its_rule() -> None:
    """In its first line, as a sentence."""
    found = {rule.code: rule.sentence for rule in rules()}
    assert list(found) == sorted([*library.FINDINGS, *library.RANK_FINDINGS])
    assert found["TR203"].startswith("A holder gives back only what it holds")


def test_every_file_is_in_the_library() -> None:
    """A file that is never loaded is no rule."""
    sql = files("tracert_analysis") / "sql"
    for folder, names in (
        ("tables", library.TABLES),
        ("views", (*library.HELD, *library.STATE, *library.DOUBT, *library.ACCESS)),
        ("macros", library.MACROS),
        ("findings", library.FINDINGS),
    ):
        found = {place.name for place in (sql / folder).iterdir() if place.name.endswith(".sql")}
        assert {f"{name}.sql" for name in names} == found


@pytest.mark.parametrize("code", library.FINDINGS)
def test_findings_name_their_columns(code: str) -> None:
    """All of them and in the same order, never a star."""
    text = library.text("findings", code)
    final = text[text.rindex("\nSELECT\n") :]
    assert "*" not in final.replace("count(*)", "")
    places = [
        final.find(f"{name}") for name in ("'TR", "AS name", "AS class", "AS confidence", "AS sentence")
    ]
    assert places == sorted(places)
    assert -1 not in places


def test_the_library_and_the_events_are_looked_over(capsys: pytest.CaptureFixture[str]) -> None:
    """`docs/lint.py` has nothing to say."""
    assert 0 == module("lint").main()
    assert "" == capsys.readouterr().err


def test_a_field_that_the_page_of_the_dump_lacks_is_told() -> None:
    """What is recorded is documented, kind by kind."""
    lint = module("lint")
    page = (ROOT / "docs" / "dump.md").read_text(encoding="utf-8")
    assert [] == lint.untold(page)
    shorter = page.replace("| `stage` | staging bytes |", "| `stage` | staging |")
    assert ["docs/dump.md: does not tell of the field bytes of stage"] == lint.untold(shorter)


def test_a_missing_comment_is_refused() -> None:
    """On the object, and on a column; what starts with `_` is private."""
    with pytest.raises(UndocumentedError, match="table x has no comment"):
        commented(parse("CREATE TABLE x (\n    -- A.\n    a INTEGER\n);\n", "table"))
    with pytest.raises(UndocumentedError, match="column b of x has no comment"):
        commented(parse("-- An x.\nCREATE VIEW x (\n    -- A.\n    a,\n    b\n) AS SELECT 1, 2;\n", "view"))
    assert [] == commented(parse("CREATE TABLE _x (a INTEGER);\n", "table"))


def test_a_column_that_the_file_hides_is_refused() -> None:
    """Types are DuckDB's own answer, and so is the list of columns."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE x AS SELECT 1 AS a, 2 AS b")
    (entry,) = parse("-- An x.\nCREATE TABLE x (\n    -- A.\n    a INTEGER\n);\n", "table")
    with pytest.raises(UndocumentedError, match="x has columns that its file does not list: b"):
        typed(connection, entry)


def test_columns_of_an_answer_are_those_that_the_macro_gives() -> None:
    """With the types of a call; one that it doesn't give is refused, and so is a column that nothing has."""
    connection = duckdb.connect()
    connection.execute("CREATE MACRO x(a, b := 2) AS TABLE SELECT a AS a, b AS b")
    macro = "CREATE MACRO x(a, b := 2) AS TABLE SELECT 1;"
    (entry,) = parse(f"-- An x.\n-- * a: A.\n-- * b: B.\n{macro}", "macro")
    assert ["INTEGER", "INTEGER"] == [column.type for column in typed(connection, entry).columns]
    (entry,) = parse(f"-- An x.\n-- * a: A.\n-- * b: B.\n-- * c: C.\n{macro}", "macro")
    with pytest.raises(UndocumentedError, match="x has no columns c, which its file lists"):
        typed(connection, entry)
    connection.execute("CREATE TABLE y (b INTEGER)")
    connection.execute("CREATE MACRO z(a) AS TABLE SELECT y.b AS b FROM y")
    connection.execute("DROP TABLE y")
    (entry,) = parse("-- A z.\n-- * b: B.\nCREATE MACRO z(a) AS TABLE SELECT y.b FROM y;", "macro")
    with pytest.raises(duckdb.Error, match="y does not exist"):
        typed(connection, entry)


def test_the_reference_page_is_up_to_date(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--check` fails on a page that says something else, and says what to do."""
    generate = module("generate")
    assert 0 == generate.main(["--check"])
    vars(generate)["PAGE"] = tmp_path / "sql-reference.md"
    assert 1 == generate.main(["--check"])
    assert "run `make docs`" in capsys.readouterr().err
    assert 0 == generate.main([])
    assert 0 == generate.main(["--check"])
    assert 2 == generate.main(["--chekc"])
