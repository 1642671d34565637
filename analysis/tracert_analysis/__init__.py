"""The reader: a dump becomes tables, findings and one report. Never imports torch."""
