"""Builds the optional C ring writer; without a compiler the package falls back to pure Python."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "tracert.record._ring",
            [
                "tracert/record/_ring.c",
                "tracert/record/_arguments.c",
                "tracert/record/_facts.c",
                "tracert/record/_lines.c",
            ],
            depends=["tracert/record/_ring.h"],
            extra_compile_args=["-O3"],
            optional=True,
        )
    ]
)
