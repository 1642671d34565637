"""The page of each finding: its meaning, a real case, how to confirm it, what repairs and what only masks it.

The pages are Markdown files of this package, `findings/CODE.md`: a heading `# CODE name`, then the rule as a
sentence. What they say is the same for every dump.
"""

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

HEADING = re.compile(r"# (TR\d{3}) ([a-z-]+)\n\n(.+?)\n\n", re.DOTALL)
QUERY = re.compile(r"```sql\n(.*?)```", re.DOTALL)
SECTION = re.compile(r"^## (.+?)\n\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)


class UnknownCode(Exception):
    """No finding has this code or name; the message lists those that there are."""


class Page(NamedTuple):
    """One finding's page."""

    code: str
    name: str
    rule: str
    """The rule, in a sentence, that the finding says is broken."""
    text: str
    """The whole page, Markdown."""

    def query(self) -> str:
        """The SQL that confirms the finding on a dump."""
        found = QUERY.search(self.text)
        return found.group(1).strip() if found else ""

    def fixes(self) -> list[str]:
        """What works, an item each, on one line."""
        return self._items("Fixes that work")

    def how(self) -> str:
        """How what works belongs together: is one enough, are all needed? Without its stop; may be empty."""
        return self._section("Fixes that work").partition("\n\n")[0].strip().rstrip(".")

    def hardening(self) -> list[str]:
        """What makes the mistake harder to make again and repairs nothing that was made, an item each."""
        return self._items("What makes it harder to break")

    def detection(self) -> list[str]:
        """What shows the mistake sooner, or more plainly, and leaves it there, an item each."""
        return self._items("What shows it sooner")

    def masks(self) -> list[str]:
        """What only hides the finding, an item each, on one line."""
        return self._items("Fixes that only mask")

    def _items(self, section: str) -> list[str]:
        parts = re.split(r"^- ", self._section(section), flags=re.MULTILINE)
        return [" ".join(item.split()) for item in parts[1:]]

    def _section(self, title: str) -> str:
        found: dict[str, str] = dict(SECTION.findall(self.text))
        return found.get(title, "")


@cache
def pages() -> dict[str, Page]:
    """Every page by its code, in the order of the codes."""
    folder = files("tracert_analysis") / "findings"
    found = {}
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".md") and entry.name.startswith("TR"):
            text = entry.read_text(encoding="utf-8")
            heading = HEADING.match(text)
            if heading is None:
                raise ValueError(f"{entry.name} does not start with a heading and a rule")
            code, name, rule = heading.groups()
            found[code] = Page(code, name, " ".join(rule.split()), text)
    return found


def explain(code: str) -> Page:
    """The page of a finding, by code or by name, in any case. `UnknownCode` when there is none."""
    wanted = code.strip().lower()
    for page in pages().values():
        if wanted in (page.code.lower(), page.name):
            return page
    known = ", ".join(f"{page.code} {page.name}" for page in pages().values())
    raise UnknownCode(f"no finding is called {code!r}; there are: {known}")
