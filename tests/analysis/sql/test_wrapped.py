"""Owner, writer and fence of pages whose grant or last write lies before the history."""

import pytest
from tracert_analysis.load import Dump

from tests.analysis.history import History, use

COMPUTE, TRANSFER = 1, 2


@pytest.fixture(scope="module")
def wrapped(tmp_path_factory: pytest.TempPathFactory) -> Dump:
    """From event 500 on: prefix:4 and then request:7 took page 1, and launch 33 wrote it at event 130."""
    history = History(first_seq=500)
    history.keyframe(
        [
            {"page": 0, "life": 1, "state": "held", "holders": ["reserved:0/write"]},
            {"page": 1, "life": 3, "state": "held", "holders": ["prefix:4/read", "request:7/read"]},
            {"page": 2, "life": 1, "state": "held", "holders": ["request:7/write"]},
        ],
        [{"row": 0, "generation": 4, "request": 7, "epoch": 2, "entries": [[0, 1, 3], [1, 2, 1]]}],
    )
    history.states.append(
        {
            "kind": "page_state", "page": 1, "life": 3, "state": "held", "holder": "request:7",
            "given_back": True, "previous_holder": "request:5", "alloc_seq": 120, "writer": 33,
            "writer_stream": TRANSFER, "writer_seq": 130, "writer_life": 3,
        }
    )  # fmt: skip
    history._launches, history._ordinals = 90, {COMPUTE: 40, TRANSFER: 30}
    history.forward(COMPUTE, use(0, 4, 5, 6))
    history.publish(TRANSFER, 1, 1, [(9, 1)])
    history.order(TRANSFER, COMPUTE)
    history.order(TRANSFER, COMPUTE)
    history.drop([(1, 3)], "prefix:4", "read")
    history.drop([(1, 3)], "request:7", "read")
    history.free([(1, 3)])
    history.forward(COMPUTE, use(0, 4, 6, 7))
    return history.read(tmp_path_factory.mktemp("wrapped"))


def test_whom_a_page_was_granted_to_is_not_known(wrapped: Dump) -> None:
    """A holder that the keyframe lists may have taken it long after the grant."""
    rows = wrapped.connection.execute(
        "SELECT page, owner, known_from FROM page_life ORDER BY page"
    ).fetchall()
    assert [(0, "reserved:0", 500), (1, None, 500), (2, None, 500)] == rows
    told = wrapped.connection.execute(
        "SELECT life, owner, holder, mode, from_seq, source FROM last_owner(1)"
    ).fetchall()
    # The keyframe lists holders as they took it.
    assert [(3, None, "request:7", "read", 500, "keyframe")] == told


def test_the_first_fence_of_the_history_covers_what_was_written_before_it(wrapped: Dump) -> None:
    """The number of the write within its stream is not known, and at most that before the first one here."""
    (told,) = wrapped.connection.execute(
        "SELECT writer, stream, ordinal, record_seq, wait_stream, covers FROM last_fence(1)"
    ).fetchall()
    record = wrapped.connection.execute("SELECT min(record_seq) FROM fence").fetchall()[0][0]
    assert (33, TRANSFER, 31, record, COMPUTE, True) == told
    assert wrapped.connection.execute("SELECT ordinal, source FROM last_writer(1)").fetchall() == [
        (None, "page_state")
    ]


def test_sentences_do_not_say_whom_it_was_granted_to(wrapped: Dump) -> None:
    """TR201: launch 93 reads what was given back."""
    (sentence,) = wrapped.connection.execute("SELECT sentence FROM finding WHERE code = 'TR201'").fetchall()[
        0
    ]
    assert sentence.endswith("; it was granted before the history")
