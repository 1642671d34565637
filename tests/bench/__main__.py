"""`python -m tests.bench [PART ...]`: measure this machine, and keep the figures in `out/bench.json`."""

import json
import sys
from importlib import import_module
from pathlib import Path

from rich.console import Console

PARTS = ("record", "recording", "reader", "serving", "prefixes", "kv", "guard")


def main() -> int:
    """Run the parts named, or all."""
    wanted = sys.argv[1:] or list(PARTS)
    unknown = set(wanted) - set(PARTS)
    if unknown:
        print(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    console = Console()
    figures = {}
    for part in wanted:
        console.rule(part)
        figures[part] = import_module(f"tests.bench.{part}").run(console)
    out = Path("out/bench.json")
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps(figures, indent=2) + "\n")
    console.print(f"figures in {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
