"""The names of what pages may hold, for those who only pass them on: without torch."""

from typing import Literal

KvType = Literal["fp32", "bf16", "fp16", "fp8", "int8"]
KvTypeOption = Literal["auto", KvType]
"""`auto`: what the model computes in."""
