"""A tokenizer without a model: a byte is a token, 256 is EOS, 257 is BOS."""

import codecs
from collections.abc import Mapping, Sequence
from typing import Any

SPECIAL = {256: "<eos>", 257: "<bos>"}


class ByteStream:
    """UTF-8 from bytes that come one by one."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, tokens: Sequence[int]) -> str:
        """Whole characters only."""
        return self._decoder.decode(bytes(token for token in tokens if token < 256))

    def finish(self) -> str:
        """A replacement character for half a character."""
        return self._decoder.decode(b"", final=True)


class ByteTokenizer:
    """What the server needs of a tokenizer."""

    eos_ids = (256,)
    vocab = 258

    def encode(self, text: str, *, add_special: bool = True) -> list[int]:
        """UTF-8, after BOS."""
        return [257] * add_special + list(text.encode())

    def decode(self, ids: Sequence[int], *, skip_special: bool = True) -> str:
        """The text; half a character is a replacement character."""
        parts = [b"" if id_ > 255 and skip_special else self.token_bytes(id_) for id_ in ids]
        return b"".join(parts).decode("utf-8", "replace")

    def token_bytes(self, id_: int) -> bytes:
        """The byte, or the name of a special token."""
        return bytes([id_]) if id_ < 256 else SPECIAL[id_].encode()

    def stream(self) -> ByteStream:
        """For one answer."""
        return ByteStream()

    def render_chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = True,
        **kwargs: Any,
    ) -> str:
        """`role:content` by lines, the options in front; refuses a conversation that says "refuse me"."""
        if any(message["content"] == "refuse me" for message in messages):
            raise ValueError("roles must alternate")
        options = "".join(f"[{name}={value}]" for name, value in sorted(kwargs.items()))
        return options + "".join(f"{message['role']}:{message['content']}\n" for message in messages)
