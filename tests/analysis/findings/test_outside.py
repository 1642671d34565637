"""Writers without a stream, the host and external ones, break the same rules as launches do.

One history has all of it, a page a case: what a later case does changes nothing that came before.
"""

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tracert_analysis.load import Dump, open_dump

from tests.analysis.history import History, Page, use
from tracert.record.access import Clear, Compute, Extent, Holder
from tracert.record.layout import Geometry
from tracert.record.ring import Ring
from tracert.record.ring_recorder import RingRecorder

COMPUTE, TRANSFER = 1, 2

Row = dict[str, Any]


class Case(NamedTuple):
    """What a case must have on its page: the finding, its event, and the act that it should come after."""

    code: str
    seq: int
    other_seq: int
    sentence: str
    call: str | None


class Story:
    """The history, and by page what is expected of it."""

    def __init__(self) -> None:
        self.history = History()
        self.expected: dict[int, Case] = {}
        self.sound: set[int] = set()
        self._request = 0
        self.history.clear(COMPUTE)
        self.history.sync()

    def granted(self, page: int) -> tuple[Page, str]:
        """A page for a new request."""
        self._request += 1
        holder = f"request:{self._request}"
        return self.history.alloc([page], holder)[0], holder

    def again(self, page: int, held: tuple[Page, str]) -> Page:
        """The page is given back, and granted to another request."""
        self.history.give_back([held[0]], held[1])
        return self.granted(page)[0]

    def read_too_early(self) -> None:
        """Page 5: a transfer has begun and the launch that reads what it brings waits for nothing."""
        history, (page, _) = self.history, self.granted(5)
        number = history.begin("nic", writes=[[*page, 0, 4]])
        begun = history.seq
        history.sync()
        reader = history.forward(COMPUTE, reads=[[*page, 1, 3]])
        history.end("nic", number)
        self.expected[5] = Case(
            "TR101", reader.seq, begun,
            f"launch {reader.launch} (forward) on compute reads positions 1 to 2 of page 5.1, and nothing "
            f"orders it after transaction {number} of external:nic, which writes them",
            f"wait for the completion of transaction {number} of external:nic",
        )  # fmt: skip

    def read_when_done(self) -> None:
        """Page 6: the same, once the host knows."""
        history, (page, _) = self.history, self.granted(6)
        history.end("nic", history.begin("nic", writes=[[*page, 0, 4]]))
        history.forward(COMPUTE, reads=[[*page, 1, 3]])
        self.sound.add(6)

    def host_writes_under_a_reader(self) -> None:
        """Page 7: the host writes what a launch may still read."""
        history, (page, _) = self.history, self.granted(7)
        history.host_write([[*page, 0, 4]])
        reader = history.forward(COMPUTE, reads=[[*page, 0, 4]])
        seq = history.host_write([[*page, 3, 4]])
        self.expected[7] = Case(
            "TR101", seq, reader.seq,
            "the host writes position 3 of page 7.1, and nothing orders it after "
            f"launch {reader.launch} (forward) on compute, which reads it",
            "fence = device.record(compute); device.sync(fence)",
        )  # fmt: skip

    def host_writes_behind_a_reader(self) -> None:
        """Page 8: the host has seen the reader end, and a launch comes after all that the host did."""
        history, (page, _) = self.history, self.granted(8)
        history.host_write([[*page, 0, 4]])
        history.forward(COMPUTE, reads=[[*page, 0, 4]])
        history.passed(history.record(COMPUTE))
        history.host_write([[*page, 0, 4]])
        history.forward(TRANSFER, reads=[[*page, 0, 4]])
        self.sound.add(8)

    def inbound_before_the_last_reader(self) -> None:
        """Page 9: a transfer into a page that a launch of the life before may still read."""
        history, held = self.history, self.granted(9)
        reader = history.forward(COMPUTE, writes=[[*held[0], 0, 4]])
        page = self.again(9, held)
        number = history.begin("nic", writes=[[*page, 0, 4]])
        self.expected[9] = Case(
            "TR202", history.seq, reader.seq,
            f"transaction {number} of external:nic is the first to touch page 9.2, and nothing orders it "
            f"after launch {reader.launch} (forward) on compute, which touches page 9.1 of {held[1]}",
            "fence = device.record(compute); device.sync(fence)",
        )  # fmt: skip

    def inbound_behind_the_last_reader(self) -> None:
        """Page 10: the host has seen it end."""
        history, held = self.history, self.granted(10)
        history.forward(COMPUTE, writes=[[*held[0], 0, 4]])
        history.sync(COMPUTE)
        history.begin("nic", writes=[[*self.again(10, held), 0, 4]])
        self.sound.add(10)

    def granted_under(self, case: int, **touched: str) -> None:
        """Pages 11 and 12: granted again while a transfer may still write, or read, it."""
        history, held = self.history, self.granted(case)
        history.forward(COMPUTE, writes=[[*held[0], 0, 4]])
        history.sync()
        number = history.begin("nic", **{name: [[*held[0], 0, 4]] for name in touched})  # type: ignore[arg-type]
        begun, page = history.seq, self.again(case, held)
        history.sync()
        writer = history.forward(COMPUTE, writes=[[*page, 0, 4]])
        self.expected[case] = Case(
            "TR202", writer.seq, begun,
            f"launch {writer.launch} (forward) on compute is the first to touch page {case}.2, and "
            f"nothing orders it after transaction {number} of external:nic, which touches page "
            f"{case}.1 of {held[1]}",
            f"wait for the completion of transaction {number} of external:nic",
        )  # fmt: skip

    def granted_when_done(self) -> None:
        """Page 13: both transfers are done, in whatever order, and the host wrote before that."""
        history, held = self.history, self.granted(13)
        history.host_write([[*held[0], 0, 4]])
        inbound = history.begin("nic", writes=[[*held[0], 0, 2]])
        outbound = history.begin("nic", reads=[[*held[0], 2, 4]])
        history.end("nic", outbound)
        history.end("nic", inbound)
        history.forward(COMPUTE, writes=[[*self.again(13, held), 0, 4]])
        self.sound.add(13)

    def into_a_life_that_is_over(self) -> None:
        """Page 14: the transfer names a page that nobody holds any more."""
        history, held = self.history, self.granted(14)
        freed = history.give_back([held[0]], held[1])
        number = history.begin("nic", writes=[[*held[0], 0, 4]])
        self.expected[14] = Case(
            "TR201", history.seq, freed - 1,
            f"transaction {number} of external:nic writes page 14.1, which nobody has held since "
            f"event {freed - 1}; it was granted to {held[1]}",
            None,
        )  # fmt: skip

    def cleared_under(self) -> None:
        """Page 15: a clear that nothing orders after the transfer that fills the page."""
        history, (page, _) = self.history, self.granted(15)
        number = history.begin("nic", writes=[[*page, 0, 4]])
        begun = history.seq
        clear = history.clear(COMPUTE, [[*page, 2, 4]])
        history.end("nic", number)
        self.expected[15] = Case(
            "TR104", clear.seq, begun,
            f"launch {clear.launch} (clear_pages) on compute clears positions 2 to 3 of page 15.1, and "
            f"nothing orders it after transaction {number} of external:nic, which writes them",
            f"wait for the completion of transaction {number} of external:nic",
        )  # fmt: skip

    def stale_from_a_transfer(self) -> None:
        """Page 16: a kernel covers more than its request's tokens, where a transfer wrote before."""
        history, held = self.history, self.granted(16)
        number = history.begin("nic", writes=[[*held[0], 0, 4]])
        begun = history.seq
        history.end("nic", number)
        history.give_back([held[0]], held[1])
        self._request += 1
        pages = history.alloc([16], f"request:{self._request}")
        history.acquire(0, 1, self._request)
        history.publish(COMPUTE, 0, 1, pages)
        reader = history.forward(COMPUTE, use(0, 1, 0, 2, covers="page"))
        self.expected[16] = Case(
            "TR301", reader.seq, begun,
            f"launch {reader.launch} (forward) on compute loads positions 2 to 3 of page 16.2 of request "
            f"{self._request}, where keys and values still are, stored by transaction {number} of "
            f"external:nic in life 1; that life ended at event {begun + 2}, and no clear stands between",
            None,
        )  # fmt: skip

    def copied_while_it_is_written(self) -> None:
        """Page 17: the host writes the source of a copy that spans steps, before it is known to be done."""
        history, (source, _), (target, _) = self.history, self.granted(17), self.granted(18)
        history.host_write([[*source, 0, 4]])
        extents = {"source": [[*source, 0, 3]], "target": [[*target, 0, 3]]}
        plan = history.event("copy_plan", transaction=70, positions=3, **extents)
        copy = history.copy(TRANSFER, extents["source"], extents["target"])
        seq = history.host_write([[*source, 2, 3]])
        history.sync()
        history.event("copy_done", transaction=70, positions=3, **extents)
        self.expected[17] = Case(
            "TR303", seq, plan,
            f"the host writes page 17.1, and nothing orders it after launch {copy.launch} (copy_pages) on "
            "transfer of transaction 70, which copies it to page 18.1",
            "fence = device.record(transfer); device.sync(fence)",
        )  # fmt: skip
        self.sound.add(18)


