"""Builds the report of a loaded dump by asking its views: the verdict first, then what surrounds it.

Everything is told as of the moment of the verdict; later events only say what followed.
"""

import json
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from tracert_analysis.load import Dump
from tracert_analysis.report import given_away, repairs
from tracert_analysis.report.acquittals import acquittals
from tracert_analysis.report.acts import Acts
from tracert_analysis.report.again import EVENTS_MAX
from tracert_analysis.report.bytes_story import bytes_acquittals, bytes_story
from tracert_analysis.report.causes import kept_room
from tracert_analysis.report.clears import wrong_range
from tracert_analysis.report.contrast import contrasts
from tracert_analysis.report.errors import error_fact
from tracert_analysis.report.facts import Act, FenceFact
from tracert_analysis.report.findings import finding, findings
from tracert_analysis.report.guards import guard_story
from tracert_analysis.report.names import names
from tracert_analysis.report.novelty import novelties
from tracert_analysis.report.pages import About, Doubt, page_story
from tracert_analysis.report.phrases import counted
from tracert_analysis.report.progress import lanes, streams
from tracert_analysis.report.questions import Questions, Row
from tracert_analysis.report.report import (
    Access,
    ErrorFact,
    Evidence,
    Finding,
    HostAct,
    Report,
)
from tracert_analysis.report.rerun import reproduce
from tracert_analysis.report.rows import row_story
from tracert_analysis.report.scene import Scene, scene
from tracert_analysis.report.sentences import checked
from tracert_analysis.report.standing import standing
from tracert_analysis.report.stories import PageStory, RowStory
from tracert_analysis.report.surroundings import surroundings
from tracert_analysis.report.uncomputed import uncomputed
from tracert_analysis.report.verdict import Around, config_of, verdict
from tracert_analysis.report.workspace import workspace_acquittals, workspace_story

USE = """
SELECT u.start, u."end", u.walked FROM (
    SELECT unnest(uses, recursive := true) FROM event WHERE kind = 'launch' AND launch = $launch
) u WHERE u."row" = $row LIMIT 1"""

EVENT = "SELECT kind FROM event WHERE seq = $seq"

REQUEST = "SELECT id FROM request WHERE request = $request"


PAGES_MAX = 2**32
"""What fits the numbers of pages, where a dump does not say how many there are."""


class NoSuchPage(Exception):
    """The page asked for is none of the pool's."""


def build(dump: Dump, page: int | None = None) -> Report:
    """The report of a dump; with `page`, that page's story stands in it, whatever the verdict is about.

    `NoSuchPage` when the pool has no such page.
    """
    questions = Questions(dump.connection)
    acts = Acts(questions)
    config = config_of(dump)
    kv_pages = config.get("kv_pages") if isinstance(config.get("kv_pages"), int) else None
    pages = PAGES_MAX if kv_pages is None else kv_pages
    if page is not None and not 0 <= page < pages:
        raise NoSuchPage(f"there is no page {page}: the pool has pages 0 to {pages - 1}")
    rows, query, total = findings(questions)
    seen = scene(questions, acts, dump, rows)
    # The verdict first, then all others by event.
    rows.sort(key=lambda row: row is not seen.root)
    access = _access(questions, acts, seen)
    host = _host(questions, seen)
    row_stories = _row_stories(questions, acts, seen, kv_pages)
    page_stories = _page_stories(questions, acts, seen, row_stories, dump, page, kv_pages)
    suspect = seen.shown.row["row"] if seen.shown else None
    code = seen.root["code"] if seen.root else None
    keeper = bool(seen.shown and seen.root and kept_room(seen.shown.row, seen.root))
    beside = seen.shown.row if seen.shown and seen.root and seen.shown.row["code"] == code else seen.root
    whole = _whole(questions)
    left_out = uncomputed(questions, acts, seen.shown.row if seen.shown else None, seen.act)
    handed = given_away.fixes(questions, seen.root) if seen.root else ()
    workspace = workspace_story(questions, seen.act, code, seen.at)
    content = bytes_story(questions, acts, seen.shown.row if seen.shown else None, seen.act)
    clears = repairs.cleared(questions, code or "", seen.at)
    ranged = wrong_range(questions, acts, seen.shown.row if seen.shown else None)
    beside_it = Around(left_out, handed, workspace, content, clears, ranged)
    counts, counts_query = checked(questions)
    return Report(
        tool=_tool(),
        dump=_about(dump),
        error=_error(dump, acts, seen, rows),
        verdict=replace(
            verdict(questions, acts, dump, seen, rows, query, counts, beside_it),
            standing=standing(questions, dump, seen, whole),
        ),
        access=access,
        host=host,
        rows=row_stories,
        pages=page_stories,
        lanes=lanes(questions),
        workspace=workspace,
        content=content,
        uncomputed=left_out,
        acquitted=tuple(
            item if whole else replace(item, why=f"{item.why}; as far as the recorded window goes")
            for item in (
                *acquittals(questions, seen.concerned, suspect, kv_pages),
                *bytes_acquittals(questions, seen.shown.row if seen.shown else None, seen.act),
                *workspace_acquittals(questions, seen.act, code),
            )
        ),
        findings=_findings(seen, rows),
        moment=seen.at,
        # Of scratch that was kept: what was new about the launch that kept it, not about who lacks it.
        what_was_new=novelties(questions, seen.root_act if keeper else seen.act),
        in_flight=streams(questions, acts),
        names=names(questions, row_stories, page_stories),
        evidence=_evidence(dump, whole, counts, counts_query, total - len(rows), questions.unanswered),
        reproduce=reproduce(config),
        surroundings=surroundings(
            questions, acts, seen.act, seen.other, seen.edge, _left_by(seen, row_stories)
        ),
        contrast=contrasts(questions, acts, beside, small=dump.evidence.events <= EVENTS_MAX, whole=whole),
        guard=guard_story(questions, acts, seen.shown.row if seen.shown else None, seen.act),
        queries=tuple(questions.asked),
    )


