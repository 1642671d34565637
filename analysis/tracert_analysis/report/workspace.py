"""The execution workspace at the moment of the verdict: what is live and whose it is, and what was to fit in.

And what acquits the pages of a launch that waits for scratch: it has not touched them yet, and whether anyone
did before is told here.
"""

from collections.abc import Iterator

from tracert_analysis.report.acquittals import ORDER_CODES, OWNER_CODES, apart
from tracert_analysis.report.facts import Act, Resource
from tracert_analysis.report.phrases import counted
from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.report import Acquittal
from tracert_analysis.report.stories.workspace import KeptBlocks, LiveBlock, Scratch, WorkspaceStory

CODE = "TR701"

BLOCKS = """
SELECT w.launch, l.kernel, l.phase, l.step, l.state, w."offset", w.bytes, w.capacity, w.alloc_seq,
    w.free_seq, t.request, t.id AS request_id
FROM workspace w LEFT JOIN launch l ON l.launch = w.launch
LEFT JOIN (
    SELECT t.transaction AS launch, any_value(t.request) AS request, any_value(r.id) AS id
    FROM event t JOIN request r ON r.request = t.request
    WHERE t.kind = 'transaction' AND t.op = 'begin' GROUP BY t.transaction HAVING count(*) = 1
) AS t ON t.launch = w.launch
WHERE w.alloc_seq < $at AND (w.free_seq IS NULL OR w.free_seq > $at) ORDER BY w.alloc_seq"""

PLAN = """
SELECT launch, bytes, capacity, room FROM event
WHERE kind = 'workspace_plan' AND launch = $launch AND seq < $at ORDER BY seq DESC LIMIT 1"""

FITTED = """
SELECT p.launch, p.bytes, (
        SELECT max(u."end" - u.start) FROM (SELECT unnest(e.uses, recursive := true) FROM event e
        WHERE e.kind = 'launch' AND e.launch = p.launch) u
    ) AS positions
FROM event p JOIN launch l ON l.launch = p.launch
WHERE p.kind = 'workspace_plan' AND p.seq < $at AND p.bytes <= $room AND l.kernel = $kernel
ORDER BY p.bytes DESC LIMIT 1"""

# What each launch planned, took of the workspace, gave back, and had not given back at the end.
SCRATCH = """
SELECT l.launch, l.kernel, l.phase, l.step, l.state, p.bytes AS planned, p.room, b.taken, b.given_back, b.kept
FROM launch l
LEFT JOIN (
    SELECT launch, arg_max(bytes, seq) AS bytes, arg_max(room, seq) AS room FROM event
    WHERE kind = 'workspace_plan' GROUP BY launch
) AS p ON p.launch = l.launch
LEFT JOIN (
    SELECT launch, sum(bytes)::BIGINT AS taken, coalesce(sum(bytes) FILTER (free_seq IS NOT NULL), 0)::BIGINT
        AS given_back, coalesce(sum(bytes) FILTER (free_seq IS NULL), 0)::BIGINT AS kept
    FROM workspace GROUP BY launch
) AS b ON b.launch = l.launch
WHERE p.launch IS NOT NULL OR b.launch IS NOT NULL ORDER BY l.launch"""

# The blocks of each launch of that one's kernel that had ended.
KEPT = """
SELECT w.launch, w.bytes, w."offset", w.free_seq FROM workspace w JOIN launch l USING (launch)
WHERE l.state = 'finished' AND l.kernel IS NOT DISTINCT FROM (
    SELECT any_value(kernel) FROM launch WHERE launch = $launch
)
ORDER BY w.launch, w.alloc_seq"""

PAGES = f"""
SELECT count(*) AS checked, count(*) FILTER (life = 1) AS first_lives, count(*) FILTER (written) AS written
FROM (
    SELECT a.page, a.life, bool_or(EXISTS (
            FROM access w WHERE w.page = a.page AND w.seq < a.seq AND w.mode = 'write' AND w.source <> 'clear'
        )) AS written
    FROM access a WHERE a.launch = $launch AND a.certain
    AND {apart((*ORDER_CODES, *OWNER_CODES, "TR301"))}
    GROUP BY a.page, a.life
)"""


