"""Reasoning, content and calls of one answer, in order."""

from hypothesis import given
from hypothesis import strategies as st

from tests.server.cuts import TEXTS, cut
from tracert.server.chat_message import MessageStream, message_of
from tracert.server.reasoning_parser import ReasoningParser
from tracert.server.speech import Content, Part, Reasoning, SpeechReader
from tracert.server.tool_call import ToolCall
from tracert.server.tool_parser import ToolParser

CALL = '<tool_call>{"name": "f"}</tool_call>'
F = ToolCall("f", "{}")


def read(pieces: list[str], one_call: bool = False) -> list[Part]:
    """All that a reader with both parsers makes of the pieces."""
    reader = SpeechReader(ReasoningParser(False), ToolParser({}), one_call)
    return [*(part for piece in pieces for part in reader.push(piece)), *reader.finish()]


def test_the_parts_come_apart() -> None:
    """A call within the reasoning is only thought of."""
    text = f"<think>{CALL}</think>look: {CALL}"
    assert [Reasoning(CALL), Content("look:"), F] == read([text])


def test_without_parsers_all_is_content() -> None:
    """Marks are text to a model that does not know them."""
    reader = SpeechReader(None, None, one_call=True)
    text = f"<think>a</think>{CALL}"
    assert [Content(text)] == [*reader.push(text), *reader.finish()]
    assert not reader.ended


def test_one_call_ends_the_answer() -> None:
    """What comes after it, in the same piece or later, does not pass."""
    assert [Content("a"), F] == read([f"a{CALL}{CALL}b", CALL, "c"], one_call=True)


@given(text=TEXTS, cuts=st.lists(st.integers(1, 9)), one_call=st.booleans())
def test_a_stream_adds_up_to_the_message(text: str, cuts: list[int], one_call: bool) -> None:
    """Deltas of any pieces, put together as clients do, are the message of the whole but for random ids."""
    message = message_of(read([text], one_call))
    reader, stream = SpeechReader(ReasoningParser(False), ToolParser({}), one_call), MessageStream()
    deltas = [delta for piece in cut(text, cuts) for delta in stream.deltas(reader.push(piece))]
    deltas += stream.deltas(reader.finish())
    assert ["assistant"] == [delta["role"] for delta in deltas if "role" in delta]
    for name in ("content", "reasoning_content"):
        assert (message.get(name) or "") == "".join(delta.get(name, "") for delta in deltas)
    heads: list[dict[str, str]] = []
    for delta in deltas:
        for piece in delta.get("tool_calls", []):
            if piece["index"] == len(heads):
                heads.append(piece["function"])
                assert piece["id"].startswith("call_")
                assert piece["type"] == "function"
            else:
                heads[piece["index"]]["arguments"] += piece["function"]["arguments"]
    assert [call["function"] for call in message.get("tool_calls", [])] == heads
