"""Several dumps of one engine in one database: everything of all ranks, and where their decisions part."""

import os
from pathlib import Path

import pytest
from tracert_analysis.explain import explain
from tracert_analysis.frame import DumpError
from tracert_analysis.ranks import NotRanks, Ranks, chosen, one_of, open_ranks

from tests.analysis.history import History
from tests.some import a_few

BOOT = "3b1b7bd2-0f77-4b62-9e2a-6a5b8d6c6f10"


class Decisions(History):
    """A rank that decides for two requests, four steps each."""

    def __init__(self, rank: int, *, first_seq: int = 1, boot: str | None = BOOT) -> None:
        super().__init__(first_seq=first_seq)
        self.header["config"]["rank"] = rank
        self.header["ring"]["boot_id"] = boot
        self.header["clock"] = {"monotonic_ns": 1_000_000, "unix_ns": 5_000_000 + rank}

    def decide(self, steps: range, *, hit: int = 8, late: int | None = None) -> "Decisions":
        """Two requests, in every step a token of each; with `late`, this step leaves the second one out."""
        if steps.start == 0:
            for request in (1, 2):
                self.event("arrive", request=request, prompt_tokens=8)
                self.event("match", request=request, hit_tokens=hit if request == 2 else 0, node=0)
                self.acquire(request, 1, request)
        for step in steps:
            for request in (1, 2):
                if step == late and request == 2:
                    continue
                self.event(
                    "schedule",
                    request=request,
                    row=request,
                    phase="decode",
                    step=step,
                    scheduled_tokens=1,
                    computed_tokens=8 + step,
                    pages=1,
                )
        return self


def written(folder: Path, *ranks: History) -> list[str]:
    """The dumps of these ranks."""
    paths = []
    for number, rank in enumerate(ranks):
        path = folder / f"dump-{number}.jsonl"
        path.write_bytes(b"".join(rank.lines()))
        paths.append(str(path))
    return paths


def opened(folder: Path, *ranks: History) -> Ranks:
    """The dumps of these ranks, read together."""
    return open_ranks(written(folder, *ranks))


def test_ranks_that_decide_alike_have_no_finding_and_one_table_of_everything(tmp_path: Path) -> None:
    """The dumps may come in any order; a rank's macros answer in its schema."""
    ranks = opened(tmp_path, Decisions(1).decide(range(4)), Decisions(0).decide(range(4)))
    assert [0, 1] == [rank.number for rank in ranks.ranks]
    ask = ranks.connection.execute
    assert [] == ask("SELECT * FROM finding").fetchall()
    assert [(0, 14), (1, 14)] == ask("SELECT rank, count(*) FROM event GROUP BY ALL ORDER BY 1").fetchall()
    assert [(0, 12), (1, 12)] == ask(
        "SELECT rank, max(decision) FROM decision GROUP BY ALL ORDER BY 1"
    ).fetchall()
    assert [(1, 2)] == ask("SELECT rank, request FROM request WHERE rank = 1 AND request = 2").fetchall()
    for rank in ranks.ranks:
        assert [] == rank.dump.connection.execute("SELECT * FROM last_owner(3)").fetchall()


def test_a_rank_that_finds_less_cached_is_named_where_it_parts(tmp_path: Path) -> None:
    """LMCache/LMCache#1467: a rank evicted by itself, and the same prompt hits less on it."""
    ranks = opened(tmp_path, Decisions(0).decide(range(2)), Decisions(1).decide(range(2), hit=0))
    told = """
        SELECT rank, code, seq, class, confidence, resource_kind, resource_id, request, sentence
        FROM finding"""
    sentence = (
        "rank 1 finds 0 tokens of request 2 cached, where rank 0 finds 8 tokens of request 2 cached: "
        "the 3 decisions before it are alike"
    )
    expected = [(1, "TR801", 5, "order", "proven", "request", 2, 2, sentence)]
    assert expected == ranks.connection.execute(told).fetchall()
    assert [(1,)] == ranks.ranks[1].dump.connection.execute("SELECT finding FROM finding").fetchall()


