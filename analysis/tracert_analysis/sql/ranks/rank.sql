-- The ranks whose dumps were read together.
CREATE TABLE rank (
    -- Its number: `config.rank` of the dump's header; where not each has one of its own, the place of the dump among
    -- those given, from 0.
    rank UINTEGER,
    -- The dump.
    dump VARCHAR,
    -- What to add to `t` of its events for nanoseconds of Unix time.
    offset_ns BIGINT,
    -- Nothing before its first event is missing.
    complete BOOLEAN,
    -- Events are missing in the middle of it: its decisions are not compared.
    holes BOOLEAN,
    -- Some of its events are of kinds that this reader doesn't know.
    strange BOOLEAN
);