def _access(questions: Questions, acts: Acts, scene: Scene) -> Access | None:
    if scene.act is None:
        return None
    root = scene.shown.row if scene.shown else {}
    row = root.get("row", scene.act.row)
    use = questions.ask(
        f"how launch {scene.act.launch} uses row {row}", USE, launch=scene.act.launch, row=row
    )
    found = use.first or {}
    request = root.get("request")
    fence: FenceFact | None = None
    fence_query = 0
    if scene.other is not None and scene.other.stream != scene.act.stream:
        earlier, later = sorted((scene.act, scene.other), key=lambda act: act.seq)
        fence, fence_query = acts.joining_fence(earlier, later.stream, later.seq)
    return Access(
        act=scene.act,
        request=request,
        request_id=_request_id(questions, request),
        row=row,
        generation=root.get("generation", scene.act.generation),
        positions=(0, found["end"]) if found else None,
        walked=found.get("walked"),
        other=scene.other,
        fence=fence,
        query=scene.act_query,
        fence_query=fence_query,
        why=_which(scene),
    )


def _which(scene: Scene) -> str | None:
    """Which of its repetitions the report tells of, where that is not the verdict itself."""
    if scene.shown is None or scene.shown.why is None or scene.root is None:
        return None
    number = scene.causes.number(scene.shown.row)
    root = scene.root
    if kept_room(scene.shown.row, root):
        return f"{scene.shown.why}, beside the block that launch {root['launch']} kept"
    first = f"the first is at seq {root['seq']}"
    return f"number {number:,} of {scene.causes.times:,}: {scene.shown.why}; {first}"


def _host(questions: Questions, scene: Scene) -> HostAct | None:
    """What the host did, where a finding names no launch."""
    if scene.shown is None or scene.act is not None:
        return None
    row = scene.shown.row
    told = questions.ask(f"event {row['seq']}", EVENT, seq=row["seq"])
    return HostAct(
        seq=row["seq"],
        kind=str(told.first["kind"]) if told.first else "event",
        request=row["request"],
        request_id=_request_id(questions, row["request"]),
        other=scene.other,
        concerned=scene.concerned,
        query=told.query,
    )


def _request_id(questions: Questions, request: int | None) -> str | None:
    if request is None:
        return None
    told = questions.ask(f"request {request}", REQUEST, request=request)
    return told.first["id"] if told.first else None


def _row_stories(
    questions: Questions, acts: Acts, scene: Scene, kv_pages: int | None
) -> tuple[RowStory, ...]:
    """The row that the finding is about, when it is about one."""
    if scene.shown is None or scene.shown.row["row"] is None:
        return ()
    row = scene.shown.row["row"]
    earlier = scene.edge.earlier if scene.edge else None
    too_late = earlier if earlier and earlier.kind == "publish" and earlier.row == row else None
    found = scene.shown.row
    named = found["resource_kind"] == "row" or found["class"] == "mapping" or too_late is not None
    return (row_story(questions, acts, row, scene.at, scene.act, too_late, kv_pages, named),)


def _left_by(scene: Scene, rows: tuple[RowStory, ...]) -> Act | None:
    """Of a row whose publish comes too late, the publish before: what that one put there is followed."""
    late = scene.edge is not None and scene.edge.earlier.kind == "publish"
    if not late or not rows or rows[0].previous_writer is None:
        return None
    return rows[0].previous_writer.act


