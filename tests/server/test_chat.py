"""`/v1/chat/completions` with OpenAI's own client. The fake engine repeats the rendered prompt."""

from typing import Any

import openai
import pytest

from tests.server.running import MODEL, Running

HELLO: list[Any] = [{"role": "user", "content": "hello"}]


def ask(client: openai.OpenAI, messages: list[Any], **options: Any) -> Any:
    """A chat completion."""
    return client.chat.completions.create(model=MODEL, messages=messages, **options)


def test_a_conversation_is_continued(client: openai.OpenAI) -> None:
    """Message, reason and usage of a plain request; the template's prompt gets no second BOS."""
    answer = ask(client, HELLO)
    assert answer.object == "chat.completion"
    assert answer.id.startswith("chatcmpl-")
    (choice,) = answer.choices
    assert choice.message.role == "assistant"
    assert choice.message.content == "user:hello\n"
    assert choice.finish_reason == "stop"
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (11, 12)
    assert answer.usage.prompt_tokens_details.cached_tokens == 0


def test_the_whole_context_is_the_default(server: Running, client: openai.OpenAI) -> None:
    """A request that names no number may fill the context: 512 tokens less the prompt's 11."""
    ask(client, HELLO)
    assert server.last_generate()["sampling"]["max_tokens"] == 501


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_both_names_of_the_limit_are_known(client: openai.OpenAI, name: str) -> None:
    """The old name and the new one limit the answer."""
    choice = ask(client, HELLO, **{name: 4}).choices[0]
    assert (choice.message.content, choice.finish_reason) == ("user", "length")


def test_every_role_and_kind_of_text_is_rendered(client: openai.OpenAI) -> None:
    """Developer is the new name of system; text parts are joined; an assistant may have said nothing."""
    messages: list[Any] = [
        {"role": "developer", "content": "be brief"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
            "name": "me",
        },
        {"role": "assistant", "content": None, "refusal": None, "tool_calls": None, "annotations": []},
    ]
    assert ask(client, messages).choices[0].message.content == "system:be brief\nuser:ab\nassistant:\n"


def test_template_options_reach_the_template(client: openai.OpenAI) -> None:
    """chat_template_kwargs are what the template is given."""
    options = {"chat_template_kwargs": {"enable_thinking": False}}
    content = ask(client, HELLO, extra_body=options).choices[0].message.content
    assert content == "[enable_thinking=False]user:hello\n"


def test_a_stream_begins_with_the_role(client: openai.OpenAI) -> None:
    """The first chunk names the assistant; the texts together are the answer; the last has the reason."""
    chunks = list(ask(client, HELLO, stream=True, stream_options={"include_usage": True}))
    *chunks, last = chunks
    assert all(chunk.object == "chat.completion.chunk" for chunk in chunks)
    assert chunks[0].choices[0].delta.role == "assistant"
    assert all(chunk.choices[0].delta.role is None for chunk in chunks[1:])
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "user:hello\n"
    assert [chunk.choices[0].finish_reason for chunk in chunks[-2:]] == [None, "stop"]
    assert last.choices == []
    assert (last.usage.prompt_tokens, last.usage.completion_tokens) == (11, 12)


def test_a_stop_string_in_a_stream_is_never_shown(client: openai.OpenAI) -> None:
    """Its first half is withheld until it is clear."""
    chunks = list(ask(client, HELLO, stream=True, stop=["llo", "hex"]))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "user:he"
    assert chunks[-1].choices[0].finish_reason == "stop"


def test_n_answers_come_apart(client: openai.OpenAI) -> None:
    """n answers have n indices, streamed or not."""
    assert [choice.index for choice in ask(client, HELLO, n=3).choices] == [0, 1, 2]
    texts = {0: "", 1: ""}
    for chunk in ask(client, HELLO, n=2, stream=True):
        texts[chunk.choices[0].index] += chunk.choices[0].delta.content or ""
    assert texts == {0: "user:hello\n", 1: "user:hello\n"}


