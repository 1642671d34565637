"""The checks that a row's result passes before it counts, each with a code of its own.

A step's result for a row is committed when the row's pages are mapped as far as it is computed, and the
distribution that its token was drawn from is one. With guards, besides: when the row named pages, and those
that the host had it name, at the time that the kernels followed it. What fails is reported by the check that
failed first: an invalid distribution is not an unmapped page. Code 6, INVALID_SPECULATION, is kept for what
is accepted of drafts, of which there are none yet.
"""

from typing import Any, Literal, NamedTuple

from tracert.engine.guards import Seen

Check = Literal["mapped", "pages", "row", "distribution"]
Code = tuple[int, str]

INVALID_DISTRIBUTION: Code = (7, "INVALID_DISTRIBUTION")
UNMAPPED_PAGE: Code = (8, "UNMAPPED_PAGE")
INVALID_PAGE: Code = (9, "INVALID_PAGE")
STALE_ROW: Code = (10, "STALE_ROW")

CODES: dict[Check, Code] = {
    "mapped": UNMAPPED_PAGE,
    "pages": INVALID_PAGE,
    "row": STALE_ROW,
    "distribution": INVALID_DISTRIBUTION,
}
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
    seen: Seen | None = None
    """What guarded kernels saw of the row."""

    @property
    def detail(self) -> dict[str, Any]:
        """What the history has of it beside code, name and message."""
        told = {"failed": list(self.failed), "row": self.row, "position": self.position}
        if self.seen is None:
            return told
        if self.seen.entries:
            index, page = self.seen.bad or self.seen.entries[0]
            told |= {"entry": index, "page": page}
        if self.seen.first is not None:
            layer, stage, position = self.seen.first
            told |= {"layer": layer, "class": stage, "value_position": position}
        return told

    @property
    def value(self) -> tuple[int, str, int]:
        """Where a value was first not finite: layer, class and position; layer -1 when only the output is."""
        if self.seen is not None and self.seen.first is not None:
            return self.seen.first
        return -1, "logits" if self.seen is not None else "", self.position


class Commit:
    """The checks, over pages of `page_size` positions."""

    def __init__(self, page_size: int) -> None:
        self._page_size = page_size

    def check(
        self, row: int, pages: int, end: int, *, finite: bool, seen: Seen | None = None
    ) -> Refused | None:
        """Of a row with so many `pages` whose result is for position `end` - 1. None when all is well.

        `seen` is what guarded kernels saw of the row.
        """
        failed: list[Check] = []
        if pages * self._page_size < end:
            failed.append("mapped")
        if seen is not None and seen.bad is not None:
            failed.append("pages")
        elif seen is not None and seen.entries:
            failed.append("row")
        if not finite or (seen is not None and seen.first is not None):
            failed.append("distribution")
        if not failed:
            return None
        code, name = CODES[failed[0]]
        message = f"{_words(failed[0], row, seen)}; the request was stopped"
        return Refused(code, name, message, tuple(failed), row, end - 1, seen)


def _words(check: Check, row: int, seen: Seen | None) -> str:
    if seen is None:
        return WORDS[check]
    if check == "pages" and seen.bad is not None:
        index, page = seen.bad
        what = "which is nobody's page" if page == 0 else "which is no page"
        return f"entry {index} of row {row} names {page}, {what}, and the kernels left the row out"
    if check == "row":
        index, page = seen.entries[0]
        return (
            f"entry {index} of row {row} named page {page} to the kernels, which is not what the host meant"
        )
    if check == "distribution" and seen.first is not None:
        layer, stage, position = seen.first
        what = "what attention gave is" if stage == "attention" else "keys or values are"
        return f"{what} not finite, first in layer {layer} at position {position}"
    return WORDS[check]