def _page_stories(
    questions: Questions,
    acts: Acts,
    scene: Scene,
    rows: tuple[RowStory, ...],
    dump: Dump,
    asked: int | None,
    kv_pages: int | None,
) -> tuple[PageStory, ...]:
    """The page asked for, as of the end; the finding's page; of a row, one page left there and one meant."""
    wanted: dict[int, tuple[int, str]] = {}
    doubts: dict[int, Doubt] = {}
    if asked is not None:
        wanted[asked] = (dump.evidence.last_seq or 0, "asked for; as of the end of the history")
    root = scene.shown.row if scene.shown else None
    if root is not None and root["resource_kind"] == "page" and root["resource_id"] is not None:
        wanted.setdefault(root["resource_id"], (scene.at, "the page of the finding"))
    for row in rows:
        strays = [left for left in row.leftovers if left.left_in_pool]
        # Where no other page was read, the one that was meant is no part of the mistake.
        for entry in row.leftovers[:1] if strays else ():
            wanted.setdefault(
                entry.page, (scene.at, f"what entry {entry.index} of row {row.row} should name")
            )
            doubts.setdefault(entry.page, Doubt(entry.index, True))
        for entry in strays[:1]:
            assert entry.left_page is not None
            why = f"what entry {entry.index} of row {row.row} names until the publish has executed"
            wanted.setdefault(entry.left_page, (scene.at, why))
            doubts.setdefault(entry.left_page, Doubt(entry.index, False))
    size = config_of(dump).get("page_size")
    return tuple(
        page_story(
            questions,
            acts,
            page,
            at,
            why,
            About(
                asked=page == asked,
                reader=None if page == asked else scene.act,
                other=scene.other,
                pages=kv_pages,
                page_size=size if isinstance(size, int) and size > 0 else None,
                whole=page == asked or dump.evidence.events <= EVENTS_MAX,
                doubt=doubts.get(page),
            ),
        )
        for page, (at, why) in wanted.items()
    )


def _told(dump: Dump) -> dict[str, Any] | None:
    """The first error in the history: one that ended a request, and not the engine, is in no header."""
    names = ("code", "name", "message", "stream", "observed_at", "detail")
    found = dump.connection.execute(
        f"SELECT {', '.join(names)} FROM event WHERE kind = 'error' ORDER BY seq LIMIT 1"
    ).fetchone()
    if found is None:
        return None
    error = dict(zip(names, found, strict=True))
    if isinstance(error["detail"], str):
        error["detail"] = json.loads(error["detail"])
    return error


def _findings(scene: Scene, rows: list[Row]) -> tuple[Finding, ...]:
    apart = {row["finding"] for cluster in scene.causes.independent() for row in cluster}
    return tuple(finding(row, scene.causes.why[row["finding"]], row["finding"] in apart) for row in rows)


def _error(dump: Dump, acts: Acts, scene: Scene, rows: list[Row]) -> ErrorFact | None:
    error = dump.header.get("error") or _told(dump)
    stream = error.get("stream") if isinstance(error, dict) else None
    name = acts.stream_name(stream) if isinstance(stream, int) else None
    nonfinite = any(row["code"] == "TR902" for row in rows)
    # What does not explain the error says nothing of its words.
    category = scene.root["class"] if scene.root and scene.causes.explains() else None
    return error_fact(error if isinstance(error, dict) else None, name, category, nonfinite, _idle(dump))


def _idle(dump: Dump) -> bool:
    """Had every launch of every stream finished? False where the progress of none is known."""
    found = dump.connection.execute("SELECT bool_and(finished >= launched) FROM stream_state").fetchone()
    return bool(found and found[0])


def _whole(questions: Questions) -> bool:
    """Is nothing missing before the last event?"""
    return bool(questions.rows("SELECT complete AND NOT holes AS whole FROM _window")[0]["whole"])


def _evidence(
    dump: Dump, whole: bool, counts: dict[str, int], query: int, cut: int, unanswered: list[str]
) -> Evidence:
    found = dump.evidence
    unknown = list(found.unknown)
    if found.bad_lines:
        lines = f"{counted(found.bad_lines, 'lines')} of the dump {'is' if found.bad_lines == 1 else 'are'}"
        unknown.append(f"{lines} no event: what they told is missing")
    if found.damaged:
        unknown.append("the dump's checksum is not that of its lines: some of it was changed or damaged")
    unknown += [f"not answered: {question}" for question in unanswered]
    if cut:
        unknown.append(f"{cut:,} findings are left out of this report; the view finding has all")
    return Evidence(
        events=found.events,
        lost=found.lost,
        torn=found.torn,
        truncated=found.truncated,
        first_seq=found.first_seq,
        last_seq=found.last_seq,
        unknown=tuple(unknown),
        whole=whole,
        checked=counts,
        query=query,
    )


def _config(dump: Dump) -> dict[str, Any]:
    config = dump.header.get("config")
    return config if isinstance(config, dict) else {}


def _about(dump: Dump) -> dict[str, Any]:
    """Of the header, what says which dump this is. Not the planted fault: the reader is never told."""
    names = ("reason", "written_ns", "model", "device", "tool")
    return {"name": dump.name, **{name: dump.header[name] for name in names if name in dump.header}}


def _tool() -> dict[str, Any]:
    try:
        return {"name": "tracert", "version": version("tracert")}
    except PackageNotFoundError:
        return {"name": "tracert", "version": None}
