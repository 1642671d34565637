"""The text of a schedule that ran."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.device.replay import CALL, ScheduleError, decode, encode


def test_the_grammar_is_as_documented() -> None:
    """The example of the module's docstring, and streams beyond the alphabet."""
    trace = [CALL, CALL, 1, CALL, 0, 0, 0, 2, 26, 26, 25]

    assert encode(trace) == "replay:2.b.3ac2_26_z"
    assert decode("replay:2.b.3ac2_26_z") == [[], [1], [0, 0, 0, 2, 26, 26, 25]]
    assert encode([]) == "replay:"
    assert decode("replay:") == []


@given(st.lists(st.lists(st.integers(0, 40), max_size=6)))
def test_a_text_reads_back(calls: list[list[int]]) -> None:
    """What was encoded is what is decoded, whatever the streams."""
    trace = [unit for call in calls for unit in (CALL, *call)]

    assert decode(encode(trace)) == calls


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fifo", "'fifo' does not begin with 'replay:'"),
        ("replay:.b!c", "nothing is meant by '!c' at character 10"),
        ("replay:.b3", "nothing is meant by '3' at character 10"),
        ("replay:._x_", "nothing is meant by '_x_' at character 9"),
        ("replay:B", "nothing is meant by 'B'"),
        ("replay:b.", "must begin with '.'"),
        ("replay:.999999999999b", "more than 10000000 steps at character 9"),
        ("replay:.9000000b9000000c", "more than 10000000 steps at character 17"),
    ],
)
def test_a_bad_text_is_one_clear_line(text: str, message: str) -> None:
    """What is wrong, and where."""
    with pytest.raises(ScheduleError) as error:
        decode(text)

    assert message in str(error.value)
    assert "\n" not in str(error.value)
