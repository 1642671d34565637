"""Errors in OpenAI's shape, whoever raises them."""

from typing import Any

import msgspec
import structlog
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Scope

from tracert.messages.messages import Failed
from tracert.server.inflight import EngineLostError


class ApiError(Exception):
    """An answer that is an error. `param` is the parameter at fault, `dump` where the engine's history is.

    `retry_after`, in seconds, is what a 503 tells the client.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        kind: str = "invalid_request_error",
        param: str | None = None,
        dump: str | None = None,
        retry_after: int = 1,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.kind = kind
        self.param = param
        self.dump = dump
        self.retry_after = retry_after

    @classmethod
    def of_lost(cls, error: EngineLostError) -> "ApiError":
        """503: the engine died, or is not there."""
        return cls(
            503,
            _sentence(error.message),
            code=error.code,
            kind="engine_error",
            dump=error.dump,
            retry_after=error.retry_after,
        )

    @classmethod
    def of_failed(cls, failed: Failed) -> "ApiError":
        """The engine refused or failed one request."""
        kind = "invalid_request_error" if failed.status < 500 else "engine_error"
        return cls(failed.status, failed.message, code=failed.code, kind=kind)

    def body(self) -> dict[str, Any]:
        """The JSON of it."""
        error = {"message": self.message, "type": self.kind, "param": self.param, "code": self.code}
        if self.dump is not None:
            error["dump"] = self.dump
        return {"error": error}

    def response(self) -> Response:
        """The whole answer."""
        headers = {}
        if self.status == 503:
            headers["retry-after"] = str(self.retry_after)
        if self.status == 401:
            headers["www-authenticate"] = "Bearer"
        return json_response(self.body(), self.status, headers)


def bad_parameter(param: str, message: str, code: str = "invalid_value") -> ApiError:
    """400, naming the parameter."""
    return ApiError(400, f"{param}: {message}", code=code, param=param)


def json_response(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON answer."""
    return Response(msgspec.json.encode(content), status, headers, media_type="application/json")


def log_refusal(scope: Scope, error: ApiError, *, begun: bool = False) -> None:
    """One entry of the log for a request that got an error: its id where it has one, what it was told.

    `begun`: the answer had begun to stream, with status 200, and ended with the error.
    """
    told: dict[str, Any] = {
        "id": scope.get("state", {}).get("answer"),
        "status": error.status,
        "code": error.code,
        "path": scope.get("path"),
        "message": error.message,
        "dump": error.dump,
        "begun": begun or None,
    }
    told = {name: value for name, value in told.items() if value is not None}
    log = structlog.get_logger("tracert.server")
    if error.status < 500:
        log.info("request refused", **told)
    else:
        log.warning("request failed", **told)


def install_handlers(app: FastAPI) -> None:
    """Make every error of the app an OpenAI one, and an entry of the log."""

    def answer(request: Request, error: ApiError) -> Response:
        log_refusal(request.scope, error)
        return error.response()

    async def api_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, ApiError)
        return answer(request, error)

    async def lost(request: Request, error: Exception) -> Response:
        assert isinstance(error, EngineLostError)
        return answer(request, ApiError.of_lost(error))

    async def http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        where = f"{request.method} {request.url.path}"
        if error.status_code == 404:
            return answer(request, ApiError(404, f"There is nothing at {where}.", code="not_found"))
        if error.status_code == 405:
            allowed = (error.headers or {}).get("Allow", "another method")
            refused = answer(request, ApiError(405, f"{where}: use {allowed}.", code="method_not_allowed"))
            refused.headers["allow"] = allowed
            return refused
        return answer(request, ApiError(error.status_code, str(error.detail), code="http_error"))

    async def gone(request: Request, error: Exception) -> Response:
        return Response(status_code=499)

    async def bug(request: Request, error: Exception) -> Response:
        structlog.get_logger("tracert.server").error(
            "unexpected error", path=request.url.path, exc_info=error
        )
        return ApiError(500, "The server made a mistake; its log says more.", kind="server_error").response()

    app.add_exception_handler(ApiError, api_error)
    app.add_exception_handler(EngineLostError, lost)
    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(ClientDisconnect, gone)
    app.add_exception_handler(Exception, bug)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."
