"""`/v1/completions` with OpenAI's own client. The fake engine answers a prompt with the prompt, then EOS."""

import asyncio

import httpx
import openai
import pytest

from tests.server.running import MODEL, Running, wait_for


def test_a_prompt_is_completed(client: openai.OpenAI) -> None:
    """Text, reason and usage of a plain request; BOS is one prompt token, EOS one of the answer."""
    answer = client.completions.create(model=MODEL, prompt="hello", max_tokens=20, temperature=0)
    assert answer.object == "text_completion"
    assert answer.model == MODEL
    assert answer.id.startswith("cmpl-")
    (choice,) = answer.choices
    assert (choice.text, choice.finish_reason, choice.index) == ("hello", "stop", 0)
    assert choice.logprobs is None
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (
        6,
        6,
        12,
    )


def test_sixteen_tokens_are_the_default(client: openai.OpenAI) -> None:
    """As with OpenAI, a request that names no number gets 16 tokens, and the reason is length."""
    choice = client.completions.create(model=MODEL, prompt="x" * 30).choices[0]
    assert (choice.text, choice.finish_reason) == ("x" * 16, "length")


def test_every_parameter_reaches_the_engine(server: Running, client: openai.OpenAI) -> None:
    """What the client asked for is what the engine was sent."""
    client.completions.create(
        model=MODEL,
        prompt="abc",
        max_tokens=7,
        temperature=0.5,
        top_p=0.9,
        seed=-3,
        logprobs=2,
        extra_body={"top_k": 11, "ignore_eos": True, "cache_salt": "tenant"},
    )
    generate = server.last_generate()
    assert generate["tokens"] == [257, 97, 98, 99]
    assert generate["cache_salt"] == "tenant"
    assert generate["sampling"] == {
        "max_tokens": 7,
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": 11,
        "seed": -3,
        "ignore_eos": True,
        "logprobs": 2,
    }


def test_the_defaults_are_openais(server: Running, client: openai.OpenAI) -> None:
    """Temperature 1, nothing cut off, no seed; EOS stops."""
    client.completions.create(model=MODEL, prompt="abc")
    assert server.last_generate()["sampling"] == {
        "max_tokens": 16,
        "temperature": 1.0,
        "top_p": 1.0,
        "top_k": 0,
        "seed": None,
        "ignore_eos": False,
        "logprobs": None,
    }


def test_ignore_eos_goes_on(client: openai.OpenAI) -> None:
    """With ignore_eos the answer has all the tokens that were asked for; EOS among them has no text."""
    answer = client.completions.create(
        model=MODEL, prompt="ab", max_tokens=5, extra_body={"ignore_eos": True}
    )
    assert answer.choices[0].finish_reason == "length"
    assert answer.choices[0].text == "ab"
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 5


def test_a_stream_is_the_answer_in_pieces(client: openai.OpenAI) -> None:
    """A chunk a token, the reason in the last, no usage unless asked for."""
    chunks = list(client.completions.create(model=MODEL, prompt="hey", stream=True))
    assert [chunk.choices[0].text for chunk in chunks] == ["h", "e", "y", ""]
    assert [chunk.choices[0].finish_reason for chunk in chunks] == [None, None, None, "stop"]
    assert all(chunk.usage is None for chunk in chunks)
    assert len({chunk.id for chunk in chunks}) == 1


def test_a_stream_ends_with_the_usage_when_asked(client: openai.OpenAI) -> None:
    """One more chunk, without choices, has the usage."""
    options: openai.types.chat.ChatCompletionStreamOptionsParam = {"include_usage": True}
    *chunks, last = client.completions.create(model=MODEL, prompt="hey", stream=True, stream_options=options)
    assert all(chunk.choices and chunk.usage is None for chunk in chunks)
    assert last.choices == []
    assert last.usage is not None
    assert (last.usage.prompt_tokens, last.usage.completion_tokens) == (4, 4)


def test_the_events_of_a_stream_are_framed(server: Running) -> None:
    """Each event is `data: JSON` and a blank line, the last `[DONE]`; the type is event-stream."""
    with server.http() as http:
        answer = http.post("/v1/completions", json={"prompt": "a", "stream": True})
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    events = answer.text.split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    assert all(event.startswith('data: {"id":"cmpl-') for event in events[:-2])


def test_unicode_streams_in_whole_characters(client: openai.OpenAI) -> None:
    """Bytes of a character that come apart are shown together."""
    text = "ä€😀!"
    chunks = list(client.completions.create(model=MODEL, prompt=text, max_tokens=30, stream=True))
    assert [chunk.choices[0].text for chunk in chunks] == ["ä", "€", "😀", "!", ""]


@pytest.mark.parametrize(("stop", "expected"), [("lo", "hel"), (["xx", "l"], "he"), (["hello"], "")])
@pytest.mark.parametrize("stream", [False, True])
def test_stop_strings_end_the_answer(
    server: Running, client: openai.OpenAI, stop: str | list[str], expected: str, stream: bool
) -> None:
    """The text ends before the stop string, and the engine is told to stop."""
    extra = {"ignore_eos": True}
    prompt = "hello!endless"
    if stream:
        chunks = client.completions.create(
            model=MODEL, prompt=prompt, stop=stop, max_tokens=400, stream=True, extra_body=extra
        )
        choices = [chunk.choices[0] for chunk in chunks]
        text, reason = "".join(choice.text for choice in choices), choices[-1].finish_reason
    else:
        answer = client.completions.create(
            model=MODEL, prompt=prompt, stop=stop, max_tokens=400, extra_body=extra
        )
        text, reason = answer.choices[0].text, answer.choices[0].finish_reason
    assert (text, reason) == (expected, "stop")
    sent = server.last_generate()["id"]
    wait_for(lambda: sent in [abort["id"] for abort in server.seen("Abort")], "an Abort")


