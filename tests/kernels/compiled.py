"""Compiles what the wrappers would launch to cubins, without a GPU; `test_compiled.py` runs this file.

A process of its own, without TRITON_INTERPRET: Triton decides once whether it interprets.
"""

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import triton
from tracert_kernels import triton_kernels
from tracert_kernels.kv_types import KV_TYPES, Covers
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tests.kernels import guard_cases
from tests.kernels.paged import FLOATS, Shape, paged
from tests.some import a_few, grid

# Shared memory that one program may have: CUDA C++ Programming Guide, technical specifications.
SHARED_BYTES_MAX = {80: 163 * 1024, 90: 227 * 1024, 100: 227 * 1024, 120: 99 * 1024}
KERNELS = (
    "store_kv",
    "paged_attention",
    "copy_pages",
    "clear_pages",
    "clear_positions",
    "copy_row",
    "follow_rows",
)
NAMES = {
    torch.float32: "fp32",
    torch.bfloat16: "bf16",
    torch.float16: "fp16",
    torch.float8_e4m3fn: "fp8e4nv",
    torch.int8: "i8",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.uint8: "u8",
}
DTYPES = pytest.mark.parametrize("dtype", KV_TYPES.values(), ids=KV_TYPES.keys())


class CompileOnly:
    """Stands where a kernel is launched and compiles it for the arguments that it is given."""

    def __init__(self, kernel: Any, capability: int) -> None:
        self.kernel = kernel
        self.capability = capability
        self.compiled: list[Any] = []

    def __getitem__(self, grid: tuple[int, ...]) -> Callable[..., None]:
        """As of a kernel: the launcher of a grid."""
        return self.compile

    def compile(self, *args: Any, enable_fp_fusion: bool, **constants: Any) -> None:
        """The cubin of these arguments, specialised as Triton would: for 1 and multiples of 16."""
        signature: dict[str, str] = {}
        attributes: dict[tuple[int], list[list[Any]]] = {}
        for index, (parameter, argument) in enumerate(zip(self.kernel.params, args, strict=False)):
            signature[parameter.name] = self.type_of(argument)
            if isinstance(argument, float) or parameter.do_not_specialize:
                continue
            number = argument.data_ptr() if isinstance(argument, torch.Tensor) else argument
            if number == 1:
                constants[parameter.name] = 1
            if number % 16 == 0 and not parameter.do_not_specialize_on_alignment:
                attributes[(index,)] = [["tt.divisibility", 16]]
        signature |= dict.fromkeys(constants, "constexpr")
        assert self.kernel.arg_names == list(signature)
        source = ASTSource(self.kernel, signature=signature, constexprs=constants, attrs=attributes)
        target = GPUTarget("cuda", self.capability, 32)
        options = {"enable_fp_fusion": enable_fp_fusion}
        self.compiled.append(triton.compile(source, target=target, options=options))

    @staticmethod
    def type_of(argument: Any) -> str:
        """Triton's name for the type of an argument."""
        if isinstance(argument, torch.Tensor):
            return "*" + NAMES[argument.dtype]
        if isinstance(argument, float):
            return "fp32"
        return "i32" if argument < 2**31 else "i64"


@pytest.fixture(params=SHARED_BYTES_MAX, ids=lambda capability: f"sm_{capability}")
def kernels(request: pytest.FixtureRequest) -> Iterator[dict[str, CompileOnly]]:
    """Every kernel replaced by its compiler for one GPU."""
    with pytest.MonkeyPatch.context() as patch:
        found = {}
        for name in KERNELS:
            module = importlib.import_module(f"tracert_kernels.triton_kernels.{name}")
            found[name] = CompileOnly(getattr(module, f"{name}_kernel"), request.param)
            patch.setattr(module, f"{name}_kernel", found[name])
        yield found


def assert_cubins(kernel: CompileOnly, count: int) -> None:
    """So many programs for the GPU, each within the shared memory it has."""
    assert count == len(kernel.compiled)
    for compiled in kernel.compiled:
        assert compiled.asm["cubin"][:4] == b"\x7fELF"
        assert f".target sm_{kernel.capability}" in compiled.asm["ptx"]
        assert compiled.metadata.shared <= SHARED_BYTES_MAX[kernel.capability]


