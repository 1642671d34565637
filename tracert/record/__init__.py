"""The black box: event schema, ring file, recorder, dump and recovery. Knows nothing of torch."""
