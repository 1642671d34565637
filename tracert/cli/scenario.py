"""`tracert scenario list | run NAME`: workloads that provoke a fault, in this process, step by step."""

import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

if TYPE_CHECKING:
    from tracert.scenarios.scenario import Scenario

scenario = typer.Typer(help="Workloads that provoke a planted bug.", no_args_is_help=True)


class _Line(NamedTuple):
    """A scenario, or one of its engines or workloads: how to ask for it, how it ends, what it is."""

    scenario: str
    which: str
    ends: str
    what: str


@scenario.command("list")
def list_scenarios(
    as_json: Annotated[bool, typer.Option("--json", help="The list as JSON, a scenario an object.")] = False,
) -> None:
    """What there is: names, variants, other workloads and what goes wrong."""
    from tracert.scenarios.catalog import SCENARIOS

    listed = {name: _listed(one) for name, one in SCENARIOS.items()}
    if as_json:
        import orjson

        told = [
            {
                "scenario": name,
                "summary": SCENARIOS[name].summary,
                "fault": SCENARIOS[name].fault,
                "runs": [{"options": line.which, "ends": line.ends, "note": line.what} for line in lines[1:]],
            }
            for name, lines in listed.items()
        ]
        print(orjson.dumps(told, option=orjson.OPT_INDENT_2).decode())
        return
    lines = [line for lines in listed.values() for line in lines]
    if sys.stdout.isatty():
        print("\n".join(_show(lines, shutil.get_terminal_size().columns)).lstrip("\n"))
        return
    wide, which, ends = (max(len(line[column]) for line in lines) for column in range(3))
    for line in lines:
        print(f"{line.scenario:{wide}}  {line.which:{which}}  {line.ends:{ends}}  {line.what}".rstrip())


def _listed(one: "Scenario") -> list[_Line]:
    """The scenario, and below it all that `run` can be told."""
    lines = [_Line(one.name, "", "", one.summary)]
    for name, variant in one.variants.items():
        other = f" (fault {variant.fault})" if variant.fault else ""
        lines.append(_Line("", f"--variant {name}", variant.ends, f"{variant.note}{other}".strip()))
    for name in one.controls:
        lines.append(_Line("", f"--workload {name}", "clean", "a control: it lacks what the bug needs"))
    for name, reproducer in one.reproducers.items():
        lines.append(_Line("", f"--workload {name}", "silent", reproducer.note))
    return lines


def _show(lines: list[_Line], width: int) -> Iterator[str]:
    """For a terminal of so many columns: descriptions are wrapped, names never cut."""
    which, ends = (max(len(line[column]) for line in lines) for column in (1, 2))
    for line in lines:
        if line.scenario:
            yield from ("", line.scenario)
        begin = f"  {line.which:{which}}  {line.ends:{ends}}  " if line.which else "  "
        words = textwrap.wrap(line.what, max(width - len(begin), 24)) or [""]
        yield (begin + words[0]).rstrip()
        yield from (" " * len(begin) + more for more in words[1:])


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
    dump: Annotated[
        Path | None, typer.Option(help="Where the dump goes.", show_default="in tracert-records")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The outcome as JSON.")] = False,
    tokens: Annotated[
        bool, typer.Option("--tokens", help="With --json: the answers as token ids too.")
    ] = False,
) -> None:
    """Run a scenario and write its dump; `tracert postmortem` explains it."""
    import orjson

    from tracert.scenarios.catalog import find_scenario

    chosen = find_scenario(name, variant, workload)  # before torch is imported: names are easily mistyped
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
    for line in _lines(told, silent=fault and chosen.ends == "silent"):
        print(line)


def _lines(told: dict[str, Any], silent: bool) -> list[str]:
    """The outcome for people; `silent`: the bug is planted, and nothing but answers can show it."""
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
    doubt = ", right or wrong: this bug raises no error, the postmortem says what it did" if silent else ""
    return [
        f"{told['scenario']} ({which}): {ended}",
        f"arrived   {len(told['answers'])} of {told['requests']} answers{doubt}",
        f"schedule  {schedule}",
        f"dump      {told['dump']}",
        f"next      tracert postmortem {told['dump']}",
    ]
