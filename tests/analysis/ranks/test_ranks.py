"""Several dumps of one engine in one database: everything of all ranks, and where their decisions part."""

import os
from pathlib import Path

import pytest
from tracert_analysis.explain import explain
from tracert_analysis.frame import DumpError
from tracert_analysis.ranks import Ranks, dumps_in, open_ranks

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


def opened(folder: Path, *ranks: History) -> Ranks:
    """The dumps of these ranks, read together."""
    paths = []
    for number, rank in enumerate(ranks):
        path = folder / f"dump-{number}.jsonl"
        path.write_bytes(b"".join(rank.lines()))
        paths.append(str(path))
    return open_ranks(paths)


def test_ranks_that_decide_alike_have_no_finding_and_one_table_of_everything(tmp_path: Path) -> None:
    """The dumps may come in any order; a rank's macros answer in its schema."""
    ranks = opened(tmp_path, Decisions(1).decide(range(4)), Decisions(0).decide(range(4)))
    assert [0, 1] == [rank.number for rank in ranks.ranks]
    ask = ranks.connection.execute
    assert [] == ask("SELECT * FROM finding").fetchall()
    assert [(0, 14), (1, 14)] == ask("SELECT rank, count(*) FROM event GROUP BY ALL ORDER BY 1").fetchall()
    assert [(0, 14), (1, 14)] == ask(
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
        "the 4 decisions before it are alike"
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


def test_two_dumps_of_one_rank_and_dumps_with_and_without_are_refused(tmp_path: Path) -> None:
    """They are not the ranks of one engine."""
    with pytest.raises(
        DumpError, match=r"dump-1.jsonl is of rank 0, and so is .*dump-0.jsonl: give one dump a rank"
    ):
        opened(tmp_path, Decisions(0), Decisions(0))
    with pytest.raises(DumpError, match=r"dump-1.jsonl does not say its rank, and others do"):
        opened(tmp_path, Decisions(0), History())
    assert [0, 1] == [rank.number for rank in opened(tmp_path, History(), History()).ranks]


def test_of_a_directory_the_newest_dump_of_each_rank(tmp_path: Path) -> None:
    """Dumps that say no rank, and other files, are passed over."""
    for age, (name, history) in enumerate(
        {"a": Decisions(0), "b": Decisions(1), "c": Decisions(0), "d": History()}.items()
    ):
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(b"".join(history.lines()))
        os.utime(path, (age, age))
    (tmp_path / "notes.jsonl").write_text("no dump\n")
    assert [str(tmp_path / "c.jsonl"), str(tmp_path / "b.jsonl")] == dumps_in(str(tmp_path))
    (tmp_path / "b.jsonl").unlink()
    assert [str(tmp_path)] == dumps_in(str(tmp_path))
    assert ["nowhere"] == dumps_in("nowhere")


def test_the_page_s_query_shows_what_every_rank_decided(tmp_path: Path) -> None:
    """Around the place where they part."""
    ranks = opened(tmp_path, Decisions(0).decide(range(4)), Decisions(1).decide(range(4), hit=0))
    rows = ranks.connection.execute(explain("TR801").query()).fetchall()
    assert [number for number in range(2, 9) for _ in range(2)] == [row[0] for row in rows]
    parted = [row for row in rows if row[0] == 5]
    assert [(5, 0, "finds 8 tokens of request 2 cached"), (5, 1, "finds 0 tokens of request 2 cached")] == [
        (row[0], row[1], row[3]) for row in parted
    ]


def test_clocks_that_no_host_has_are_damage(tmp_path: Path) -> None:
    """Numbers of any size in a header or an event end in no traceback."""
    odd = Decisions(1, boot=None).decide(range(1))
    odd.header["clock"] = {"monotonic_ns": -(1 << 63), "unix_ns": (1 << 64) - 1}
    odd.events[0]["t"] = (1 << 64) - 1
    ranks = opened(tmp_path, Decisions(0).decide(range(1)), odd)
    assert 0 == ranks.ranks[1].offset_ns
    assert [(1, None), (2, 2000)] == ranks.connection.execute(
        "SELECT decision, at_ns FROM decision WHERE rank = 1 AND decision <= 2 ORDER BY ALL"
    ).fetchall()
