"""`POST /tokenize` and `POST /detokenize`: the model's tokenizer, for clients that count."""

import asyncio

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from tracert.server.body import read_body
from tracert.server.chat_body import DetokenizeBody, TokenizeBody, encode_chat
from tracert.server.completions import check_ids
from tracert.server.errors import bad_parameter, json_response
from tracert.server.service import Service
from tracert.server.tools_body import offered_tools


def routes(service: Service) -> APIRouter:
    """The endpoints. They need no engine."""
    router = APIRouter()
    tokenizer = service.tokenizer

    @router.post("/tokenize")
    async def tokenize(request: Request) -> Response:
        body = await read_body(request, TokenizeBody, service.config.max_body_bytes)
        service.check_model(body.model)
        if (body.prompt is None) == (body.messages is None):
            raise bad_parameter("prompt", "give either prompt or messages")

        def encode() -> list[int]:
            if body.messages is not None:
                tools = offered_tools(body.tools, None)
                kwargs, preserve = body.chat_template_kwargs, service.config.preserve_thinking
                return encode_chat(body.messages, tools, kwargs, tokenizer, preserve).tokens
            return tokenizer.encode(body.prompt or "", add_special=body.add_special_tokens)

        tokens = await asyncio.to_thread(encode)
        ready = service.supervisor.ready
        longest = ready.max_model_len if ready is not None else None
        return json_response({"tokens": tokens, "count": len(tokens), "max_model_len": longest})

    @router.post("/detokenize")
    async def detokenize(request: Request) -> Response:
        body = await read_body(request, DetokenizeBody, service.config.max_body_bytes)
        service.check_model(body.model)
        ids = check_ids("tokens", body.tokens, tokenizer)
        return json_response({"prompt": await asyncio.to_thread(tokenizer.decode, ids, skip_special=False)})

    return router
