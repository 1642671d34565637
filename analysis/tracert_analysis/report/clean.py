"""Text of a dump, fit to be shown: it may be anybody's, and as long as they like.

What acts becomes a replacement character; what is too long loses its middle.
"""

import re

from tracert_analysis.marks import marks

WORD_MAX = 160
"""Characters of one word that are shown."""

TEXT_MAX = 3000
"""Characters of one text that are shown."""

_LONG = re.compile(rf"\S{{{WORD_MAX + 1},}}")


def clean(text: str) -> str:
    """The text on one line, short enough, with nothing in it that acts."""
    return marks(shortened(text))


def shortened(text: str) -> str:
    """The text without the middle of words, and of all of it, where they are too long to be read."""
    if len(text) > TEXT_MAX:
        return f"{_LONG.sub(_ends, ends(text, TEXT_MAX))} ({len(text)} characters)"
    return _LONG.sub(lambda found: middle_out(found[0], WORD_MAX), text) if len(text) > WORD_MAX else text


def middle_out(text: str, most: int) -> str:
    """The text, of at most about so many characters: of a longer one its two ends, and how long it is."""
    return text if len(text) <= most else f"{ends(text, most)} ({len(text)} characters)"


def ends(text: str, most: int) -> str:
    """The two ends of a text that is longer than so many characters."""
    return f"{text[: most * 2 // 3]}...{text[-most // 4 :]}"


def _ends(word: re.Match[str]) -> str:
    return ends(word[0], WORD_MAX)
