-- Where a launch first met bytes of a life of a page that it must not: `stale` (another life's), `unwritten`
-- (nobody's) or `wiped` (zeros over what this life had there). Positions `first` up to `end`; `seq` is the launch,
-- `origin_seq` the launch that wrote what is there (or was), in `origin_page` and `origin_life`; `via_seq` the copy
-- or load that brought it, `clear_seq` the clear that wiped it, in `clear_page` and `clear_life` from `clear_first` on:
-- those that are read, or those from which `zeros_seq`, a copy or a load, brought its zeros. `origins` is how many put
-- it there, of whom `origin_seq` is the last. Filled by Python.
CREATE TABLE _blemish (
    kind VARCHAR, page UINTEGER, life UINTEGER, first UBIGINT, "end" UBIGINT, seq UBIGINT, origin_seq UBIGINT,
    origin_page UINTEGER, origin_life UINTEGER, origin_class VARCHAR, via_seq UBIGINT, clear_seq UBIGINT,
    clear_page UINTEGER, clear_life UINTEGER, clear_first UBIGINT, zeros_seq UBIGINT, origins UBIGINT
);

-- The same of positions that no launch of a row had computed when the launch `seq` read them as valid. Here they may
-- be `blank`, too: zeros, of the clear `origin_seq`; or `untold`: from before the history. `skip_first` up to
-- `skip_end` is what was left out of the sequence (`_skip`), `before_seq` the launch that had come furthest; null where
-- `seq` is the first of its row and generation there, and started behind them. Filled by Python.
CREATE TABLE _uncomputed (
    kind VARCHAR, page UINTEGER, life UINTEGER, first UBIGINT, "end" UBIGINT, seq UBIGINT, origin_seq UBIGINT,
    origin_page UINTEGER, origin_life UINTEGER, origin_class VARCHAR, via_seq UBIGINT, clear_seq UBIGINT,
    clear_page UINTEGER, clear_life UINTEGER, clear_first UBIGINT, zeros_seq UBIGINT, origins UBIGINT, row USMALLINT,
    generation UINTEGER, skip_first UBIGINT, skip_end UBIGINT, before_seq UBIGINT
);
