"""Makes the dumps of `docs/dumps/`, which `docs/sql.md` asks its questions of: `make dumps`.

Each is what `tracert scenario run` leaves on tiny-random, without what tells of the machine that ran it. A
run decides the same every time, and measures other times: make them anew when the events of an engine change.
"""

import sys
import tempfile
import zlib
from pathlib import Path
from typing import NamedTuple

import orjson
import zstandard

from tracert.cli.run_scenario import run

FOLDER = Path(__file__).parent / "dumps"
OF_THE_MACHINE = (("config", "record_dir"), ("ring", "pid"), ("ring", "boot_id"))


class Shipped(NamedTuple):
    """A dump's name, and the scenario that leaves it."""

    name: str
    scenario: str


SHIPPED = (
    Shipped("unordered-publish", "ninfer-unordered-publish"),
    Shipped("stale-rows", "flare-stale-snapshot-rows"),
    Shipped("no-room", "pypto-prefill-507018"),
    Shipped("unfenced-release", "ninfer-unfenced-release"),
)


def recorded(scenario: str) -> bytes:
    """The dump of the scenario's first variant, with its fault, in the schedule of seed 1."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dump.jsonl"
        run(scenario, planted=True, schedule="random:1", dump=path)
        return path.read_bytes()


def anonymous(dump: bytes) -> bytes:
    """The dump without the paths and the ids of a machine, with its checksum made anew."""
    lines = dump.splitlines(keepends=True)
    header, end = orjson.loads(lines[0]), orjson.loads(lines[-1])
    for part, name in OF_THE_MACHINE:
        del header[part][name]
    body = orjson.dumps(header) + b"\n" + b"".join(lines[1:-1])
    return body + orjson.dumps({**end, "crc32": zlib.crc32(body)}) + b"\n"


def main() -> int:
    """Run every scenario, and write its dump."""
    FOLDER.mkdir(exist_ok=True)
    for one in SHIPPED:
        packed = zstandard.ZstdCompressor(level=19).compress(anonymous(recorded(one.scenario)))
        path = FOLDER / f"{one.name}.jsonl.zst"
        path.write_bytes(packed)
        print(f"{path.relative_to(FOLDER.parent.parent)}  {len(packed) >> 10} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