def told(dump: Dump) -> list[Row]:
    """The findings, as they are sorted."""
    relation = dump.connection.execute("FROM finding ORDER BY finding")
    names = [column[0] for column in relation.description or []]
    return [dict(zip(names, row, strict=True)) for row in relation.fetchall()]


@pytest.fixture(scope="module")
def story() -> Story:
    """All cases."""
    story = Story()
    story.read_too_early()
    story.read_when_done()
    story.host_writes_under_a_reader()
    story.host_writes_behind_a_reader()
    story.inbound_before_the_last_reader()
    story.inbound_behind_the_last_reader()
    story.granted_under(11, writes="written")
    story.granted_under(12, reads="read")
    story.granted_when_done()
    story.into_a_life_that_is_over()
    story.cleared_under()
    story.stale_from_a_transfer()
    story.copied_while_it_is_written()
    return story


@pytest.fixture(scope="module")
def dump(story: Story, tmp_path_factory: pytest.TempPathFactory) -> Dump:
    """What the reader makes of it."""
    return story.history.read(tmp_path_factory.mktemp("outside"))


@pytest.mark.parametrize("page", [5, 7, 9, 11, 12, 14, 15, 16, 17])
def test_what_a_writer_without_a_stream_breaks(story: Story, dump: Dump, page: int) -> None:
    """The rule, the event, the act before and the sentence; a writer has no launch and no stream in it."""
    case = story.expected[page]
    found = next(row for row in told(dump) if (row["resource_id"], row["code"]) == (page, case.code))
    expected = {
        "code": case.code,
        "seq": case.seq,
        "other_seq": case.other_seq,
        "sentence": case.sentence,
        "confidence": "proven",
    }
    assert expected == {name: found[name] for name in expected}
    launches = {event["seq"]: event.get("launch") for event in story.history.events}
    assert launches[case.seq] == found["launch"]
    assert (found["launch"] is None) == (found["stream"] is None)
    edges = dump.connection.execute(f"SELECT call FROM missing_edge({found['finding']})").fetchall()
    assert ([] if case.call is None else [(case.call,)]) == edges


