"""The command line: one file a subcommand; the only place that assembles, prints and exits."""
