"""Text to ids and back, whole and in a stream."""

from pathlib import Path

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken

from tests.models.conftest import make_tiny
from tests.models.ggufs import write_gguf
from tests.models.vocabularies import byte_level, sentence_piece, with_begin
from tracert.models.chat import ChatTemplate
from tracert.models.errors import ChatError, TokenizerError
from tracert.models.fetch import ModelSource, resolve
from tracert.models.load import load_tokenizer
from tracert.models.tokenizer import Tokenizer, bytes_of_token, character_of_byte

SPOKEN = ["", "Hello", "naïve café", "日本語 text", "👩‍👩‍👧 family", "a\u0301\n\t ", "0123"]


def wrap(backend: tokenizers.Tokenizer) -> Tokenizer:
    """A tokenizer with no template."""
    return Tokenizer(backend, 0, [2], ChatTemplate({}, {}, "here"))


BYTES = load_tokenizer(resolve("tiny-random"))
BYTE_LEVEL = wrap(byte_level())
SENTENCE_PIECE = wrap(sentence_piece())


def pieces(tokenizer: Tokenizer, ids: list[int], *, skip_special: bool = True) -> list[str]:
    """The text of every id in turn, and what was held back."""
    stream = tokenizer.stream(skip_special=skip_special)
    return [*(stream.push([id_]) for id_ in ids), stream.finish()]


@pytest.mark.parametrize("tokenizer", [BYTES, BYTE_LEVEL, SENTENCE_PIECE])
@given(text=st.text())
def test_round_trip(tokenizer: Tokenizer, text: str) -> None:
    """Every text, spelt-out special tokens too, comes back, streamed or whole, and never half a character."""
    # Sentence pieces drop what they write before a text, so one that begins with it is not kept apart.
    text = text.replace("▁", "_")
    ids = tokenizer.encode(text, parse_special=False)
    assert text == tokenizer.decode(ids)
    found = pieces(tokenizer, ids)
    assert text == "".join(found)
    assert "\ufffd" in text or not any("\ufffd" in piece for piece in found)


@pytest.mark.parametrize("tokenizer", [BYTES, BYTE_LEVEL])
@pytest.mark.parametrize("skip_special", [False, True])
@given(data=st.data())
def test_stream_adds_up_to_decode(tokenizer: Tokenizer, skip_special: bool, data: st.DataObject) -> None:
    """Any ids at all, invalid UTF-8 and special ones included, in any portions, add up to the whole text."""
    ids = data.draw(st.lists(st.integers(0, tokenizer.vocab + 5)))
    expected = tokenizer.decode(ids, skip_special=skip_special)
    assert expected == "".join(pieces(tokenizer, ids, skip_special=skip_special))
    stream = tokenizer.stream(skip_special=skip_special)
    cut = data.draw(st.integers(0, len(ids)))
    assert expected == stream.push(ids[:cut]) + stream.push(ids[cut:]) + stream.finish()


@pytest.mark.parametrize(
    ("tokenizer", "kept", "left"),
    [(BYTE_LEVEL, "<|im_start|>", "<|im_end|>"), (SENTENCE_PIECE, "<s>", "</s>")],
)
def test_marks_are_kept(tokenizer: Tokenizer, kept: str, left: str) -> None:
    """A stream leaves special tokens out, but those that it was told to keep."""
    ids = tokenizer.encode(f"{kept}a{left}", add_special=False)
    for keep, expected in (([kept], f"{kept}a"), ([], "a")):
        stream = tokenizer.stream(keep=keep)
        assert expected == (stream.push(ids) + stream.finish()).replace(" ", "")


def test_half_a_character_waits() -> None:
    """The bytes of a character are held back until the last of them; an unfinished one ends as U+FFFD."""
    assert pieces(BYTES, [0x61, 0xF0, 0x9F, 0x8E, 0x89, 0x62]) == ["a", "", "", "", "🎉", "b", ""]
    assert pieces(BYTES, [0xE6, 0xBC]) == ["", "", "\ufffd"]
    assert pieces(BYTES, [0xE6, 0x61]) == ["", "\ufffda", ""]


