"""Plain values get the types of their schemas."""

from typing import Any

import pytest

from tracert.server.tool_call import typed


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("7", {"type": "string"}, "7"),
        ("7", {"type": "integer"}, 7),
        ("7.5", {"type": "number"}, 7.5),
        ("true", {"type": "boolean"}, True),
        ("False", {"type": "boolean"}, False),
        ("yes", {"type": "boolean"}, "yes"),
        ("[1]", {"type": "array"}, [1]),
        ("null", {"type": ["string", "null"]}, None),
        ("None", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, None),
        ("null", {"type": "string"}, "null"),
        ("7", {"oneOf": [{"type": "integer"}, {"type": "null"}]}, 7),
        ("7", {"type": ["integer", "string"]}, "7"),
        ("7", {}, "7"),
        ("7", None, "7"),
        ("7", {"type": 5, "anyOf": 6}, "7"),
    ],
)
def test_a_value_has_the_type_of_its_schema(text: str, schema: Any, value: Any) -> None:
    """Text where the schema allows it or says nothing, or the value is none of that type."""
    found = typed(text, schema)
    assert (type(value), value) == (type(found), found)