def test_of_three_the_odd_one_out_has_parted(tmp_path: Path) -> None:
    """Even when it is the first."""
    ranks = opened(
        tmp_path,
        Decisions(0).decide(range(4), late=2),
        Decisions(1).decide(range(4)),
        Decisions(2).decide(range(4)),
    )
    assert [(0, "TR801")] == ranks.connection.execute("SELECT rank, code FROM finding").fetchall()


def test_a_rank_that_stopped_earlier_has_not_parted(tmp_path: Path) -> None:
    """It died in the middle of a step."""
    short = Decisions(1).decide(range(4))
    del short.events[-3:]
    ranks = opened(tmp_path, Decisions(0).decide(range(4)), short)
    assert [] == ranks.connection.execute("SELECT * FROM finding").fetchall()


def test_a_lost_beginning_is_compared_from_where_both_are_known(tmp_path: Path) -> None:
    """The ring of rank 1 starts in the middle of a step: a step later everything is known of both."""
    for late, expected in ((4, [(1, "TR801")]), (1, [])):
        first = Decisions(0).decide(range(6))
        lost = Decisions(1).decide(range(6), late=late)
        cut = next(place for place, event in enumerate(lost.events) if event.get("step") == 1) + 1
        del lost.events[:cut]
        lost.header["ring"] |= {"first_seq": lost.events[0]["seq"], "lost": cut}
        ranks = opened(tmp_path, first, lost)
        assert expected == ranks.connection.execute("SELECT rank, code FROM finding").fetchall()


def test_decisions_of_a_rank_with_holes_are_not_compared(tmp_path: Path) -> None:
    """A decision that is missing is none that was not made."""
    torn = Decisions(1).decide(range(4))
    torn.header["ring"] |= {"torn": 1, "torn_seqs": [torn.events.pop(6)["seq"]]}
    ranks = opened(tmp_path, Decisions(0).decide(range(4)), torn)
    assert [] == ranks.connection.execute("SELECT * FROM finding").fetchall()
    assert [(0,)] == ranks.connection.execute("SELECT DISTINCT rank FROM decision").fetchall()
    assert [(0, False), (1, True)] == ranks.connection.execute(
        "SELECT rank, holes FROM rank ORDER BY 1"
    ).fetchall()


@pytest.mark.parametrize("boot", a_few(2, [BOOT, None, "another"]))
def test_ranks_of_one_boot_share_a_clock(tmp_path: Path, boot: str | None) -> None:
    """Otherwise each has the Unix time of its own host."""
    ranks = opened(tmp_path, Decisions(0).decide(range(1)), Decisions(1, boot=boot).decide(range(1)))
    assert (boot == BOOT) == ranks.one_clock
    assert [4_000_000, 4_000_000 if boot == BOOT else 4_000_001] == [rank.offset_ns for rank in ranks.ranks]


def test_when_a_request_comes_in_or_fails_is_nobody_s_decision(tmp_path: Path) -> None:
    """Nor is what a rank calls the failure, which request it fails first, and when a client went away.

    And what came of a step may be learnt before or behind the next one.
    """

    def rank(number: int, *, early: bool) -> Decisions:
        history = Decisions(number).decide(range(2))
        for last in (False, True):
            if early != last:
                history.event("arrive", request=3, prompt_tokens=4)
                history.event("verify", request=1, row=1, step=1, accepted=2)
            if not last:
                history.decide(range(2, 4))
        history.event("finish", request=2, row=2, reason="abort" if early else "stop")
        for request in (1, 3) if early else (3, 1):
            history.event("fail", request=request, reason="launch failure" if early else "peer rank 0 failed")
        return history

    ranks = opened(tmp_path, rank(0, early=True), rank(1, early=False))
    assert [] == ranks.connection.execute("SELECT * FROM finding").fetchall()
    learnt = (
        "SELECT decision, rank FROM decision WHERE what = 'accepts 2 drafts of request 1, step 1' ORDER BY 2"
    )
    assert [(8, 0), (8, 1)] == ranks.connection.execute(learnt).fetchall()