def test_bytes_that_never_end_are_let_out() -> None:
    """A window of tokens does not wait for ever for bytes that are no character."""
    byte = SENTENCE_PIECE.encode("\x80")[-1]
    found = pieces(SENTENCE_PIECE, [byte] * 9)
    assert found.count("") == len(found) - 3
    assert "\ufffd" * 9 == "".join(found)


def test_spaces_between_pieces() -> None:
    """A space that belongs to the next word is neither lost nor doubled in a stream."""
    ids = [SENTENCE_PIECE.encode(" the")[-1], *SENTENCE_PIECE.encode("page the")[-3:]]
    assert "".join(pieces(SENTENCE_PIECE, ids)) == SENTENCE_PIECE.decode(ids)


def test_special_tokens_in_a_text() -> None:
    """Special tokens written out are ids or plain text, as the caller says, and hidden or shown."""
    text = "a<|im_end|>b"
    assert BYTES.encode(text) == [97, 259, 98]
    assert BYTES.encode(text, parse_special=False) == list(text.encode())
    assert BYTES.encode(text) == [97, 259, 98]
    assert BYTES.decode([97, 259, 98]) == "ab"
    assert BYTES.decode([97, 259, 98], skip_special=False) == text


def test_added_tokens_that_are_not_special() -> None:
    """An added token with characters outside the byte alphabet is spelt as it is."""
    backend = byte_level()
    backend.add_tokens([AddedToken("<tool call>", special=False)])
    tokenizer = wrap(backend)
    ids = tokenizer.encode("x <tool call> y")
    assert "x <tool call> y" == tokenizer.decode(ids) == "".join(pieces(tokenizer, ids))
    assert tokenizer.token_bytes(ids[2]) == b"<tool call>"


def test_begin_is_added_once_asked() -> None:
    """What a model expects before a text is added unless the caller says not to."""
    tokenizer = wrap(with_begin(byte_level()))
    plain = tokenizer.encode("page", add_special=False)
    assert [0, *plain] == tokenizer.encode("page")


def test_token_bytes() -> None:
    """Every id has its bytes, an unknown one none."""
    assert [bytes([id_]) for id_ in range(256)] == [BYTES.token_bytes(id_) for id_ in range(256)]
    assert BYTES.token_bytes(259) == b"<|im_end|>"
    assert BYTES.token_bytes(100_000) == b""
    assert SENTENCE_PIECE.token_bytes(SENTENCE_PIECE.encode("é")[-1]) == "é".encode()


def test_alphabet() -> None:
    """The 256 characters are the library's, each for one byte."""
    alphabet = character_of_byte()
    assert set(tokenizers.pre_tokenizers.ByteLevel.alphabet()) == set(alphabet.values())
    assert all(bytes_of_token(character) == bytes([byte]) for byte, character in alphabet.items())
    assert bytes_of_token("Ġé") == b" \xe9"


def test_directory(tmp_path: Path) -> None:
    """A directory's tokenizer.json is read, with the ids of its configuration."""
    make_tiny("llama", tmp_path, vocab_size=400)
    byte_level().save(str(tmp_path / "tokenizer.json"))
    tokenizer = load_tokenizer(resolve(str(tmp_path)))
    assert (tokenizer.bos_id, tokenizer.eos_ids) == (1, (2,))
    assert tokenizer.encode("The page") == BYTE_LEVEL.encode("The page")


@pytest.mark.parametrize("text", ["", "{}", '{"model": {"type": "Nonesuch"}}'])
def test_damaged_tokenizer(text: str, tmp_path: Path) -> None:
    """A damaged tokenizer.json is one line."""
    make_tiny("llama", tmp_path)
    (tmp_path / "tokenizer.json").write_text(text)
    with pytest.raises(TokenizerError, match=r"tokenizer\.json: damaged \(") as raised:
        load_tokenizer(resolve(str(tmp_path)))
    assert "\n" not in str(raised.value)


def test_missing_tokenizer(tmp_path: Path) -> None:
    """A directory without one says what to do."""
    make_tiny("llama", tmp_path)
    with pytest.raises(TokenizerError, match=r"tokenizer\.json: missing; .*save_pretrained"):
        load_tokenizer(resolve(str(tmp_path)))


