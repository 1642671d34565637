"""What operators and their tools ask: models, health, metrics, and a dump of a server that lives."""

import ipaddress
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from tracert.server.errors import ApiError, json_response
from tracert.server.service import Service


def routes(service: Service) -> APIRouter:
    """The endpoints."""
    router = APIRouter()
    supervisor = service.supervisor

    def check_loaded() -> None:
        """Until the first engine is ready it is not known that there is a model. Raises EngineLostError."""
        if supervisor.ready is None:
            raise supervisor.lost()

    @router.get("/v1/models")
    async def models() -> Response:
        check_loaded()
        return json_response({"object": "list", "data": [_model(service)]})

    @router.get("/v1/models/{model:path}")
    async def model(model: str) -> Response:
        service.check_model(model)
        check_loaded()
        return json_response(_model(service))

    @router.get("/health")
    async def health() -> Response:
        if supervisor.state == "ready":
            return json_response({"status": "ok"})
        lost = supervisor.lost()
        error = ApiError.of_lost(lost)
        return json_response(
            {"status": supervisor.state, **error.body()}, 503, {"retry-after": str(error.retry_after)}
        )

    @router.get("/metrics")
    async def metrics() -> Response:
        return Response(service.metrics.text(), media_type=service.metrics.content_type)

    @router.post("/debug/dump")
    async def dump(request: Request) -> Response:
        if service.config.api_key is None and not _is_loopback(request):
            message = "A dump may only be asked for from this machine, or with an API key (serve --api-key)."
            raise ApiError(403, message, code="forbidden", kind="permission_error")
        try:
            dumped = await supervisor.dump()
        except TimeoutError:
            message = "The engine did not get to writing a dump in time."
            raise ApiError(504, message, code="timeout", kind="engine_error") from None
        if dumped.problem is not None:
            message = f"The dump could not be written: {dumped.problem}."
            raise ApiError(500, message, code="dump_failed", kind="server_error")
        if dumped.path is None:
            raise ApiError(
                409, "The engine does not record: it was started with --no-record.", code="no_record"
            )
        return json_response({"dump": dumped.path})

    return router


def _model(service: Service) -> dict[str, Any]:
    ready = service.supervisor.ready
    return {
        "id": service.config.model,
        "object": "model",
        "created": service.created,
        "owned_by": "tracert",
        "max_model_len": ready.max_model_len if ready is not None else None,
    }


def _is_loopback(request: Request) -> bool:
    if request.client is None:
        return False
    try:
        address = ipaddress.ip_address(request.client.host.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback
