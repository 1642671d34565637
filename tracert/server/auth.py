"""The API key, asked for everywhere but where probes and scrapers look."""

import hmac

from starlette.types import ASGIApp, Receive, Scope, Send

from tracert.server.errors import ApiError, log_refusal

_OPEN_PATHS = frozenset({"/health", "/metrics"})


class ApiKeyCheck:
    """ASGI middleware: `Authorization: Bearer KEY` or 401, in a time that tells nothing of the key."""

    def __init__(self, app: ASGIApp, api_key: str) -> None:
        self._app = app
        self._api_key = api_key.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it."""
        if scope["type"] != "http" or scope["path"] in _OPEN_PATHS or self._knows_key(scope):
            await self._app(scope, receive, send)
            return
        message = "A valid API key is needed: send the header 'Authorization: Bearer KEY'."
        refused = ApiError(401, message, code="invalid_api_key")
        log_refusal(scope, refused)
        await refused.response()(scope, receive, send)

    def _knows_key(self, scope: Scope) -> bool:
        given = b""
        for name, value in scope["headers"]:
            if name == b"authorization":
                scheme, _, credentials = value.partition(b" ")
                given = credentials.strip() if scheme.lower() == b"bearer" else b""
        return hmac.compare_digest(given, self._api_key)
