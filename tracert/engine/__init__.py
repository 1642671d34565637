"""Requests, scheduler, step and sampler. Knows nothing of HTTP."""
