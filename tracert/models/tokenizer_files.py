"""Where vocabularies come from: a `tokenizer.json`, the metadata of a GGUF file, or the 256 bytes."""

from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

from tracert.models.errors import TokenizerError, WeightsError
from tracert.models.gguf_file import GgufFile
from tracert.models.tokenizer import character_of_byte

BYTE_SPECIAL = ("<|begin|>", "<|end|>", "<|im_start|>", "<|im_end|>")
"""Ids 256 and on of the byte tokenizer."""
_CONTROL, _USER_DEFINED = 3, 4


def read_tokenizer_json(directory: Path) -> Tokenizer:
    """The tokenizer of a Hugging Face directory. TokenizerError when there is none, or it is damaged."""
    path = directory / "tokenizer.json"
    if not path.is_file():
        raise TokenizerError(
            f"{path}: missing; load the model's tokenizer with transformers and save it with save_pretrained"
        )
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:
        # The library raises plain Exception for whatever it does not like.
        line = " ".join(str(error).split())
        raise TokenizerError(f"{path}: damaged ({line}); fetch it again") from error


def read_gguf_tokenizer(file: GgufFile) -> Tokenizer:
    """A byte-level BPE tokenizer from a GGUF file's metadata. TokenizerError for one of another kind."""
    try:
        return _read_gguf(file)
    except WeightsError as error:
        raise TokenizerError(str(error)) from error


def _read_gguf(file: GgufFile) -> Tokenizer:
    model: str = file.field("tokenizer.ggml.model", str)
    split: str = file.field("tokenizer.ggml.pre", str, "default")
    if model != "gpt2" or split not in ("smollm", "gpt-2"):
        raise TokenizerError(
            f"{file.path}: its tokenizer ({model}, {split}) is not supported in GGUF "
            "(gpt2 with smollm or gpt-2 is); give the model as a Hugging Face directory"
        )
    tokens: list[str] = file.field("tokenizer.ggml.tokens", list)
    kinds: list[int] = file.field("tokenizer.ggml.token_type", list, [])
    merges: list[str] = file.field("tokenizer.ggml.merges", list)
    try:
        pairs = [(left, right) for left, right in (merge.split(" ", 1) for merge in merges)]
        bpe = models.BPE({token: id_ for id_, token in enumerate(tokens)}, pairs)
    except Exception as error:
        raise TokenizerError(f"{file.path}: its vocabulary is damaged ({error}); fetch it again") from error
    tokenizer = Tokenizer(bpe)
    words = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    digits = pre_tokenizers.Digits(individual_digits=True)
    # SmolLM's numbers are split digit by digit, before words are.
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, words]) if split == "smollm" else words
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_tokens(
        [
            AddedToken(tokens[id_], special=kind == _CONTROL, normalized=False)
            for id_, kind in enumerate(kinds)
            if kind in (_CONTROL, _USER_DEFINED)
        ]
    )
    if file.metadata.get("tokenizer.ggml.add_bos_token"):
        bos: int = file.field("tokenizer.ggml.bos_token_id", int)
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{tokens[bos]} $A", special_tokens=[(tokens[bos], bos)]
        )
    return tokenizer


def byte_tokenizer() -> Tokenizer:
    """One id a byte, 0 to 255, and four special ones; no bos is added."""
    vocabulary = {character: byte for byte, character in character_of_byte().items()}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, normalized=False) for token in BYTE_SPECIAL])
    return tokenizer
