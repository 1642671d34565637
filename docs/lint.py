"""Looks over the SQL library, and the fields of events: in recorder, reader and `dump.md`."""

import re
import sys
from pathlib import Path

from tracert_analysis.lint import complaints

from tracert.record.schema import SCHEMA

PAGE = Path(__file__).with_name("dump.md")
HEAD = "| kind | fields | what happened |\n"
ROW = re.compile(r"^\| (`\w+`(?: `\w+`)*) \| ([^|]*) \|", re.MULTILINE)
NOT_RECORDED = {
    "keyframe": ("page", "life", "state", "holders", "content"),
    "propose": ("request", "row", "step", "drafts", "positions"),
    "verify": ("request", "row", "step", "accepted", "frontier", "reason"),
}
"""Kinds and fields of the format that a dump may have, and that nothing here records."""
OF_ALL = {"actor"}
"""What every event has."""
OF_OTHERS = {"keyframe": {"holders"}, "workspace_plan": {"offset"}}
"""What the schema has beside: holders stand in the pages of a keyframe, and a plan has no offset yet."""


def told(page: str) -> dict[str, set[str]]:
    """The fields of each kind, as the page's table of events tells them."""
    fields: dict[str, set[str]] = {}
    table = page.partition(HEAD)[2].partition("\n\n")[0]
    for row in ROW.finditer(table):
        for kind in re.findall(r"\w+", row[1]):
            fields[kind] = set(re.findall(r"\w+", row[2]))
    return fields


def recorded() -> dict[str, set[str]]:
    """The fields of each kind, as the recorder's schema has them."""
    return {
        kind.name: {
            *(field.name for field in kind.fields),
            *(section.name for section in kind.sections),
        }
        - OF_OTHERS.get(kind.name, set())
        for kind in SCHEMA.kinds
    }


def untold(page: str) -> list[str]:
    """What is recorded, and no row of the page tells."""
    known = told(page)
    return [
        f"docs/dump.md: does not tell of the field {name} of {kind}"
        for kind, names in recorded().items()
        for name in sorted(names - known.get(kind, set()) - OF_ALL)
    ]


def main() -> int:
    """Print what is wrong, a line each."""
    page = PAGE.read_text(encoding="utf-8")
    fields = told(page)
    for one in (recorded(), NOT_RECORDED):
        for kind, names in one.items():
            fields[kind] = fields.get(kind, set()).union(names)
    found = untold(page) + complaints(fields)
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
