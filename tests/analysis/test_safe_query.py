"""What a user's SQL can and cannot do."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import duckdb
import pytest
from tracert_analysis import safe_query
from tracert_analysis.safe_query import Limits, QueryError, ask, save_parquet

SHORT = Limits(memory_bytes=2 << 30, cpu_seconds=1)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with one table of three rows."""
    path = tmp_path_factory.mktemp("database") / "dump.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE event AS SELECT range AS seq, [range, 7] AS pages FROM range(3)")
        connection.execute("CREATE MACRO last_owner(p) AS TABLE SELECT seq FROM event WHERE seq = p")
    return path


def test_rows_arrive_in_order_with_names_and_types(database: Path) -> None:
    """Integers stay integers and lists stay lists; at the end it is known how many, and how long it took."""
    answer = ask(database, "SELECT seq, pages FROM event ORDER BY seq")
    assert answer.columns == ["seq", "pages"]
    assert answer.types == ["BIGINT", "BIGINT[]"]
    assert answer.ending.seconds is None
    assert list(answer.rows) == [[0, [0, 7]], [1, [1, 7]], [2, [2, 7]]]
    assert answer.ending.rows == 3
    assert answer.ending.seconds is not None
    assert answer.ending.seconds < 10


def test_macros_of_the_database_can_be_used(database: Path) -> None:
    """Table macros work on the read-only database."""
    assert list(ask(database, "SELECT * FROM last_owner(2)").rows) == [[2]]


def test_values_that_json_does_not_have_arrive_as_text(database: Path) -> None:
    """A 128-bit integer keeps all its digits; bytes, decimals and dates become text."""
    sql = "SELECT (2::HUGEINT ** 100)::HUGEINT, 'ab'::BLOB, 1.50::DECIMAL(4,2), DATE '2026-01-02', NULL, true"
    assert list(ask(database, sql).rows) == [[2**100, "6162", "1.50", "2026-01-02", None, True]]


def test_many_rows_stream(database: Path) -> None:
    """More rows than a pipe holds come through, and a reader may stop early."""
    assert sum(1 for _ in ask(database, "FROM range(50000)").rows) == 50_000
    rows = ask(database, "FROM range(10000000)").rows
    assert next(rows) == [0]
    rows.close()  # type: ignore[attr-defined]


class Room(NamedTuple):
    """Where hostile statements were tried, and what came of each."""

    told: dict[str, str]
    """The error of each statement, or `ROWS` and what it gave."""
    secret: Path
    target: Path


WRITES = (
    "COPY event TO '{target}'",
    "EXPLAIN ANALYZE COPY event TO '{target}'",
    "COPY (SELECT 1) TO '{target}' (FORMAT parquet)",
    "COPY (SELECT 1) TO '/dev/fd/1'",
    "EXPORT DATABASE '{target}'",
    "ATTACH '{target}' AS other",
    "ATTACH ':memory:' AS other",
    "ATTACH '{target}' AS other (TYPE sqlite)",
    "CREATE TABLE other AS SELECT 1",
    "CREATE TEMP TABLE other AS SELECT 1",
    "CREATE OR REPLACE MACRO last_owner(p) AS 1",
    "CREATE SECRET (TYPE s3, KEY_ID 'a', SECRET 'b')",
    "CREATE PERSISTENT SECRET (TYPE http, BEARER_TOKEN 'a')",
    "DROP TABLE event",
    "DELETE FROM event",
    "INSERT INTO event VALUES (9, [])",
    "UPDATE event SET seq = 9",
    "ALTER TABLE event RENAME TO other",
    "WITH gone AS (DELETE FROM event RETURNING *) FROM gone",
    "SELECT * FROM query('COPY event TO ''{target}''')",
    "SELECT * FROM query('DROP TABLE event')",
    "SELECT 1; DROP TABLE event",
    "PREPARE hidden AS COPY event TO '{target}'",
    "EXECUTE hidden",
    "CHECKPOINT",
    "FROM force_checkpoint()",
    "VACUUM",
    "BEGIN",
    "",
)
READS = (
    "SELECT * FROM read_csv('{secret}')",
    "SELECT * FROM read_text('{secret}')",
    "SELECT * FROM read_blob('{secret}')",
    "SELECT * FROM read_json('{secret}')",
    "SELECT * FROM read_ndjson_objects('{secret}')",
    "SELECT * FROM read_parquet('{secret}')",
    "SELECT * FROM parquet_metadata('{secret}')",
    "SELECT * FROM sniff_csv('{secret}')",
    "SELECT * FROM read_duckdb('{secret}')",
    "SELECT * FROM sqlite_scan('{secret}', 'word')",
    "SELECT * FROM postgres_scan('host={secret}', 'public', 'word')",
    "SELECT * FROM '{secret}'",
    'SELECT * FROM "{secret}"',
    "FROM '{folder}/secr*.csv'",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM read_text('/proc/self/environ')",
    "SELECT * FROM read_text('/dev/fd/0')",
    "FROM '/etc/passwd'",
    "SELECT * FROM query('SELECT * FROM read_text(''{secret}'')')",
    "SELECT * FROM query_table('{secret}')",
    "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('FROM ''{secret}'''))",
    "SELECT (SELECT content FROM read_text('{secret}'))",
    "EXPLAIN ANALYZE FROM read_text('{secret}')",
    "IMPORT DATABASE '{folder}'",
    "COPY event FROM '{secret}'",
    "SELECT getenv('SECRET')",
    "SELECT * FROM read_parquet('https://example.com/a.parquet')",
    "SELECT * FROM read_csv('s3://bucket/a.csv')",
    "FROM 'http://127.0.0.1:9/a.csv'",
    # What a program that runs SQL has by these names, a replacement scan would read.
    "FROM sys",
    "FROM HARMLESS",
    "FROM connection",
    "FROM statement",
    "FROM frame",
)
SETTINGS = (
    "INSTALL httpfs",
    "INSTALL sqlite FROM community",
    "LOAD httpfs",
    "LOAD '{secret}'",
    "UPDATE EXTENSIONS",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET temp_directory = '{folder}'",
    "SET memory_limit = '100GB'",
    "SET allowed_paths = ['/']",
    "SET VARIABLE x = 1",
    "RESET threads",
    "PRAGMA database_list",
    "PRAGMA enable_profiling",
    "PRAGMA profiling_output = '{target}'",
    "CALL enable_logging(storage = 'file', storage_path = '{folder}')",
    "FROM enable_logging(storage = 'file', storage_path = '{folder}')",
    "SELECT * FROM enable_profiling()",
    "USE memory",
    "DETACH dump",
)
ATTEMPTS = WRITES + READS + SETTINGS

