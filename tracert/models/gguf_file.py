"""Reads the header of a GGUF file: its metadata, and where its tensors lie. Neither torch nor numpy needed.

The `gguf` package's reader makes an array object of every one of the 100,000 strings of a vocabulary, which
takes seconds; this one takes a tenth of one, and both processes read the header at every start. The format
is the one that the ggml project documents (`docs/gguf.md`), versions 2 and 3, little-endian.
"""

import mmap
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tracert.models.errors import WeightsError

_SCALARS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
_STRING = 8
_ARRAY = 9
_DIMENSIONS_MAX = 4


class TensorInfo(NamedTuple):
    """`shape` is row-major (the file has it reversed), `type` ggml's number, `offset` from the start."""

    shape: tuple[int, ...]
    type: int
    offset: int


@dataclass(frozen=True, slots=True)
class GgufFile:
    """An open GGUF file. Its bytes are mapped copy-on-write: nobody can change the file through them."""

    path: Path
    metadata: dict[str, Any]
    tensors: dict[str, TensorInfo]
    data: mmap.mmap

    def field(self, name: str, kind: type, default: Any = None) -> Any:
        """A metadata field. WeightsError when it is missing and has no default, or is of another type."""
        value = self.metadata.get(name, default)
        if value is None:
            raise WeightsError(f"{self.path}: the metadata lacks {name}")
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise WeightsError(f"{self.path}: the metadata's {name} is no {kind.__name__}")
        return value


def open_gguf(path: Path) -> GgufFile:
    """The header of the file. WeightsError when it is no GGUF file, truncated, or of an unknown version."""
    try:
        with path.open("rb") as file:
            start = file.read(8)
            if start[:4] != b"GGUF":
                raise WeightsError(f"{path}: not a GGUF file (it does not begin with GGUF)")
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except OSError as error:
        raise WeightsError(f"{path}: {error.strerror or error}") from error
    try:
        return _parse(path, data)
    except (struct.error, UnicodeDecodeError, RecursionError, _OutOfFileError) as error:
        raise WeightsError(f"{path}: the header is truncated or damaged; fetch the file again") from error


class _OutOfFileError(Exception):
    """A length in the header points behind the end of the file, or means nothing."""


class _Cursor:
    """Reads values one after the other."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data = data
        self.at = 0

    def scalar(self, layout: str) -> Any:
        value = struct.unpack_from(layout, self.data, self.at)[0]
        self.at += struct.calcsize(layout)
        return value

    def string(self) -> str:
        length = self.scalar("<Q")
        end = self.at + length
        if end > len(self.data):
            raise _OutOfFileError
        value = self.data[self.at : end].decode()
        self.at = end
        return value

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.string()
        if kind == _ARRAY:
            element, count = self.scalar("<I"), self.scalar("<Q")
            if count > len(self.data):
                raise _OutOfFileError
            if element in _SCALARS:
                layout = f"<{count}{_SCALARS[element][1]}"
                values = struct.unpack_from(layout, self.data, self.at)
                self.at += struct.calcsize(layout)
                return list(values)
            read: Callable[[], Any] = self.string if element == _STRING else lambda: self.value(element)
            return [read() for _ in range(count)]
        if kind not in _SCALARS:
            raise _OutOfFileError
        return self.scalar(_SCALARS[kind])


def _parse(path: Path, data: mmap.mmap) -> GgufFile:
    cursor = _Cursor(data)
    cursor.at = 4
    version = cursor.scalar("<I")
    if version not in (2, 3):
        raise WeightsError(f"{path}: GGUF version {version} is not supported (2 and 3, little-endian, are)")
    tensor_count, metadata_count = cursor.scalar("<Q"), cursor.scalar("<Q")
    metadata: dict[str, Any] = {}
    for _ in range(metadata_count):
        name = cursor.string()
        metadata[name] = cursor.value(cursor.scalar("<I"))
    found: list[tuple[str, tuple[int, ...], int, int]] = []
    for _ in range(tensor_count):
        name, dimensions = cursor.string(), cursor.scalar("<I")
        if dimensions > _DIMENSIONS_MAX:
            raise _OutOfFileError
        shape = tuple(cursor.scalar("<Q") for _ in range(dimensions))
        found.append((name, shape[::-1], cursor.scalar("<I"), cursor.scalar("<Q")))
    alignment = metadata.get("general.alignment", 32)
    if not isinstance(alignment, int) or alignment < 1:
        raise _OutOfFileError
    base = -(-cursor.at // alignment) * alignment
    tensors = {name: TensorInfo(shape, kind, base + offset) for name, shape, kind, offset in found}
    return GgufFile(path, metadata, tensors, data)
