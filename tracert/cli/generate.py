"""`tracert generate PROMPT`: one answer in this process, no server. Imports torch."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from tracert.cli.options import EngineOptions, takes_engine_options

if TYPE_CHECKING:
    from tracert.cli.assemble import Assembly
    from tracert.messages.messages import Tokens


@takes_engine_options
def generate(
    options: EngineOptions,
    prompt: Annotated[str, typer.Argument(help="What the user says, or the text to go on with (--raw).")],
    raw: Annotated[bool, typer.Option(help="Without the model's chat template.")] = False,
    max_tokens: Annotated[
        int, typer.Option(min=1, max=2**31 - 1, help="Length of the answer, at most.")
    ] = 128,
    temperature: Annotated[float, typer.Option(min=0, help="0 is greedy.")] = 0.0,
    top_p: Annotated[float, typer.Option(help="Keep the most likely tokens up to this probability.")] = 1.0,
    top_k: Annotated[int, typer.Option(min=0, help="Keep so many of the most likely tokens; 0: all.")] = 0,
    seed: Annotated[int | None, typer.Option(help="The same seed, the same answer.")] = None,
) -> None:
    """Answer one prompt on standard output, as it comes."""
    from tracert.cli.assemble import assemble
    from tracert.cli.errors import CommandError, WrongUsage
    from tracert.messages.messages import Generate, Sampling
    from tracert.models.fetch import resolve
    from tracert.models.load import load_tokenizer

    if not 0 < top_p <= 1:
        raise typer.BadParameter(f"--top-p {top_p}: it must be above 0, and at most 1")
    if not prompt.isascii() and any("\ud800" <= sign <= "\udfff" for sign in prompt):
        # What is no text in the terminal's encoding comes as lone surrogates.
        raise WrongUsage("the prompt is no text in UTF-8; give it in this encoding")
    tokenizer = load_tokenizer(resolve(options.model))
    text = prompt if raw else tokenizer.render_chat([{"role": "user", "content": prompt}])
    # Before there is a ring: what is wrong with a prompt is no history.
    tokens = tokenizer.encode(text, add_special=raw)
    assembly = assemble(options)
    engine = assembly.engine
    message = Generate(
        id="generate",
        tokens=tokens,
        sampling=Sampling(
            max_tokens=max_tokens, temperature=temperature, top_p=top_p, top_k=top_k, seed=seed
        ),
    )
    try:
        refused = engine.add(message)
    except BaseException:
        assembly.discard_ring()
        raise
    if refused is not None:
        assembly.discard_ring()
        raise CommandError(refused.message)
    pieces = tokenizer.stream()
    try:
        for told in _run(assembly):
            print(pieces.push(told.tokens), end="", flush=True)
        print(pieces.finish(), flush=True)
    except (KeyboardInterrupt, BrokenPipeError):  # whoever reads has had enough: nothing failed
        assembly.discard_ring()
        raise
    assembly.discard_ring()


def _run(assembly: "Assembly") -> Iterator["Tokens"]:
    """Tokens as they come. CommandError when the engine fails, which leaves a dump."""
    from tracert.cli.errors import CommandError
    from tracert.engine.boundary import record_failure
    from tracert.messages.messages import Failed

    engine = assembly.engine
    while engine.busy:
        try:
            step = engine.step()
        except Exception as raised:
            reason, error = record_failure(engine.recorder, raised)
            dump = assembly.write_dump(reason, error)
            raise CommandError(
                f"{error['name']} ({error['code']}): {error['message']}"
                + (f"; see tracert postmortem {dump}" if dump else "; run with --record to know more")
            ) from raised
        for told in step:
            if isinstance(told, Failed):
                raise CommandError(told.message)
            yield told
