"""Text of a dump without what acts: it may be anybody's.

What a terminal would obey or an eye would be led astray by: control characters, directions, what has no
width, halves of surrogate pairs.
"""

import json
import unicodedata

REPLACED = "\N{REPLACEMENT CHARACTER}"

_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Unicode's categories of characters that are no mark on paper."""


def marks(text: str) -> str:
    """The text with a replacement for every character that is no mark on paper."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(REPLACED if unicodedata.category(sign) in _UNSEEN else sign for sign in text)


def escaped(text: str) -> str:
    """JSON with an escape for every such character that stands in its texts; its own line feeds stay."""
    if text.isascii() and "\x7f" not in text:
        return text
    return "".join(
        json.dumps(sign)[1:-1] if sign >= " " and unicodedata.category(sign) in _UNSEEN else sign
        for sign in text
    )
