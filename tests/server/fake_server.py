"""The API process as the command line assembles it, around the fake engine.

Run as `python -m tests.server.fake_server CONFIG DUMPS [the fake engine's options]`: CONFIG is JSON
with fields of AppConfig, DUMPS the folder in which `recover` writes `PID.jsonl`.
"""

import json
import sys
import time
from pathlib import Path

import structlog

from tests.server.byte_tokenizer import ByteTokenizer
from tracert.server.config import AppConfig
from tracert.server.death import EngineDeath
from tracert.server.serve import serve


def main() -> int:
    """Assemble and serve."""
    config = AppConfig(**{"host": "127.0.0.1", "max_waiting": 256, **json.loads(sys.argv[1])})
    dumps = Path(sys.argv[2])
    command = [sys.executable, "-m", "tests.server.fake_engine", *sys.argv[3:]]
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))

    def recover(death: EngineDeath) -> str | None:
        time.sleep(0.05)
        path = dumps / f"{death.pid}.jsonl"
        path.write_text(json.dumps({"reason": death.reason, "ring": death.ring}))
        return str(path)

    code = serve(config, command, ByteTokenizer(), recover)
    if "torch" in sys.modules:
        raise SystemExit("the API process has imported torch")
    return code


if __name__ == "__main__":
    sys.exit(main())
