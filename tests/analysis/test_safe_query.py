"""What a user's SQL can and cannot do."""

from pathlib import Path

import duckdb
import pytest
from tracert_analysis.safe_query import Limits, QueryError, ask

SHORT = Limits(memory_bytes=2 << 30, cpu_seconds=3)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with one table of three rows."""
    path = tmp_path_factory.mktemp("database") / "dump.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE event AS SELECT range AS seq, [range, 7] AS pages FROM range(3)")
        connection.execute("CREATE MACRO last_owner(p) AS TABLE SELECT seq FROM event WHERE seq = p")
    return path


def test_rows_arrive_in_order_with_names_and_types(database: Path) -> None:
    """Integers stay integers and lists stay lists."""
    answer = ask(database, "SELECT seq, pages FROM event ORDER BY seq")
    assert answer.columns == ["seq", "pages"]
    assert answer.types == ["BIGINT", "BIGINT[]"]
    assert list(answer.rows) == [[0, [0, 7]], [1, [1, 7]], [2, [2, 7]]]


def test_macros_of_the_database_can_be_used(database: Path) -> None:
    """Table macros work on the read-only database."""
    assert list(ask(database, "SELECT * FROM last_owner(2)").rows) == [[2]]


def test_values_that_json_does_not_have_arrive_as_text(database: Path) -> None:
    """A 128-bit integer keeps all its digits; bytes, decimals and dates become text."""
    sql = "SELECT (2::HUGEINT ** 100)::HUGEINT, 'ab'::BLOB, 1.50::DECIMAL(4,2), DATE '2026-01-02', NULL, true"
    assert list(ask(database, sql).rows) == [[2**100, "6162", "1.50", "2026-01-02", None, True]]


def test_many_rows_stream(database: Path) -> None:
    """More rows than a pipe holds come through, and a reader may stop early."""
    assert sum(1 for _ in ask(database, "FROM range(200000)").rows) == 200_000
    rows = ask(database, "FROM range(10000000)").rows
    assert next(rows) == [0]
    rows.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("DROP TABLE event", "DROP"),
        ("DELETE FROM event", "DELETE"),
        ("WITH gone AS (DELETE FROM event RETURNING *) FROM gone", "read-only"),
        ("CREATE TABLE t AS SELECT 1", "CREATE"),
        ("CREATE TEMP TABLE t AS SELECT 1", "CREATE"),
        ("ATTACH ':memory:' AS other", "ATTACH"),
        ("INSTALL httpfs", "LOAD"),
        ("LOAD httpfs", "LOAD"),
        ("SET threads = 8", "SET"),
        ("PRAGMA database_list", "PRAGMA"),
        ("CALL enable_logging(storage = 'file')", "CALL"),
        ("SELECT 1; DROP TABLE event", "one statement"),
        ("", "one statement"),
        ("SELECT * FROM query('DROP TABLE event')", "SELECT"),
    ],
)
def test_only_one_query_runs(database: Path, sql: str, reason: str) -> None:
    """Whatever changes something, or is more than one statement, is refused; the table stays."""
    with pytest.raises(QueryError, match=reason):
        list(ask(database, sql).rows)
    assert list(ask(database, "SELECT count(*) FROM event").rows) == [[3]]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM read_text('{file}')",
        "SELECT * FROM read_blob('{file}')",
        "SELECT * FROM read_json('{file}')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM glob('{folder}/*')",
        "SELECT * FROM read_parquet('https://example.com/a.parquet')",
        "SELECT * FROM query('SELECT * FROM read_text(''{file}'')')",
    ],
)
def test_no_file_is_read(database: Path, tmp_path: Path, sql: str) -> None:
    """The secret in a file beside the database never comes back."""
    secret = tmp_path / "secret.csv"
    secret.write_text("word\nxyzzy\n")
    with pytest.raises(QueryError) as caught:
        list(ask(database, sql.format(file=secret, folder=tmp_path)).rows)
    assert "xyzzy" not in str(caught.value)


@pytest.mark.parametrize(
    "sql",
    [
        "COPY event TO '{target}'",
        "EXPLAIN ANALYZE COPY event TO '{target}'",
        "EXPORT DATABASE '{target}'",
        "ATTACH '{target}' AS other",
        "SELECT * FROM query('COPY event TO ''{target}''')",
    ],
)
def test_no_file_is_written(database: Path, tmp_path: Path, sql: str) -> None:
    """Every way to write a file is refused, and there is no file."""
    target = tmp_path / "written"
    with pytest.raises(QueryError):
        list(ask(database, sql.format(target=target)).rows)
    assert not target.exists()


def test_a_query_that_takes_too_much_memory_is_stopped(database: Path) -> None:
    """A list of 200 million numbers ignores the database's own limit; the process's limit ends it."""
    with pytest.raises(QueryError, match=r"(?i)memory|processor"):
        list(ask(database, "SELECT range(200000000)", SHORT).rows)


def test_a_query_that_takes_too_long_is_stopped(database: Path) -> None:
    """A cross join without end runs into the limit of processor time and says so."""
    with pytest.raises(QueryError, match="3 s of processor time"):
        list(ask(database, "SELECT count(*) FROM range(1000000000000)", SHORT).rows)


def test_a_module_in_the_current_directory_is_not_run(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file called duckdb.py beside a stranger's dump is not imported by the query's process."""
    (tmp_path / "duckdb.py").write_text("raise SystemExit('planted')")
    monkeypatch.chdir(tmp_path)
    assert list(ask(database, "SELECT count(*) FROM event").rows) == [[3]]


def test_a_database_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    """The error of the database comes through as `QueryError`."""
    with pytest.raises(QueryError, match="does not exist"):
        ask(tmp_path / "none.duckdb", "SELECT 1")
