"""Architectures, weights, tokenizers and chat templates. Knows nothing of scheduling."""
