"""`tracert demo`: a real server with a planted bug, real clients, the crash, the report. Needs no torch."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from tracert.scenarios.http_driver import Said

ROUNDS_MAX = 4
COLOURS = ("cyan", "magenta", "yellow", "green")


def demo(
    scenario: Annotated[
        str, typer.Argument(help="See `tracert scenario list`.")
    ] = "ninfer-unordered-publish",
    model: Annotated[str, typer.Option(help="As for `tracert serve`.")] = "smollm2",
    seed: Annotated[int, typer.Option(help="Of the device's random schedule.")] = 1,
    record_dir: Annotated[str, typer.Option(help="Where ring files and dumps go.")] = "tracert-records",
) -> None:
    """Serve, drive, crash, explain: the whole story in one go."""
    from rich.console import Console

    from tracert.cli.errors import CommandError
    from tracert.cli.server_process import ServerProcess
    from tracert.scenarios.catalog import find_scenario
    from tracert.scenarios.http_driver import drive_http

    chosen, variant = find_scenario(scenario)
    options = {
        "model": model,
        "schedule": f"random:{seed}",
        "record_dir": record_dir,
        "fault": chosen.fault,
        **chosen.options,
        **chosen.variants[variant],
    }
    console = Console(highlight=False)
    console.rule(f"[bold]{chosen.name}[/]: {chosen.summary}")
    with ServerProcess(options) as server:
        console.print(f"$ {server.command_line}", style="bold", markup=False, soft_wrap=True)
        with console.status("the engine loads the model"):
            server.wait_until_healthy()
        console.print(f"serving {model} at {server.url}; {len(chosen.workload.conversations)} clients talk\n")
        names = [conversation.name for conversation in chosen.workload.conversations]
        for _ in range(ROUNDS_MAX):
            outcome = drive_http(server.url, model, chosen.workload, lambda said: _show(console, names, said))
            if outcome.refused is not None:
                break
        else:
            raise CommandError(
                f"luck held for {ROUNDS_MAX * chosen.workload.requests} requests; try another --seed, or see "
                f"`tracert scenario run {scenario}`"
            )
        error = outcome.refused.error
        status = outcome.refused.status
        told = f"HTTP {status}" if status else "the stream ended with an error:"
        console.print(f"\n[bold red]{told}[/]", end=" ")
        console.print(str(error.get("message")), markup=False, soft_wrap=True)
        with console.status("the engine starts again"):
            server.wait_until_healthy()
        console.print("the engine was started again and serves on\n")
    dump = str(error.get("dump"))
    console.print(f"$ tracert postmortem {dump}", style="bold", markup=False, soft_wrap=True)
    sys.stdout.flush()
    _postmortem(dump)


def _postmortem(dump: str) -> None:
    from tracert.cli.main import run

    raise typer.Exit(run(["postmortem", dump]))


def _show(console: "Console", names: list[str], said: "Said") -> None:
    """One line a question and one an answer, in the colour of its lane."""
    colour = COLOURS[names.index(said.conversation) % len(COLOURS)]
    lane: Any = f"[{colour}]{said.conversation:>8} {said.turn}[/]"
    if said.what == "question":
        console.print(lane, end=" ")
        console.print(f"> {said.text}", markup=False, soft_wrap=True)
    elif said.what == "end":
        console.print(lane, end=" ")
        console.print(f"  {' '.join(said.text.split())}", markup=False, soft_wrap=True)
    elif said.what == "error":
        console.print(lane, end=" ")
        console.print("[red]x[/]")
