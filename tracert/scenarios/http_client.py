"""One client of a server: asks a request at a time, streamed or not, and puts streams together."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx

from tracert.scenarios.workload import Prompt, Send


class RequestFailed(Exception):
    """OpenAI's error object; `status` None when the answer had begun, or the connection broke."""

    def __init__(self, status: int | None, error: dict[str, object]) -> None:
        super().__init__(str(error.get("message")))
        self.status = status
        self.error = error


class Client:
    """Also the tokenizer that prompt makers are given: it asks the server."""

    def __init__(self, url: str, model: str, timeout: float = 600.0) -> None:
        self._http = httpx.Client(base_url=url, timeout=timeout, trust_env=False)
        self._model = model

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *exc: object) -> None:
        self._http.close()

    def encode(self, text: str) -> list[int]:
        """Token ids of a text, as the server makes them of a completion's prompt."""
        tokens: list[int] = self._post("/tokenize", {"prompt": text})["tokens"]
        return tokens

    def decode(self, tokens: Sequence[int], /) -> str:
        """The text of token ids."""
        return str(self._post("/detokenize", {"tokens": list(tokens)})["prompt"])

    def made(self, prompt: Prompt) -> str | list[int]:
        """A prompt as it is sent."""
        return prompt if isinstance(prompt, str) else prompt(self)

    def complete(self, send: Send, prompt: str | list[int], stream: bool) -> str:
        """The text of a raw completion; `prompt` is what was made of that of `send`."""
        body = {
            "model": self._model,
            "prompt": prompt,
            "max_tokens": send.max_tokens,
            "temperature": send.temperature,
            "seed": send.seed,
            "ignore_eos": send.ignore_eos,
            **({"cache_salt": send.cache_salt} if send.cache_salt else {}),
        }
        if not stream:
            return str(self._post("/v1/completions", body)["choices"][0]["text"])
        chunks = self._stream("/v1/completions", body)
        return "".join(choice["text"] for chunk in chunks for choice in chunk["choices"])

    def chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        max_tokens: int,
        stream: bool,
    ) -> dict[str, Any]:
        """The assistant's message: content, reasoning_content and tool_calls where it has them. Greedy."""
        body: dict[str, Any] = {
            "model": self._model,
            "messages": list(messages),
            "max_tokens": max_tokens,
            "temperature": 0,
            **({"tools": list(tools)} if tools else {}),
        }
        if not stream:
            message: dict[str, Any] = self._post("/v1/chat/completions", body)["choices"][0]["message"]
            return message
        content, reasoning, calls = "", "", list[dict[str, Any]]()
        for chunk in self._stream("/v1/chat/completions", body):
            for choice in chunk["choices"]:
                delta = choice["delta"]
                content += delta.get("content") or ""
                reasoning += delta.get("reasoning_content") or ""
                for piece in delta.get("tool_calls") or ():
                    if piece["index"] == len(calls):
                        calls.append(piece | {"function": dict(piece["function"])})
                    else:
                        calls[piece["index"]]["function"]["arguments"] += piece["function"]["arguments"]
        for call in calls:
            del call["index"]
        return {"content": content, "reasoning_content": reasoning, "tool_calls": calls}

    def dump(self) -> str:
        """Have a dump written; its path."""
        return str(self._post("/debug/dump", {})["dump"])

    def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        try:
            response = self._http.post(path, json=body)
            answer: dict[str, Any] = response.json()
        except (httpx.HTTPError, ValueError) as error:
            raise _broken(error) from error
        if response.status_code != 200:
            raise RequestFailed(response.status_code, answer["error"])
        return answer

    def _stream(self, path: str, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        try:
            with self._http.stream("POST", path, json={**body, "stream": True}) as response:
                if response.status_code != 200:
                    response.read()
                    raise RequestFailed(response.status_code, response.json()["error"])
                for line in response.iter_lines():
                    data = line.removeprefix("data: ")
                    if data == line or data == "[DONE]":
                        continue
                    chunk = json.loads(data)
                    if "error" in chunk:
                        raise RequestFailed(None, chunk["error"])
                    yield chunk
        except httpx.HTTPError as error:
            raise _broken(error) from error


def _broken(error: Exception) -> RequestFailed:
    return RequestFailed(None, {"message": f"the connection broke: {error}"})
