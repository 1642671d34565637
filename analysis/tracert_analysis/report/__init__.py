"""One answer from a dump: the report, the queries behind it, and its renderers."""
