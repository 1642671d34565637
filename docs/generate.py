"""Makes the pages that follow from the SQL library; `--check` only says whether they are up to date.

The reference of the SQL library, the answers in `sql.md` and its table of kinds of events, the list of the
findings, here and in the README, and the rule in each finding's page.
"""

import os
import re
import sys
import textwrap
from pathlib import Path

from tracert_analysis.comments import RANKS, Described, of_ranks
from tracert_analysis.explain import pages as explained
from tracert_analysis.reference import commented, entries, rules
from tracert_analysis.worked import answered

DOCS = Path(__file__).parent
PAGE = DOCS / "sql-reference.md"
ANSWERS = DOCS / "sql.md"
FORMAT = DOCS / "dump.md"
DUMPS = DOCS / "dumps"
INDEX = DOCS / "findings" / "README.md"
README = DOCS.parent / "README.md"
FINDINGS = DOCS.parent / "analysis" / "tracert_analysis" / "findings"
WIDTH = 119

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
_TOLD = re.compile(r"^\| (`\w+`(?: `\w+`)*) \| ([^|]*) \|", re.MULTILINE)
_OTHERWISE = {
    "clear": {"pages": "page_count"},
    "schedule": {"pages": "page_count"},
    "keyframe": {"pages": "keyframe_pages"},
    "keyframe_end": {"pages": "page_count"},
}
"""Fields that `event` has as another column: `pages` is a list of pages there."""
_OF_RANKS = "Beside the tables and views of all ranks together, each with its `rank` before it."


def page() -> str:
    """The whole reference page."""
    parts = [_INTRODUCTION]
    found = entries()
    for form, title, about in _FORMS:
        parts.append(f"## {title}\n\n{about}\n")
        parts += [_section(entry) for entry in found if entry.kind == form]
    parts.append(f"## Several dumps\n\n{_OF_RANKS}\n")
    parts += [_section(entry) for entry in commented(of_ranks()) if entry.name in RANKS]
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


def index(old: str) -> str:
    """The list of the findings: its introduction as it stands, a line a rule."""
    head, line, _ = old.partition("|---|---|---|\n")
    names = {code: found.name for code, found in explained().items()}
    return (
        head
        + line
        + "".join(
            f"| [{rule.code}](../../analysis/tracert_analysis/findings/{rule.code}.md) | {names[rule.code]} "
            f"| {_escaped(rule.sentence)} |\n"
            for rule in rules()
        )
    )


def summary(old: str) -> str:
    """The README: the table of rules in it, a line a rule."""
    head, line, rest = old.partition("| code | the rule that the history breaks |\n|---|---|\n")
    rows = "".join(f"| {rule.code} | {_escaped(rule.sentence)} |\n" for rule in rules())
    return head + line + rows + rest[rest.index("\n\n") + 1 :]


def kinds(old: str, told: str) -> str:
    """`sql.md` with its table of kinds of events, a line a row of the table in `dump.md`."""
    table = told.partition("| kind | fields | what happened |\n")[2].partition("\n\n")[0]
    head, line, rest = old.partition("| kind | columns |\n|---|---|\n")
    rows = "".join(f"| {found[1]} | {_columns(found[1], found[2])} |\n" for found in _TOLD.finditer(table))
    return head + line + rows + rest[rest.index("\n\n") + 1 :]


def _columns(named: str, fields: str) -> str:
    """The columns of `event` for the fields that these kinds have."""
    others = {
        name: column
        for kind in re.findall(r"\w+", named)
        for name, column in _OTHERWISE.get(kind, {}).items()
    }
    return " ".join(f"`{others.get(name, name)}`" for name in re.findall(r"\w+", fields))


def finding(old: str, sentence: str) -> str:
    """The page of a finding: between its heading and its first section stands the rule."""
    return re.sub(
        r"\A(# .+?\n\n).*?(?=^## )",
        lambda found: f"{found[1]}{textwrap.fill(sentence, WIDTH)}\n\n",
        old,
        count=1,
        flags=re.DOTALL | re.MULTILINE,
    )


def expected() -> dict[Path, str]:
    """What every generated page should be."""
    texts = {FINDINGS / f"{rule.code}.md": rule.sentence for rule in rules()}
    return {
        PAGE: page(),
        ANSWERS: kinds(
            answered(ANSWERS.read_text(encoding="utf-8"), DUMPS), FORMAT.read_text(encoding="utf-8")
        ),
        INDEX: index(INDEX.read_text(encoding="utf-8")),
        README: summary(README.read_text(encoding="utf-8")),
        **{path: finding(path.read_text(encoding="utf-8"), text) for path, text in texts.items()},
    }


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them."""
    if arguments not in ([], ["--check"]):
        print("usage: generate.py [--check]", file=sys.stderr)
        return 2
    old = [
        (path, text)
        for path, text in expected().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path, text in old:
        if arguments:
            print(f"{os.path.relpath(path, DOCS.parent)} is out of date: run `make docs`", file=sys.stderr)
        else:
            path.write_text(text, encoding="utf-8")
    return 1 if old and arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
