"""Text to token ids and back, for every kind of model.

Wraps the tokenizers library; where the vocabulary comes from is the business of `tokenizer_files`. No torch.
"""

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import tokenizers
from tokenizers import decoders

from tracert.models.chat import ChatTemplate
from tracert.models.text_stream import ByteStream, TextStream, WindowStream


class Tokenizer:
    """One vocabulary, the special ids of a model, and its chat template."""

    def __init__(
        self, backend: tokenizers.Tokenizer, bos_id: int | None, eos_ids: Sequence[int], chat: ChatTemplate
    ) -> None:
        self.bos_id = bos_id
        self.eos_ids = tuple(eos_ids)
        self.chat = chat
        self._backend = backend
        self._lock = threading.Lock()
        added = backend.get_added_tokens_decoder()
        self.vocab = max((backend.get_vocab_size(with_added_tokens=False), *(id_ + 1 for id_ in added)))
        """Ids below this may have a text; a model may have more of them (padding)."""
        self._special = {id_: token.content for id_, token in added.items() if token.special}
        self._byte_level = isinstance(backend.decoder, decoders.ByteLevel)
        self._bytes: dict[int, bytes] = {}

    def encode(self, text: str, *, add_special: bool = True, parse_special: bool = True) -> list[int]:
        """The ids of a text.

        `add_special`: with what the model expects around a text (a bos id, for some); not for rendered chats,
        whose template writes it. `parse_special`: special tokens written out in the text become their ids.
        """
        # The flag is a setting of the backend, so nobody else may encode meanwhile.
        with self._lock:
            self._backend.encode_special_tokens = not parse_special
            ids: list[int] = self._backend.encode(text, add_special_tokens=add_special).ids
        return ids

    def decode(self, ids: Iterable[int], *, skip_special: bool = True) -> str:
        """The text of ids. Bytes that are no UTF-8 become replacement characters, unknown ids nothing."""
        text: str = self._backend.decode(list(ids), skip_special_tokens=skip_special)
        return text

    def stream(self, *, skip_special: bool = True, keep: Collection[str] = ()) -> TextStream:
        """For the text of ids that come one by one; the pieces add up to what `decode` gives.

        `keep`: special tokens that are not skipped. Some models have the marks of their tool calls as such.
        """
        hidden = {id_ for id_, text in self._special.items() if skip_special and text not in keep}
        if self._byte_level:
            return ByteStream(lambda id_: b"" if id_ in hidden else self.token_bytes(id_))
        return WindowStream(
            lambda ids: self.decode([id_ for id_ in ids if id_ not in hidden], skip_special=False)
        )

    def token_bytes(self, id_: int) -> bytes:
        """The bytes that one id stands for, special ones spelt out; empty for an unknown id."""
        found = self._bytes.get(id_)
        if found is None:
            token = self._backend.id_to_token(id_)
            if token is None:
                found = b""
            elif self._byte_level:
                found = bytes_of_token(token)
            else:
                found = self.decode([id_], skip_special=False).encode()
            self._bytes[id_] = found
        return found

    def render_chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = True,
        **kwargs: Any,
    ) -> str:
        """The prompt that the messages make (`ChatTemplate.render`). Encode it with `add_special=False`."""
        return self.chat.render(messages, tools, add_generation_prompt, **kwargs)

    def chat_template(self, tools: bool) -> str | None:
        """The template that `render_chat` uses with or without tools; None when the model has none."""
        return self.chat.source(tools)


def bytes_of_token(token: str) -> bytes:
    """The bytes of a byte-level token; one that is not spelt in that alphabet (an added token) is UTF-8."""
    alphabet = _byte_of_character()
    try:
        return bytes(alphabet[character] for character in token)
    except KeyError:
        return token.encode()


def character_of_byte() -> dict[int, str]:
    """The alphabet of byte-level BPE (GPT-2): printable bytes as they are, the rest from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    characters = {byte: chr(byte) for byte in printable}
    for byte in range(256):
        if byte not in characters:
            characters[byte] = chr(0x100 + len(characters) - len(printable))
    return characters


@cache
def _byte_of_character() -> dict[str, int]:
    return {character: byte for byte, character in character_of_byte().items()}