def test_logprobs_have_bytes_and_alternatives(client: openai.OpenAI) -> None:
    """One entry a token that is shown, each with its bytes, in the stream too."""
    answer = ask(client, HELLO, logprobs=True, top_logprobs=2, max_tokens=2)
    entries = answer.choices[0].logprobs.content
    assert [(entry.token, entry.logprob, entry.bytes) for entry in entries] == [
        ("u", -0.5, [117]),
        ("s", -0.5, [115]),
    ]
    assert [(top.token, top.logprob) for top in entries[0].top_logprobs] == [("u", -0.5), ("v", -1.5)]
    chunks = ask(client, HELLO, logprobs=True, stream=True)
    streamed = [entry for chunk in chunks for entry in chunk.choices[0].logprobs.content or []]
    assert "".join(entry.token for entry in streamed) == "user:hello\n"
    assert all(entry.top_logprobs == [] for entry in streamed)


def test_logprobs_give_the_bytes_of_half_a_character(client: openai.OpenAI) -> None:
    """Tokens that are parts of a character have no text that is true, but their bytes add up."""
    messages = [{"role": "user", "content": "ä"}]
    entries = ask(client, messages, logprobs=True).choices[0].logprobs.content
    assert bytes(byte for entry in entries for byte in entry.bytes).decode() == "user:ä\n"


def test_a_template_that_refuses_is_a_bad_request(client: openai.OpenAI) -> None:
    """What the model's template says about the messages is the user's to know."""
    with pytest.raises(openai.BadRequestError, match="roles must alternate") as caught:
        ask(client, [{"role": "user", "content": "refuse me"}])
    assert caught.value.param == "messages"


@pytest.mark.parametrize(
    ("messages", "param", "message"),
    [
        ([], "messages", "at least one message"),
        ([7], "messages[0]", "must be an object"),
        ([{"content": "x"}], "messages[0].role", "must be one of system, developer, user, assistant, tool"),
        ([*HELLO, {"role": "robot", "content": "x"}], "messages[1].role", "must be one of"),
        (
            [{"role": "tool", "content": "x"}],
            "messages[0].tool_call_id",
            "must be the id of the call",
        ),
        ([{"role": "user", "content": 5}], "messages[0].content", "must be a string or a list of text parts"),
        ([{"role": "user"}], "messages[0].content", "must be a string"),
        (
            [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}],
            "messages[0].content",
            "only parts of type text are supported, not 'image_url'",
        ),
        (
            [{"role": "user", "content": "x", "tool_calls": [{"id": "1"}]}],
            "messages[0].tool_calls",
            "is not supported",
        ),
    ],
)
def test_bad_messages_are_named(client: openai.OpenAI, messages: list[Any], param: str, message: str) -> None:
    """The error says which message, which part of it, and what is wrong."""
    with pytest.raises(openai.BadRequestError, match=message) as caught:
        ask(client, messages)
    assert caught.value.param == param


@pytest.mark.parametrize(
    ("options", "param"),
    [
        ({"extra_body": {"functions": [{"name": "f"}]}}, "functions"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"top_logprobs": 3}, "top_logprobs"),
        ({"extra_body": {"chat_template_kwargs": {"tools": []}}}, "chat_template_kwargs"),
    ],
)
def test_what_is_not_supported_is_refused(client: openai.OpenAI, options: dict[str, Any], param: str) -> None:
    """A parameter that would be ignored is an error that names it."""
    with pytest.raises(openai.BadRequestError) as caught:
        ask(client, HELLO, **options)
    assert caught.value.param == param


def test_parameters_that_ask_for_nothing_may_be_sent(client: openai.OpenAI) -> None:
    """Clients send defaults and labels; they are no reason to refuse."""
    answer = ask(
        client,
        HELLO,
        tools=[],
        tool_choice="none",
        presence_penalty=0,
        frequency_penalty=0.0,
        response_format={"type": "text"},
        logit_bias={},
        user="u",
        metadata={"a": "b"},
        parallel_tool_calls=True,
    )
    assert answer.choices[0].finish_reason == "stop"
