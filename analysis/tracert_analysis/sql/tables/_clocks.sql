-- Clocks of streams: from an event on, what is done before the stream's next launch starts. Segments are numbered.
CREATE TABLE _segment (segment UBIGINT, stream USMALLINT, from_seq UBIGINT, clock UBIGINT[]);

-- The host's clock: from an event on, what the host knows to be done.
CREATE TABLE _host (from_seq UBIGINT, clock UBIGINT[]);

-- What writers without a stream did to pages: the host (`host`) at once, others (`external:NAME`) from `seq` until
-- the host learned at `done_seq` that they had done it; null when it never did. `stream` is a channel: it counts as a
-- stream behind those of the device.
CREATE TABLE _outside (
    seq UBIGINT, stream USMALLINT, ordinal UBIGINT, actor VARCHAR, transaction UBIGINT, done_seq UBIGINT
);
