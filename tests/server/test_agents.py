"""Tools and reasoning over HTTP, with OpenAI's own client. The fake engine says what it is told to say."""

import json
from typing import Any

import openai
import pytest
from openai.lib.streaming.chat import ChatCompletionStreamState

from tests.server.running import MODEL, Running, wait_for

TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "Of a place",
            "parameters": {"type": "object", "properties": {"days": {"type": "integer"}}},
        },
    }
]
CALL = '<tool_call>\n{"name": "weather", "arguments": {"place": "Köln", "days": 2}}\n</tool_call>'
ARGUMENTS = {"place": "Köln", "days": 2}
BROKEN = '<tool_call>\n{"name": "weather", "arguments": {"place": \n</tool_call>'


def say(client: openai.OpenAI, text: str, *, stream: bool = False, **options: Any) -> Any:
    """The first choice of an answer with this text; a stream is put together by OpenAI's own code."""
    messages: list[Any] = [{"role": "user", "content": f"!say {text} !said"}]
    answer: Any = client.chat.completions.create(model=MODEL, messages=messages, stream=stream, **options)
    if not stream:
        return answer.choices[0]
    state: ChatCompletionStreamState[None] = ChatCompletionStreamState()
    for chunk in answer:
        state.handle_chunk(chunk)
    return state.get_final_completion().choices[0]


def calls_of(message: Any) -> list[tuple[str, Any]]:
    """Name and arguments of each call."""
    return [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or []]


@pytest.mark.parametrize("stream", [False, True])
def test_calls_are_called(server: Running, client: openai.OpenAI, stream: bool) -> None:
    """Two calls after reasoning and content; the template gets the tools, the client the reason."""
    text = f"<think>\nhm\n</think>\n\nLet me see.\n{CALL}\n{CALL}"
    choice = say(client, text, stream=stream, tools=TOOLS, tool_choice="auto")
    assert "tool_calls" == choice.finish_reason
    assert ("hm", "Let me see.") == (choice.message.reasoning_content, choice.message.content)
    assert [("weather", ARGUMENTS)] * 2 == calls_of(choice.message)
    one, two = choice.message.tool_calls
    assert {"function"} == {one.type, two.type}
    assert one.id != two.id
    assert bytes(server.last_generate()["tokens"]).startswith(b"{weather}user:")


def test_a_call_alone_has_no_content(client: openai.OpenAI) -> None:
    """Null, as OpenAI has it, and no reasoning where there was none."""
    message = say(client, CALL, tools=TOOLS).message
    assert message.content is None
    assert not hasattr(message, "reasoning_content")


def test_a_stream_has_openais_deltas(client: openai.OpenAI) -> None:
    """Role first, a head with id and name for each call, then its arguments, the reason in the last chunk."""
    messages: list[Any] = [{"role": "user", "content": f"!say {CALL}{CALL} !said"}]
    chunks = client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS, stream=True)
    choices = [chunk.choices[0] for chunk in chunks]
    assert ["assistant"] == [choice.delta.role for choice in choices if choice.delta.role]
    assert "assistant" == choices[0].delta.role
    pieces = [call for choice in choices for call in choice.delta.tool_calls or []]
    assert [(0, "weather"), (0, None), (1, "weather"), (1, None)] == [
        (piece.index, piece.function.name if piece.function else None) for piece in pieces
    ]
    assert [True, False, True, False] == [bool(piece.id) for piece in pieces]
    assert ["tool_calls"] == [choice.finish_reason for choice in choices if choice.finish_reason]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("text", [BROKEN, "<tool_call>", f"{BROKEN} </tool_call>\n"])
def test_a_broken_call_is_content(client: openai.OpenAI, stream: bool, text: str) -> None:
    """It is neither lost nor an error."""
    choice = say(client, text, stream=stream, tools=TOOLS)
    assert (text, None, "stop") == (
        choice.message.content,
        choice.message.tool_calls,
        choice.finish_reason,
    )


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("options", [{}, {"tools": TOOLS, "tool_choice": "none"}, {"tools": []}])
def test_without_tools_nothing_is_called(
    server: Running, client: openai.OpenAI, stream: bool, options: dict[str, Any]
) -> None:
    """Neither does the template get any; what looks like a call is content."""
    choice = say(client, CALL, stream=stream, **options)
    assert (CALL, "stop") == (choice.message.content, choice.finish_reason)
    assert bytes(server.last_generate()["tokens"]).startswith(b"user:")


