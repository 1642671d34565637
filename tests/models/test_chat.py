"""Chat templates against transformers' own rendering."""

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from tests.models.conftest import make_tiny
from tests.models.vocabularies import byte_level
from tracert.models.chat import ChatTemplate, read_chat_template
from tracert.models.errors import ChatError, TokenizerError
from tracert.models.fetch import ModelSource, resolve
from tracert.models.load import load_tokenizer

CHATML = """\
{%- if tools %}
    {{- '<|im_start|>system\\n# Tools\\n' }}
    {%- for tool in tools %}
        {{- tool | tojson }}
    {%- endfor %}
    {{- '<|im_end|>\\n' }}
{%- endif %}
{% for message in messages %}
    {% if message.role == 'skip' %}{% continue %}{% endif %}
    {{- bos_token + message['role'] + '\\n' }}
    {% if message.role == 'assistant' %}{% generation %}{{ message.content }}{% endgeneration %}
    {% else %}{{ message.content }}{% endif %}
    {{- eos_token }}
    {%- if message.tool_calls %}{{ message.tool_calls | tojson(indent=2) }}{% endif %}
{% endfor %}
{% if add_generation_prompt %}
<|im_start|>assistant
{% if enable_thinking is defined and enable_thinking is false %}<think></think>{% endif %}
{% endif %}
"""
CHATS: list[list[dict[str, Any]]] = [
    [{"role": "user", "content": "Hello, <b>wörld</b> & 'all'"}],
    [
        {"role": "system", "content": "  Be brief.\n"},
        {"role": "skip", "content": "never seen"},
        {"role": "user", "content": "What's the weather?"},
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "weather"}, "id": 1}]},
        {"role": "tool", "content": "sunny ☀"},
    ],
]  # fmt: skip
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "<any> place's wéather"}}]


def reference(template: str | dict[str, str]) -> Any:
    """transformers' tokenizer with this template."""
    import transformers

    fast: Any = transformers.PreTrainedTokenizerFast
    return fast(
        tokenizer_object=byte_level(),
        bos_token="<|im_start|>",
        eos_token="<|im_end|>",
        chat_template=template,
    )


