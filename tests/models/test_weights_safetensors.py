"""Broken weights of a Hugging Face directory are one line each."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.models.conftest import make_tiny
from tracert.models.errors import WeightsError
from tracert.models.fetch import resolve
from tracert.models.load import load_model
from tracert.models.weights_safetensors import SafetensorsReader

QUERY = "model.layers.1.self_attn.q_proj.weight"


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A tiny Llama in one file."""
    make_tiny("llama", tmp_path)
    return tmp_path


def complaint(directory: Path) -> str:
    """What loading the model says."""
    with pytest.raises(WeightsError) as raised:
        load_model(resolve(str(directory)), "fp32")
    message = str(raised.value)
    assert "\n" not in message
    assert str(directory) in message
    return message


def change(directory: Path, name: str, tensor: torch.Tensor | None) -> None:
    """Replace one tensor of the file, or leave it out."""
    path = directory / "model.safetensors"
    tensors = load_file(path)
    del tensors[name]
    if tensor is not None:
        tensors[name] = tensor
    save_file(tensors, path)


def test_reads_the_stored_type(tiny: Path) -> None:
    """A tensor comes as it was stored; the decoder converts."""
    change(tiny, QUERY, torch.ones(48, 48, dtype=torch.bfloat16))
    assert torch.equal(torch.ones(48, 48, dtype=torch.bfloat16), SafetensorsReader(tiny)(QUERY, (48, 48)))


def test_missing_tensor(tiny: Path) -> None:
    """The missing tensor is named."""
    change(tiny, QUERY, None)
    assert f"the tensor {QUERY} is missing" in complaint(tiny)


def test_wrong_shape(tiny: Path) -> None:
    """Both shapes are named."""
    change(tiny, QUERY, torch.zeros(48, 47))
    assert f"{QUERY} has shape (48, 47), config.json makes it (48, 48)" in complaint(tiny)


def test_wrong_type(tiny: Path) -> None:
    """Integers are no weights."""
    change(tiny, QUERY, torch.zeros(48, 48, dtype=torch.int8))
    assert f"{QUERY} is of type I8" in complaint(tiny)


@pytest.mark.parametrize("kept", [0, 4, 200, 20_000])
def test_truncated_file(tiny: Path, kept: int) -> None:
    """A file that ends early is called broken, wherever it ends."""
    path = tiny / "model.safetensors"
    path.write_bytes(path.read_bytes()[:kept])
    assert "broken or truncated" in complaint(tiny)


def test_no_weights(tiny: Path) -> None:
    """A directory without weights says which files it lacks."""
    (tiny / "model.safetensors").unlink()
    assert "neither model.safetensors nor model.safetensors.index.json" in complaint(tiny)


@pytest.fixture
def sharded(tmp_path: Path) -> Path:
    """A tiny Llama in several files."""
    make_tiny("llama", tmp_path, max_shard_size="20KB")
    return tmp_path


def test_missing_shard(sharded: Path) -> None:
    """The shard that is not there is named."""
    shard = sorted(sharded.glob("model-0*.safetensors"))[1]
    shard.unlink()
    assert f"{shard}: this shard" in complaint(sharded)


def test_tensor_missing_from_index(sharded: Path) -> None:
    """So is a tensor that the index does not know."""
    path = sharded / "model.safetensors.index.json"
    index = json.loads(path.read_text())
    del index["weight_map"][QUERY]
    path.write_text(json.dumps(index))
    assert f"the tensor {QUERY} is missing" in complaint(sharded)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"weight_map": [1]}', '{"weight_map": {"a": 1}}'])
def test_damaged_index(sharded: Path, text: str) -> None:
    """An index that is none is refused."""
    (sharded / "model.safetensors.index.json").write_text(text)
    assert "not an index of shards" in complaint(sharded)
