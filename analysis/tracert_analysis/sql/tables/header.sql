-- The first line of the dump: what wrote it, when and why. One row.
CREATE TABLE header (
    -- Always `tracert`.
    format VARCHAR,
    -- Version of the dump's format.
    version UINTEGER,
    -- When the dump was written: nanoseconds since 1970.
    written_ns UBIGINT,
    -- Why it was written: device-error, exception, killed, hang, request or exit.
    reason VARCHAR,
    -- The error that the host learned, null when there was none.
    error JSON,
    -- The engine's configuration: page_size, kv_pages, rows, row_width and more.
    config JSON,
    -- The model that was served.
    model JSON,
    -- The device: name and state (ok, drained or unusable).
    device JSON,
    -- The same moment on two clocks: monotonic_ns (the clock of `event.t`) and unix_ns.
    clock JSON,
    -- The fault that was planted, null when none was. No view and no finding reads it.
    fault VARCHAR,
    -- The tool that wrote the dump.
    tool JSON,
    -- The ring: capacity, first_seq, last_seq, lost and torn.
    ring JSON
);
