"""A tokenizer without a model: a byte is a token, 256 is EOS, 257 is BOS."""

import codecs
from collections.abc import Collection, Mapping, Sequence
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


AGENT_TEMPLATE = "tools tool_calls 'tool' <tool_call> <think>"
"""What the server looks for in the text of a template; nobody renders it."""


class ByteTokenizer:
    """What the server needs of a tokenizer."""

    eos_ids = (256,)
    vocab = 258

    def __init__(self, template: str | None = AGENT_TEMPLATE) -> None:
        """`template`: what `chat_template` gives."""
        self.template = template

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

    def stream(self, *, keep: Collection[str] = ()) -> ByteStream:
        """For one answer; no special token is spelt like a mark."""
        return ByteStream()

    def chat_template(self, tools: bool) -> str | None:
        """One for all conversations."""
        return self.template

    def render_chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = True,
        **kwargs: Any,
    ) -> str:
        """`role:content` by lines, in front the options and the tools' names; calls after the content.

        Refuses a conversation that says "refuse me". The option `think` begins the reasoning.
        """
        if any(message["content"] == "refuse me" for message in messages):
            raise ValueError("roles must alternate")
        options = "".join(f"[{name}={value}]" for name, value in sorted(kwargs.items()))
        names = "".join(f"{{{tool['function']['name']}}}" for tool in tools or ())
        lines = [f"{message['role']}:{message['content']}{_calls(message)}\n" for message in messages]
        return options + names + "".join(lines) + ("<think>\n" if kwargs.get("think") else "")


def _calls(message: Mapping[str, Any]) -> str:
    calls = [call["function"] for call in message.get("tool_calls", ())]
    return "".join(f" {call['name']}({sorted(call['arguments'].items())})" for call in calls)
