"""`tracert scenario list | run NAME`: workloads that provoke a fault, in this process, step by step."""

from pathlib import Path
from typing import Annotated, Any

import typer

scenario = typer.Typer(help="Workloads that provoke a planted bug.", no_args_is_help=True)


@scenario.command("list")
def list_scenarios() -> None:
    """What there is: names, variants and what goes wrong."""
    from rich.console import Console
    from rich.table import Table

    from tracert.scenarios.catalog import SCENARIOS

    table = Table("scenario", "variants", "what goes wrong", box=None)
    for one in SCENARIOS.values():
        table.add_row(one.name, ", ".join(one.variants), one.summary)
    Console().print(table)


@scenario.command("run")
def run_scenario(
    name: Annotated[str, typer.Argument(help="See `tracert scenario list`.")],
    fault: Annotated[bool, typer.Option("--fault/--sound", help="Plant the bug, or run without it.")] = True,
    variant: Annotated[
        str | None, typer.Option(help="How it ends; the first of the list by default.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the device's random schedule.")] = 1,
    schedule: Annotated[str | None, typer.Option(help="Another schedule, for instance replay:...")] = None,
    model: Annotated[str, typer.Option(help="tiny-random needs no download.")] = "tiny-random",
    dump: Annotated[Path | None, typer.Option(help="Where the dump goes.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The outcome as JSON.")] = False,
) -> None:
    """Run a scenario and write its dump; `tracert postmortem` explains it."""
    import orjson

    from tracert.cli.run_scenario import run

    told = run(
        name, variant=variant, planted=fault, schedule=schedule or f"random:{seed}", model=model, dump=dump
    )
    if as_json:
        print(orjson.dumps(told, option=orjson.OPT_INDENT_2).decode())
        return
    for line in _lines(told):
        print(line)


def _lines(told: dict[str, Any]) -> list[str]:
    error = told["error"]
    ended = f"device error {error['code']} {error['name']}" if error else "no error was seen"
    schedule = (
        told["schedule"] if len(told["schedule"]) <= 60 else f"{told['schedule'][:57]}... (--json has it)"
    )
    return [
        f"{told['scenario']} ({told['variant']}, {'planted' if told['fault'] else 'sound'}): {ended}",
        f"answers   {len(told['answers'])} of {told['requests']}",
        f"schedule  {schedule}",
        f"dump      {told['dump']}",
        f"next      tracert postmortem {told['dump']}",
    ]
