"""The workspace: what is live and whose it is, what was to fit in, and what would only hide it."""

from collections.abc import Iterator

from tracert_analysis.report.document import Block, Drawing, Fact, Facts, Section
from tracert_analysis.report.drawings.workspace import draw_workspace, figure
from tracert_analysis.report.phrases import LISTED
from tracert_analysis.report.report import Report
from tracert_analysis.report.stories import LiveBlock, WorkspaceStory


def workspace(report: Report) -> Section:
    """The workspace as the verdict's launch met it."""
    return Section("workspace", "WORKSPACE", tuple(_blocks(report.workspace)) if report.workspace else ())


def _blocks(story: WorkspaceStory) -> Iterator[Block]:
    yield Facts(tuple(_facts(story)))
    drawn = tuple(draw_workspace(story))
    if drawn:
        yield Drawing(
            "the bytes of the workspace: what is live, what the launch planned, the largest room",
            drawn,
            figure(story),
            "# live, = planned, - the largest room",
        )


def _facts(story: WorkspaceStory) -> Iterator[Fact]:
    live, planned, fitted = (*story.queries[:3], 0, 0, 0)[:3]
    if story.planned is not None:
        need = f"launch {story.launch} planned {story.planned} bytes in one piece"
        yield Fact(
            "planned", f"{need}; the largest room is {story.room} of {story.capacity}", (planned,), "bad"
        )
    for number, block in enumerate(story.live[:LISTED]):
        yield Fact("live" if number == 0 else "", _live(block), (live,))
    if len(story.live) > LISTED:
        yield Fact("", f"and {len(story.live) - LISTED} more blocks")
    if story.mask is not None:
        yield Fact("only masks", story.mask, (fitted,))


def _live(block: LiveBlock) -> str:
    step = f"step {block.step}" if block.step is not None else None
    whose = f"for {block.request_id}" if block.request_id else None
    told = ", ".join(filter(None, (block.kernel or "unnamed", block.phase, step, whose)))
    if block.free_seq is not None:
        end = f", given back at seq {block.free_seq}"
    else:
        end = f", {block.state} at the end, and never given back" if block.state else ", never given back"
    by = f"taken at seq {block.seq} by launch {block.launch} ({told})"
    return f"{block.nbytes} bytes at {block.offset}: {by}{end}"