def test_their_sound_twins_break_nothing(story: Story, dump: Dump) -> None:
    """Every case is a page, and the pages of the others are clean."""
    assert {5, 7, 9, 11, 12, 14, 15, 16, 17} == set(story.expected)
    assert set(story.expected) == {row["resource_id"] for row in told(dump)}
    assert {6, 8, 10, 13, 18} == story.sound


def test_the_views_name_the_writer(dump: Dump) -> None:
    """Who wrote or read a page without a launch stands beside it; `launch` has launches only."""

    def ask(query: str) -> list[tuple[Any, ...]]:
        return dump.connection.execute(query).fetchall()

    assert [(None, None, "host", "kv", 0, 4)] == ask(
        'SELECT launch, kernel, actor, class, first, "end" FROM last_writer(8)'
    )
    given_back = ask("SELECT min(seq) FROM event WHERE page = 13 AND kind = 'drop'")[0][0]
    assert [(0, 2, "external:nic"), (2, 4, "host")] == ask(
        f'SELECT first, "end", actor FROM page_bytes(13, before := {given_back})'
    )
    assert [("extent read", None, "external:nic")] == ask(
        "SELECT what, stream, actor FROM page_history(12) WHERE actor IS NOT NULL"
    )
    assert [("read", True, "external:nic"), ("write", False, None)] == ask(
        """
        SELECT mode, launch IS NULL AND stream IS NULL, actor FROM access
        WHERE page = 12 AND life = 1 ORDER BY mode
        """
    )
    assert [] == ask("FROM last_fence(8)")
    assert [(0,)] == ask("SELECT count(*) FROM launch WHERE launch IS NULL OR stream > 2")


