"""Reasoning of earlier turns in the rendered history: kept when asked for, whatever the template would do."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.server.byte_tokenizer import ByteTokenizer
from tests.server.conftest import StartServer
from tracert.models.chat import AGENT, ChatTemplate
from tracert.models.fetch import resolve
from tracert.models.load import load_tokenizer
from tracert.server.chat_body import encode_chat
from tracert.server.errors import ApiError

STRIPS = (
    "{% for m in messages %}[{{ m.role }}]"
    "{% if m.role == 'assistant' %}{{ m.content.split('</think>')[-1].lstrip('\\n') }}"
    "{% else %}{{ m.content }}{% endif %}{% endfor %}"
)
"""Leaves reasoning out, also where it stands in the content, as Qwen3's template does for earlier turns."""

LATEST = (
    "{% for m in messages %}[{{ m.role }}]"
    "{% if m.reasoning_content and loop.last %}<think>\n{{ m.reasoning_content.strip('\\n') }}\n</think>\n\n"
    "{% endif %}{{ m.content }}{% endfor %}"
)
"""Writes that of the last message only."""

HISTORY: list[dict[str, Any]] = [
    {"role": "user", "content": "1+1?"},
    {"role": "assistant", "content": "2", "reasoning_content": "\nadd\n"},
    {"role": "user", "content": "3+3?"},
    {"role": "assistant", "content": "6", "reasoning_content": "add </think> again"},
]


class Templated(ByteTokenizer):
    """Bytes, with a real template."""

    def render_chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = True,
        **kwargs: Any,
    ) -> str:
        """By the template."""
        template = ChatTemplate({"default": self.template or ""}, {}, "test")
        return template.render(messages, tools, add_generation_prompt, **kwargs)


def _rendered(template: str, preserve: bool, options: dict[str, Any] | None = None) -> str:
    prompt = encode_chat(HISTORY, [], options, Templated(template), preserve_thinking=preserve)
    return bytes(prompt.tokens).decode()


@pytest.mark.parametrize("template", [STRIPS, LATEST])
def test_all_reasoning_is_kept(template: str) -> None:
    """Between the marks, before the content, once, however the template treats it."""
    first, second = "<think>\nadd\n</think>\n\n2", "<think>\nadd </think> again\n</think>\n\n6"
    assert f"[user]1+1?[assistant]{first}[user]3+3?[assistant]{second}" == _rendered(template, True)


def test_without_the_option_the_template_decides() -> None:
    """As models were trained: reasoning of earlier turns is gone."""
    assert "[user]1+1?[assistant]2[user]3+3?[assistant]6" == _rendered(STRIPS, False)
    assert "[user]1+1?[assistant]2[user]3+3?[assistant]<think>" in _rendered(LATEST, False)


@pytest.mark.parametrize("preserve", [True, False])
def test_a_request_may_say_otherwise(preserve: bool) -> None:
    """With the variable that newer templates have for it."""
    asked = {"preserve_thinking": not preserve}
    assert ("add" in _rendered(STRIPS, preserve, asked)) == (not preserve)


@pytest.mark.parametrize("said", ["x", 1, None, []])
def test_what_is_neither_yes_nor_no_is_refused(said: object) -> None:
    """No word counts as a yes."""
    with pytest.raises(ApiError, match="preserve_thinking must be true or false") as caught:
        _rendered(STRIPS, True, {"preserve_thinking": said})
    assert (400, "chat_template_kwargs") == (caught.value.status, caught.value.param)


def test_a_template_that_knows_the_variable_does_it_itself() -> None:
    """`tiny-random`'s does: of the turns before only when asked, of the turn under way always."""
    tokenizer = load_tokenizer(resolve("tiny-random"))
    assert "preserve_thinking" in AGENT
    messages = [*HISTORY, {"role": "user", "content": "and?"}]
    kept, bare = (
        tokenizer.decode(encode_chat(messages, [], None, tokenizer, preserve).tokens, skip_special=False)
        for preserve in (True, False)
    )
    assert "<think>\nadd\n</think>\n\n2<|im_end|>" in kept
    assert "<think>" not in bare
    assert bare == kept.replace("<think>\nadd\n</think>\n\n", "").replace(
        "<think>\nadd </think> again\n</think>\n\n", ""
    )


def test_what_a_turn_thought_makes_the_next_prompt_go_on_from_it() -> None:
    """The prompt of a turn, with what the model wrote, is the beginning of the next turn's prompt."""
    tokenizer = load_tokenizer(resolve("tiny-random"))
    first = encode_chat(HISTORY[:1], [], None, tokenizer, preserve_thinking=True).tokens
    wrote = tokenizer.encode("<think>\nadd\n</think>\n\n2")
    second = encode_chat(HISTORY[:3], [], None, tokenizer, preserve_thinking=True).tokens
    assert [*first, *wrote] == second[: len(first) + len(wrote)]


def test_the_server_s_option_reaches_chat_and_tokenize(start_server: StartServer) -> None:
    """The fake engine's template shows no reasoning: with the option it is written before the content."""
    body = {"messages": HISTORY}
    for preserve in (True, False):
        server = start_server(preserve_thinking=preserve)
        with server.http() as http:
            tokens = http.post("/tokenize", json=body).json()["tokens"]
            assert 200 == http.post("/v1/chat/completions", json={**body, "max_tokens": 1}).status_code
        assert server.last_generate()["tokens"] == tokens
        assert (b"<think>\nadd\n</think>\n\n2" in bytes(tokens)) == preserve
