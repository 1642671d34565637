"""`tracert recover RING`."""

from pathlib import Path
from typing import Annotated

import typer


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

    dump = write_dump(ring, output or ring.with_suffix(".jsonl"), reason="killed")
    print(f"{dump.path}: {dump.events} events, {dump.lost} lost, {dump.torn} torn")
