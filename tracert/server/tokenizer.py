"""What the API process needs of a tokenizer. Any object that has these methods will do; none is made here."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol


class TextStream(Protocol):
    """Turns the tokens of one answer into text as they come: the pieces together are the text of all."""

    def push(self, tokens: Sequence[int], /) -> str:
        """The text that is certain now; empty while a character is incomplete."""

    def finish(self) -> str:
        """What was still withheld."""


class Tokenizer(Protocol):
    """Text to token ids and back. Used from several threads at once."""

    @property
    def eos_ids(self) -> Sequence[int]:
        """The tokens that end an answer; never part of its text."""

    @property
    def vocab(self) -> int:
        """Ids are below this."""

    def encode(self, text: str, /, *, add_special: bool = True) -> list[int]:
        """Token ids of a text; with what the model expects at its start (BOS), unless told not to."""

    def decode(self, ids: Sequence[int], /, *, skip_special: bool = True) -> str:
        """The text of token ids, special tokens left out or spelt out."""

    def token_bytes(self, id_: int, /) -> bytes:
        """The bytes that one token stands for: perhaps only a part of a character."""

    def stream(self, *, keep: Collection[str] = ()) -> TextStream:
        """A fresh stream, for one answer; special tokens are left out, but those spelt as in `keep`."""

    def chat_template(self, tools: bool) -> str | None:
        """The source of the template that `render_chat` uses with or without tools; None without one."""

    def render_chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = True,
        **kwargs: Any,
    ) -> str:
        """The prompt of a conversation, up to where the assistant begins, special tokens included.

        `kwargs` are further variables of the model's chat template.
        Raises an exception whose text is for the user when the template refuses the messages.
        """
