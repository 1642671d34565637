"""Messages about a request: its tokens, or why it can't be served."""

from tracert.engine.commit import Refused
from tracert.engine.request import Request
from tracert.engine.runner import Drawn
from tracert.memory.errors import WorkspaceFull
from tracert.messages.messages import Failed, FinishReason, Generate, TokenLogprobs, Tokens


def drawn_tokens(request: Request, index: int, drawn: Drawn, reason: FinishReason | None) -> Tokens:
    """The last token of `request`, which is entry `index` of the step's results."""
    return Tokens(
        id=request.id,
        tokens=[drawn.token[index]],
        logprobs=_logprobs(request, index, drawn),
        finish_reason=reason,
        prompt_tokens=request.prompt_tokens,
        cached_tokens=request.cached_tokens,
    )


def _logprobs(request: Request, index: int, drawn: Drawn) -> list[TokenLogprobs] | None:
    wanted = request.sampling.logprobs
    if wanted is None:
        return None
    top = list(zip(drawn.top_token[index], drawn.top_logprob[index], strict=True))
    return [TokenLogprobs(token=drawn.token[index], logprob=drawn.logprob[index], top=top[:wanted])]


def refusal(message: Generate, *, context_limit: int, vocab: int) -> Failed | None:
    """Why a request can't be served however long it waits; None when it can."""

    def refused(code: str, text: str) -> Failed:
        return Failed(id=message.id, status=400, code=code, message=text)

    length = len(message.tokens)
    if not length:
        return refused("empty_prompt", "the prompt has no tokens; send at least one")
    if length >= context_limit:
        return refused(
            "context_length_exceeded",
            f"the prompt has {length} tokens and the context holds {context_limit}, the answer included",
        )
    if min(message.tokens) < 0 or max(message.tokens) >= vocab:
        return refused("invalid_token", f"token ids must be from 0 to {vocab - 1}")
    return None


def queue_full(message: Generate, waiting: int) -> Failed:
    """Too many requests wait already."""
    return Failed(
        id=message.id, status=503, code="queue_full", message=f"{waiting} requests wait already; try later"
    )


def not_committed(request: Request, refused: Refused) -> Failed:
    """A result of this request did not pass a check."""
    return Failed(id=request.id, status=500, code=refused.name.lower(), message=refused.message)


def no_workspace(request: Request, why: WorkspaceFull) -> Failed:
    """The request's next launch does not fit the workspace and was not launched."""
    return Failed(id=request.id, status=503, code="workspace_exhausted", message=str(why))