def test_lists_of_prompts_and_n_are_indexed(server: Running, client: openai.OpenAI) -> None:
    """Answer i of prompt p has the index p * n + i; prompts count once in the usage; seeds differ."""
    answer = client.completions.create(model=MODEL, prompt=["one", "two!"], n=2, seed=5)
    texts = [(choice.index, choice.text) for choice in answer.choices]
    assert texts == [(0, "one"), (1, "one"), (2, "two!"), (3, "two!")]
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (4 + 5, 2 * 4 + 2 * 5)
    assert [sent["sampling"]["seed"] for sent in server.seen("Generate")[-4:]] == [5, 6, 5, 6]


def test_a_stream_of_several_answers_tells_them_apart(client: openai.OpenAI) -> None:
    """Chunks of different answers interleave; each has its own reason."""
    texts, reasons = {0: "", 1: "", 2: ""}, {}
    for chunk in client.completions.create(model=MODEL, prompt="abc", n=3, stream=True):
        choice = chunk.choices[0]
        texts[choice.index] += choice.text
        if choice.finish_reason:
            reasons[choice.index] = choice.finish_reason
    assert texts == {0: "abc", 1: "abc", 2: "abc"}
    assert reasons == {0: "stop", 1: "stop", 2: "stop"}


def test_token_ids_are_taken_as_they_are(server: Running, client: openai.OpenAI) -> None:
    """Ids get no BOS; a list of lists is several prompts."""
    answer = client.completions.create(model=MODEL, prompt=[104, 105])
    assert answer.choices[0].text == "hi"
    assert server.last_generate()["tokens"] == [104, 105]
    answer = client.completions.create(model=MODEL, prompt=[[104], [105, 33]])
    assert [choice.text for choice in answer.choices] == ["h", "i!"]


def test_echo_puts_the_prompt_first(client: openai.OpenAI) -> None:
    """The text begins with the prompt, once, in a stream too."""
    assert client.completions.create(model=MODEL, prompt="ab", echo=True).choices[0].text == "abab"
    chunks = client.completions.create(model=MODEL, prompt="ab", echo=True, stream=True)
    assert [chunk.choices[0].text for chunk in chunks] == ["aba", "b", ""]


def test_logprobs_have_tokens_offsets_and_alternatives(client: openai.OpenAI) -> None:
    """The sampled token is always among the alternatives; EOS, which has no text, is left out."""
    answer = client.completions.create(model=MODEL, prompt="ab", logprobs=2, temperature=0)
    logprobs = answer.choices[0].logprobs
    assert logprobs is not None
    assert logprobs.tokens == ["a", "b"]
    assert logprobs.token_logprobs == [-0.5, -0.5]
    assert logprobs.text_offset == [0, 1]
    assert logprobs.top_logprobs == [{"a": -0.5, "b": -1.5}, {"b": -0.5, "c": -1.5}]


def test_cached_tokens_are_in_the_usage(client: openai.OpenAI) -> None:
    """The second of two equal prompts finds whole pages; another salt finds none."""

    def cached(salt: str) -> int:
        answer = client.completions.create(
            model=MODEL, prompt="cached prompt " * 3, extra_body={"cache_salt": salt}
        )
        assert answer.usage is not None
        assert answer.usage.prompt_tokens_details is not None
        return answer.usage.prompt_tokens_details.cached_tokens or 0

    assert [cached("s1"), cached("s1"), cached("s2")] == [0, 32, 0]


def test_many_clients_at_once_get_their_own_answers(server: Running) -> None:
    """Fifty concurrent requests of OpenAI's asynchronous client, half of them streams."""

    async def main() -> list[str]:
        async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:

            async def one(number: int) -> str:
                prompt = f"prompt {number:02}"
                if number % 2:
                    answer = await client.completions.create(model=MODEL, prompt=prompt)
                    return answer.choices[0].text
                chunks = await client.completions.create(model=MODEL, prompt=prompt, stream=True)
                return "".join([chunk.choices[0].text async for chunk in chunks])

            return list(await asyncio.gather(*map(one, range(50))))

    assert [f"prompt {number:02}" for number in range(50)] == asyncio.run(main())


def test_the_engine_may_refuse_one_request(server: Running, client: openai.OpenAI) -> None:
    """A request that the engine fails has the engine's status, code and message."""
    with pytest.raises(openai.BadRequestError, match="it needs 9 pages of 4") as caught:
        client.completions.create(model=MODEL, prompt="!fail", stream=True)
    assert caught.value.code == "no_room"
    assert client.completions.create(model=MODEL, prompt="ok").choices[0].text == "ok"


def test_a_client_library_is_not_needed(server: Running) -> None:
    """Plain HTTP without a content type, as `curl -d` sends it, is read as JSON."""
    answer = httpx.post(f"{server.url}/v1/completions", content=b'{"prompt": "hi"}', trust_env=False)
    assert answer.json()["choices"][0]["text"] == "hi"