def ours(templates: dict[str, str]) -> ChatTemplate:
    """Our template with the same special tokens."""
    return ChatTemplate(templates, {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>"}, "here")


@pytest.mark.parametrize("messages", CHATS)
@pytest.mark.parametrize("tools", [None, TOOLS])
@pytest.mark.parametrize("kwargs", [{}, {"enable_thinking": False}, {"add_generation_prompt": False}])
def test_renders_as_transformers(
    messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None, kwargs: dict[str, Any]
) -> None:
    """White space, loop controls, JSON, generation blocks and variables come out the same."""
    expected = reference(CHATML).apply_chat_template(
        messages, tools=tools, tokenize=False, **{"add_generation_prompt": True, **kwargs}
    )
    assert expected == ours({"default": CHATML}).render(messages, tools, **kwargs)


def test_tool_use_template() -> None:
    """Of several templates the one for tools is used when there are tools."""
    template = ours({"default": "plain", "tool_use": "tools"})
    assert template.render([]) == "plain"
    assert template.render([], TOOLS) == "tools"
    assert (template.source(False), template.source(True)) == ("plain", "tools")
    assert (ours({"default": "plain"}).source(True), ours({}).source(True)) == ("plain", None)


def test_date() -> None:
    """Templates may ask for today."""
    expected = datetime.datetime.now().strftime("%Y")
    assert expected == ours({"default": "{{ strftime_now('%Y') }}"}).render([])


@pytest.mark.parametrize(
    ("template", "complaint"),
    [
        ("{{ raise_exception('roles must\nalternate') }}", "refuses the messages: roles must alternate"),
        ("{% for %}", "here: the chat template failed: TemplateSyntaxError"),
        ("{{ messages[0].content + 1 }}", "here: the chat template failed: TypeError"),
        ("{{ ''.__class__.__mro__ }}", "here: the chat template failed: SecurityError"),
        ("{{ messages.append(1) }}", "here: the chat template failed: SecurityError"),
    ],
)
def test_failures_are_one_line(template: str, complaint: str) -> None:
    """What a template refuses, gets wrong or must not do is one line."""
    with pytest.raises(ChatError, match=complaint) as raised:
        ours({"default": template}).render([{"role": "user", "content": "x"}])
    assert "\n" not in str(raised.value)


def write(directory: Path, config: dict[str, Any] | None = None, files: dict[str, str] | None = None) -> Path:
    """A directory with these tokenizer files."""
    if config is not None:
        (directory / "tokenizer_config.json").write_text(json.dumps(config))
    for name, text in (files or {}).items():
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(text)
    return directory


def test_where_templates_are_found(tmp_path: Path) -> None:
    """In tokenizer_config.json, as text or by name, or in files of their own, which count more."""
    found = read_chat_template(write(tmp_path))
    assert found.templates == {}
    found = read_chat_template(write(tmp_path, {"chat_template": "a", "eos_token": {"content": "</s>"}}))
    assert (found.templates, found.special_tokens) == ({"default": "a"}, {"eos_token": "</s>"})
    named = [{"name": "default", "template": "b"}, {"name": "tool_use", "template": "c"}]
    assert read_chat_template(write(tmp_path, {"chat_template": named})).templates == {
        "default": "b",
        "tool_use": "c",
    }
    files = {"chat_template.jinja": "d", "additional_chat_templates/tool_use.jinja": "e"}
    assert read_chat_template(write(tmp_path, files=files)).templates == {"default": "d", "tool_use": "e"}


def test_special_tokens_map(tmp_path: Path) -> None:
    """Special tokens may stand in a file of their own."""
    write(tmp_path, {}, {"special_tokens_map.json": '{"bos_token": "<s>", "pad_token": null}'})
    assert read_chat_template(tmp_path).special_tokens == {"bos_token": "<s>"}


def test_damaged_configuration(tmp_path: Path) -> None:
    """A damaged tokenizer_config.json is one line."""
    with pytest.raises(TokenizerError, match=r"tokenizer_config\.json: not JSON"):
        read_chat_template(write(tmp_path, files={"tokenizer_config.json": "{"}))


def test_saved_by_transformers(tmp_path: Path) -> None:
    """A directory that transformers saved renders as transformers does."""
    make_tiny("llama", tmp_path, vocab_size=400)
    theirs = reference(CHATML)
    theirs.save_pretrained(tmp_path)
    tokenizer = load_tokenizer(resolve(str(tmp_path)))
    expected = theirs.apply_chat_template(CHATS[1], tokenize=True, add_generation_prompt=True)["input_ids"]
    assert expected == tokenizer.encode(tokenizer.render_chat(CHATS[1]), add_special=False)


def test_tiny_random() -> None:
    """tiny-random has a template too; its special tokens are ids, not text."""
    tokenizer = load_tokenizer(resolve("tiny-random"))
    text = tokenizer.render_chat([{"role": "user", "content": "Hi"}])
    assert text == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    assert tokenizer.encode(text, add_special=False) == [258, *b"user\nHi", 259, 10, 258, *b"assistant\n"]


@pytest.mark.weights
def test_smollm2(smollm2: ModelSource) -> None:
    """SmolLM2's template renders as transformers renders it, its default system message included."""
    chat = load_tokenizer(smollm2).chat
    theirs = reference(chat.templates["default"])
    for messages in (CHATS[0], [{"role": "system", "content": "Short."}, *CHATS[0]]):
        expected = theirs.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        assert expected == chat.render(messages)
    assert chat.special_tokens == {
        "bos_token": "<|im_start|>",
        "eos_token": "<|im_end|>",
        "unk_token": "<|endoftext|>",
        "pad_token": "<|im_end|>",
    }
