"""The text of a schedule that ran: `replay:` and, run-length coded, what the device did.

    replay = "replay:" item*
    item   = count? unit
    unit   = "."                  a device call that draws begins: a launch, a query or a synchronise
           | "a" ... "z"          one launch of stream 0 ... 25 ran
           | "_" number "_"       one launch of a stream from 26 on ran
    count  = how often, 2 or more

`replay:2.b.3ac` is: a call in which nothing ran, one in which stream 1 ran a launch, and one in which
stream 0 ran three and then stream 2 one. No character needs quoting in a shell.
"""

import re
from collections.abc import Iterable
from itertools import groupby

CALL = -1
"""In a trace, a device call begins; every other number is a stream that ran one launch."""

PREFIX = "replay:"
LIMIT = 10_000_000
"""Units in one text: more is a typing error, and would not fit into memory."""

_ITEM = re.compile(r"(\d*)(?:(\.)|([a-z])|_(\d{1,9})_)")


class ScheduleError(ValueError):
    """A schedule that cannot be read, in one line."""


def encode(trace: Iterable[int]) -> str:
    """The text of a trace."""
    items = []
    for unit, group in groupby(trace):
        count = sum(1 for _ in group)
        items.append(f"{count if count > 1 else ''}{_unit(unit)}")
    return PREFIX + "".join(items)


def decode(text: str) -> list[list[int]]:
    """The streams that ran, a list for each device call. ScheduleError when the text is none of ours."""
    calls: list[list[int]] = []
    total = 0
    at = len(PREFIX)
    if not text.startswith(PREFIX):
        raise ScheduleError(f"{text[:20]!r} does not begin with {PREFIX!r}")
    while at < len(text):
        item = _ITEM.match(text, at)
        if item is None:
            raise ScheduleError(
                f"replay: nothing is meant by {text[at : at + 10]!r} at character {at + 1}; "
                "use the text as a run printed it"
            )
        digits, call, letter, number = item.groups()
        if len(digits) > 9 or (total := total + int(digits or 1)) > LIMIT:
            raise ScheduleError(f"replay: more than {LIMIT} steps at character {at + 1}")
        if call:
            calls.extend([] for _ in range(int(digits or 1)))
        elif not calls:
            raise ScheduleError("replay: the text must begin with '.', possibly after a count")
        else:
            stream = ord(letter) - ord("a") if letter else int(number)
            calls[-1].extend([stream] * int(digits or 1))
        at = item.end()
    return calls


def _unit(unit: int) -> str:
    if unit == CALL:
        return "."
    return chr(ord("a") + unit) if unit < 26 else f"_{unit}_"
