"""What the SQL of the library may not do; `complaints` says where a file does, each in a line.

* Something public has no comment, on itself, on a column, or on a column of a macro's answer.
* A line is longer than `LINE` characters.
* A file does not say which columns its table, view, macro or finding has: the outermost `SELECT` takes them
  by a star from a relation of another file. A star over what the file names itself is fine, and so is one
  whose columns go nowhere (`EXISTS (FROM launch)`, `SEMI JOIN`).
* A file compares `kind` with what is no kind of event: to DuckDB a misspelt one is a kind that is never met.
* A file asks the table of one family of kinds for a kind of another: there it is never met, either.
* `event` has a column that no kind of event has, or lacks a field that one has; so with the tables of
  families.

That columns exist, in the answers of macros too, DuckDB says itself when it binds them (`reference`).
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import duckdb

from tracert_analysis import library
from tracert_analysis.families import FAMILIES, REST
from tracert_analysis.reference import UndocumentedError, entries, rules

LINE = 120
FOLDERS = ("tables", "views", "macros", "findings", "ranks")
OF_THE_READER = ("seq", "t", "kind", "actor", "page_count", "keyframe_pages")
"""Columns of `event` that every kind has, or that the reader makes of a field."""
OF_BLEMISHES = ("stale", "mixed", "unwritten", "wiped", "blank", "untold")
"""Kinds of what private tables tell of bytes."""

FAMILY = {kind: table for table, kinds in FAMILIES.items() for kind in kinds}
"""Where each kind is told, but for those of the rest."""

_COMMENT = re.compile(r"--.*$", re.MULTILINE)
_QUERY = re.compile(r"\b(?:WITH|SELECT|FROM)\b")
_VALUE = re.compile(r"CREATE MACRO [^)]*\) AS(?! TABLE)")
_FAMILY = re.compile(r"\b(?:FROM|JOIN) (_told_\w+)")
_KINDS = re.compile(r"\bkind\s*(?:=|<>|!=|(?:NOT\s+)?IN\b)\s*\(?((?:\s*,?\s*'\w+')+)")


def complaints(fields: Mapping[str, Collection[str]]) -> list[str]:
    """What is wrong with the library; `fields` has the fields of each kind of event that may be recorded."""
    try:
        described, _ = entries(), rules()
    except UndocumentedError as error:
        return [str(error)]
    columns = {column.name for entry in described if entry.name == "event" for column in entry.columns}
    kinds = {*fields, *OF_BLEMISHES}
    found = [line for path, text in _texts() for line in file_complaints(path, text, kinds)]
    tables = _columns_of_families()
    return [*found, *event_complaints(columns, fields), *family_complaints(tables, fields)]


def file_complaints(path: str, text: str, kinds: Collection[str]) -> Iterator[str]:
    """What is wrong with one file."""
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > LINE:
            yield f"{path}:{number}: {len(line)} characters, and {LINE} are enough"
    for relation in hidden(text):
        yield f"{path}: its columns are those of {relation}, by a star: list them"
    for found in _KINDS.finditer(_COMMENT.sub("", text)):
        for name in re.findall(r"'(\w+)'", found[1]):
            if name not in kinds:
                yield f"{path}: {name} is no kind of event"
    yield from _strays(path, _COMMENT.sub("", text))


def _strays(path: str, text: str) -> Iterator[str]:
    """Kinds that are asked of a table which has none of them: the first comparison behind its name counts."""
    for asked in _FAMILY.finditer(text):
        compared = _KINDS.search(text, asked.end())
        following = _FAMILY.search(text, asked.end())
        if compared and not (following and following.start() < compared.start()):
            for name in re.findall(r"'(\w+)'", compared[1]):
                if FAMILY.get(name, REST) != asked[1] and name not in OF_BLEMISHES:
                    yield f"{path}: {asked[1]} has no {name}"


def event_complaints(columns: Collection[str], fields: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Where the table `event` and the kinds of events differ."""
    recorded = {name for names in fields.values() for name in names}
    for kind, names in fields.items():
        for name in names:
            if name not in columns:
                yield f"tables/event.sql: no column for the field {name} of {kind}"
    for name in columns:
        if name not in recorded and name not in OF_THE_READER:
            yield f"tables/event.sql: no kind of event has a field {name}"


def family_complaints(
    tables: Mapping[str, Collection[str]], fields: Mapping[str, Collection[str]]
) -> Iterator[str]:
    """Fields that the table of their kind's family has no column for."""
    for kind, names in fields.items():
        table = FAMILY.get(kind, REST)
        for name in names:
            if name not in tables[table] and not (name == "pages" and "page_count" in tables[table]):
                yield f"tables/_told.sql: {table} has no column for the field {name} of {kind}"


def _columns_of_families() -> dict[str, list[str]]:
    connection = duckdb.connect()
    library.create_tables(connection)
    return {table: connection.table(table).columns for table in (*FAMILIES, REST)}


def hidden(text: str) -> list[str]:
    """Relations of other files whose columns a star makes the columns of what this file creates."""
    connection = duckdb.connect()
    found: list[str] = []
    for statement in connection.extract_statements(_COMMENT.sub("", text)):
        sql = statement.query.strip()
        query = _QUERY.search(sql)
        if query is None or _VALUE.match(sql):
            # A table's columns, or a macro that gives one value, have no star.
            continue
        answer = connection.execute(
            "SELECT json_serialize_sql(?::VARCHAR)", [sql[query.start() :].rstrip(";\n ")]
        )
        tree = json.loads(answer.fetchall()[0][0])
        if tree["error"]:
            raise ValueError(f"cannot parse: {tree['error_message']}: {sql[:60]}")
        for part in tree["statements"]:
            found += _starred(part["node"], {})
    return found


def _starred(node: dict[str, Any], scope: dict[str, Any]) -> Iterator[str]:
    """The relations of no scope whose columns are columns of the query, by stars all the way."""
    scope = scope | {one["key"]: one["value"]["query_node"] for one in node["cte_map"]["map"]}
    if node["type"] != "SELECT_NODE":
        parts = node.get("children") or [node["left"], node["right"]]
        for part in parts:
            yield from _starred(part, scope)
        return
    for star in node["select_list"]:
        if star["class"] == "STAR":
            yield from _relations(node["from_table"], scope, star["relation_name"])


def _relations(table: dict[str, Any], scope: dict[str, Any], only: str) -> Iterator[str]:
    if table["type"] == "JOIN":
        yield from _relations(table["left"], scope, only)
        if table["join_type"] not in ("SEMI", "ANTI"):
            yield from _relations(table["right"], scope, only)
        return
    name = table.get("table_name") or table.get("function", {}).get("function_name", "")
    if only and only not in (table["alias"], name):
        return
    if table["type"] == "SUBQUERY":
        yield from _starred(table["subquery"]["node"], scope)
    elif name in scope:
        # What is recursive refers to itself, and has no columns from there.
        yield from _starred(scope[name], {key: value for key, value in scope.items() if key != name})
    elif name:
        yield name


def _texts() -> Iterator[tuple[str, str]]:
    for folder in FOLDERS:
        place: Traversable = files("tracert_analysis") / "sql" / folder
        for path in sorted(place.iterdir(), key=lambda path: path.name):
            if path.name.endswith(".sql"):
                yield f"{folder}/{path.name}", path.read_text(encoding="utf-8")
