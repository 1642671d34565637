"""`tracert recover RING`."""

from pathlib import Path
from typing import Annotated

import typer

from tracert.cli.errors import CommandError


def recover(
    ring: Annotated[Path, typer.Argument(metavar="RING", help="The ring file of a dead, or live, process.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Where to write the dump; compressed when it ends with .zst.",
            show_default="beside the ring",
        ),
    ] = None,
) -> None:
    """Write a dump from the ring of a dead (or live) process."""
    from tracert.record.dump import write_dump

    if ring.is_dir():
        raise CommandError(_folder(ring))
    if output is not None and not output.parent.is_dir():
        raise CommandError(f"{output.parent} is no folder: make it, or give -o a path in one that is there")
    dump = write_dump(ring, output or ring.with_suffix(".jsonl"))
    print(f"{dump.path}: {dump.events} events, {dump.lost} lost, {dump.torn} torn")
    print(f"next      tracert postmortem {dump.path}")


def _folder(directory: Path) -> str:
    """Which ring is meant is not guessed: the newest may be the one of an engine that serves."""
    rings = sorted(directory.glob("*.ring"), key=lambda path: path.stat().st_mtime)
    if not rings:
        return (
            f"{directory} is a folder, and there is no ring in it; give a .ring file that tracert serve wrote"
        )
    return f"{directory} is a folder; give one of the rings in it ({len(rings)}), the newest is {rings[-1]}"
