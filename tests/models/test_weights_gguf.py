"""Weights of GGUF files: bit for bit the gguf package's values, and the same model as its directory."""

from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch

from tests.models.conftest import make_tiny
from tests.models.ggufs import as_blocks, permute, write_gguf
from tests.models.paging import all_logits
from tracert.models.errors import ModelError, WeightsError
from tracert.models.fetch import ModelSource, resolve
from tracert.models.gguf_file import open_gguf
from tracert.models.load import load_config, load_model
from tracert.models.weights_gguf import GgufReader, dequantise, gguf_name, unpermute

PROMPT = list(range(3, 40))
Q4_0, Q4_1, Q5_0, Q8_0 = (
    getattr(gguf.GGMLQuantizationType, name) for name in ("Q4_0", "Q4_1", "Q5_0", "Q8_0")
)


@pytest.fixture
def model(tmp_path: Path) -> Any:
    """A tiny Llama, also saved to the directory `hf`."""
    return make_tiny("llama", tmp_path / "hf")


@pytest.mark.parametrize("kind", [Q4_0, Q4_1, Q8_0])
def test_dequantises_exactly(kind: gguf.GGMLQuantizationType) -> None:
    """Every block of random bits has the values that the package gives it."""
    generator = np.random.default_rng(8)
    nbytes = gguf.GGML_QUANT_SIZES[kind][1]
    blocks = generator.integers(0, 256, (500, nbytes), dtype=np.uint8)
    # Scales are finite: the upper bits of their exponents are cleared.
    blocks[:, [1, 3] if kind == Q4_1 else [1]] &= 0xBF
    expected = gguf.quants.dequantize(blocks, kind).reshape(500, 32)
    assert np.array_equal(expected, dequantise(torch.from_numpy(blocks), int(kind)).numpy())


def test_unpermute_undoes_permute() -> None:
    """Rows come back to the order in which a head's halves are rotated."""
    rows = torch.arange(24.0)[:, None].repeat(1, 3)
    assert permute(rows, 3)[:8, 0].tolist() == [0, 4, 1, 5, 2, 6, 3, 7]
    assert torch.equal(rows, unpermute(permute(rows, 3), 3))


@pytest.mark.parametrize("name", ["llama", "llama-tied", "llama-one-key-head"])
def test_same_model_as_its_directory(name: str, tmp_path: Path) -> None:
    """A model written as GGUF has the logits of the directory it was written from."""
    model = make_tiny(name, tmp_path / "hf")
    dim = model.config.head_dim
    metadata = {"llama.rope.dimension_count": dim, "llama.attention.key_length": dim}
    write_gguf(tmp_path / "model.gguf", model, metadata=metadata)
    directory, file = (load_model(resolve(str(tmp_path / path)), "fp32") for path in ("hf", "model.gguf"))
    assert torch.equal(all_logits(directory, PROMPT), all_logits(file, PROMPT))


@pytest.mark.parametrize("kind", [Q4_1, Q5_0, Q8_0, gguf.GGMLQuantizationType.BF16])
def test_block_types(kind: gguf.GGMLQuantizationType, tmp_path: Path) -> None:
    """Matrices in blocks, dequantised here or by the package, are the package's values in the right order."""
    model = make_tiny("llama-without-groups", tmp_path / "hf", hidden_size=96, intermediate_size=64)
    path = write_gguf(tmp_path / "blocks.gguf", model, store=as_blocks(kind))
    source = resolve(str(path))
    reader = GgufReader(open_gguf(path), load_config(source))
    for tensor in gguf.GGUFReader(path).tensors:
        values = torch.tensor(gguf.quants.dequantize(tensor.data, tensor.tensor_type))
        name = next(name for name in model.state_dict() if gguf_name(name) == tensor.name)
        if name.endswith(("q_proj.weight", "k_proj.weight")):
            values = unpermute(values, 6)
        assert torch.equal(values, reader(name, tuple(values.shape)).float()), name
    assert all_logits(load_model(source, "fp32"), PROMPT).isfinite().all()


def test_rope_divisors(tmp_path: Path) -> None:
    """Llama 3's stretched frequencies, which GGUF files keep as divisors, give the same logits."""
    model = make_tiny("llama-llama3", tmp_path / "hf")
    plain = model.config.rope_parameters["rope_theta"] ** -(torch.arange(0, 8, 2).float() / 8)
    divisors = plain / model.model.rotary_emb.inv_freq
    assert divisors.max() == 8.0

    def store(writer: gguf.GGUFWriter, name: str, values: Any) -> None:
        writer.add_tensor(name, values)
        if name == "token_embd.weight":
            writer.add_tensor("rope_freqs.weight", divisors.numpy())

    write_gguf(tmp_path / "model.gguf", model, store=store)
    directory, file = (load_model(resolve(str(tmp_path / path)), "fp32") for path in ("hf", "model.gguf"))
    torch.testing.assert_close(all_logits(directory, PROMPT), all_logits(file, PROMPT), rtol=0, atol=1e-3)


