"""Builds the optional C ring writer; without a compiler the package falls back to pure Python."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "tracert.record._ring",
            ["tracert/record/_ring.c"],
            extra_compile_args=["-O3"],
            optional=True,
        )
    ]
)
