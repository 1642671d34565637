"""`tracert demo`: a real server with a planted bug, real clients, what they saw, the report. No torch."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from tracert.scenarios.catalog import Chosen
    from tracert.scenarios.http_driver import HttpOutcome, Said

ROUNDS_MAX = 4
COLOURS = ("cyan", "magenta", "yellow", "green")
SHOWN = 100
"""Characters of a question that are shown."""


def demo(
    scenario: Annotated[
        str, typer.Argument(help="See `tracert scenario list`.")
    ] = "ninfer-unordered-publish",
    variant: Annotated[
        str | None, typer.Option(help="Which engine; the first of the list by default.")
    ] = None,
    workload: Annotated[
        str | None, typer.Option(help="Another than its own: one of its controls or reproducers.")
    ] = None,
    model: Annotated[str, typer.Option(help="As for `tracert serve`.")] = "smollm2",
    seed: Annotated[int, typer.Option(help="Of the device's random schedule.")] = 1,
    record_dir: Annotated[str, typer.Option(help="Where ring files and dumps go.")] = "tracert-records",
) -> None:
    """Serve, drive, crash, explain: the whole story in one go."""
    from rich.console import Console

    from tracert.scenarios.catalog import find_scenario

    chosen = find_scenario(scenario, variant, workload)
    console = Console(highlight=False)
    console.print(f"[bold]{chosen.scenario.name}[/]: {chosen.scenario.summary}\n", soft_wrap=True)
    story = _Story(console, chosen, model, seed, record_dir)
    dump = story.silent() if chosen.ends in ("silent", "clean") else story.loud()
    console.print(f"$ tracert postmortem {dump}", style="bold", markup=False, soft_wrap=True)
    sys.stdout.flush()
    _postmortem(dump)


class _Story:
    """One scenario told: each method ends with the path of a dump."""

    def __init__(self, console: "Console", chosen: "Chosen", model: str, seed: int, record_dir: str) -> None:
        self._console = console
        self._chosen = chosen
        self._model = model
        self._options: dict[str, Any] = {
            "model": model,
            "schedule": f"random:{seed}",
            "record_dir": record_dir,
            "fault": chosen.fault,
            **chosen.options,
            **({"preserve_thinking": True} if chosen.workload.preserve_thinking else {}),
        }

    def loud(self) -> str:
        """Until a request fails: with the engine, which leaves a dump, or alone; then one is asked for."""
        from tracert.cli.errors import CommandError
        from tracert.cli.server_process import ServerProcess
        from tracert.scenarios.http_client import Client

        with ServerProcess(self._options) as server:
            self._await(server)
            for _ in range(ROUNDS_MAX):
                outcome = self._drive(server.url, show=True)
                if outcome.refused is not None:
                    break
            else:
                raise CommandError(
                    f"luck held for {ROUNDS_MAX * self._chosen.workload.requests} requests; try another "
                    f"--seed, or see `tracert scenario run {self._chosen.scenario.name}`"
                )
            status, error = outcome.refused.status, outcome.refused.error
            told = f"HTTP {status}" if status else "the stream ended with an error:"
            self._console.print(f"\n[bold red]{told}[/]", end=" ")
            self._print(str(error.get("message")))
            if error.get("dump"):
                with self._console.status("the engine starts again"):
                    server.wait_until_healthy()
                self._console.print("the engine was started again and serves on\n")
                return str(error["dump"])
            self._console.print(
                "the engine serves on; it has seen no device error, so it is asked for a dump\n"
            )
            with Client(server.url, self._model) as client:
                self._print("$ curl -X POST .../debug/dump", style="bold")
                return client.dump()

    def silent(self) -> str:
        """The same clients against a sound server and against the faulty one: what differs, and a dump."""
        from tracert.cli.server_process import ServerProcess
        from tracert.scenarios.http_client import Client

        self._options.setdefault("dtype", "fp32")
        sound = {name: value for name, value in self._options.items() if name != "fault"}
        status = self._console.status("a sound server answers first")
        with ServerProcess({**sound, "record": False, "schedule": "eager"}) as server, status:
            server.wait_until_healthy()
            right = self._drive(server.url, show=False)
        with ServerProcess(self._options) as server:
            self._await(server)
            outcome = self._drive(server.url, show=True)
            if outcome.refused is not None:
                self._console.print("\n[bold red]a request failed:[/]", end=" ")
                self._print(str(outcome.refused.error.get("message")))
                if outcome.refused.error.get("dump"):
                    return str(outcome.refused.error["dump"])
            else:
                self._compare(right, outcome)
            with Client(server.url, self._model) as client:
                self._print("$ curl -X POST .../debug/dump", style="bold")
                return client.dump()

    def _compare(self, right: "HttpOutcome", outcome: "HttpOutcome") -> None:
        wrong = [name for name, text in outcome.answers.items() if right.answers.get(name) != text]
        count = len(outcome.answers)
        self._console.print(f"\nno error; all {count} requests were answered with HTTP 200")
        if not wrong:
            self._console.print("every answer is the one that a sound server gives: nothing was seen\n")
            return
        self._console.print(
            f"[bold red]{len(wrong)} of {count} answers are not those of a sound server[/], the first:"
        )
        name = wrong[0]
        self._print(f"  {name}, sound   {_short(right.answers.get(name, ''))}")
        self._print(f"  {name}, here    {_short(outcome.answers[name])}\n")

    def _await(self, server: Any) -> None:
        self._print(f"$ {server.command_line}", style="bold")
        with self._console.status("the engine loads the model"):
            server.wait_until_healthy()
        lanes = len(self._chosen.workload.lanes)
        talk = "1 client talks" if lanes == 1 else f"{lanes} clients talk"
        self._console.print(f"serving {self._model} at {server.url}; {talk}\n")

    def _drive(self, url: str, show: bool) -> "HttpOutcome":
        from tracert.scenarios.http_driver import drive_http

        def shown(said: "Said") -> None:
            if show:
                _show(self._console, self._chosen.workload.lanes, said)

        return drive_http(url, self._model, self._chosen.workload, shown)

    def _print(self, text: str, style: str | None = None) -> None:
        self._console.print(text, style=style, markup=False, soft_wrap=True)


def _postmortem(dump: str) -> None:
    from tracert.cli.main import run

    raise typer.Exit(run(["postmortem", dump]))


def _show(console: "Console", lanes: list[str], said: "Said") -> None:
    """One line a question and one an answer, in the colour of its lane."""
    colour = COLOURS[lanes.index(said.lane) % len(COLOURS)]
    console.print(f"[{colour}]{said.request.replace('-', ' '):>10}[/]", end=" ")
    if said.what == "question":
        console.print(f"> {_short(said.text)}", markup=False, soft_wrap=True)
    elif said.what == "end":
        console.print(f"  {' '.join(said.text.split())}", markup=False, soft_wrap=True)
    else:
        console.print("[red]x[/]")


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= SHOWN else f"{words[: SHOWN // 2]} ... {words[-SHOWN // 2 :]}"