def test_linear_scaling(tmp_path: Path) -> None:
    """So does linear scaling, which they name in the metadata."""
    model = make_tiny("llama-linear", tmp_path / "hf")
    metadata = {"llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": 4.0}
    write_gguf(tmp_path / "model.gguf", model, metadata=metadata)
    directory, file = (load_model(resolve(str(tmp_path / path)), "fp32") for path in ("hf", "model.gguf"))
    assert torch.equal(all_logits(directory, PROMPT), all_logits(file, PROMPT))


def complaint(path: Path) -> str:
    """What loading the file says."""
    with pytest.raises(ModelError) as raised:
        load_model(resolve(str(path)), "fp32")
    assert "\n" not in str(raised.value)
    assert str(path) in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"general.architecture": "gemma"}, "the GGUF architecture 'gemma' is not supported"),
        ({"llama.block_count": None}, "the metadata lacks llama.block_count"),
        ({"llama.block_count": 4}, "the tensor blk.3.attn_q.weight is missing"),
        ({"llama.block_count": "three"}, "llama.block_count is no int"),
        ({"llama.feed_forward_length": 81}, "has shape (80, 48), the metadata makes it (81, 48)"),
        ({"llama.attention.head_count_kv": 4}, "6 attention heads cannot share 4"),
        ({"llama.rope.dimension_count": 4}, "over a part of the head"),
        ({"llama.rope.scaling.type": "yarn"}, "rope scaling 'yarn' is not supported"),
        ({"llama.expert_count": 8}, "mixture of experts"),
    ],
)  # fmt: skip
def test_refuses(metadata: dict[str, Any], expected: str, model: Any, tmp_path: Path) -> None:
    """Metadata that is missing, of another type, or does not fit the tensors is one line."""
    assert expected in complaint(write_gguf(tmp_path / "odd.gguf", model, metadata=metadata))


def test_missing_tensor(model: Any, tmp_path: Path) -> None:
    """The missing tensor is named as the file would name it."""
    path = write_gguf(tmp_path / "holes.gguf", model, without="blk.2.ffn_down.weight")
    assert "the tensor blk.2.ffn_down.weight is missing" in complaint(path)
    path = write_gguf(tmp_path / "empty.gguf", model, without="token_embd.weight")
    assert "token_embd.weight is missing" in complaint(path)


@pytest.mark.parametrize("lost", [1, 5_000, 60_000])
def test_truncated(lost: int, model: Any, tmp_path: Path) -> None:
    """A file that ends within a tensor says which, and where it ends."""
    path = write_gguf(tmp_path / "short.gguf", model)
    path.write_bytes(path.read_bytes()[: -lost - 31])
    assert "truncated: " in complaint(path)


def test_unknown_type(model: Any, tmp_path: Path) -> None:
    """A type that nobody can dequantise is named, with what to convert to."""
    path = write_gguf(tmp_path / "type.gguf", model)
    file = open_gguf(path)
    name = "blk.0.attn_v.weight"
    file.tensors[name] = file.tensors[name]._replace(type=250)
    with pytest.raises(WeightsError, match=r"attn_v\.weight is of type 250, which cannot be dequantised"):
        GgufReader(file, load_config(resolve(str(path))))("model.layers.0.self_attn.v_proj.weight", (16, 48))


def test_unknown_name() -> None:
    """A name that no Llama has is a mistake of the caller."""
    with pytest.raises(ValueError, match="q_norm"):
        gguf_name("model.layers.0.self_attn.q_norm.weight")


@pytest.mark.weights
def test_smollm2(smollm2: ModelSource) -> None:
    """SmolLM2's own tensors are dequantised bit for bit: one of each kind is compared."""
    config = load_config(smollm2)
    reader = GgufReader(open_gguf(smollm2.location), config)
    assert (config.layers, config.heads, config.kv_heads, config.vocab, config.tied) == (
        30,
        9,
        3,
        49152,
        True,
    )
    info = open_gguf(smollm2.location).tensors["blk.7.attn_k.weight"]
    raw = np.memmap(smollm2.location, np.uint8, "r", info.offset, (192, 576 // 32 * 20))
    expected = torch.from_numpy(gguf.quants.dequantize(raw, Q4_1))
    assert torch.equal(expected, permute(reader("model.layers.7.self_attn.k_proj.weight", (192, 576)), 3))
