"""Text of a token stream, piece by piece: never half a character, and the pieces add up to the whole text."""

import codecs
from collections.abc import Callable, Sequence

REPLACEMENT = "\ufffd"
_UNFINISHED_MAX = 4
"""After so many tokens a replacement character is taken as it is: no character has more bytes."""


class ByteStream:
    """The text of tokens that are bytes (byte-level BPE): an incremental UTF-8 decoder."""

    def __init__(self, token_bytes: Callable[[int], bytes]) -> None:
        """`token_bytes` gives the bytes that a token stands for, none for one that is to be skipped."""
        self._token_bytes = token_bytes
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, tokens: Sequence[int]) -> str:
        """The text that is certain now; the beginning of a character is held back."""
        return self._decoder.decode(b"".join(map(self._token_bytes, tokens)))

    def finish(self) -> str:
        """What was held back: a replacement character for a character that never ended, or nothing."""
        return self._decoder.decode(b"", final=True)


class WindowStream:
    """The text of tokens of any other kind: decodes a window of tokens twice and yields the difference.

    A token's text may depend on its neighbours (spaces at the beginning, bytes of a character), so the window
    begins with tokens whose text is out already.
    """

    def __init__(self, decode: Callable[[Sequence[int]], str]) -> None:
        """`decode` gives the text of a sequence of tokens."""
        self._decode = decode
        self._context: list[int] = []
        self._pending: list[int] = []

    def push(self, tokens: Sequence[int]) -> str:
        """The text that is certain now; the beginning of a character is held back."""
        text = ""
        for token in tokens:
            self._pending.append(token)
            text += self._take(final=False)
        return text

    def finish(self) -> str:
        """What was held back."""
        return self._take(final=True)

    def _take(self, *, final: bool) -> str:
        before = self._decode(self._context)
        after = self._decode(self._context + self._pending)
        if not final and after.endswith(REPLACEMENT) and len(self._pending) < _UNFINISHED_MAX:
            return ""
        text = after[len(before) :]
        # A window must not begin with tokens without text: what follows them would read as a beginning.
        self._context = self._pending if text else self._context + self._pending
        self._pending = []
        return text


TextStream = ByteStream | WindowStream
"""`push(tokens) -> str` for every batch of tokens, `finish() -> str` once at the end."""