@pytest.mark.parametrize("stream", [False, True])
def test_no_parallel_calls_ends_with_the_first(server: Running, client: openai.OpenAI, stream: bool) -> None:
    """The rest is not waited for: the engine is told to stop."""
    choice = say(client, f"{CALL}\n{CALL} !endless", stream=stream, tools=TOOLS, parallel_tool_calls=False)
    assert "tool_calls" == choice.finish_reason
    assert [("weather", ARGUMENTS)] == calls_of(choice.message)
    generated = server.last_generate()["id"]
    wait_for(lambda: generated in [abort["id"] for abort in server.seen("Abort")], "the engine's stop")


def test_an_answer_cut_off_says_so(client: openai.OpenAI) -> None:
    """Length is the reason also after a call; half a call is content."""
    choice = say(client, f"{CALL}\n{CALL}", tools=TOOLS, max_tokens=len(CALL.encode()) + 12)
    assert "length" == choice.finish_reason
    assert [("weather", ARGUMENTS)] == calls_of(choice.message)
    assert "\n<tool_call>".strip() == choice.message.content


@pytest.mark.parametrize("stream", [False, True])
def test_reasoning_that_the_prompt_began(client: openai.OpenAI, stream: bool) -> None:
    """No opening mark comes then; without the closing one all is reasoning."""
    options = {"extra_body": {"chat_template_kwargs": {"think": True}}}
    message = say(client, "hm\n</think>\n\n42", stream=stream, **options).message
    assert ("hm", "42") == (message.reasoning_content, message.content)
    message = say(client, "hm", stream=stream, **options).message
    assert ("hm", "") == (message.reasoning_content, message.content or "")


def test_logprobs_are_of_all_tokens(client: openai.OpenAI) -> None:
    """Also of those that are marks, streamed or not: as many as were generated."""
    text = f"<think>hm</think>a {CALL}"
    for stream in (False, True):
        choice = say(client, text, stream=stream, tools=TOOLS, logprobs=True)
        assert text.encode() == bytes(byte for entry in choice.logprobs.content for byte in entry.bytes)


def test_calls_and_results_go_back_to_the_model(client: openai.OpenAI) -> None:
    """The client's own message and the tool's result are taken as the next turn's history."""
    messages: list[Any] = [{"role": "user", "content": f"!say {CALL} !said"}]
    ask: Any = {"model": MODEL, "tools": TOOLS}
    message = client.chat.completions.create(messages=messages, **ask).choices[0].message
    assert message.tool_calls
    result: Any = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "sunny"}
    history: list[Any] = [{"role": "user", "content": "?"}, message.model_dump(), result]
    answer = client.chat.completions.create(messages=history, **ask).choices[0].message.content
    call = "weather([('days', 2), ('place', 'Köln')])"
    assert f"{{weather}}user:?\nassistant: {call}\ntool:sunny\n" == answer


def test_tools_count_as_tokens(server: Running) -> None:
    """/tokenize renders them as the chat endpoint does."""
    body = {"messages": [{"role": "user", "content": "?"}], "tools": TOOLS}
    with server.http() as http:
        tokens = http.post("/tokenize", json=body).json()["tokens"]
    assert b"{weather}user:?\n" == bytes(tokens)


@pytest.mark.parametrize(
    ("options", "param", "message"),
    [
        ({"tool_choice": "required"}, "tool_choice", "can guarantee no call"),
        ({"tool_choice": {"type": "function", "function": {"name": "weather"}}}, "tool_choice", "use auto"),
        ({"tool_choice": "maybe"}, "tool_choice", "must be auto or none"),
        ({"tools": [7]}, "tools[0]", "must be an object"),
        ({"tools": [*TOOLS, {"type": "custom"}]}, "tools[1].type", "only tools of type function"),
        ({"tools": [{"type": "function"}]}, "tools[0].function", "must be an object with a name"),
        (
            {"tools": [{"type": "function", "function": {"name": "a b"}}]},
            "tools[0].function.name",
            "1 to 128",
        ),
        (
            {"tools": [{"type": "function", "function": {"name": "f", "description": 1}}]},
            "tools[0].function.description",
            "must be a string",
        ),
        (
            {"tools": [{"type": "function", "function": {"name": "f", "parameters": []}}]},
            "tools[0].function.parameters",
            "must be a JSON schema",
        ),
        (
            {"tools": [{"type": "function", "function": {"name": "f", "strict": True}}]},
            "tools[0].function.strict",
            "leave strict out",
        ),
        ({"tools": "weather"}, "tools", "valid list"),
        ({"parallel_tool_calls": "no"}, "parallel_tool_calls", "valid boolean"),
    ],
)
def test_what_cannot_be_done_is_refused(
    client: openai.OpenAI, options: dict[str, Any], param: str, message: str
) -> None:
    """A promise that could not be kept, or a tool that is none, is an error that names it."""
    with pytest.raises(openai.BadRequestError, match=message) as caught:
        say(client, "hi", **{"tools": TOOLS, **options})
    assert caught.value.param == param
