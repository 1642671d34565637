"""`tracert serve`: the API process, which supervises the engine process. Never imports torch."""

import errno
import os
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
    # Answers and the log name dumps: whoever reads them may be in another folder.
    directory = Path(options.record_dir).absolute()
    options = msgspec.structs.replace(options, record_dir=str(directory))
    source = resolve(options.model)
    if options.record:
        _require_folder(directory)
    _tell_left_rings(directory)
    config = AppConfig(
        model=source.name,
        host=host,
        port=port,
        api_key=api_key,
        max_waiting=options.max_waiting,
        preserve_thinking=preserve_thinking,
        # The engine notices a device that hangs by itself; this is for an engine that hangs.
        hang_seconds=2 * options.hang_seconds,
        json_lines=log_format == "json",
    )
    engine = (msgspec.json.encode(options).decode(), log_format)
    command = [sys.executable, "-m", "tracert.cli.engine_process", *engine]
    recover = recover_into(directory, options.keep_dumps)
    raise typer.Exit(run(config, command, load_tokenizer(source), recover, observe_into(directory)))


def recover_into(directory: Path, keep: int = 0) -> "Callable[[EngineDeath], str | None]":
    """What saves the history of an engine that died without writing a dump: one from its ring.

    Of the dumps that are written unasked the `keep` newest stay, all with 0.
    """

    def recover_dead(death: "EngineDeath") -> str | None:
        if death.ring is None:
            return None
        from tracert.record.dump import dump_path, keep_newest, write_dump

        target = dump_path(directory, death.reason)
        # An engine that had words has recorded its error, with more detail than is known here.
        error = (
            {"code": death.exit_status, "name": death.name, "message": death.sentence}
            if death.words is None
            else None
        )
        written = write_dump(Path(death.ring), target, reason=death.reason, error=error)
        Path(death.ring).unlink(missing_ok=True)
        keep_newest(directory, keep)
        return str(written.path)

    return recover_dead


def observe_into(directory: Path) -> "Callable[[str], str]":
    """What writes the dump of an engine that lives and does not answer, from its ring."""

    def observe(ring: str) -> str:
        from tracert.record.dump import dump_path, write_dump

        return str(write_dump(Path(ring), dump_path(directory, "request"), reason="request").path)

    return observe


def _require_folder(directory: Path) -> None:
    """Is there a folder to record in? It is known before an engine is started, and what option named it."""
    from tracert.cli.errors import CommandError

    made = not directory.exists()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not os.access(directory, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        # A server that ends for another reason leaves nothing behind; its engine makes the folder.
        if made:
            directory.rmdir()
    except OSError as error:
        raise CommandError(
            f"--record-dir {directory}: nothing can be written there: {error.strerror}; name another folder, "
            "or give --no-record"
        ) from None


def _tell_left_rings(directory: Path) -> None:
    """Say which rings dead engines have left: nobody was there to make dumps of them.

    One with a dump beside it that is not older is no news: `tracert recover` has made it.
    """
    import structlog

    from tracert.record.owner import dead_rings

    for ring in dead_rings(directory):
        if any(_is_recovered(ring, ring.with_suffix(suffix)) for suffix in (".jsonl", ".jsonl.zst")):
            continue
        structlog.get_logger("tracert.server").warning(
            "found the ring of a dead engine", ring=str(ring), next=f"tracert recover {ring}"
        )


def _is_recovered(ring: Path, dump: Path) -> bool:
    """Does the dump have all of the ring? It was written after it."""
    try:
        return dump.stat().st_mtime_ns >= ring.stat().st_mtime_ns
    except OSError:
        return False
