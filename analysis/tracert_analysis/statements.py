"""Where statements of SQL end in what is typed: at a semicolon outside of quotes and comments."""

import re

_PIECE = re.compile(
    r"--[^\n]*(?P<line>\n|$)|/\*.*?(?P<block>\*/|$)|'[^']*(?P<text>'|$)|\"[^\"]*(?P<name>\"|$)|(?P<end>;)|.",
    re.DOTALL,
)


def split(text: str) -> tuple[list[str], str]:
    """The whole statements of `text`, each with its semicolon, and what is begun behind them.

    A statement of nothing but comments and white space is none. What is begun is empty when nothing is.
    """
    statements, start, said = [], 0, False
    for piece in _PIECE.finditer(text):
        if piece["end"]:
            if said:
                statements.append(text[start : piece.end()].strip())
            start, said = piece.end(), False
        elif not piece[0].startswith(("--", "/*")) and not piece[0].isspace():
            said = True
    rest = text[start:].strip()
    return statements, rest if said or "/*" in rest else ""
