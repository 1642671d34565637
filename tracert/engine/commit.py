"""The checks that a row's result passes before it counts, each with a code of its own.

A step's result for a row is committed when the row's pages are mapped as far as it is computed, and the
distribution that its token was drawn from is one. What fails is reported by the check that failed first:
an invalid distribution is not an unmapped page, and neither is an invalid speculation (6), which is for
what is accepted of drafts.
"""

from typing import Any, Literal, NamedTuple

Check = Literal["mapped", "distribution"]
Code = tuple[int, str]

INVALID_SPECULATION: Code = (6, "INVALID_SPECULATION")
INVALID_DISTRIBUTION: Code = (7, "INVALID_DISTRIBUTION")
UNMAPPED_PAGE: Code = (8, "UNMAPPED_PAGE")

CODES: dict[Check, Code] = {"mapped": UNMAPPED_PAGE, "distribution": INVALID_DISTRIBUTION}
WORDS: dict[Check, str] = {
    "mapped": "the row is computed further than it has pages",
    "distribution": "the model's output is not finite",
}


class Refused(NamedTuple):
    """Why a row's result does not count: `detail` names the checks that failed."""

    code: int
    name: str
    message: str
    detail: dict[str, Any]


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
        code, name = self.code(failed[0])
        message = f"{WORDS[failed[0]]}; the request was stopped"
        return Refused(code, name, message, {"failed": failed, "row": row, "position": end - 1})

    def code(self, check: Check) -> Code:
        """How a failed check is reported."""
        return CODES[check]
