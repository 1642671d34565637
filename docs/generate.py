"""Makes the pages under docs/ that follow from the code; `--check` only says whether they are up to date."""

import sys
from pathlib import Path

from tracert_analysis.comments import Described
from tracert_analysis.reference import entries, rules

PAGE = Path(__file__).parent / "sql-reference.md"

_INTRODUCTION = """# SQL reference

`tracert sql DUMP [QUERY]` opens a dump as DuckDB tables. This page is made from the comments in
`analysis/tracert_analysis/sql/` by `make docs`; don't edit it.

A launch is ordered before another when `happens_before(a, b)` says so. `seq` is the order in which the
host did things, and no order between streams. Names that start with `_` are private and may change.
"""
_FORMS = (
    ("table", "Tables", "What stands in the dump."),
    ("view", "Views", "What follows from it."),
    ("macro", "Macros", "Answers. Those with columns stand behind `FROM`, such as `FROM last_writer(17)`."),
)


def page() -> str:
    """The whole reference page."""
    parts = [_INTRODUCTION]
    found = entries()
    for form, title, about in _FORMS:
        parts.append(f"## {title}\n\n{about}\n")
        parts += [_section(entry) for entry in found if entry.kind == form]
    parts.append("## Findings\n\nEach is a query that returns no row when its rule holds.\n")
    parts.append(
        "\n".join(
            ["| code | the rule, when it holds |", "|---|---|"]
            + [
                f"| [{rule.code}](../analysis/tracert_analysis/findings/{rule.code}.md) | {rule.sentence} |"
                for rule in rules()
            ]
        )
        + "\n"
    )
    return "\n".join(parts)


def _section(entry: Described) -> str:
    lines = [f"### `{_signature(entry)}`", "", entry.comment, ""]
    if entry.columns:
        lines += ["| column | type | |", "|---|---|---|"]
        lines += [
            f"| `{column.name}` | {_escaped(column.type or '')} | {_escaped(column.comment)} |"
            for column in entry.columns
        ]
        lines.append("")
    return "\n".join(lines)


def _signature(entry: Described) -> str:
    return f"{entry.name}({', '.join(entry.parameters)})" if entry.kind == "macro" else entry.name


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them."""
    expected = page()
    if arguments == ["--check"]:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != expected:
            print("docs/sql-reference.md is out of date: run `make docs`", file=sys.stderr)
            return 1
        return 0
    if arguments:
        print("usage: generate.py [--check]", file=sys.stderr)
        return 2
    PAGE.write_text(expected, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