def skip_without_fp8(kernel: CompileOnly, dtype: torch.dtype) -> None:
    """Before compute capability 8.9 a GPU has no e4m3, and the engine refuses such pages."""
    if dtype == torch.float8_e4m3fn and kernel.capability < 89:
        pytest.skip("no e4m3 on this GPU")


@pytest.mark.parametrize(
    ("asked", "cached"),
    grid(
        lambda name, cached: cached == "bf16x64" or (name, cached) == ("decode", "fp8x64"),
        {
            "decode": ([(40, 1)], "valid"),
            "whole pages": ([(40, 1)], "page"),
            "prefill": ([(40, 40)], "valid"),
        },
        {
            "fp32x64": (torch.float32, 64),
            "fp16x64": (torch.float16, 64),
            "bf16x64": (torch.bfloat16, 64),
            "bf16x128": (torch.bfloat16, 128),
            "fp8x64": (torch.float8_e4m3fn, 64),
            "int8x128": (torch.int8, 128),
        },
    ),
)
def test_paged_attention(
    kernels: dict[str, CompileOnly],
    asked: tuple[list[tuple[int, int]], Covers],
    cached: tuple[torch.dtype, int],
) -> None:
    """Both heights of block, both covers, every dtype, and the head size that wants most shared memory."""
    (sequences, covers), (dtype, dim) = asked, cached
    skip_without_fp8(kernels["paged_attention"], dtype)
    query_dtype = dtype if dtype in FLOATS else torch.bfloat16
    case = paged(sequences, Shape(dtype=dtype, dim=dim), query_dtype=query_dtype)
    triton_kernels.paged_attention(
        case.queries,
        case.queries,
        case.cache,
        case.table,
        case.rows,
        case.query_start,
        case.context,
        case.scale,
        covers=covers,
    )
    assert_cubins(kernels["paged_attention"], 1)


@DTYPES
def test_store_kv(kernels: dict[str, CompileOnly], dtype: torch.dtype) -> None:
    """fp32 keys, whatever pages hold."""
    skip_without_fp8(kernels["store_kv"], dtype)
    case = paged([(40, 3)], Shape(dtype=dtype))
    key = case.queries[:, :2].float()
    triton_kernels.store_kv(key, key, case.cache, case.table, case.token_row, case.position)
    assert_cubins(kernels["store_kv"], 1)
    assert "atom." not in kernels["store_kv"].compiled[0].asm["ptx"], "a guard that is off costs something"


@pytest.mark.parametrize("dtype", a_few(1, [torch.bfloat16, torch.int8]), ids=str)
def test_guarded(kernels: dict[str, CompileOnly], dtype: torch.dtype) -> None:
    """What follows rows, and the guarded variants, of the first layer and of another."""
    case = paged([(40, 1)], Shape(dtype=dtype, dim=64), query_dtype=torch.bfloat16)
    for layer in (0, 3):
        guard_cases.forward(triton_kernels, case, guard_cases.guard_of(case, layer))
    for name in ("follow_rows", "store_kv", "paged_attention"):
        assert_cubins(kernels[name], 2)
    assert "atom." in kernels["store_kv"].compiled[0].asm["ptx"]


def test_pages_and_rows(kernels: dict[str, CompileOnly]) -> None:
    """What moves bytes and table entries."""
    pages, ids = torch.zeros(4, 8192, dtype=torch.uint8), torch.tensor([1, 2], dtype=torch.int32)
    triton_kernels.copy_pages(pages, ids, ids)
    triton_kernels.clear_pages(pages, ids)
    triton_kernels.copy_row(torch.zeros(2, 8, dtype=torch.int32), 1, 2, ids, 2)
    triton_kernels.clear_positions(torch.zeros(4, 2, 2, 16, 2, 64), ids, ids)
    for name in ("copy_pages", "clear_pages", "clear_positions", "copy_row"):
        assert_cubins(kernels[name], 1)
