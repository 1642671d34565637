"""Kernels over paged KV memory: Triton, and the same functions in plain torch.

Knows nothing of requests, of the recorder or of who owns a page. Everything about a page is found through
the block table when the kernel executes, never when it is launched. Importing this package imports
neither torch nor triton; `tracert_kernels.dispatch.for_device` does.
"""
