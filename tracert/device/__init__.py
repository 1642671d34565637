"""Streams, fences and launches: the simulated device and the CUDA device. Knows nothing of requests."""
