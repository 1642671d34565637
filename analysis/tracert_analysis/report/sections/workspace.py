"""The workspace: what is live and whose it is, what was to fit in, and what would only hide it."""

from collections.abc import Iterator

from tracert_analysis.report.document import Block, Drawing, Fact, Facts, Section, Table
from tracert_analysis.report.drawings.legend import legend
from tracert_analysis.report.drawings.workspace import draw_workspace, figure
from tracert_analysis.report.phrases import LISTED
from tracert_analysis.report.report import Report
from tracert_analysis.report.stories.workspace import KeptBlocks, LiveBlock, WorkspaceStory

MEANINGS = {
    "#": "live",
    "=": "planned, from where the largest room begins",
    ">": "more than fits",
    "-": "the largest room",
}
ROWS = 8
"""Of launches that planned scratch the last so many are listed; JSON has them all."""


def workspace(report: Report) -> Section:
    """The workspace as the verdict's launch met it."""
    return Section("workspace", "WORKSPACE", tuple(_blocks(report.workspace)) if report.workspace else ())


def _blocks(story: WorkspaceStory) -> Iterator[Block]:
    yield Facts(tuple(_facts(story)))
    yield from _scratch(story)
    drawn = tuple(draw_workspace(story))
    if drawn:
        yield Drawing(
            "the bytes of the workspace: what is live, what the launch planned, the largest room",
            drawn,
            figure(story),
            legend(MEANINGS, {sign for line in drawn for sign in line.partition("|")[2].rpartition("|")[0]}),
        )


def _kept(kept: KeptBlocks) -> Iterator[Fact]:
    """Which of its blocks the launch gave back, and which it kept."""
    blocks = [
        f"{nbytes} bytes at {offset} ({'kept' if freed is None else f'given back at seq {freed}'})"
        for nbytes, offset, freed in kept.blocks[:LISTED]
    ]
    rest = f" and {len(kept.blocks) - LISTED} more" if len(kept.blocks) > LISTED else ""
    text = f"launch {kept.launch} took, in this order: {', '.join(blocks)}{rest}"
    if kept.alike:
        those = "launch of its kernel" if kept.alike == 1 else "launches of its kernel"
        text += f"; of {kept.alike} other {those} with as many blocks, {kept.whole or 'none'} gave back all"
    yield Fact("its blocks", text, (kept.query,))


def _scratch(story: WorkspaceStory) -> Iterator[Block]:
    """Who took and who gave back: the last launches, those that kept something, and how many did not."""
    ended = [one for one in story.scratch if one.taken and one.state == "finished"]
    keepers = [one for one in ended if one.kept]
    if keepers:
        kernels = {one.kernel for one in keepers}
        alike = [one for one in ended if one.kernel in kernels]
        named = ", ".join(str(one.launch) for one in keepers[:LISTED])
        rest = f" and {len(keepers) - LISTED} more" if len(keepers) > LISTED else ""
        many = "1 launch" if len(alike) == 1 else f"{len(alike)} launches"
        text = (
            f"of {many} of {' and '.join(sorted(kernel or 'unnamed' for kernel in kernels))} "
            f"that took scratch and had ended, {len(alike) - len(keepers)} gave back all of it; "
            f"{'launch' if len(keepers) == 1 else 'launches'} {named}{rest} did not"
        )
        told = [Fact("contrast", text, (story.queries[-1],))]
        if story.kept is not None:
            told += _kept(story.kept)
        yield Facts(tuple(told))
    last = [one for one in story.scratch if one.launch <= story.launch][-ROWS:]
    shown = {one.launch: one for one in (*keepers[:LISTED], *last)}
    yield Table(
        ("launch", "kernel", "phase", "step", "planned", "room then", "taken", "given back", "kept"),
        tuple(
            (
                str(one.launch),
                one.kernel or "unnamed",
                one.phase or "-",
                *("-" if value is None else str(value) for value in (one.step, one.planned, one.room)),
                *("-" if value is None else str(value) for value in (one.taken, one.given_back, one.kept)),
            )
            for _, one in sorted(shown.items())
        ),
    )


def _facts(story: WorkspaceStory) -> Iterator[Fact]:
    live, planned, fitted = (*story.queries, 0, 0, 0)[:3]
    if story.planned is not None:
        need = f"launch {story.launch} planned {story.planned} bytes in one piece"
        fits = story.room is not None and story.planned <= story.room
        room = "not known" if story.room is None else f"{story.room} of {story.capacity}"
        told = f"{need}; the largest room was {room}{', so it had room' if fits else ''}"
        yield Fact("planned", told, (planned,), "plain" if fits else "bad")
    for number, block in enumerate(story.live[:LISTED]):
        yield Fact("live" if number == 0 else "", _live(block), (live,))
    if len(story.live) > LISTED:
        yield Fact("", f"and {len(story.live) - LISTED} more blocks")
    if story.mask is not None:
        yield Fact("only masks", story.mask, (fitted,))


def _live(block: LiveBlock) -> str:
    step = f"step {block.step}" if block.step is not None else None
    whose = None
    if block.request is not None:
        whose = f"request {block.request}" + (f' ("{block.request_id}")' if block.request_id else "")
    told = ", ".join(filter(None, (block.kernel or "unnamed", block.phase, step, whose)))
    was = "had finished by" if block.state == "finished" else f"was {block.state} at"
    state = f"that launch {was} the end; " if block.state else ""
    end = "not given back in the recorded window"
    if block.free_seq is not None:
        end = f"given back at seq {block.free_seq}"
    by = f"taken at seq {block.seq} by launch {block.launch} ({told})"
    return f"{block.nbytes} bytes at {block.offset}: {by}; {state}{end}"
