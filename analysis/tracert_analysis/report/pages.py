"""A page's story as of one moment: owners, last writer, the fence behind it, lives."""

from typing import NamedTuple

from tracert_analysis.report.acts import Acts
from tracert_analysis.report.byte_runs import byte_run, byte_runs
from tracert_analysis.report.facts import Act, FenceFact, Hold, Life, Write
from tracert_analysis.report.neighbourhood import extent, neighbours, not_found, touched
from tracert_analysis.report.questions import Questions, Row, Told
from tracert_analysis.report.stories.content import ByteRun
from tracert_analysis.report.stories.page import Extent, LastFacts, PageStory

HOLDERS = """
SELECT h.holder, h.mode, h.life, h.from_seq, h.until_seq,
    coalesce(h.from_seq = w.known_from, false) AS since_before
FROM holding h, _window w
WHERE h.page = $page AND h.from_seq <= $at ORDER BY h.from_seq DESC, h.rowid"""

LIVES = """
SELECT life, owner, alloc_seq, retire_seq, free_seq FROM page_life
WHERE page = $page AND (alloc_seq IS NULL OR alloc_seq <= $at) ORDER BY life"""

LATER = """
SELECT life, owner, alloc_seq, retire_seq, free_seq FROM page_life
WHERE page = $page AND alloc_seq > $at ORDER BY life"""

WRITERS = """
SELECT l.* REPLACE (coalesce(x.launch, 0) AS launch, x.seq AS seq, x.kind AS kind, x.kernel AS kernel,
    x.stream AS stream, x.ordinal AS ordinal, x.state AS state),
    a.life AS written_life, a.first, a."end"
FROM (
    SELECT seq, life, first, "end" FROM access
    WHERE page = $page AND mode = 'write' AND certain AND seq < $before ORDER BY seq DESC LIMIT 1
) a JOIN _act x USING (seq) LEFT JOIN launch l USING (seq)"""

TOUCHES = """
SELECT seq, mode, life FROM (
    SELECT DISTINCT seq, mode, life FROM access WHERE page = $page AND certain AND seq <= $at
) QUALIFY row_number() OVER (PARTITION BY life ORDER BY seq DESC) <= 200 ORDER BY seq DESC LIMIT 2000"""

LAST_FACTS = """
SELECT life, state, alloc_seq, holder, given_back, previous_holder,
    writer, writer_stream, writer_seq, writer_life, fence
FROM page_state WHERE page = $page LIMIT 1"""

WINDOW = """
SELECT first_seq, complete AND NOT holes AS whole FROM _window"""

EARLIEST = "SELECT min(ordinal) AS ordinal FROM launch WHERE stream = $stream"

FENCES_BEHIND = """
SELECT fence, stream, ordinal, record_seq, wait_stream, wait_seq, passed_seq, true AS covers FROM fence
WHERE stream = $stream AND ordinal >= $ordinal AND record_seq < $at
    AND (wait_seq < $at OR passed_seq < $at) ORDER BY record_seq LIMIT 1"""


class Doubt(NamedTuple):
    """An entry of a row may have named two pages, of which the page of the story is one."""

    entry: int
    meant: bool
    """It is what the publish put there; else what was left there until the publish had executed."""


class About(NamedTuple):
    """What else a page's story needs to know."""

    asked: bool
    """Somebody asked for the page: it is told as of the end."""
    reader: Act | None
    """The launch whose order with the writer matters, if there is one."""
    other: Act | None
    """The act that the reader should be ordered after."""
    pages: int | None
    """How many pages the pool has."""
    page_size: int | None
    whole: bool
    """Follow its bytes position by position, which takes a while in a long history."""
    doubt: Doubt | None = None
    """Why the reader may have read another page than the one that it was meant to read."""


