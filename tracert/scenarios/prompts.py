"""Prompts whose length in tokens is what a scenario is about, whatever the model's tokenizer."""

from tracert.scenarios.workload import Prompt, PromptTokenizer


def exactly(text: str, tokens: int) -> Prompt:
    """`text` over and over, cut at just so many tokens."""

    def make(tokenizer: PromptTokenizer) -> list[int]:
        once = tokenizer.encode(text)
        return tokenizer.encode(text * (tokens // len(once) + 2))[:tokens]

    return make


def joined(*parts: Prompt) -> Prompt:
    """The tokens of one part behind those of the other: so that prompts share a prefix of an exact length."""

    def make(tokenizer: PromptTokenizer) -> list[int]:
        tokens: list[int] = []
        for part in parts:
            made = part if isinstance(part, str) else part(tokenizer)
            tokens += tokenizer.encode(made) if isinstance(made, str) else made
        return tokens

    return make


def filled(head: str, sentence: str, tail: str, tokens: int) -> Prompt:
    """`head`, then `sentence` as often as the whole stays within so many tokens, then `tail`."""

    def make(tokenizer: PromptTokenizer) -> str:
        repeat = 1
        while len(tokenizer.encode(head + sentence * (repeat + 1) + tail)) <= tokens:
            repeat += 1
        return head + sentence * repeat + tail

    return make
