"""Texts full of marks and halves of marks, and ways to cut them."""

from hypothesis import strategies as st

_FRAGMENTS = [
    *("<think>", "</think>", "<tool_call>", "</tool_call>", "<function=f>", "</function>"),
    *("<parameter=n>", "<parameter=s>", "</parameter>", "<tool_", "</tool", "</", "<", ">"),
    *('{"name": "f", "arguments": {"s": "</tool_call>"}}', '{"name": "f"}', '"', "\\", '\\"', "{", "}"),
    *(" ", "\n", "\n\n", "1", "text", "ä"),
    '<tool_call>\n{"name": "f", "arguments": {"n": 1}}\n</tool_call>',
    "<tool_call>\n<function=f>\n<parameter=n>\n1\n</parameter>\n</function>\n</tool_call>",
]
TEXTS = st.lists(st.sampled_from(_FRAGMENTS), max_size=12).map("".join)


def cut(text: str, sizes: list[int]) -> list[str]:
    """The text in pieces of these sizes, and what then remains."""
    pieces = []
    for size in sizes:
        pieces.append(text[:size])
        text = text[size:]
    return [*pieces, text]