def test_a_rank_that_ends_a_request_otherwise_or_preempts_another_has_parted(tmp_path: Path) -> None:
    """Where it first shows, whenever the ranks told of it."""
    stop, length = (Decisions(number).decide(range(2)) for number in (0, 1))
    stop.event("finish", request=1, row=1, reason="stop")
    length.event("finish", request=1, row=1, reason="length")
    told = "SELECT rank, code, sentence FROM finding"
    sentence = (
        "rank 1 ends request 1: length, where rank 0 ends request 1: stop: "
        "the 7 decisions before it are alike"
    )
    assert [(1, "TR801", sentence)] == opened(tmp_path, stop, length).connection.execute(told).fetchall()
    first, other = (Decisions(number).decide(range(2)) for number in (0, 1))
    for history, victim in ((first, 1), (other, 2)):
        history.event("preempt", request=victim, row=victim)
        history.event(
            "schedule", request=3 - victim, row=3 - victim, step=2, scheduled_tokens=1, computed_tokens=10
        )
    sentence = (
        "rank 1 schedules 1 tokens of request 1 in row 1 after 10 computed, step 2, where rank 0 schedules "
        "1 tokens of request 2 in row 2 after 10 computed, step 2: the 8 decisions before it are alike"
    )
    assert [(1, "TR801", sentence)] == opened(tmp_path, first, other).connection.execute(told).fetchall()


def test_dumps_that_are_not_of_ranks_of_one_engine_are_told_apart(tmp_path: Path) -> None:
    """By ranks, process, model, options and times; asked for, they stand side by side, not compared."""
    parted = (Decisions(0).decide(range(2)), Decisions(1).decide(range(2), hit=0))

    def why(first: History, second: History) -> str:
        with pytest.raises(NotRanks) as caught:
            opened(tmp_path, first, second)
        return str(caught.value).partition("these 2 dumps are not of ranks of one engine: ")[2]

    assert "dump-1.jsonl is of rank 0, and so is dump-0.jsonl" == why(Decisions(0), Decisions(0))
    assert "does not say its rank (config.rank), and others do" in why(Decisions(0), History())
    first, second = History(), History(kv_pages=64)
    assert "they ran with other options: kv_pages (32, 64)" == why(first, second)
    second = Decisions(1)
    second.header["model"] = {"name": "another"}
    assert "they are of other models: tiny-random, another" == why(Decisions(0), second)
    for history in (first, second := History()):
        history.header["ring"] |= {"boot_id": BOOT, "pid": 17}
    assert "are of one process (17)" in why(first, second)
    # Another ring of one process, which began when the first had ended.
    second.header["clock"] = {"monotonic_ns": 9 * 10**9, "unix_ns": 9 * 10**9}
    second.header["written_ns"] = 10 * 10**9
    assert "they ran 9 s apart" == why(first, second)
    beside = open_ranks(written(tmp_path, *parted[:1], parted[0]), beside=True)
    assert [(0,), (1,)] == beside.connection.execute("SELECT rank FROM rank ORDER BY 1").fetchall()
    assert [] == beside.connection.execute("FROM decision").fetchall()
    assert [] == beside.connection.execute("FROM finding").fetchall()


