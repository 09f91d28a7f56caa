"""A script that was edited after its run shows other lines at the same places: none of them is quoted."""

from __future__ import annotations

import os
from pathlib import Path

from gpudoctor.profile.timeline import source_line


def test_a_line_is_quoted_only_from_the_file_that_ran(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import keras\nmodel.fit(ds)\n", encoding="utf-8")
    os.utime(script, (1000.0, 1000.0))
    assert source_line(str(script), 2, as_of=1000.5) == "model.fit(ds)"
    assert source_line(str(script), 2, as_of=999.5) == ""
    assert source_line(str(script), 2) == "model.fit(ds)"


def test_a_file_that_is_not_there_has_no_lines() -> None:
    assert source_line("/no/such/train.py", 2) == ""
    assert source_line("<stdin>", 1) == ""
    assert source_line("a\0b", 1) == ""