def workspace_story(
    questions: Questions, act: Act | None, code: str | None, at: int
) -> WorkspaceStory | None:
    """What the workspace holds when the verdict's launch was started; None unless the verdict is about it."""
    if code != CODE or act is None:
        return None
    told = questions.ask(f"what of the workspace is live at event {at}", BLOCKS, at=at)
    plan = questions.ask(f"what launch {act.launch} planned", PLAN, launch=act.launch, at=at)
    planned: Row = plan.first or {}
    blocks = tuple(
        LiveBlock(
            launch=row["launch"],
            kernel=row["kernel"],
            phase=row["phase"],
            step=row["step"],
            state=row["state"],
            request=row["request"],
            request_id=row["request_id"],
            offset=row["offset"],
            nbytes=row["bytes"],
            age=act.launch - row["launch"],
            seq=row["alloc_seq"],
            free_seq=row["free_seq"],
        )
        for row in told.rows
        if row["launch"] != act.launch
    )
    capacity = planned.get("capacity") or (told.rows[0]["capacity"] if told.rows else None)
    room = planned.get("room")
    fitted: Row = {}
    query = 0
    if room is not None and planned["bytes"] > room:
        fits = questions.ask(
            f"the largest {act.kernel} before event {at} that would fit as well",
            FITTED,
            at=at,
            room=room,
            kernel=act.kernel,
        )
        fitted, query = fits.first or {}, fits.query
    scratch = questions.ask("what each launch took of the workspace, and gave back", SCRATCH)
    return WorkspaceStory(
        launch=act.launch,
        capacity=capacity,
        planned=planned.get("bytes"),
        room=room,
        room_at=_room_at(blocks, capacity, room),
        live=blocks,
        scratch=tuple(Scratch(**row) for row in scratch.rows),
        kept=_kept(questions, scratch.rows),
        mask=_mask(fitted, blocks),
        queries=(told.query, plan.query, query, scratch.query),
    )


def _kept(questions: Questions, scratch: list[Row]) -> KeptBlocks | None:
    """The blocks of the first launch that had ended and kept scratch, against those of its kernel."""
    keepers = [row["launch"] for row in scratch if row["state"] == "finished" and row["kept"]]
    if not keepers:
        return None
    keeper = keepers[0]
    told = questions.ask(f"the blocks of launches of the kernel of launch {keeper}", KEPT, launch=keeper)
    taken: dict[int, list[tuple[int, int, int | None]]] = {}
    for row in told.rows:
        taken.setdefault(row["launch"], []).append((row["bytes"], row["offset"], row["free_seq"]))
    own = taken.pop(keeper, [])
    alike = [blocks for blocks in taken.values() if len(blocks) == len(own)]
    whole = [blocks for blocks in alike if all(freed is not None for _, _, freed in blocks)]
    return KeptBlocks(keeper, tuple(own), len(alike), len(whole), told.query)


def _room_at(live: tuple[LiveBlock, ...], capacity: int | None, room: int | None) -> int | None:
    """Where the largest room begins; None where no gap between live blocks is as long as it was told."""
    if not room or capacity is None:
        return None
    begin = 0
    for block in sorted(live, key=lambda block: block.offset):
        if block.offset - begin == room:
            return begin
        begin = max(begin, block.offset + block.nbytes)
    return begin if capacity - begin == room else None


def _mask(fitted: Row, blocks: tuple[LiveBlock, ...]) -> str | None:
    """What would only hide it: a launch that plans less."""
    if not fitted or not blocks:
        return None
    length = f" ({fitted['positions']} positions in a row)" if fitted["positions"] is not None else ""
    return (
        f"a smaller launch fits: launch {fitted['launch']}{length} planned {fitted['bytes']} bytes. Capping "
        "what a launch computes (--max-prefill-tokens) lowers the plan, and the block stays live"
    )


def workspace_acquittals(questions: Questions, act: Act | None, code: str | None) -> Iterator[Acquittal]:
    """What is right about the pages of a launch that waits for scratch."""
    if code != CODE or act is None:
        return
    told = questions.ask(f"who had the pages of launch {act.launch} before it?", PAGES, launch=act.launch)
    found = told.first
    if found is None or not found["checked"] or found["written"]:
        return
    lives = "in their first life, " if found["first_lives"] == found["checked"] else ""
    why = (
        f"nobody had written what launch {act.launch} touches: its pages are {lives}without an earlier "
        f"writer, clears apart ({counted(found['checked'], 'pages')} checked)"
    )
    yield Acquittal(Resource("page"), why, found["checked"], told.query)