# What `query_process` does, statement after statement: one process each would take half a minute.
TRY = """
import json, sys
import query_process
asked = json.load(sys.stdin)
query_process.confine(asked["memory_bytes"], 60, 0)
connection = query_process.locked(asked["database"], asked["memory_bytes"], 2)
frame = {"word": ["xyzzy"]}
for sql in asked["attempts"]:
    try:
        result = connection.execute(query_process.only(connection, sql))
        told = "ROWS " + str(result.fetchall())
    except BaseException as error:
        told = str(error) or type(error).__name__
    print(json.dumps(told), flush=True)
print(json.dumps(connection.execute("SELECT count(*) FROM event").fetchall()[0][0]))
"""


@pytest.fixture(scope="module")
def room(database: Path, tmp_path_factory: pytest.TempPathFactory) -> Room:
    """Every attempt, in one process with the locks and limits of a query."""
    folder = tmp_path_factory.mktemp("room")
    secret, target = folder / "secret.csv", folder / "written"
    secret.write_text("word\nxyzzy\n")
    names = {"secret": secret, "target": target, "folder": folder}
    asked = {
        "database": str(database),
        "memory_bytes": 3 << 30,
        "attempts": [sql.format(**names) for sql in ATTEMPTS],
    }
    before = database.read_bytes()
    tried = subprocess.run(
        [sys.executable, "-c", TRY],
        input=json.dumps(asked),
        env={"PYTHONPATH": os.pathsep.join([str(safe_query.PROCESS.parent), *sys.path]), "SECRET": "xyzzy"},
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert tried.returncode == 0, tried.stderr
    *told, rows = map(json.loads, tried.stdout.splitlines())
    assert rows == 3
    assert database.read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["secret.csv"]
    return Room(dict(zip(ATTEMPTS, told, strict=True)), secret, target)


@pytest.mark.parametrize("sql", WRITES)
def test_nothing_is_written(room: Room, sql: str) -> None:
    """Files, tables, macros, secrets, databases: refused, and nothing is there afterwards."""
    assert not room.told[sql].startswith("ROWS"), room.told[sql]
    assert not room.target.exists()


@pytest.mark.parametrize("sql", READS)
def test_nothing_else_is_read(room: Room, sql: str) -> None:
    """Neither a file, the network, the environment, nor a variable of the program."""
    assert not room.told[sql].startswith("ROWS"), room.told[sql]
    assert "xyzzy" not in room.told[sql]


@pytest.mark.parametrize("sql", SETTINGS)
def test_nothing_is_unlocked(room: Room, sql: str) -> None:
    """No extension, no setting, no log, no other database."""
    assert not room.told[sql].startswith("ROWS"), room.told[sql]
    assert sorted(path.name for path in room.secret.parent.iterdir()) == ["secret.csv"]


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("WITH gone AS (DELETE FROM event RETURNING *) FROM gone", "read-only"),
        ("SELECT 1; DROP TABLE event", "one statement"),
    ],
)
def test_only_one_query_runs(database: Path, sql: str, reason: str) -> None:
    """The refusal comes through as an error of one line, and the table stays."""
    with pytest.raises(QueryError, match=reason):
        list(ask(database, sql).rows)
    assert list(ask(database, "SELECT count(*) FROM event").rows) == [[3]]


