"""The body of a chat completion request, and the messages in it as a chat template takes them."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field

from tracert.server.body import Body
from tracert.server.errors import ApiError, bad_parameter
from tracert.server.sampling_body import SamplingBody
from tracert.server.tokenizer import Tokenizer

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}


class ChatBody(SamplingBody):
    """The body of a chat completion request. Tools are refused: their output would not be parsed."""

    hints: ClassVar[frozenset[str]] = SamplingBody.hints | {"parallel_tool_calls"}
    neutral: ClassVar[dict[str, tuple[Any, ...]]] = {
        **SamplingBody.neutral,
        "tools": ([],),
        "tool_choice": ("none", "auto"),
        "functions": ([],),
        "function_call": ("none", "auto"),
        "modalities": (["text"],),
        "reasoning_effort": ("none",),
    }

    messages: list[Any]
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    chat_template_kwargs: dict[str, Any] | None = None

    @property
    def alternatives(self) -> int | None:
        """How many log-probabilities to report a token. Raises ApiError 400."""
        if self.logprobs:
            return self.top_logprobs or 0
        if self.top_logprobs:
            raise bad_parameter("top_logprobs", "is only allowed with logprobs: true")
        return None


class TokenizeBody(Body):
    """The body of `/tokenize`: a prompt or messages."""

    model: str | None = None
    prompt: str | None = None
    messages: list[Any] | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    add_special_tokens: bool = True


class DetokenizeBody(Body):
    """The body of `/detokenize`."""

    model: str | None = None
    tokens: list[Any]


def encode_chat(messages: Sequence[Any], options: dict[str, Any] | None, tokenizer: Tokenizer) -> list[int]:
    """The prompt of a conversation as token ids. Raises ApiError 400."""
    plain = [_plain_message(number, message) for number, message in enumerate(messages)]
    if not plain:
        raise bad_parameter("messages", "is empty: there must be at least one message")
    options = options or {}
    if not options.keys().isdisjoint(("messages", "tools")):
        raise bad_parameter("chat_template_kwargs", "may hold neither messages nor tools")
    try:
        text = tokenizer.render_chat(plain, **options)
    except Exception as error:  # a template is a program that came with the model, and may raise anything
        raise bad_parameter("messages", f"the model's chat template refuses them: {error}") from None
    return tokenizer.encode(text, add_special=False)


def _plain_message(number: int, message: Any) -> dict[str, str]:
    where = f"messages[{number}]"
    if not isinstance(message, dict):
        raise _bad(where, "must be an object with role and content")
    role = message.get("role")
    if role in ("tool", "function"):
        raise _bad(f"{where}.role", "tools are not supported by this server", "unsupported_parameter")
    if not isinstance(role, str) or role not in _ROLES:
        raise _bad(f"{where}.role", f"must be one of {', '.join(_ROLES)}")
    plain = {"role": _ROLES[role], "content": _text(f"{where}.content", message.get("content"), role)}
    for name, value in message.items():
        if name in ("name", "reasoning_content") and isinstance(value, str):
            plain[name] = value
        elif name not in ("role", "content") and value not in (None, [], {}):
            raise _bad(f"{where}.{name}", "is not supported by this server", "unsupported_parameter")
    return plain


def _text(where: str, content: Any, role: str) -> str:
    if isinstance(content, str):
        return content
    if content is None and role == "assistant":
        return ""
    if not isinstance(content, list) or not content:
        raise _bad(where, "must be a string or a list of text parts")
    texts = []
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind != "text" or not isinstance(part.get("text"), str):
            raise _bad(where, f"only parts of type text are supported, not {kind!r}", "unsupported_parameter")
        texts.append(part["text"])
    return "".join(texts)


def _bad(where: str, message: str, code: str = "invalid_value") -> ApiError:
    return bad_parameter(where, message, code)
