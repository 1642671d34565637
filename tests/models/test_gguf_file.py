"""The header of a GGUF file, against the package that defines the format, and broken in every way."""

import struct
from pathlib import Path

import gguf
import numpy as np
import pytest

from tracert.models.errors import WeightsError
from tracert.models.gguf_file import open_gguf


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with a field of every type and two tensors."""
    writer = gguf.GGUFWriter(tmp_path / "all.gguf", "llama")
    writer.add_uint8("u8", 200)
    writer.add_int8("i8", -100)
    writer.add_uint16("u16", 60_000)
    writer.add_int16("i16", -30_000)
    writer.add_uint32("u32", 4_000_000_000)
    writer.add_int32("i32", -2_000_000_000)
    writer.add_uint64("u64", 2**63)
    writer.add_int64("i64", -(2**62))
    writer.add_float32("f32", 0.5)
    writer.add_float64("f64", 0.1)
    writer.add_bool("yes", True)
    writer.add_string("text", "héllo")
    writer.add_array("words", ["a", "", "漢字"])
    writer.add_array("numbers", [1, -2, 3])
    writer.add_array("nested", [[1, 2], [3]])
    writer.add_custom_alignment(64)
    writer.add_tensor("matrix", np.arange(12, dtype=np.float32).reshape(3, 4))
    writer.add_tensor("vector", np.arange(5, dtype=np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return tmp_path / "all.gguf"


def test_metadata(path: Path) -> None:
    """Every type of field arrives as the Python value it stands for."""
    expected = {
        "general.architecture": "llama",
        "u8": 200,
        "i8": -100,
        "u16": 60_000,
        "i16": -30_000,
        "u32": 4_000_000_000,
        "i32": -2_000_000_000,
        "u64": 2**63,
        "i64": -(2**62),
        "f32": 0.5,
        "f64": 0.1,
        "yes": True,
        "text": "héllo",
        "words": ["a", "", "漢字"],
        "numbers": [1, -2, 3],
        "nested": [[1, 2], [3]],
        "general.alignment": 64,
    }
    assert expected == open_gguf(path).metadata


def test_tensors(path: Path) -> None:
    """Tensors are where the package says, with their shapes the right way round."""
    file = open_gguf(path)
    theirs = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}
    assert {name: int(tensor.data_offset) for name, tensor in theirs.items()} == {
        name: info.offset for name, info in file.tensors.items()
    }
    assert file.tensors["matrix"].shape == (3, 4)
    matrix = np.frombuffer(file.data, np.float32, 12, file.tensors["matrix"].offset)
    assert matrix.tolist() == list(range(12))


def test_truncated_header(path: Path, tmp_path: Path) -> None:
    """Wherever the header ends too early, that is what is said."""
    whole = path.read_bytes()
    header = open_gguf(path).tensors["matrix"].offset - 64
    for kept in range(0, header, 7):
        short = tmp_path / "short.gguf"
        short.write_bytes(whole[:kept])
        with pytest.raises(WeightsError, match=r"short\.gguf: (not a GGUF file|the header is truncated)"):
            open_gguf(short)


@pytest.mark.parametrize("value", [0, 0x7F, 0xFF])
def test_damaged_header(path: Path, tmp_path: Path, value: int) -> None:
    """A wrong byte anywhere in the header gives another file or one line, never a crash or a hang."""
    whole = path.read_bytes()
    complaints = set()
    for at in range(4, open_gguf(path).tensors["matrix"].offset, 3):
        damaged = tmp_path / "damaged.gguf"
        damaged.write_bytes(whole[:at] + bytes([value]) + whole[at + 1 :])
        try:
            open_gguf(damaged)
        except WeightsError as error:
            complaints.add(str(error).removeprefix(f"{damaged}: "))
    assert "the header is truncated or damaged; fetch the file again" in complaints
    assert not any("\n" in complaint for complaint in complaints)


def test_endless_nesting(tmp_path: Path) -> None:
    """Arrays of arrays without end are refused too."""
    header = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1) + b"a" + struct.pack("<I", 9)
    (tmp_path / "deep.gguf").write_bytes(header + struct.pack("<IQ", 9, 1) * 5000)
    with pytest.raises(WeightsError, match="truncated or damaged"):
        open_gguf(tmp_path / "deep.gguf")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "not a GGUF file"),
        (b"PK\x03\x04 a zip file", "not a GGUF file"),
        (b"GGUF\x01\x00\x00\x00" + bytes(16), "version 1 is not supported"),
        (b"GGUF\x00\x00\x00\x03" + bytes(16), "version 50331648 is not supported"),
    ],
)
def test_other_files(content: bytes, complaint: str, tmp_path: Path) -> None:
    """Files of another kind, version or byte order are refused."""
    (tmp_path / "other.gguf").write_bytes(content)
    with pytest.raises(WeightsError, match=complaint):
        open_gguf(tmp_path / "other.gguf")


def test_missing_file(tmp_path: Path) -> None:
    """A file that is not there is one line too."""
    with pytest.raises(WeightsError, match="No such file"):
        open_gguf(tmp_path / "none.gguf")


def test_fields_are_checked(path: Path) -> None:
    """A field of another type, or one that is missing, is named."""
    file = open_gguf(path)
    assert file.field("u8", float) == 200.0
    assert file.field("absent", int, 3) == 3
    for name, kind, complaint in (
        ("text", int, "text is no int"),
        ("yes", int, "yes is no int"),
        ("absent", str, "lacks absent"),
    ):
        with pytest.raises(WeightsError, match=complaint):
            file.field(name, kind)