def test_a_query_that_takes_too_much_memory_is_stopped(database: Path) -> None:
    """A list of 200 million numbers ignores the database's own limit; the process's limit ends it."""
    with pytest.raises(QueryError, match=r"(?i)memory|processor"):
        list(ask(database, "SELECT range(200000000)", SHORT).rows)


def test_a_query_that_takes_too_long_is_stopped(database: Path) -> None:
    """A count without end runs into the limit of processor time and says so."""
    started = time.monotonic()
    with pytest.raises(QueryError, match="1 s of processor time"):
        list(ask(database, "SELECT count(*) FROM range(1000000000000)", SHORT).rows)
    assert time.monotonic() - started < 60


def test_a_query_that_would_spill_writes_nothing(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sort of more than fits fails, and leaves no file, neither where the user is nor beside the data."""
    monkeypatch.chdir(tmp_path)
    small = Limits(memory_bytes=600 << 20, cpu_seconds=10)
    with pytest.raises(QueryError, match=r"(?i)memory"):
        list(
            ask(
                database,
                "SELECT count(*) FROM (FROM range(30000000) ORDER BY hash(range) LIMIT 29999999)",
                small,
            ).rows
        )
    assert list(tmp_path.iterdir()) == []
    assert [database.name] == [path.name for path in database.parent.iterdir()]


def test_an_answer_without_end_is_cut_off(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of rows without number, and of one row that is larger than any."""
    with pytest.raises(QueryError, match="stopped after 1 MiB of answer"):
        list(ask(database, "FROM range(1000000000)", Limits(answer_bytes=1 << 20)).rows)
    monkeypatch.setattr(safe_query, "ROW_BYTES", 2 << 20)
    with pytest.raises(QueryError, match="a row of more than 2 MiB"):
        list(ask(database, "SELECT repeat('x', 3000000)").rows)


def test_parquet_is_written_to_the_one_file(database: Path, tmp_path: Path) -> None:
    """With its types; a name that would be a pattern is a name, and a comment at the end hides nothing."""
    target = tmp_path / "a[1]*.parquet"
    assert 3 == save_parquet(database, "SELECT seq, pages FROM event ORDER BY seq; -- all", target)
    target.rename(tmp_path / "a.parquet")
    found = duckdb.connect().execute("FROM read_parquet($path)", {"path": str(tmp_path / "a.parquet")})
    assert ["BIGINT", "BIGINT[]"] == [str(column[1]) for column in found.description]
    assert [(0, [0, 7]), (1, [1, 7]), (2, [2, 7])] == found.fetchall()
    assert ["a.parquet"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("EXPLAIN SELECT 1", "only what SELECT gives"),
        ("SELECT 1) TO '{other}'; --", "(?i)parser|syntax"),
        ("SELECT 1; COPY event TO '{other}'", "one statement"),
        ("SELECT * FROM read_text('{secret}')", "disabled by configuration"),
        ("SELECT nothing FROM event", "nothing"),
        ("SELECT md5(range::VARCHAR) FROM range(1000000)", "stopped after 1 MiB of answer"),
    ],
)
def test_parquet_opens_no_other_door(database: Path, tmp_path: Path, sql: str, reason: str) -> None:
    """The process may write one file: no other is read or written, and a failure leaves what was there."""
    secret, target = tmp_path / "secret.csv", tmp_path / "out.parquet"
    secret.write_text("word\nxyzzy\n")
    target.write_bytes(b"from before")
    with pytest.raises(QueryError, match=reason) as caught:
        save_parquet(
            database,
            sql.format(other=tmp_path / "other", secret=secret),
            target,
            Limits(answer_bytes=1 << 20),
        )
    assert "xyzzy" not in str(caught.value)
    assert ["out.parquet", "secret.csv"] == sorted(path.name for path in tmp_path.iterdir())
    assert b"from before" == target.read_bytes()


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
