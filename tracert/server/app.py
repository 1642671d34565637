"""The HTTP application: its endpoints, its errors, its key."""

from fastapi import FastAPI

from tracert.server import chat, completions, operations, tokens
from tracert.server.auth import ApiKeyCheck
from tracert.server.errors import install_handlers
from tracert.server.service import Service


def create_app(service: Service) -> FastAPI:
    """Everything under one roof; bodies are read by the endpoints, so there is no OpenAPI page."""
    app = FastAPI(title="tracert", openapi_url=None, redirect_slashes=False)
    for group in (completions, chat, tokens, operations):
        app.include_router(group.routes(service))
    install_handlers(app)
    if service.config.api_key is not None:
        app.add_middleware(ApiKeyCheck, api_key=service.config.api_key)
    return app
