"""Errors in OpenAI's shape, whoever raises them."""

from typing import Any

import msgspec
import structlog
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from tracert.messages.messages import Failed
from tracert.server.inflight import EngineLostError

_RETRY_AFTER_SECONDS = "1"


class ApiError(Exception):
    """An answer that is an error. `param` is the parameter at fault, `dump` where the engine's history is."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        kind: str = "invalid_request_error",
        param: str | None = None,
        dump: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.kind = kind
        self.param = param
        self.dump = dump

    @classmethod
    def of_lost(cls, error: EngineLostError) -> "ApiError":
        """503: the engine died, or is not there."""
        return cls(503, _sentence(error.message), code=error.code, kind="engine_error", dump=error.dump)

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
            headers["retry-after"] = _RETRY_AFTER_SECONDS
        if self.status == 401:
            headers["www-authenticate"] = "Bearer"
        return json_response(self.body(), self.status, headers)


def bad_parameter(param: str, message: str, code: str = "invalid_value") -> ApiError:
    """400, naming the parameter."""
    return ApiError(400, f"{param}: {message}", code=code, param=param)


def json_response(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON answer."""
    return Response(msgspec.json.encode(content), status, headers, media_type="application/json")


def install_handlers(app: FastAPI) -> None:
    """Make every error of the app an OpenAI one."""
    log = structlog.get_logger("tracert.server")

    async def api_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, ApiError)
        return error.response()

    async def lost(request: Request, error: Exception) -> Response:
        assert isinstance(error, EngineLostError)
        return ApiError.of_lost(error).response()

    async def http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        where = f"{request.method} {request.url.path}"
        if error.status_code == 404:
            return ApiError(404, f"There is nothing at {where}.", code="not_found").response()
        if error.status_code == 405:
            allowed = (error.headers or {}).get("Allow", "another method")
            answer = ApiError(405, f"{where}: use {allowed}.", code="method_not_allowed").response()
            answer.headers["allow"] = allowed
            return answer
        return ApiError(error.status_code, str(error.detail), code="http_error").response()

    async def gone(request: Request, error: Exception) -> Response:
        return Response(status_code=499)

    async def bug(request: Request, error: Exception) -> Response:
        log.error("unexpected error", path=request.url.path, exc_info=error)
        return ApiError(500, "The server made a mistake; its log says more.", kind="server_error").response()

    app.add_exception_handler(ApiError, api_error)
    app.add_exception_handler(EngineLostError, lost)
    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(ClientDisconnect, gone)
    app.add_exception_handler(Exception, bug)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."
