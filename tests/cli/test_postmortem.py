"""`tracert postmortem`."""

import gzip
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.report.histories import sound, unordered_publish
from tracert.cli import postmortem
from tracert.cli.main import run


@pytest.fixture(scope="module", autouse=True)
def _made_once() -> Iterator[None]:
    """The report of one dump is made once: these tests are about what is done with it."""
    make, kept = postmortem._report, dict[tuple[Any, ...], Any]()

    def once(dumps: list[str], page: int | None) -> Any:
        asked = (*dumps, page)
        if asked not in kept:
            kept[asked] = make(dumps, page)
        return kept[asked]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postmortem, "_report", once)
        yield


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump with an unordered publish."""
    return unordered_publish().write(tmp_path_factory.mktemp("dump"))


def test_the_report_is_printed(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Title first; a report with findings is a success."""
    assert run(["postmortem", str(dump)]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("tracert: TR102 unordered-publish: row 3 (generation 2): ")
    assert "device.record(legacy)" in captured.out
    assert captured.err == ""


def test_json_goes_to_a_file(dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`-o` writes the file and prints nothing."""
    target = tmp_path / "report.json"
    assert run(["postmortem", str(dump), "--format", "json", "-o", str(target)]) == 0
    assert capsys.readouterr().out == ""
    report = json.loads(target.read_text())
    assert report["verdict"]["code"] == "TR102"
    assert report["verdict"]["missing_edge"]["from"]["stream"] == 0
    assert report["verdict"]["missing_edge"]["to"]["stream"] == 1


@pytest.mark.parametrize(
    ("form", "start", "part"),
    [
        ("text", "tracert: TR102", "missing call   `fence = device.record(legacy)"),
        ("markdown", "## tracert: TR102", "| **missing call** | `fence = device.record(legacy)"),
        ("html", "<!DOCTYPE html>", '<dd class="good"><code>fence = device.record(legacy)'),
    ],
)
def test_each_format_is_written_whole(dump: Path, tmp_path: Path, form: str, start: str, part: str) -> None:
    """What is there with that name is replaced; nothing else is left in the folder."""
    target = tmp_path / "report"
    target.write_text("an older one")
    assert run(["postmortem", str(dump), "--format", form, "-o", str(target)]) == 0
    text = target.read_text(encoding="utf-8")
    assert text.startswith(start)
    assert part in text
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


def test_a_terminal_gets_colours_and_its_width(
    dump: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is wrong in red, in lines as wide as the terminal; the words are the file's."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert run(["postmortem", str(dump)]) == 0
    text = capsys.readouterr().out
    assert "\x1b[31m" in text
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert plain.startswith("tracert: TR102")
    assert "\x1b" not in plain
    sentence = plain.split("\n\n")[1].splitlines()
    assert max(map(len, sentence)) <= 80
    monkeypatch.setenv("NO_COLOR", "1")
    assert run(["postmortem", str(dump)]) == 0
    assert "\x1b[31m" not in capsys.readouterr().out


def test_findings_can_fail_the_command(dump: Path, tmp_path: Path) -> None:
    """3 with a finding, 0 without; only when asked for."""
    assert run(["postmortem", str(dump), "--fail-on-finding"]) == 3
    assert run(["postmortem", str(sound().write(tmp_path)), "--fail-on-finding"]) == 0


def test_a_page_is_told_of(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--page` adds the story of that page."""
    assert run(["postmortem", str(dump), "--page", "7"]) == 0
    text = capsys.readouterr().out
    assert "PAGE 7\n" in text
    assert "asked for; as of the end of the history" in text


def test_the_queries_are_printed_on_demand(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--show-sql` prints them at the end of the text."""
    assert run(["postmortem", str(dump), "--show-sql"]) == 0
    assert "      SELECT * FROM finding ORDER BY finding\n" in capsys.readouterr().out


def test_a_dump_comes_from_standard_input(
    dump: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`-` reads it."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(dump.read_bytes())))
    assert run(["postmortem", "-"]) == 0
    assert capsys.readouterr().out.startswith("tracert: TR102")


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (None, "no such file"),
        (b"", "empty"),
        (b"hello\n", "not a tracert dump"),
        (b'{"kind":"header","format":"tracert","version":99}\n', "version"),
        (b"\x00" * 4096, "not a tracert dump"),
        (gzip.compress(b"{}\n"), "compressed with gzip, and dumps are with zstd, if at all: gunzip it first"),
    ],
)
def test_what_cannot_be_read_is_one_line(
    content: bytes | None, part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Missing, empty, no dump, of another version: exit code 1, the file's name, the reason."""
    path = tmp_path / "dump.jsonl"
    if content is not None:
        path.write_bytes(content)
    assert run(["postmortem", str(path)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert str(path) in captured.err
    assert part in captured.err


def test_what_is_called_a_ring_and_is_none_is_no_ring(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line about its first line would mislead."""
    path = tmp_path / "1-1.ring"
    path.write_bytes(b"\x00" * 8192)
    assert run(["postmortem", str(path)]) == 1
    assert f"tracert: {path}: not a tracert ring" in capsys.readouterr().err


def test_a_page_that_is_not_there_is_one_line(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The pool's bounds are named."""
    assert run(["postmortem", str(dump), "--page", "999"]) == 1
    assert capsys.readouterr().err == "tracert: there is no page 999: the pool has pages 0 to 31\n"


def test_a_file_that_cannot_be_written_is_one_line(
    dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder is missing: the path and the reason."""
    target = tmp_path / "none" / "report.txt"
    assert run(["postmortem", str(dump), "-o", str(target)]) == 1
    assert capsys.readouterr().err == f"tracert: {target}: No such file or directory\n"


def test_an_unwritten_report_leaves_nothing(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The disk is full at the end: the older report stays as it was, and no half of a new one beside it."""
    target = tmp_path / "report.txt"
    target.write_text("an older one")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert run(["postmortem", str(dump), "-o", str(target)]) == 1
    assert capsys.readouterr().err == f"tracert: {target}: No space left on device\n"
    assert target.read_text() == "an older one"
    assert [path.name for path in tmp_path.iterdir()] == ["report.txt"]


def test_a_device_stays_a_device_and_a_link_a_link(dump: Path, tmp_path: Path) -> None:
    """Only files are replaced."""
    assert run(["postmortem", str(dump), "-o", "/dev/null"]) == 0
    assert Path("/dev/null").is_char_device()
    link, target = tmp_path / "link", tmp_path / "report"
    target.write_text("an older one")
    link.symlink_to(target)
    assert run(["postmortem", str(dump), "-o", str(link)]) == 0
    assert link.is_symlink()
    assert target.read_text().startswith("tracert: TR102")


def test_several_dumps_are_ranks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By name or as a directory: the report of the one that broke a rule, and a line for each."""
    for rank, history in enumerate((sound(), unordered_publish())):
        history.header["config"]["rank"] = rank
        history.write(tmp_path).rename(tmp_path / f"rank{rank}.jsonl")
    names = [str(tmp_path / f"rank{rank}.jsonl") for rank in (0, 1)]
    assert run(["postmortem", *names]) == 0
    text = capsys.readouterr().out
    assert text.startswith("tracert: TR102 unordered-publish: row 3 (generation 2): ")
    assert "this report is about rank 1" in text
    assert run(["postmortem", str(tmp_path), "--format", "json", "--fail-on-finding"]) == 3
    report = json.loads(capsys.readouterr().out)
    assert (1, [0, 1]) == (report["rank"], [fact["rank"] for fact in report["ranks"]])
    assert run(["postmortem", names[0], names[0]]) == 1
    told = capsys.readouterr().err
    assert "of rank 0, and so is" in told
    assert "none of them tells of an error" in told


def test_of_dumps_that_are_no_ranks_one_is_told_and_the_report_says_which(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a folder or by name, text and standard error say so; with other options they have not parted."""
    failed, ended = unordered_publish(), sound()
    failed.header["error"] = {"code": 719, "name": "LAUNCH_FAILURE", "message": "", "observed_at": "sync"}
    ended.header["config"]["kv_pages"] = 99
    for name, history in (("a", failed), ("b", ended)):
        history.write(tmp_path).rename(tmp_path / f"{name}.jsonl")
    assert run(["postmortem", str(tmp_path)]) == 0
    text, said = capsys.readouterr()
    assert text.startswith("tracert: TR102")
    line = f"of 2 dumps in {tmp_path} one is read: a.jsonl, the only one that tells of an error"
    assert f"tracert: {line}\n" == said
    assert line in " ".join(text.partition("SEVERAL DUMPS\n")[2].split())
    assert run(["postmortem", str(tmp_path / "b.jsonl"), str(tmp_path / "a.jsonl"), "--format", "json"]) == 0
    told, said = capsys.readouterr()
    report = json.loads(told)
    assert ("TR102", []) == (report["verdict"]["code"], report["ranks"])
    assert [said.removeprefix("tracert: ").strip()] == report["dump"]["among"]
    assert "are not of ranks of one engine: they ran with other options: kv_pages (99, " in said