def page_story(questions: Questions, acts: Acts, page: int, at: int, why: str, about: About) -> PageStory:
    """The story of `page` up to seq `at`."""
    reader = about.reader
    holders = questions.ask(f"holders of page {page}", HOLDERS, page=page, at=at)
    lives = questions.ask(f"lives of page {page}", LIVES, page=page, at=at)
    # The launch in question may write the page itself: what counts is who did before it.
    before = at if reader is not None else at + 1
    written = questions.ask(f"last writer of page {page}", WRITERS, page=page, before=before)
    touches = questions.rows(TOUCHES, page=page, at=at)
    writer = _writer(acts, written)
    window = questions.rows(WINDOW)[0]
    needed = about.asked or not window["whole"] or writer is None
    kept = _last_facts(questions, page) if needed else None
    kept_writer = _kept_writer(questions, acts, kept, window["first_seq"]) if writer is None else None
    wrote = writer.act if writer is not None else kept_writer
    fence, fence_query = _fence(questions, acts, wrote, reader, at)
    life = lives.rows[-1]["life"] if lives.rows else None
    last, previous, also = owners(holders, lives, at)
    near, near_query = neighbours(questions, page, at, about.pages)
    # A launch that may have missed the page is not one that touched it.
    unsure = about.doubt is not None and reader is not None
    kernels, kernels_query = touched(questions, acts, page, at - 1 if unsure else at)
    told = byte_runs(questions, page, at + 1) if about.whole else None
    runs = tuple(byte_run(acts, row, life) for row in told.rows) if told else ()
    return PageStory(
        page=page,
        life=life,
        why=why,
        doubt=_doubt(about),
        last_owner=last,
        previous_owner=previous,
        also_held_by=also,
        last_writer=writer,
        kept_writer=kept_writer,
        last_fence=fence,
        needs_fence=reader is None or wrote is None or reader.stream != wrote.stream,
        lives=tuple(_life(row, touches, holders.rows) for row in lives.rows),
        queries=(
            holders.query,
            written.query,
            fence_query,
            lives.query,
            told.query if told else 0,
            near_query,
            kernels_query,
        ),
        page_size=about.page_size,
        at=at,
        runs=runs,
        touched=kernels,
        neighbours=near,
        extent=_stale(runs) or _extent(questions, page, about),
        not_found=tuple(not_found(page, life, at, holders, lives, kernels, kernels_query, window["whole"])),
        asked=about.asked,
        last_facts=kept or (None if last else _last_facts(questions, page)),
        later=tuple(_life(row, [], []) for row in questions.rows(LATER, page=page, at=at)),
        occurs=bool(holders.rows or lives.rows or any(found.life for found in kernels)),
    )


def _extent(questions: Questions, page: int, about: About) -> Extent | None:
    """The positions that the reader touches; of an entry in doubt, that it was to touch them, or may have."""
    found = extent(questions, page, about.reader, about.other)
    doubt = about.doubt
    if found is None or doubt is None or about.reader is None:
        return found
    if doubt.meant:
        told = f"meant for {about.reader.name}, which may have found another number in entry {doubt.entry}"
    else:
        told = f"not meant for {about.reader.name}, which may have found them by entry {doubt.entry}"
    return Extent(found.first, found.end, told)


def _doubt(about: About) -> str | None:
    if about.doubt is None or about.reader is None:
        return None
    if about.doubt.meant:
        return f"{about.reader.name} is not counted as having touched it: that was meant, and it may not have"
    return f"{about.reader.name} is not counted as having touched it: that was not meant, and it may have"


def _last_facts(questions: Questions, page: int) -> LastFacts | None:
    """What the runtime kept of the page to the end, whatever the window of events still has."""
    told = questions.ask(f"last facts of page {page}", LAST_FACTS, page=page)
    return LastFacts(**told.first, query=told.query) if told.first else None


def _stale(runs: tuple[ByteRun, ...]) -> Extent | None:
    """The positions that hold an earlier life's bytes, if they lie together."""
    stale = [run for run in runs if run.stale]
    if not stale:
        return None
    kinds = {"rows": "state rows", "kv": "keys and values"}
    what = f"{kinds.get(stale[0].content, 'bytes')} of life {stale[0].life}"
    return Extent(stale[0].first, stale[-1].end, f"{what}, stale")