def test_tokenizer_of_another_model(tmp_path: Path) -> None:
    """A tokenizer with ids that the model lacks is refused: such an id would be a fault of the device."""
    make_tiny("llama", tmp_path)
    byte_level().save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(TokenizerError, match=r"the tokenizer has \d+ ids, the model 97"):
        load_tokenizer(resolve(str(tmp_path)))


@settings(deadline=None)
@given(text=st.text())
def test_gguf_tokenizer_splits_as_the_original(gguf_tokenizer: Tokenizer, text: str) -> None:
    """The tokenizer rebuilt from metadata gives the ids of the one it was written from."""
    assert BYTE_LEVEL.encode(text) == gguf_tokenizer.encode(text)


@pytest.fixture(scope="session")
def gguf_tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """The tokenizer of a GGUF file that was written from `byte_level`."""
    directory = tmp_path_factory.mktemp("gguf")
    model = make_tiny("llama", directory / "hf", vocab_size=400)
    path = write_gguf(directory / "model.gguf", model, tokenizer=byte_level())
    return load_tokenizer(resolve(str(path)))


def test_gguf_special_tokens(gguf_tokenizer: Tokenizer) -> None:
    """Control tokens of a GGUF file are special."""
    assert gguf_tokenizer.encode("<|im_start|>x<|im_end|>")[::2] == [1, 2]
    assert gguf_tokenizer.decode([1, 2]) == ""


def test_gguf_begin(tmp_path: Path) -> None:
    """`add_bos_token` puts the begin token before a text."""
    model = make_tiny("llama", tmp_path / "hf", vocab_size=400)
    path = write_gguf(
        tmp_path / "bos.gguf",
        model,
        tokenizer=byte_level(),
        metadata={"tokenizer.ggml.add_bos_token": True},
    )
    assert load_tokenizer(resolve(str(path))).encode("page")[0] == 1


@pytest.mark.parametrize(
    ("metadata", "complaint"),
    [
        ({"tokenizer.ggml.model": "llama"}, r"its tokenizer \(llama, smollm\) is not supported"),
        ({"tokenizer.ggml.pre": "qwen2"}, r"its tokenizer \(gpt2, qwen2\) is not supported"),
        ({"tokenizer.ggml.merges": None}, r"lacks tokenizer\.ggml\.merges"),
        ({"tokenizer.ggml.merges": ["nosuch token"]}, "its vocabulary is damaged"),
        ({"tokenizer.ggml.merges": ["nospace"]}, "its vocabulary is damaged"),
    ],
)
def test_gguf_refuses(metadata: dict[str, object], complaint: str, tmp_path: Path) -> None:
    """Tokenizers of another kind, and damaged ones, are one line."""
    model = make_tiny("llama", tmp_path / "hf", vocab_size=400)
    path = write_gguf(tmp_path / "odd.gguf", model, tokenizer=byte_level(), metadata=metadata)
    with pytest.raises(TokenizerError, match=complaint) as raised:
        load_tokenizer(resolve(str(path)))
    assert "\n" not in str(raised.value)


def test_no_template(gguf_tokenizer: Tokenizer) -> None:
    """Without a template a chat is refused, with what else to use."""
    with pytest.raises(ChatError, match=r"no chat template.*/v1/completions"):
        gguf_tokenizer.render_chat([{"role": "user", "content": "x"}])


@pytest.mark.weights
def test_smollm2(smollm2: ModelSource) -> None:
    """SmolLM2's tokenizer: known ids, numbers digit by digit, special tokens, and texts that come back."""
    tokenizer = load_tokenizer(smollm2)
    assert (tokenizer.vocab, tokenizer.bos_id, tokenizer.eos_ids) == (49152, 1, (2,))
    assert tokenizer.encode("Hello world") == [19556, 905]
    assert tokenizer.encode("<|im_start|>user\n1234<|im_end|>") == [1, 4093, 198, 33, 34, 35, 36, 2]
    # The superscript is a digit too, and so not joined with the space before it.
    assert len(tokenizer.encode(" ²")) == 2
    for text in SPOKEN:
        ids = tokenizer.encode(text)
        assert text == tokenizer.decode(ids) == "".join(pieces(tokenizer, ids))
