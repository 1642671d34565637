"""Stop strings, against the definition applied to the whole text at once."""

from hypothesis import given
from hypothesis import strategies as st

from tracert.server.stops import StopFilter

LETTERS = st.text("abc", max_size=30)
STOPS = st.lists(st.text("abc", min_size=1, max_size=4), max_size=4)


def expected_text(text: str, stops: list[str]) -> str:
    """Up to the stop string that ends first, of those the one that starts first."""
    for end in range(1, len(text) + 1):
        starts = [end - len(stop) for stop in stops if text[:end].endswith(stop)]
        if starts:
            return text[: min(starts)]
    return text


@given(pieces=st.lists(LETTERS, max_size=8), stops=STOPS)
def test_the_text_ends_at_the_first_stop_string_however_it_is_cut(
    pieces: list[str], stops: list[str]
) -> None:
    """Any cutting of a text gives what the definition gives for the whole."""
    stop_filter = StopFilter(stops)
    shown = "".join([stop_filter.push(piece) for piece in pieces])
    expected = expected_text("".join(pieces), stops)
    assert expected.startswith(shown)
    assert expected == shown + stop_filter.finish()
    assert stop_filter.found == any(stop in "".join(pieces) for stop in stops)


@given(text=LETTERS, stops=STOPS)
def test_nothing_is_withheld_but_the_start_of_a_stop_string(text: str, stops: list[str]) -> None:
    """What is held back is always a proper beginning of some stop string."""
    stop_filter = StopFilter(stops)
    stop_filter.push(text)
    held = stop_filter.finish()
    assert not held or any(stop.startswith(held) and stop != held for stop in stops)


def test_without_stop_strings_all_passes_at_once() -> None:
    """No stop string, nothing to wait for."""
    stop_filter = StopFilter([])
    assert stop_filter.push("abc") == "abc"
    assert stop_filter.finish() == ""
