"""`tracert serve`: the API process, which supervises the engine process. Never imports torch."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from tracert.cli.log import LogFormat, configure
from tracert.cli.options import EngineOptions, takes_engine_options

if TYPE_CHECKING:
    from tracert.server.death import EngineDeath


@takes_engine_options
def serve(
    options: EngineOptions,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")
    ] = 8000,
    api_key: Annotated[
        str | None, typer.Option(envvar="TRACERT_API_KEY", help="Clients must send it as a bearer token.")
    ] = None,
    preserve_thinking: Annotated[
        bool,
        typer.Option(
            help="Keep the reasoning of earlier turns (`reasoning_content`, given back) in prompts."
        ),
    ] = False,
    log_format: Annotated[LogFormat, typer.Option(help="The log on standard error: text or json.")] = "text",
) -> None:
    """Serve a model over the OpenAI HTTP API, with a black box."""
    from tracert.models.fetch import resolve
    from tracert.models.load import load_tokenizer
    from tracert.server.config import AppConfig
    from tracert.server.serve import serve as run

    configure(log_format)
    source = resolve(options.model)
    config = AppConfig(
        model=source.name,
        host=host,
        port=port,
        api_key=api_key,
        max_waiting=options.max_waiting,
        preserve_thinking=preserve_thinking,
        # The engine notices a device that hangs by itself; this is for an engine that hangs.
        hang_seconds=2 * options.hang_seconds,
    )
    command = [sys.executable, "-m", "tracert.cli.engine_process", msgspec.json.encode(options).decode()]
    raise typer.Exit(run(config, command, load_tokenizer(source), recover_into(Path(options.record_dir))))


def recover_into(directory: Path) -> "Callable[[EngineDeath], str | None]":
    """What saves the history of an engine that died without writing a dump: one from its ring."""

    def recover_dead(death: "EngineDeath") -> str | None:
        if death.ring is None:
            return None
        from tracert.record.dump import dump_path, write_dump

        target = dump_path(directory, death.reason)
        # An engine that had words has recorded its error, with more detail than is known here.
        error = (
            {"code": death.exit_status, "name": death.name, "message": death.sentence}
            if death.words is None
            else None
        )
        written = write_dump(Path(death.ring), target, reason=death.reason, error=error)
        Path(death.ring).unlink(missing_ok=True)
        return str(written.path)

    return recover_dead
