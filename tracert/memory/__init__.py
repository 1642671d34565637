"""Arena, page pool, block table and prefix caches. Knows nothing of tokens or HTTP."""
