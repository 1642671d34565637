"""Builds the optional C: the ring writer and the events reader. Without a compiler there is a slower way."""

from setuptools import Extension, setup

NATIVE = "analysis/tracert_analysis/native"
PARTS = ("lines", "records", "plan", "tables", "value", "json", "column", "arrow")

setup(
    ext_modules=[
        Extension(
            "tracert.record._ring",
            [
                "tracert/record/_ring.c",
                "tracert/record/_arguments.c",
                "tracert/record/_facts.c",
                "tracert/record/_lines.c",
                "tracert/record/_whole.c",
            ],
            depends=["tracert/record/_ring.h"],
            extra_compile_args=["-O3"],
            optional=True,
        ),
        Extension(
            "tracert_analysis._events",
            [f"{NATIVE}/events.c", *(f"{NATIVE}/{name}.c" for name in PARTS)],
            depends=[f"{NATIVE}/{name}.h" for name in PARTS],
            extra_compile_args=["-O3"],
            optional=True,
        ),
    ]
)
