"""How a report words whose bytes a page has: labels and texts, and which of the story's queries told it."""

from collections.abc import Iterator, Mapping

from tracert_analysis.report.phrases import LISTED, hold, page_name, place
from tracert_analysis.report.stories import ByteRun, BytesStory

Line = tuple[str, str, int]
"""A label, a text, and the place of its query in `BytesStory.queries`."""


def bytes_lines(story: BytesStory, names: Mapping[str, str]) -> Iterator[Line]:
    """The page as the launch met it, then whose the wrong bytes are and what is missing, then the masks."""
    yield "page", f"{page_name(story.page, story.life)}, as the launch meets it", 0
    for found in story.runs[:LISTED]:
        yield f"{found.first}..{found.end}", run(found), 0
    if len(story.runs) > LISTED:
        yield "", f"and {len(story.runs) - LISTED} more runs of positions", 0
    if not any(found.stale for found in story.runs) and story.clears is None:
        yield "the rest", "nothing wrote or cleared it", 0
    if story.owner is not None:
        writer = next((found.origin or found.writer for found in story.runs if found.stale), None)
        if writer is not None:
            yield "their writer", f"{place(writer)}, seq {writer.seq}", 0
        yield "their owner", hold(story.owner, "life", names), 1
    if story.ended_seq is not None:
        fence = ""
        if story.fence is not None:
            passed = f"passed at seq {story.fence_passed_seq}" if story.fence_passed_seq else "never passed"
            fence = f", behind fence {story.fence}, which {passed}"
        yield "its end", f"seq {story.ended_seq}{fence}", 2
    if story.clears is not None:
        yield "clears", "none between" if not story.clears else f"{story.clears} of some of them", 3
    if story.nonfinite is not None:
        yield "not finite", story.nonfinite, len(story.queries) - 1
    for number, mask in enumerate(story.masks):
        yield "only masks" if number == 0 else "", mask, len(story.queries)


def run(found: ByteRun) -> str:
    """Whose some positions are, and who wrote them."""
    whose = {"zero": "zeros", "rows": "state rows", "kv": "keys and values"}.get(
        found.content, "bytes of the host tier"
    )
    if found.content == "rows" and found.snapshot is not None:
        whose += f" of snapshot {found.snapshot}"
    elif found.content == "kv" and found.request is not None:
        whose += f" of request {found.request}"
    writer = f", written by {place(found.writer)} in life {found.life}" if found.writer else ""
    origin = (
        f", from {page_name(found.origin_page, found.origin_life)}, where {place(found.origin)} wrote them"
        if found.origin
        else ""
    )
    return f"{whose}{writer}{origin}{' - STALE' if found.stale else ''}"
