"""The program's own log: structlog on standard error, for people or as JSON lines."""

import logging
import sys
from typing import Literal

import structlog

LogFormat = Literal["text", "json"]


def configure(form: LogFormat) -> None:
    """One line an entry; times are UTC. Standard output stays free for what a command answers."""
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if form == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
