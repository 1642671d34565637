"""From where a model is to what can run: configuration, tokenizer with chat template, decoder.

Importing this module imports no torch, and only `load_model` does: the API process has no use for it.
"""

from typing import TYPE_CHECKING, Literal

from tracert.models.chat import AGENT, ChatTemplate, read_chat_template
from tracert.models.config import TINY_RANDOM, ModelConfig
from tracert.models.config_gguf import read_gguf_config
from tracert.models.config_hf import read_hf_config
from tracert.models.errors import ConfigError, TokenizerError
from tracert.models.fetch import ModelSource
from tracert.models.gguf_file import GgufFile, open_gguf
from tracert.models.tokenizer import Tokenizer
from tracert.models.tokenizer_files import (
    BYTE_SPECIAL,
    byte_tokenizer,
    read_gguf_tokenizer,
    read_tokenizer_json,
)

if TYPE_CHECKING:
    import torch

    from tracert.models.decoder import Decoder
    from tracert.models.weights import TensorReader

DtypeOption = Literal["auto", "fp32", "bf16", "fp16"]


def load_config(source: ModelSource) -> ModelConfig:
    """The model's configuration. ConfigError when it is unreadable or asks for what is not supported."""
    if source.kind == "random":
        return TINY_RANDOM
    if source.kind == "gguf":
        return read_gguf_config(open_gguf(source.location))
    return read_hf_config(source.location)


def load_tokenizer(source: ModelSource) -> Tokenizer:
    """The model's tokenizer, with its chat template. TokenizerError when it is missing or unusable."""
    if source.kind == "random":
        special = {"bos_token": BYTE_SPECIAL[0], "eos_token": BYTE_SPECIAL[1]}
        chat = ChatTemplate({"default": AGENT}, special, source.name)
        return Tokenizer(byte_tokenizer(), TINY_RANDOM.bos_id, TINY_RANDOM.eos_ids, chat)
    if source.kind == "gguf":
        file = open_gguf(source.location)
        config, backend, chat = read_gguf_config(file), read_gguf_tokenizer(file), _gguf_chat(file)
    else:
        directory = source.location
        config, backend, chat = (
            read_hf_config(directory),
            read_tokenizer_json(directory),
            read_chat_template(directory),
        )
    tokenizer = Tokenizer(backend, config.bos_id, config.eos_ids, chat)
    if tokenizer.vocab > config.vocab:
        # Such an id in a prompt would be a fault of the device.
        raise TokenizerError(
            f"{source.path}: the tokenizer has {tokenizer.vocab} ids, the model {config.vocab}: "
            "they do not belong together"
        )
    return tokenizer


def load_model(
    source: ModelSource, dtype: "torch.dtype | DtypeOption" = "auto", device: "torch.device | str" = "cpu"
) -> "Decoder":
    """The model's decoder, its weights in `dtype` on `device`.

    `auto` is bfloat16 where the device is fast at it, float32 elsewhere and for `tiny-random`. ConfigError
    or WeightsError when the model cannot be used as it is.
    """
    import torch
    from tracert_kernels.dispatch import for_device

    from tracert.models.decoder import Decoder
    from tracert.models.weights import assemble

    target = torch.device(device)
    chosen = dtype if isinstance(dtype, torch.dtype) else _dtype(source, dtype, target)
    config, reader = _open(source)
    return Decoder(config, assemble(config, reader, chosen, target), for_device(target.type))


def _open(source: ModelSource) -> "tuple[ModelConfig, TensorReader]":
    if source.kind == "random":
        from tracert.models.weights_random import RandomReader

        return TINY_RANDOM, RandomReader()
    if source.kind == "gguf":
        from tracert.models.weights_gguf import GgufReader

        file = open_gguf(source.location)
        config = read_gguf_config(file)
        return config, GgufReader(file, config)
    from tracert.models.weights_safetensors import SafetensorsReader

    return read_hf_config(source.location), SafetensorsReader(source.location)


def _dtype(source: ModelSource, option: DtypeOption, device: "torch.device") -> "torch.dtype":
    import torch

    from tracert.models.linear import fast_bfloat16

    if option == "auto":
        fast = source.kind != "random" and fast_bfloat16(device)
        return torch.bfloat16 if fast else torch.float32
    names = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
    if option not in names:
        raise ConfigError(f"unknown dtype {option!r}: give auto, fp32, bf16 or fp16")
    return names[option]


def _gguf_chat(file: GgufFile) -> ChatTemplate:
    template = file.metadata.get("tokenizer.chat_template")
    tokens: list[str] = file.field("tokenizer.ggml.tokens", list, [])
    names = {"bos": "bos_token", "eos": "eos_token", "unknown": "unk_token", "padding": "pad_token"}
    ids = {name: file.metadata.get(f"tokenizer.ggml.{key}_token_id") for key, name in names.items()}
    special = {
        name: tokens[id_] for name, id_ in ids.items() if isinstance(id_, int) and 0 <= id_ < len(tokens)
    }
    return ChatTemplate({"default": template} if template else {}, special, str(file.path))
