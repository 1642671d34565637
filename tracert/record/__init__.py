"""The black box: event schema, ring file, recorder, and dump. Knows nothing of torch."""
