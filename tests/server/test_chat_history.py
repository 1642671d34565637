"""Messages of agents, as the template of a model gets them."""

from typing import Any

import pytest

from tests.server.byte_tokenizer import AGENT_TEMPLATE, ByteTokenizer
from tracert.models.chat import ChatTemplate
from tracert.server.chat_body import encode_chat
from tracert.server.chat_history import plain_messages
from tracert.server.chat_message import message_of
from tracert.server.dialect import Dialect
from tracert.server.errors import ApiError
from tracert.server.reasoning_parser import ReasoningParser
from tracert.server.speech import SpeechReader
from tracert.server.tool_parser import ToolParser

AGENT = Dialect.of(AGENT_TEMPLATE)
ASK: dict[str, Any] = {"role": "user", "content": "weather?"}
CALL: dict[str, Any] = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"n": 1}'}}
CALLS: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT: dict[str, Any] = {"role": "tool", "tool_call_id": "c1", "content": "sunny"}
TOOL: dict[str, Any] = {"type": "function", "function": {"name": "f"}}
TEMPLATE = r"""
{%- if tools %}{% for tool in tools %}{{ tool | tojson }}{% endfor %}{% endif %}
{%- for message in messages %}
{{- "\n[" ~ message.role ~ "]\n" }}
{%- if message.reasoning_content %}
{{- "<think>\n" ~ message.reasoning_content ~ "\n</think>\n\n" }}
{%- endif %}
{{- message.content }}
{%- for call in message.tool_calls %}
{{- "" if loop.first and not message.content else "\n" }}
{%- if style == "json" %}
{{- '<tool_call>\n{"name": "' ~ call.function.name ~ '", "arguments": ' }}
{{- call.function.arguments | tojson ~ "}\n</tool_call>" }}
{%- else %}
{{- "<tool_call>\n<function=" ~ call.function.name ~ ">\n" }}
{%- for key, value in call.function.arguments | items %}
{{- "<parameter=" ~ key ~ ">\n" ~ value ~ "\n</parameter>\n" }}
{%- endfor %}
{{- "</function>\n</tool_call>" }}
{%- endif %}
{%- endfor %}
{%- if message.role == "tool" %} {{ message.tool_call_id }}{% endif %}
{%- endfor %}
"""
"""Writes calls as Qwen's templates do, in JSON or in tags."""

JSON_CALL = '<tool_call>\n{"name": "f", "arguments": {"n": 1, "s": "ä</tool_call>"}}\n</tool_call>'
TAG_CALL = (
    "<tool_call>\n<function=f>\n<parameter=n>\n1\n</parameter>\n<parameter=s>\nä\n\n</parameter>\n"
    "</function>\n</tool_call>"
)


def test_arguments_become_objects() -> None:
    """Templates write objects; ids and the results' names are kept."""
    plain = plain_messages([ASK, CALLS, {**RESULT, "name": "f"}], AGENT)
    function = {"name": "f", "arguments": {"n": 1}}
    assert [
        ASK,
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "sunny", "name": "f"},
    ] == plain


@pytest.mark.parametrize("arguments", ["", "{}"])
def test_no_arguments_are_an_empty_object(arguments: str) -> None:
    """Some clients send an empty string for them."""
    calls = {**CALLS, "tool_calls": [{"function": {"name": "f", "arguments": arguments}}]}
    (plain,) = plain_messages([calls], AGENT)
    assert plain["tool_calls"][0]["function"] == {"name": "f", "arguments": {}}