@pytest.mark.parametrize("other", ["ids", "numbers", "order", "later"])
def test_ranks_that_serve_other_requests_are_not_compared(tmp_path: Path, other: str) -> None:
    """Data-parallel ranks. Those that took in the same requests in another order have parted, though.

    And of a rank that has lost its beginning nobody knows whether it had the other's requests.
    """
    first, second = Decisions(0), Decisions(1, first_seq=50 if other == "later" else 1)
    for number, rank in enumerate((first, second)):
        for request in (1, 2):
            own = request + 2 * number * (other in ("numbers", "later"))
            client = {"ids": f"{number}-{request}", "order": str((request + number) % 2)}.get(other, str(own))
            rank.event("arrive", request=own, id=client, prompt_tokens=8)
        for step in range(3):
            rank.event(
                "schedule", request=1 + 2 * number * (other == "numbers"), row=1, phase="decode", step=step,
                scheduled_tokens=1 + number * (other == "order"), computed_tokens=step,
            )  # fmt: skip
    if other in ("ids", "numbers"):
        with pytest.raises(NotRanks, match=r"dump-0\.jsonl and dump-1\.jsonl serve other requests: no"):
            opened(tmp_path, first, second)
        together = open_ranks(written(tmp_path, first, second), beside=True)
        assert [] == together.connection.execute("SELECT * FROM finding").fetchall()
    else:
        told = opened(tmp_path, first, second).connection.execute("SELECT code FROM finding").fetchall()
        assert told == ([("TR801",)] if other == "order" else [])


def test_only_the_events_tell_when_a_ring_ended(tmp_path: Path) -> None:
    """It was read an hour later, when another engine ran."""
    ranks = [Decisions(number).decide(range(2)) for number in (0, 1)]
    for rank in ranks:
        rank.header["clock"] = {"monotonic_ns": 0, "unix_ns": 0}
        rank.header["written_ns"] = 3600 * 10**9
    ranks[1].header["clock"] = {"monotonic_ns": 60 * 10**9, "unix_ns": 60 * 10**9}
    for event in ranks[1].events:
        event["t"] += 60 * 10**9
    with pytest.raises(NotRanks, match="they ran 60 s apart"):
        opened(tmp_path, *ranks)


def test_ranks_that_nobody_calls_so_part_on_suspicion_only(tmp_path: Path) -> None:
    """Nor is it proven of ranks with other options, but for sizes that each may have by its own memory."""
    told = "SELECT code, confidence FROM finding"
    pair = [Decisions(number).decide(range(2), hit=8 * number) for number in (0, 1)]
    pair[1].header["config"]["host_slots"] = 7
    pair[0].header["config"]["host_slots"] = 9
    assert [("TR801", "proven")] == opened(tmp_path, *pair).connection.execute(told).fetchall()
    for rank in pair:
        rank.header["config"]["max_num_seqs"] = rank.header["config"]["rank"]
    doubted = opened(tmp_path, *pair)
    assert [("TR801", "suspected")] == doubted.connection.execute(told).fetchall()
    assert "they ran with other options: max_num_seqs (0, 1)" == doubted.doubt
    for rank in pair:
        rank.header["config"] = {"page_size": 4}
    assert [("TR801", "suspected")] == opened(tmp_path, *pair).connection.execute(told).fetchall()


def test_of_dumps_that_are_no_ranks_the_one_is_read_that_tells_of_an_error(tmp_path: Path) -> None:
    """Of one process the newest; where no dump tells of an error, none."""
    histories = [Decisions(0), Decisions(0), Decisions(0)]
    histories[1].header["error"] = {"code": 719, "name": "LAUNCH_FAILURE"}

    def read() -> tuple[str, str]:
        with pytest.raises(NotRanks) as caught:
            opened(tmp_path, *histories)
        return one_of(caught.value)

    path, said = read()
    assert str(tmp_path / "dump-1.jsonl") == path
    assert said.endswith(f"; one is read: {path}, the only one that tells of an error")
    histories[1].header["error"] = None
    with pytest.raises(DumpError, match="none of them tells of an error: give the one that is meant"):
        read()
    for age, history in enumerate(histories):
        history.header["ring"] |= {"boot_id": BOOT, "pid": 17}
        history.header["written_ns"] = 100 - age
    path, said = read()
    assert (str(tmp_path / "dump-0.jsonl"), True) == (path, said.endswith(", the newest"))


