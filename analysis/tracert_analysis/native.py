"""The part of the reader that is in C, where it was built."""

import importlib
from functools import cache
from types import ModuleType


@cache
def native_reader() -> ModuleType | None:
    """`tracert_analysis._events`; None where there was no compiler."""
    try:
        return importlib.import_module("tracert_analysis._events")
    except ImportError:
        return None
