"""Kernels over paged KV memory: Triton, and the same functions in plain torch."""
