"""Keeps the reasoning of earlier turns in a rendered conversation, whatever the model's template does with
it.

Most templates write the reasoning of the turn under way and leave out that of the turns before. What the
model wrote is then not what the next prompt says it wrote, and the tokens of the turns before are found in
no cache.
"""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from tracert.server.reasoning_parser import CLOSE, OPEN
from tracert.server.tokenizer import Tokenizer
from tracert.server.tools_body import Tool


def render_with_thinking(
    tokenizer: Tokenizer,
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Tool],
    options: Mapping[str, Any],
) -> str:
    """The prompt, with the `reasoning_content` of every assistant's message in it.

    Templates that know the variable `preserve_thinking` do it themselves. Where one leaves reasoning out, it
    is written before the content, between the marks and newlines that Qwen's templates write. Raises what
    the template raises.
    """
    variables = {**options, "preserve_thinking": True}
    # The template shows what it does with a word that stands for the reasoning, and can be no one's text.
    secret = secrets.token_hex(8)
    thoughts = {
        number: str(message["reasoning_content"]).strip("\n")
        for number, message in enumerate(messages)
        if message.get("reasoning_content")
    }
    words = {number: f"thought-{secret}-{number}." for number in thoughts}
    marked = [
        {**message, "reasoning_content": words[number]} if number in words else dict(message)
        for number, message in enumerate(messages)
    ]
    text = tokenizer.render_chat(marked, tools or None, **variables)
    left_out = [number for number, word in words.items() if word not in text]
    if left_out:
        for number in left_out:
            del marked[number]["reasoning_content"]
            marked[number]["content"] = words[number] + marked[number]["content"]
        text = tokenizer.render_chat(marked, tools or None, **variables)
    for number, thought in thoughts.items():
        block = f"{OPEN}\n{thought}\n{CLOSE}\n\n" if number in left_out else thought
        text = text.replace(words[number], block)
    return text
