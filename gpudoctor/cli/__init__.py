"""The command line: parse, call, choose the exit code. Sub-commands are imported only when they run."""
