"""Calls come out whole and in order, what is none comes back as text, wherever the text is cut."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.server.cuts import TEXTS, cut
from tracert.server.tool_call import ToolCall
from tracert.server.tool_parser import ToolParser

SCHEMAS: dict[str, object] = {
    "f": {"properties": {"n": {"type": "integer"}, "s": {"type": "string"}, "o": {"type": "object"}}}
}
F = ToolCall("f", '{"n": 1}')
F_JSON = '<tool_call>\n{"name": "f", "arguments": {"n": 1}}\n</tool_call>'
F_TAGS = "<tool_call>\n<function=f>\n<parameter=n>\n1\n</parameter>\n</function>\n</tool_call>"
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)


def read(pieces: list[str]) -> list[str | ToolCall]:
    """All that a parser makes of the pieces, neighbouring texts joined."""
    parser = ToolParser(SCHEMAS)
    joined: list[str | ToolCall] = []
    for found in [*(one for piece in pieces for one in parser.push(piece)), *parser.finish()]:
        last = joined[-1] if joined else None
        if isinstance(found, str) and isinstance(last, str):
            joined[-1] = last + found
        else:
            joined.append(found)
    return joined


@pytest.mark.parametrize("call", [F_JSON, F_TAGS])
def test_calls_and_text_keep_their_order(call: str) -> None:
    """Both forms; white space next to a call is no text, but that between two texts stays."""
    assert ["Let me see.", F, F] == read([f"Let me see.\n\n{call}\n{call}\n"])
    assert ["one", F, "\n two", F] == read([f"one {call}\n two\n{call}"])
    assert [F, "done"] == read([f"\n{call}\ndone"])


@pytest.mark.parametrize(
    ("text", "call"),
    [
        (
            '{"name": "f", "arguments": {"s": "a</tool_call>\\"b<tool_call>"}}',
            {"s": 'a</tool_call>"b<tool_call>'},
        ),
        ('{"arguments": {"s": "two\nlines"}, "name": "f"}', {"s": "two\nlines"}),
        ('{"name": "f", "arguments": "{\\"n\\": 1}"}', {"n": 1}),
        ('{"name": "f"}', {}),
        ('{"name": "f", "arguments": null}', {}),
        ("<function=f>\n</function>", {}),
        ("<function=f><parameter=n>7</parameter></function>", {"n": 7}),
        ("<function=f>\n<parameter=n>\nseven\n</parameter>\n</function>", {"n": "seven"}),
        ("<function=f>\n<parameter=s>\n\n 7\n\n</parameter>\n</function>", {"s": "\n 7\n"}),
        ("<function=f>\n<parameter=s>\n</tool_call>\n</parameter>\n</function>", {"s": "</tool_call>"}),
        ('<function=f>\n<parameter=o>\n{"a": [1]}\n</parameter>\n</function>', {"o": {"a": [1]}}),
        ("<function=f>\n<parameter=?>\n7\n</parameter>\n</function>", {"?": "7"}),
    ],
)
def test_arguments_are_what_was_meant(text: str, call: dict[str, Any]) -> None:
    """Marks in strings and values, newlines in JSON strings, types by the schema; a missing end mark."""
    whole = f"<tool_call>\n{text}\n</tool_call>"
    for pieces in ([whole], list(whole), [whole.removesuffix("</tool_call>")], [whole[:-3]]):
        (found,) = read(pieces)
        assert isinstance(found, ToolCall)
        assert ("f", call) == (found.name, json.loads(found.arguments))


@pytest.mark.parametrize(
    "text",
    [
        "the <tool_call> mark is not </tool_call>",
        '<tool_call>\n{"name": "f", "arguments": {"n": }}\n</tool_call>\n',
        '<tool_call>\n{"name": "f", "arguments": {"n": 1}\n</tool_call>',
        '<tool_call>{"name": "f", "arguments": [1]}</tool_call>',
        '<tool_call>{"name": "f", "arguments": "1"}</tool_call>',
        '<tool_call>{"name": "f", "arguments": {"n": NaN}}</tool_call>',
        '<tool_call>{"name": "f", "arguments": {"n": 1e999}}</tool_call>',
        '<tool_call>{"name": "f", "arguments": {"s": "\\ud800"}}</tool_call>',
        '<tool_call>{"name": "f", "parameters": {"n": 1}}</tool_call>',
        '<tool_call>{"name": 7, "arguments": {}}</tool_call>',
        '<tool_call>{"name": "f", "arguments": ' + "[" * 9999 + "</tool_call>",
        '<tool_call>{"n": ' + "1" * 9999 + "}</tool_call>",
        "<tool_call>[]</tool_call>",
        "<tool_call></tool_call>",
        '<tool_call>{"name": "f", "argum',
        "<tool_call>\n<func",
        "<tool_call>\n<function=>\n</function>\n</tool_call>",
        "<tool_call>\n<function=f>\n7\n</function>\n</tool_call>",
        "<tool_call>\n<function=f>\n<parameter=n>\n7\n</function>\n</tool_call>",
        "<tool_call>\n<function=f>\n</function>\nand",
        " \n<tool_",
    ],
)
def test_what_is_no_call_is_text(text: str) -> None:
    """To the last character, white space included."""
    assert [text] == read([text])
    assert [text] == read(list(text))


@pytest.mark.parametrize(
    "broken",
    [
        '<tool_call>\n{"name": "f", \n',
        '<tool_call>\n{"name": "f, "arguments": {}}\n</tool_call>\n',
        '<tool_call>\n{"name": f", "arguments": {}}\n</tool_call>\n',
        "<tool_call>\n<function=f>\n",
        "<tool_call>\n<function=f>\n<parameter=n>\n1\n</parameter>\n</tool_call>\n",
    ],
)
@pytest.mark.parametrize("call", [F_JSON, F_TAGS])
def test_a_call_after_a_broken_one_is_found(broken: str, call: str) -> None:
    """The broken one is text, the next one is a call."""
    assert [broken.rstrip(), F] == read([broken + call])


def test_a_call_is_let_out_with_its_last_character() -> None:
    """Not with the end of the answer; and text before what may be a mark at once."""
    parser = ToolParser(SCHEMAS)
    assert ["see"] == parser.push("see <tool")
    assert [] == parser.push(("see " + F_JSON)[9:-1])
    assert [F] == parser.push(">")


@given(text=TEXTS, cuts=st.lists(st.integers(1, 9)))
def test_pieces_are_the_whole(text: str, cuts: list[int]) -> None:
    """Any cuts give the result of the whole text; where no call is found, that is the text itself."""
    whole = read([text])
    assert whole == read(cut(text, cuts))
    if not any(isinstance(found, ToolCall) for found in whole):
        assert text == "".join(map(str, whole))


@given(name=NAMES, arguments=st.dictionaries(NAMES, VALUES, max_size=3), ascii_only=st.booleans())
def test_every_call_comes_back(name: str, arguments: dict[str, Any], ascii_only: bool) -> None:
    """Whatever its strings hold, also marks."""
    text = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=ascii_only)
    (found,) = read(["<tool_call>\n", *text, "\n</tool_call>"])
    assert isinstance(found, ToolCall)
    assert (name, arguments) == (found.name, json.loads(found.arguments))
