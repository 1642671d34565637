"""The body of a chat completion request, and the prompt that its messages make."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import Field

from tracert.server.body import Body
from tracert.server.chat_history import plain_messages
from tracert.server.dialect import Dialect, ends_in_reasoning
from tracert.server.errors import bad_parameter
from tracert.server.reasoning_parser import ReasoningParser
from tracert.server.sampling_body import SamplingBody
from tracert.server.speech import SpeechReader
from tracert.server.thinking import render_with_thinking
from tracert.server.tokenizer import Tokenizer
from tracert.server.tool_parser import ToolParser
from tracert.server.tools_body import Tool, check_tools, schemas_of


class ChatBody(SamplingBody):
    """The body of a chat completion request."""

    neutral: ClassVar[dict[str, tuple[Any, ...]]] = {
        **SamplingBody.neutral,
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
    tools: list[Any] | None = None
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None

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
    tools: list[Any] | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    add_special_tokens: bool = True


class DetokenizeBody(Body):
    """The body of `/detokenize`."""

    model: str | None = None
    tokens: list[Any]


class Prompt(NamedTuple):
    """A conversation up to where the assistant begins."""

    tokens: list[int]
    dialect: Dialect
    reasoning: bool
    """It has begun the reasoning for the model: the answer begins inside."""
    tools: Sequence[Tool]

    def reader(self, one_call: bool) -> SpeechReader:
        """What takes the answer apart. `one_call`: the answer ends with its first call."""
        return SpeechReader(
            ReasoningParser(self.reasoning) if self.dialect.reasoning else None,
            ToolParser(schemas_of(self.tools)) if self.tools else None,
            one_call=one_call,
        )


def encode_chat(
    messages: Sequence[Any],
    tools: Sequence[Tool],
    options: dict[str, Any] | None,
    tokenizer: Tokenizer,
    preserve_thinking: bool = False,
) -> Prompt:
    """The prompt of a conversation. Raises ApiError 400.

    With `preserve_thinking` the reasoning of earlier turns stays in it, also where the template would leave
    it out; a request says otherwise for itself with the template's variable of that name in `options`.
    """
    dialect = Dialect.of(tokenizer.chat_template(bool(tools)))
    check_tools(tools, dialect)
    plain = plain_messages(messages, dialect)
    options = options or {}
    if not options.keys().isdisjoint(("messages", "tools")):
        raise bad_parameter("chat_template_kwargs", "may hold neither messages nor tools")
    preserve = options.get("preserve_thinking", preserve_thinking)
    if not isinstance(preserve, bool):
        raise bad_parameter("chat_template_kwargs", "preserve_thinking must be true or false")
    try:
        if preserve:
            text = render_with_thinking(tokenizer, plain, tools, options)
        else:
            text = tokenizer.render_chat(plain, tools or None, **options)
    except Exception as error:  # a template is a program that came with the model, and may raise anything
        raise bad_parameter("messages", f"the model's chat template refuses them: {error}") from None
    return Prompt(tokenizer.encode(text, add_special=False), dialect, ends_in_reasoning(text), tools)