def test_a_ring_tells_of_them_as_a_dump_does(tmp_path: Path) -> None:
    """Through the recorder: writers by name, the order that lacks, no launch in the last facts."""
    ring = Ring.create(tmp_path / "1-1.ring", Geometry(slots=256, pages=8, page_size=4, rows=1, row_width=1))
    ring.describe({"config": {"page_size": 4, "kv_pages": 8}, "device": {"name": "sim"}})
    recorder = RingRecorder(ring)
    recorder.launch(1, 1, 1, "clear_pages", Clear([Extent(page, 0, 0, 4) for page in range(8)]))
    recorder.fence_passed(device=True)
    recorder.alloc([3, 4], [1, 1], Holder("request", 1))
    begun = recorder.external_begin("nic", 7, [Extent(4, 1, 0, 1)], [Extent(3, 1, 0, 4)])
    wrote = recorder.host_write([Extent(4, 1, 1, 4)])
    reader = recorder.launch(2, 1, 2, "forward", Compute("prefill", 1, reads=[Extent(3, 1, 0, 4)]))
    done = recorder.external_done("nic", 7)
    dump = open_dump(str(ring.path))
    assert [("external:nic", 7, begun, done), ("host", None, wrote, wrote)] == dump.connection.execute(
        "SELECT actor, transaction, seq, done_seq FROM _outside ORDER BY seq"
    ).fetchall()
    assert [("TR101", reader, begun)] == [(row["code"], row["seq"], row["other_seq"]) for row in told(dump)]
    assert [(None, begun), (None, wrote)] == dump.connection.execute(
        "SELECT writer, writer_seq FROM page_state WHERE page IN (3, 4) ORDER BY page"
    ).fetchall()


def unknown(tmp_path: Path, act: str) -> str:
    """The confidence of an unordered access in a history with one act that the reader can't make out."""
    history = History()
    history.clear(COMPUTE)
    history.sync()
    (page,) = history.alloc([5], "request:1")
    match act:
        case "another actor's fence":
            history.event("fence_passed", device=True, actor="external:peer")
        case "a write to nobody knows where":
            history.begin("nic")
        case "a launch without a stream":
            history.event("launch", launch=99, kernel="k", writes=[[*page, 0, 4]])
        case "an extent that is none":
            history.host_write([[5, 1, 0]])
        case "a kind of a later version":
            history.event("external_fence", fence=3)
    history.forward(COMPUTE, writes=[[*page, 0, 4]])
    history.forward(TRANSFER, reads=[[*page, 0, 4]])
    dump = history.read(tmp_path)
    found = told(dump)
    assert ["TR101"] == [row["code"] for row in found]
    assert len(dump.evidence.unknown) == 1
    return str(found[0]["confidence"])


@pytest.mark.parametrize(
    "act",
    [
        "another actor's fence",
        "a write to nobody knows where",
        pytest.param("a launch without a stream", marks=pytest.mark.slow),
        pytest.param("an extent that is none", marks=pytest.mark.slow),
        pytest.param("a kind of a later version", marks=pytest.mark.slow),
    ],
)
def test_what_is_not_understood_takes_the_proof_away(tmp_path: Path, act: str) -> None:
    """It may have ordered what seems unordered."""
    assert "suspected" == unknown(tmp_path, act)


def test_more_writers_than_channels_are_not_guessed_at(tmp_path: Path) -> None:
    """What has no clock breaks no rule, and whatever else does is suspected only."""
    history = History(kv_pages=400)
    history.clear(COMPUTE)
    history.sync()
    pages = history.alloc(range(1, 301), "inbound:1")
    for page in pages:
        history.begin("nic", writes=[[*page, 0, 4]])
    first = history.forward(COMPUTE, reads=[[*pages[0], 0, 4]])
    history.forward(COMPUTE, reads=[[*pages[-1], 0, 4]])
    found = told(history.read(tmp_path))
    assert [("TR101", first.seq, "suspected")] == [
        (row["code"], row["seq"], row["confidence"]) for row in found
    ]
