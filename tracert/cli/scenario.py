"""`tracert scenario list | run NAME`: workloads that provoke a fault, in this process, step by step."""

from pathlib import Path
from typing import Annotated, Any

import typer

scenario = typer.Typer(help="Workloads that provoke a planted bug.", no_args_is_help=True)


@scenario.command("list")
def list_scenarios() -> None:
    """What there is: names, variants, other workloads and what goes wrong."""
    from rich.console import Console
    from rich.table import Table

    from tracert.scenarios.catalog import SCENARIOS

    table = Table("scenario", "variant", "ends", "what it is", box=None)
    for one in SCENARIOS.values():
        table.add_row(f"[bold]{one.name}[/]", "", "", one.summary)
        for name, variant in one.variants.items():
            other = f" (fault {variant.fault})" if variant.fault else ""
            table.add_row("", name, variant.ends, f"{variant.note}{other}".strip())
        for name in one.controls:
            table.add_row("", f"--workload {name}", "clean", "a control: it lacks what the bug needs")
        for name, reproducer in one.reproducers.items():
            table.add_row("", f"--workload {name}", "silent", reproducer.note)
    Console().print(table)


@scenario.command("run")
def run_scenario(
    name: Annotated[str, typer.Argument(help="See `tracert scenario list`.")],
    fault: Annotated[bool, typer.Option("--fault/--sound", help="Plant the bug, or run without it.")] = True,
    variant: Annotated[
        str | None, typer.Option(help="Which engine; the first of the list by default.")
    ] = None,
    workload: Annotated[
        str | None, typer.Option(help="Another than its own: one of its controls or reproducers.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the device's random schedule.")] = 1,
    schedule: Annotated[str | None, typer.Option(help="Another schedule, for instance replay:...")] = None,
    guard: Annotated[
        bool, typer.Option("--guard/--no-guard", help="Let kernels check what they follow and compute.")
    ] = False,
    model: Annotated[str, typer.Option(help="tiny-random needs no download.")] = "tiny-random",
    dump: Annotated[Path | None, typer.Option(help="Where the dump goes.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The outcome as JSON.")] = False,
    tokens: Annotated[
        bool, typer.Option("--tokens", help="With --json: the answers as token ids too.")
    ] = False,
) -> None:
    """Run a scenario and write its dump; `tracert postmortem` explains it."""
    import orjson

    from tracert.cli.run_scenario import run

    told = run(
        name,
        variant=variant,
        workload=workload,
        planted=fault,
        schedule=schedule or f"random:{seed}",
        model=model,
        dump=dump,
        options={"guard": True} if guard else None,
    )
    if as_json:
        if not tokens:
            del told["tokens"]
        print(orjson.dumps(told, option=orjson.OPT_INDENT_2).decode())
        return
    for line in _lines(told):
        print(line)


def _lines(told: dict[str, Any]) -> list[str]:
    error = told["error"]
    ended = f"device error {error['code']} {error['name']}" if error else "no error was seen"
    if not error and told["failed"]:
        request, failed = next(iter(told["failed"].items()))
        ended = f"{request} failed with {failed['status']} {failed['code']}"
    schedule = (
        told["schedule"] if len(told["schedule"]) <= 60 else f"{told['schedule'][:57]}... (--json has it)"
    )
    which = ", ".join(
        filter(None, (told["variant"], told["workload"], "planted" if told["fault"] else "sound"))
    )
    return [
        f"{told['scenario']} ({which}): {ended}",
        f"answers   {len(told['answers'])} of {told['requests']}",
        f"schedule  {schedule}",
        f"dump      {told['dump']}",
        f"next      tracert postmortem {told['dump']}",
    ]
