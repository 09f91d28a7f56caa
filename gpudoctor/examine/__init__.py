"""One examination of this machine, whoever asks: choose the interpreter, collect, probe, redact."""
