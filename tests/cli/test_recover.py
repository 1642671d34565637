"""`tracert recover`."""

import json
from pathlib import Path

import pytest

from tests.record.rings import disown, new_recorder
from tracert.cli.main import run
from tracert.cli.serve import recover_into
from tracert.messages.messages import Died
from tracert.record.access import Holder
from tracert.server.death import EngineDeath


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    """The ring of a process that recorded two events and is gone."""
    recorder = new_recorder(tmp_path)
    recorder.alloc([1, 2], [1, 1], Holder("request", 7))
    recorder.drop([1, 2], [1, 1], Holder("request", 7), "write")
    return recorder.ring.path


def test_a_dump_is_written_beside_the_ring(ring: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Header, events and end; the command says where it is and how whole."""
    assert run(["recover", str(ring)]) == 0
    dump = ring.with_suffix(".jsonl")
    said = f"{dump}: 2 events, 0 lost, 0 torn\nnext      tracert postmortem {dump}\n"
    assert said == capsys.readouterr().out
    kinds = [json.loads(line)["kind"] for line in dump.read_text().splitlines()]
    assert kinds[0] == "header"
    assert kinds[-3:] == ["alloc", "drop", "end"]


def test_the_dump_goes_where_it_is_told(ring: Path, tmp_path: Path) -> None:
    """`-o` names the file."""
    assert run(["recover", str(ring), "-o", str(tmp_path / "out.jsonl")]) == 0
    assert (tmp_path / "out.jsonl").is_file()
    assert not ring.with_suffix(".jsonl").exists()


def test_the_ring_of_a_living_process_is_not_called_killed(ring: Path) -> None:
    """This process has it: the dump was asked for. With another boot's id it would be a dead one's."""
    assert run(["recover", str(ring)]) == 0
    dump = ring.with_suffix(".jsonl")
    assert json.loads(dump.read_text().splitlines()[0])["reason"] == "request"
    disown(ring)
    assert run(["recover", str(ring)]) == 0
    assert json.loads(dump.read_text().splitlines()[0])["reason"] == "killed"


def test_a_folder_is_no_ring_but_names_the_newest(
    ring: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is guessed, also for `.`; nor is a folder made for a dump."""
    monkeypatch.chdir(tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    for folder, says in ((tmp_path, str(ring)), (Path("."), ring.name), (empty, "no ring in it")):
        assert run(["recover", str(folder)]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert f"{folder} is a folder" in line
        assert says in line
    assert run(["recover", str(ring), "-o", str(tmp_path / "not" / "there.jsonl")]) == 1
    assert "is no folder: make it" in capsys.readouterr().err
    assert not (tmp_path / "not").exists()


@pytest.mark.parametrize("content", [None, b"", b"not a ring" * 1000])
def test_what_is_no_ring_is_one_line(
    content: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that is missing, empty or something else: exit code 1, the path, no dump."""
    path = tmp_path / "x.ring"
    if content is not None:
        path.write_bytes(content)
    assert run(["recover", str(path)]) == 1
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    assert str(path) in error
    assert not path.with_suffix(".jsonl").exists()


@pytest.mark.parametrize(
    ("words", "reason", "name"),
    [
        (None, "killed", "SIGKILL"),
        (
            Died(code=719, name="LAUNCH_FAILURE", message="unspecified", dump=None),
            "device-error",
            "LAUNCH_FAILURE",
        ),
    ],
)
def test_a_dead_engine_s_dump_has_its_own_error(
    words: Died | None, reason: str, name: str, tmp_path: Path
) -> None:
    """What it recorded of its failure when it could not write the dump itself; else how it was killed."""
    recorder = new_recorder(tmp_path)
    if words is not None:
        recorder.error(
            code=719, name=name, message="unspecified", stream=1, observed_at="sync", detail={"sub": 3}
        )
    death = EngineDeath(pid=1, ring=str(recorder.ring.path), exit_status=-9, words=words, hung=False)
    path = recover_into(tmp_path)(death)
    assert path is not None
    assert not recorder.ring.path.exists(), "the dump has it all"
    header = json.loads(Path(path).read_text().splitlines()[0])
    assert (header["reason"], header["error"]["name"]) == (reason, name)
    if words is not None:
        assert header["error"]["detail"] == {"sub": 3}
