"""One answer: text, log-probabilities and reasons stay in step, whatever the tokens are cut into."""

from hypothesis import given
from hypothesis import strategies as st

from tests.server.byte_tokenizer import ByteTokenizer
from tracert.messages.messages import FinishReason, TokenLogprobs, Tokens
from tracert.server.choice import Choice, Delta, Entry


def make(stops: list[str] | None = None) -> Choice:
    """A choice over bytes."""
    return Choice(3, ByteTokenizer().stream(), stops or [], ByteTokenizer.eos_ids)


def tokens(ids: list[int], finish: FinishReason | None = None, logprobs: bool = False) -> Tokens:
    """A message with tokens."""
    entries = [TokenLogprobs(token=id_, logprob=-0.5) for id_ in ids] if logprobs else None
    return Tokens(id="r", tokens=ids, logprobs=entries, finish_reason=finish)


def test_eos_is_no_text() -> None:
    """The token that ended the answer is counted and not shown; elsewhere it has no text either."""
    choice = make()
    assert Delta(3, "hi", [], "stop") == choice.push(tokens([104, 105, 256], "stop"))
    assert choice.tokens == 3


def test_half_a_character_waits_for_the_other_half() -> None:
    """A character comes whole; one that never ends becomes a replacement character."""
    choice = make()
    assert choice.push(tokens([0xC3])).empty
    assert choice.push(tokens([0xA4])).text == "ä"
    assert choice.push(tokens([0xC3], "length")).text == "\ufffd"


def test_what_looked_like_a_stop_string_is_shown_when_it_is_none() -> None:
    """Withheld text comes with the text that clears it, or with the end."""
    choice = make(["END"])
    assert choice.push(tokens(list(b"aE"))).text == "a"
    assert choice.push(tokens(list(b"Nx"))).text == "ENx"
    assert choice.push(tokens(list(b"EN"))).empty
    assert Delta(3, "ENE", [], "length") == choice.push(tokens(list(b"E"), "length"))


def test_a_stop_string_ends_the_answer() -> None:
    """Tokens after the one that completed it are neither shown nor counted."""
    choice = make(["END"])
    assert Delta(3, "ab", [], "stop") == choice.push(tokens(list(b"abENDcd")))
    assert choice.stopped
    assert choice.tokens == 5


def test_a_stop_string_wins_over_length() -> None:
    """Found with the very last token that was allowed, it is still the reason."""
    assert make(["b"]).push(tokens(list(b"ab"), "length")).finish_reason == "stop"


@given(
    text=st.text("abE", max_size=20),
    cuts=st.lists(st.integers(1, 5), max_size=20),
    stops=st.lists(st.text("abE", min_size=1, max_size=3), max_size=2),
)
def test_entries_are_those_of_the_shown_text(text: str, cuts: list[int], stops: list[str]) -> None:
    """At the end there is one entry for each byte of the shown text, with its offset; never one too early."""
    choice = make(stops)
    ids = [*text.encode(), 256]
    shown, reason = "", None
    entries: list[Entry] = []
    while ids and reason is None:
        size = cuts.pop() if cuts else 1
        part, ids = ids[:size], ids[size:]
        delta = choice.push(tokens(part, None if ids else "stop", logprobs=True))
        shown += delta.text
        entries += delta.entries
        reason = delta.finish_reason
        assert len(entries) == len(shown)
    assert reason == "stop"
    assert list(range(len(shown))) == [entry.offset for entry in entries]
    assert list(shown.encode()) == [entry.logprobs.token for entry in entries]
