"""A request's JSON body: its size, its syntax, its parameters. What is wrong is a 4xx that names it."""

from typing import Any, ClassVar, TypeVar

import msgspec
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import Request

from tracert.server.errors import ApiError, bad_parameter


class Body(BaseModel):
    """Base of all bodies: types are not converted, unknown parameters are refused and not ignored."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, protected_namespaces=())

    hints: ClassVar[frozenset[str]] = frozenset()
    """Parameters that cannot change the answer here, and may be sent."""
    neutral: ClassVar[dict[str, tuple[Any, ...]]] = {}
    """Parameters that are not supported, with the values that ask for nothing and may be sent."""


AnyBody = TypeVar("AnyBody", bound=Body)


async def read_body(request: Request, shape: type[AnyBody], max_bytes: int) -> AnyBody:
    """Read and check the body. Raises ApiError 413 or 400."""
    data = await _read(request, max_bytes)
    try:
        content = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ApiError(400, f"The body is not valid JSON: {error}.", code="invalid_json") from None
    if not isinstance(content, dict):
        raise ApiError(400, "The body must be a JSON object.", code="invalid_json")
    try:
        return shape.model_validate(_without_neutral(content, shape))
    except ValidationError as error:
        raise _of_validation(error) from None


async def _read(request: Request, max_bytes: int) -> bytes:
    too_big = ApiError(413, f"The body is larger than {max_bytes} bytes.", code="body_too_large")
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > max_bytes:
        raise too_big
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > max_bytes:
            raise too_big
    return bytes(data)


def _without_neutral(content: dict[str, Any], shape: type[Body]) -> dict[str, Any]:
    kept = {}
    for name, value in content.items():
        if name in shape.model_fields:
            kept[name] = value
        elif name in shape.neutral:
            if value is not None and value not in shape.neutral[name]:
                raise bad_parameter(name, "is not supported by this server", "unsupported_parameter")
        elif name not in shape.hints and value is not None:
            raise bad_parameter(name, "there is no such parameter", "unknown_parameter")
    return kept


def _of_validation(error: ValidationError) -> ApiError:
    """The first parameter at fault, and all that is wrong with it."""
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    param = str(problems[0]["loc"][0]) if problems[0]["loc"] else "body"
    if problems[0]["type"] == "missing":
        return bad_parameter(param, "is required", "missing_parameter")
    said: dict[str, None] = {}
    for problem in problems:
        if problem["loc"] and str(problem["loc"][0]) == param:
            said[problem["msg"].removeprefix("Value error, ")] = None
    return bad_parameter(param, ", or ".join(said))
