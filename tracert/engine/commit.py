"""The checks that a row's result passes before it counts, each with a code of its own.

A step's result for a row is committed when the row's pages are mapped as far as it is computed, and the
distribution that its token was drawn from is one. What fails is reported by the check that failed first:
an invalid distribution is not an unmapped page. Code 6, INVALID_SPECULATION, is kept for what is accepted of
drafts, of which there are none yet.
"""

from typing import Any, Literal, NamedTuple

Check = Literal["mapped", "distribution"]
Code = tuple[int, str]

INVALID_DISTRIBUTION: Code = (7, "INVALID_DISTRIBUTION")
UNMAPPED_PAGE: Code = (8, "UNMAPPED_PAGE")

CODES: dict[Check, Code] = {"mapped": UNMAPPED_PAGE, "distribution": INVALID_DISTRIBUTION}
WORDS: dict[Check, str] = {
    "mapped": "the row is computed further than it has pages",
    "distribution": "the model's output is not finite",
}


class Refused(NamedTuple):
    """Why the result for a row's position does not count: the checks that `failed`, in their order."""

    code: int
    name: str
    message: str
    failed: tuple[Check, ...]
    row: int
    position: int

    @property
    def detail(self) -> dict[str, Any]:
        """What the history has of it beside code, name and message."""
        return {"failed": list(self.failed), "row": self.row, "position": self.position}


class Commit:
    """The checks, over pages of `page_size` positions."""

    def __init__(self, page_size: int) -> None:
        self._page_size = page_size

    def check(self, row: int, pages: int, end: int, *, finite: bool) -> Refused | None:
        """Of a row with so many `pages` whose result is for position `end` - 1. None when all is well."""
        failed: list[Check] = []
        if pages * self._page_size < end:
            failed.append("mapped")
        if not finite:
            failed.append("distribution")
        if not failed:
            return None
        code, name = CODES[failed[0]]
        message = f"{WORDS[failed[0]]}; the request was stopped"
        return Refused(code, name, message, tuple(failed), row, end - 1)