def test_of_a_directory_the_newest_dump_of_each_rank(tmp_path: Path) -> None:
    """Of one engine; dumps that say no rank, and other files, are passed over."""
    other = Decisions(2)
    other.header["model"] = {"name": "another"}
    for age, (name, history) in enumerate(
        {"a": Decisions(0), "b": Decisions(1), "e": other, "c": Decisions(0), "d": History()}.items()
    ):
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(b"".join(history.lines()))
        os.utime(path, (age, age))
    (tmp_path / "notes.jsonl").write_text("no dump\n")
    said = f"of 5 dumps in {tmp_path} these are read, the newest of each rank: c.jsonl, b.jsonl"
    assert ((str(tmp_path / "c.jsonl"), str(tmp_path / "b.jsonl")), (said,)) == chosen([str(tmp_path)])
    # What failed is asked for first, and what has no ranks then stands alone.
    failed = History()
    failed.header["error"] = {"code": 1, "name": "X"}
    (tmp_path / "f.jsonl").write_bytes(b"".join(failed.lines()))
    assert (str(tmp_path / "f.jsonl"),) == chosen([str(tmp_path)]).paths
    assert (("nowhere",), ()) == chosen(["nowhere"])


def test_of_a_directory_of_dumps_one_is_read_and_a_line_says_which(tmp_path: Path) -> None:
    """The newest of those that tell of an error, whenever others were written; an orderly end comes last."""

    def put(name: str, age: int, reason: str, *, error: bool = False) -> None:
        history = History()
        history.header |= {"reason": reason, "written_ns": age, "error": {"code": 1} if error else None}
        (tmp_path / name).write_bytes(b"".join(history.lines()))

    def read() -> tuple[str, str | None]:
        (path,), remarks = chosen([str(tmp_path)])
        return Path(path).name, remarks[0].rpartition(f" in {tmp_path} ")[2] if remarks else None

    put("a.jsonl", 1, "request")
    assert ("a.jsonl", None) == read()
    put("b-exit.jsonl", 2, "exit")
    why = "one is read: a.jsonl, the newest but for those of an orderly end; none tells of an error"
    assert ("a.jsonl", why) == read()
    put("c.jsonl", 3, "killed")
    put("d.jsonl", 4, "request")
    assert ("c.jsonl", "one is read: c.jsonl, the only one that tells of an error") == read()
    put("e.jsonl", 0, "device-error", error=True)
    assert (
        "e.jsonl",
        "one is read: e.jsonl, the newest of those that tell of an error; so does c.jsonl",
    ) == read()


def test_the_page_s_query_shows_what_every_rank_decided(tmp_path: Path) -> None:
    """Around the place where they part."""
    ranks = opened(tmp_path, Decisions(0).decide(range(4)), Decisions(1).decide(range(4), hit=0))
    rows = ranks.connection.execute(explain("TR801").query()).fetchall()
    assert [number for number in range(1, 8) for _ in range(2)] == [row[0] for row in rows]
    parted = [row for row in rows if row[0] == 4]
    assert [(4, 0, "finds 8 tokens of request 2 cached"), (4, 1, "finds 0 tokens of request 2 cached")] == [
        (row[0], row[1], row[3]) for row in parted
    ]


def test_clocks_that_no_host_has_are_damage(tmp_path: Path) -> None:
    """Numbers of any size in a header or an event end in no traceback."""
    odd = Decisions(1, boot=None).decide(range(1))
    odd.header["clock"] = {"monotonic_ns": -(1 << 63), "unix_ns": (1 << 64) - 1}
    odd.events[1]["t"] = (1 << 64) - 1
    ranks = opened(tmp_path, Decisions(0).decide(range(1)), odd)
    assert 0 == ranks.ranks[1].offset_ns
    assert [(1, None), (2, 3000)] == ranks.connection.execute(
        "SELECT decision, at_ns FROM decision WHERE rank = 1 AND decision <= 2 ORDER BY ALL"
    ).fetchall()