def owners(holders: Told, lives: Told, at: int) -> tuple[Hold | None, Hold | None, tuple[str, ...]]:
    """Who holds the page at seq `at`, or held it last; who held it before; and who holds it as well.

    Of several who hold it the one that writes is the owner, else the one that has held it longest. A life of
    which the history tells no holder counts with whom it was granted to.
    """
    held = [
        Hold(row["holder"], row["mode"], row["life"], row["from_seq"], row["until_seq"], row["since_before"])
        for row in holders.rows
    ]
    told = {hold.life for hold in held}
    held += [
        Hold(row["owner"], None, row["life"], row["alloc_seq"] or 0, row["free_seq"])
        for row in lives.rows
        if row["owner"] and row["life"] not in told
    ]
    now = [hold for hold in held if hold.until_seq is None or hold.until_seq > at]
    now.sort(key=lambda hold: (-hold.life, hold.mode == "read", hold.from_seq))
    ended = [hold for hold in held if hold not in now]
    ended.sort(key=lambda hold: (hold.life, hold.until_seq or 0), reverse=True)
    last = (now + ended)[0] if held else None
    # Who took it after its owner, and gave it back, only shared it.
    before = [
        hold
        for hold in ended
        if last is not None
        and (hold.holder, hold.life) != (last.holder, last.life)
        and (hold.life, hold.from_seq) < (last.life, last.from_seq)
    ]
    return last, before[0] if before else None, tuple(dict.fromkeys(hold.holder for hold in now[1:]))


def _writer(acts: Acts, written: Told) -> Write | None:
    row = written.first
    return Write(acts.act(row), row["written_life"], row["first"], row["end"]) if row else None


def _kept_writer(
    questions: Questions, acts: Acts, kept: LastFacts | None, first_seq: int | None
) -> Act | None:
    """Who wrote the page last before the history, if that was the last write of all."""
    if kept is None or not kept.writer_before(first_seq):
        return None
    assert kept.writer is not None
    assert kept.writer_seq is not None
    stream = kept.writer_stream
    if stream is None:
        return None
    earliest = questions.rows(EARLIEST, stream=stream)[0]["ordinal"]
    # Where the history has none of its launches, no fence of it stands behind a later one.
    ordinal = earliest - 1 if earliest else 0
    return Act(kept.writer, kept.writer_seq, "launch", "", stream, acts.stream_name(stream), ordinal)


def _fence(
    questions: Questions, acts: Acts, writer: Act | None, reader: Act | None, at: int
) -> tuple[FenceFact | None, int]:
    """The fence between writer and reader; without a reader, the first behind the writer that anyone saw."""
    if writer is None or (reader is not None and reader.stream == writer.stream):
        return None, 0
    if reader is not None:
        return acts.joining_fence(writer, reader.stream, at)
    told = questions.ask(
        f"the first fence behind {writer.name}",
        FENCES_BEHIND,
        stream=writer.stream,
        ordinal=writer.ordinal,
        at=at,
    )
    return (FenceFact(**told.first) if told.first else None), told.query


def _life(row: Row, touches: list[Row], holders: list[Row]) -> Life:
    """One life: its owner is who it was granted to, `holders` are all of the page, the latest first."""
    held = [holder["holder"] for holder in reversed(holders) if holder["life"] == row["life"]]

    def seqs(mode: str) -> tuple[int, ...]:
        return tuple(
            touch["seq"] for touch in touches if touch["life"] == row["life"] and touch["mode"] == mode
        )

    return Life(
        number=row["life"],
        owner=row["owner"],
        from_seq=row["alloc_seq"],
        retired_seq=row["retire_seq"],
        until_seq=row["free_seq"],
        writes=seqs("write"),
        reads=seqs("read"),
        also=tuple(dict.fromkeys(holder for holder in held if holder != row["owner"])),
    )
