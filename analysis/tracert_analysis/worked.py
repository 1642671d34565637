"""Questions with their answers, for a page of documentation: the answers are asked of real dumps.

In the page, a `sql` block that a `text` block follows is a question, and the text block is its answer. It is
asked of the dump that the page named last, as `docs/dumps/NAME.jsonl.zst`. Asked in this process: the queries
are our own.
"""

import io
import re
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from tracert_analysis.answers import write_answer
from tracert_analysis.load import open_dump
from tracert_analysis.query_process import plain
from tracert_analysis.safe_query import Answer

PART = re.compile(
    r"docs/dumps/(?P<dump>[\w-]+\.jsonl\.zst)"
    r"|(?P<query>```sql\n.*?\n)```\n\n```text\n(?P<answer>.*?)```\n",
    re.DOTALL,
)


class BrokenExample(Exception):
    """A query of the page does not run; the message names its line and says why."""


def answered(page: str, dumps: Path) -> str:
    """The page with every answer as it is now. `BrokenExample` when a query fails or names no dump."""
    current: Path | None = None

    def replaced(found: re.Match[str]) -> str:
        nonlocal current
        if found["dump"]:
            current = dumps / found["dump"]
            return found[0]
        line = page.count("\n", 0, found.start()) + 2
        if current is None:
            raise BrokenExample(f"line {line}: the page names no dump before this query")
        query = found["query"].removeprefix("```sql\n")
        try:
            text = _asked(str(current), query)
        except duckdb.Error as error:
            raise BrokenExample(f"line {line}: {str(error).splitlines()[0]}") from None
        return f"{found['query']}```\n\n```text\n{text}```\n"

    return PART.sub(replaced, page)


def _asked(dump: str, query: str) -> str:
    result = _opened(dump).execute(query)
    rows: list[list[Any]] = [[plain(value) for value in row] for row in result.fetchall()]
    columns = result.description
    out = io.StringIO()
    write_answer(
        Answer([column[0] for column in columns], [str(column[1]) for column in columns], iter(rows)),
        "table",
        out,
    )
    return out.getvalue()


@cache
def _opened(dump: str) -> duckdb.DuckDBPyConnection:
    """A dump is opened once, however often its page is made."""
    return open_dump(dump).connection
