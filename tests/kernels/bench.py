"""Times the plain kernels a layer on SmolLM2's shape: `python -m tests.kernels.bench [threads]`.

30 layers of one arena in turn, so that pages come from memory and not from the cache, as in a step. The least
of the times measured is given: two threads that wait for each other on a busy machine say nothing else.
"""

import sys
from collections.abc import Sequence

import torch
from torch.utils.benchmark import Timer
from tracert_kernels import twins
from tracert_kernels.scratch import Scratch

LAYERS, PAGE_SIZE, KV_HEADS, HEADS, DIM = 30, 16, 3, 9, 64


def run(name: str, sequences: Sequence[tuple[int, int]], shared: int, threads: int) -> None:
    """`sequences` of (context, queries), the first `shared` tokens of which lie on the same pages."""
    common = shared // PAGE_SIZE
    counts = [-(-context // PAGE_SIZE) - common for context, _ in sequences]
    pages = 1 + common + sum(counts)
    arena = torch.randn(pages, LAYERS, 2, PAGE_SIZE, KV_HEADS, DIM, dtype=torch.bfloat16)
    ids = 1 + torch.randperm(pages - 1)
    table = torch.zeros(len(sequences), max(counts) + common, dtype=torch.int32)
    used = common
    for row, count in enumerate(counts):
        table[row, :common] = ids[:common]
        table[row, common : common + count] = ids[used : used + count]
        used += count
    queries = torch.tensor([count for _, count in sequences])
    start = torch.cat((torch.zeros(1), queries.cumsum(0))).int()
    context = torch.tensor([context for context, _ in sequences], dtype=torch.int32)
    rows = torch.arange(len(sequences), dtype=torch.int32)
    token_row = rows.repeat_interleave(queries)
    position = torch.cat([torch.arange(total - count, total) for total, count in sequences]).int()
    query = torch.randn(int(start[-1]), HEADS, DIM, dtype=torch.bfloat16)
    key = torch.randn(int(start[-1]), KV_HEADS, DIM, dtype=torch.bfloat16)
    out, scratch = torch.empty_like(query), Scratch()

    def plan() -> object:
        return twins.plan(table, rows, start, context, token_row, position, PAGE_SIZE, scratch=scratch)

    made = twins.plan(table, rows, start, context, token_row, position, PAGE_SIZE, scratch=scratch)

    def store() -> None:
        for layer in range(LAYERS):
            twins.store_kv(key, key, arena[:, layer], table, token_row, position, plan=made)

    def attend() -> None:
        for layer in range(LAYERS):
            twins.paged_attention(
                out, query, arena[:, layer], table, rows, start, context, DIM**-0.5, plan=made
            )

    figures = []
    for function, per in ((plan, 1), (store, LAYERS), (attend, LAYERS)):
        timer = Timer("function()", globals={"function": function}, num_threads=threads)
        times = timer.blocked_autorange(min_run_time=0.3).times
        figures.append(min(times) * 1e3 / per)
    print(
        f"{name:34} plan {figures[0]:7.3f} ms a step   "
        f"store {figures[1]:7.4f}   attention {figures[2]:7.3f} ms a layer"
    )


def main() -> None:
    """The shapes that a step of SmolLM2 has."""
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    run("decode 1 x 256", [(256, 1)], 0, threads)
    run("decode 1 x 1300", [(1300, 1)], 0, threads)
    run("decode 8 x 576", [(576, 1)] * 8, 0, threads)
    run("decode 8 x 128..576", [(128 + 64 * i, 1) for i in range(8)], 0, threads)
    run("decode 16 x 1200", [(1200, 1)] * 16, 0, threads)
    run("decode 16 x 1100..1250, 1024 shared", [(1100 + 10 * i, 1) for i in range(16)], 1024, threads)
    run("prefill 512", [(512, 512)], 0, threads)
    run("prefill 256 after 768", [(1024, 256)], 0, threads)
    run("prefill 40 after 1100", [(1140, 40)], 0, threads)
    run("prefill 4 after 576", [(580, 4)], 0, threads)


if __name__ == "__main__":
    main()
