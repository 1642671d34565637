"""Reads tensors from the safetensors files of a Hugging Face directory, one file or shards with an index."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from tracert.models.errors import WeightsError

_SINGLE = "model.safetensors"
_INDEX = "model.safetensors.index.json"
_DTYPES = ("F32", "F16", "BF16", "F64")


class SafetensorsReader:
    """A `TensorReader` over the files of a directory. The files stay mapped while it lives."""

    def __init__(self, directory: Path) -> None:
        """WeightsError when there are no such files, or the index is damaged."""
        self._directory = directory
        self._files: dict[Path, Any] = {}
        if (directory / _INDEX).is_file():
            self._shard_of: dict[str, str] | None = _read_index(directory / _INDEX)
        elif (directory / _SINGLE).is_file():
            self._shard_of = None
        else:
            raise WeightsError(f"{directory}: no weights: neither {_SINGLE} nor {_INDEX} is there")

    def __call__(self, name: str, shape: tuple[int, ...]) -> torch.Tensor:
        """The tensor as stored. WeightsError when it is missing, of another shape or in a broken file."""
        if self._shard_of is None:
            path = self._directory / _SINGLE
        elif name in self._shard_of:
            path = self._directory / self._shard_of[name]
        else:
            raise WeightsError(f"{self._directory / _INDEX}: the tensor {name} is missing")
        try:
            file = self._open(path)
            stored = file.get_slice(name)
            found = tuple(stored.get_shape())
            if found != shape:
                raise WeightsError(
                    f"{path}: the tensor {name} has shape {found}, config.json makes it {shape}"
                )
            if stored.get_dtype() not in _DTYPES:
                raise WeightsError(f"{path}: the tensor {name} is of type {stored.get_dtype()}, not a float")
            tensor: torch.Tensor = file.get_tensor(name)
        except (SafetensorError, OSError) as error:
            if "does not contain tensor" in str(error):
                raise WeightsError(f"{path}: the tensor {name} is missing") from error
            raise WeightsError(
                f"{path}: broken or truncated ({_first_line(error)}); fetch it again"
            ) from error
        return tensor

    def _open(self, path: Path) -> Any:
        if path not in self._files:
            if not path.is_file():
                raise WeightsError(f"{path}: this shard of the weights is missing")
            self._files[path] = safe_open(path, framework="pt")
        return self._files[path]


def _read_index(path: Path) -> dict[str, str]:
    try:
        shards = json.loads(path.read_text(encoding="utf-8"))["weight_map"]
        if not all(isinstance(shard, str) for shard in shards.values()):
            raise TypeError
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise WeightsError(f"{path}: not an index of shards (weight_map); fetch it again") from error
    return dict(shards)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