@pytest.mark.parametrize(
    ("call", "param", "message"),
    [
        (7, "", "must be an object"),
        ({"id": "1"}, "", "must be an object with id, type function, and function"),
        ({**CALL, "type": "custom"}, "", "type function"),
        ({"function": {"arguments": "{}"}}, ".function.name", "must be the name of a tool"),
        ({"function": {"name": "f"}}, ".function.arguments", "must be a string that holds a JSON object"),
        ({"function": {"name": "f", "arguments": {}}}, ".function.arguments", "must be a string"),
        ({"function": {"name": "f", "arguments": "[1]"}}, ".function.arguments", "JSON object"),
        ({"function": {"name": "f", "arguments": "{"}}, ".function.arguments", "JSON object"),
        ({"function": {"name": "f", "arguments": '{"a": "\\ud800"}'}}, ".function.arguments", "JSON object"),
    ],
)
def test_bad_calls_are_named(call: Any, param: str, message: str) -> None:
    """The error says which call of which message, and what is wrong."""
    with pytest.raises(ApiError, match=message) as caught:
        plain_messages([ASK, {**CALLS, "tool_calls": [CALL, call]}], AGENT)
    assert caught.value.param == f"messages[1].tool_calls[1]{param}"


@pytest.mark.parametrize(
    ("role", "name"), [("assistant", "reasoning_content"), ("assistant", "name"), ("user", "name")]
)
@pytest.mark.parametrize("value", [5, True, [], ["a"], {}])
def test_a_text_that_is_none_is_named(role: str, name: str, value: Any) -> None:
    """Such a field is supported: what is wrong with it is its type. Null is as good as none."""
    with pytest.raises(ApiError, match="must be a string") as caught:
        plain_messages([ASK, {"role": role, "content": "so", name: value}], AGENT)
    assert (400, "invalid_value", f"messages[1].{name}") == (
        caught.value.status,
        caught.value.code,
        caught.value.param,
    )
    assert [{"role": role, "content": "so"}] == plain_messages(
        [{"role": role, "content": "so", name: None}], AGENT
    )


@pytest.mark.parametrize(
    ("template", "messages", "tools", "param", "message"),
    [
        (None, [ASK], [TOOL], "tools", "no place for tools"),
        ("{{ message.content }}", [ASK], [TOOL], "tools", "no place for tools"),
        ("tools [TOOL_CALLS]", [ASK], [TOOL], "tools", "between <tool_call> marks"),
        ("tools", [ASK, CALLS], [], "messages[1].tool_calls", "no place for calls"),
        ("tools tool_calls", [ASK, CALLS, RESULT], [], "messages[2].role", "no role tool"),
    ],
)
def test_what_a_template_would_leave_out_is_refused(
    template: str | None, messages: list[Any], tools: list[Any], param: str, message: str
) -> None:
    """A model that is not told of tools is not asked to use them."""
    with pytest.raises(ApiError, match=message) as caught:
        encode_chat(messages, tools, None, ByteTokenizer(template))
    assert (caught.value.status, caught.value.param) == (400, param)


@pytest.mark.parametrize(("style", "call"), [("json", JSON_CALL), ("tags", TAG_CALL)])
@pytest.mark.parametrize("content", ["", "Let me see."])
def test_what_the_model_wrote_is_what_its_template_writes_again(style: str, call: str, content: str) -> None:
    """So that the next turn begins with the tokens of this one, and finds them cached."""
    wrote = f"<think>\nhm\n</think>\n\n{content}" + "\n" * bool(content) + f"{call}\n{call}"
    schemas = {"f": {"properties": {"n": {"type": "integer"}, "s": {"type": "string"}}}}
    reader = SpeechReader(ReasoningParser(False), ToolParser(schemas), one_call=False)
    message = message_of([*reader.push(wrote), *reader.finish()])
    assert 2 == len(message["tool_calls"])
    template = ChatTemplate({"default": TEMPLATE}, {}, "test")
    history = plain_messages([ASK, message, RESULT], Dialect.of(TEMPLATE))
    rendered = template.render(history, [TOOL], style=style)
    tool = '{"type": "function", "function": {"name": "f"}}'
    assert f"{tool}\n[user]\nweather?\n[assistant]\n{wrote}\n[tool]\nsunny c1" == rendered
