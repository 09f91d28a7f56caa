"""A baseline as a file: read with suspicion, written so that a review shows what changed."""

from __future__ import annotations

from gpudoctor.cli.output import write_file
from gpudoctor.codec import MAX_BASELINE_BYTES, dumps, load_baseline, to_builtins
from gpudoctor.examine.read_file import read_bounded
from gpudoctor.model.baseline import Baseline

CURE = "make one with `gpudoctor scan --write-baseline FILE`"


def read(path: str) -> Baseline:
    """Return the baseline. Raises UsageError for a file that is none."""
    return load_baseline(read_bounded(path, MAX_BASELINE_BYTES, cure=CURE), name=path)


def write(path: str, baseline: Baseline) -> None:
    """Write the file. Raises OutputError."""
    write_file(path, dumps(to_builtins(baseline, {})) + "\n", option="--write-baseline")
