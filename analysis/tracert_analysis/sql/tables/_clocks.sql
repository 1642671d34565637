-- Clocks of streams: from an event on, what is done before the stream's next launch starts.
CREATE TABLE _segment (stream USMALLINT, from_seq UBIGINT, clock UBIGINT[]);

-- The host's clock: from an event on, what the host knows to be done.
CREATE TABLE _host (from_seq UBIGINT, clock UBIGINT[]);
