"""Reads tensors from a GGUF file of the llama architecture, under Hugging Face names, dequantised.

The common block formats are dequantised here with torch, on all cores; the rest by the `gguf` package.
Values are bit for bit the ones that package yields.
"""

import re

import torch

from tracert.models.config import ModelConfig
from tracert.models.errors import WeightsError
from tracert.models.gguf_file import GgufFile, TensorInfo

_NAMES = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}
_LAYER_NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
_LAYER = re.compile(r"model\.layers\.(\d+)\.(.+)\.weight")

_PLAIN = {0: torch.float32, 1: torch.float16, 30: torch.bfloat16}
_Q4_0, _Q4_1, _Q8_0 = 2, 3, 8
_BLOCK = 32
"""Elements of a block of any of the three."""
_BLOCK_BYTES = {_Q4_0: 18, _Q4_1: 20, _Q8_0: 34}


class GgufReader:
    """A `TensorReader` over a GGUF file."""

    def __init__(self, file: GgufFile, config: ModelConfig) -> None:
        self._file = file
        self._config = config
        self._bytes = torch.frombuffer(file.data, dtype=torch.uint8)

    def __call__(self, name: str, shape: tuple[int, ...]) -> torch.Tensor:
        """The tensor in float32 (or as stored, when stored as floats), queries and keys in rotation order.

        WeightsError when it is missing, of another shape or of an unknown type, or the file is truncated.
        """
        stored = gguf_name(name)
        info = self._file.tensors.get(stored)
        if info is None:
            raise WeightsError(f"{self._file.path}: the tensor {stored} is missing")
        if info.shape != shape:
            raise WeightsError(
                f"{self._file.path}: the tensor {stored} has shape {info.shape}, "
                f"the metadata makes it {shape}"
            )
        values = self._dequantise(stored, info)
        if name.endswith("self_attn.q_proj.weight"):
            return unpermute(values, self._config.heads)
        if name.endswith("self_attn.k_proj.weight"):
            return unpermute(values, self._config.kv_heads)
        return values

    def _dequantise(self, name: str, info: TensorInfo) -> torch.Tensor:
        if info.type in _PLAIN:
            dtype = _PLAIN[info.type]
            elements = _product(info.shape)
            return self._take(name, info, elements * dtype.itemsize).view(dtype).view(info.shape)
        if info.type in _BLOCK_BYTES:
            blocks = self._blocks(name, info, _BLOCK, _BLOCK_BYTES[info.type])
            return dequantise(blocks, info.type).view(info.shape)
        return self._by_package(name, info)

    def _by_package(self, name: str, info: TensorInfo) -> torch.Tensor:
        from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
        from gguf.quants import dequantize

        try:
            kind = GGMLQuantizationType(info.type)
            block, block_bytes = GGML_QUANT_SIZES[kind]
            blocks = self._blocks(name, info, block, block_bytes)
            values = dequantize(blocks.view(info.shape[0], -1).numpy(), kind)
        except (ValueError, KeyError, NotImplementedError) as error:
            raise WeightsError(
                f"{self._file.path}: the tensor {name} is of type {info.type}, which cannot be dequantised; "
                "convert the file to Q8_0 or F16"
            ) from error
        return torch.from_numpy(values).view(info.shape)

    def _blocks(self, name: str, info: TensorInfo, block: int, block_bytes: int) -> torch.Tensor:
        if info.shape[-1] % block:
            raise WeightsError(
                f"{self._file.path}: rows of {name} are {info.shape[-1]} long, no multiple of {block}"
            )
        count = _product(info.shape) // block
        return self._take(name, info, count * block_bytes).view(count, block_bytes)

    def _take(self, name: str, info: TensorInfo, nbytes: int) -> torch.Tensor:
        end = info.offset + nbytes
        if end > self._bytes.numel():
            raise WeightsError(
                f"{self._file.path}: truncated: {name} ends at byte {end:,}, the file at "
                f"{self._bytes.numel():,}; fetch it again"
            )
        taken = self._bytes[info.offset : end]
        # Wider types cannot be viewed at odd addresses, and a file's alignment is its own.
        return taken if taken.data_ptr() % 8 == 0 else taken.clone()


def gguf_name(name: str) -> str:
    """The name in a GGUF file of a tensor that transformers calls `name`. ValueError for an unknown one."""
    if name in _NAMES:
        return _NAMES[name]
    match = _LAYER.fullmatch(name)
    if match is None or match[2] not in _LAYER_NAMES:
        raise ValueError(f"GGUF has no name for {name}")
    return f"blk.{match[1]}.{_LAYER_NAMES[match[2]]}.weight"


def unpermute(values: torch.Tensor, heads: int) -> torch.Tensor:
    """Rows of a query or key matrix from llama.cpp's order (pairs adjacent) to halves of a head."""
    rows, columns = values.shape
    return values.view(heads, rows // heads // 2, 2, columns).transpose(1, 2).reshape(rows, columns)


def dequantise(blocks: torch.Tensor, kind: int) -> torch.Tensor:
    """uint8 [N, bytes of a block] of Q4_0, Q4_1 or Q8_0 to float32 [N, 32]."""
    scale = blocks[:, :2].contiguous().view(torch.float16).float()
    if kind == _Q8_0:
        return blocks[:, 2:].view(torch.int8).float().mul_(scale)
    packed = blocks[:, 2 if kind == _Q4_0 else 4 :]
    values = torch.empty(len(blocks), _BLOCK)
    # The low halves of the bytes are the first 16 elements, the high halves the last.
    values[:, : _BLOCK // 2] = packed & 15
    values[:, _BLOCK // 2 :] = packed >> 4
    if kind == _Q4_0:
        return values.sub_(8.0).mul_(scale)
    return values.mul_(scale).add_(blocks[:, 2:4].contiguous().view(torch.float16).float())


def _product(shape: tuple[int, ...]) -> int:
    product = 1
    for extent in shape:
        product *= extent
    return product
