"""A notebook is read as its reader sees it: words and source of each cell, and what it printed; anything else stays a text."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.logs.facts import merged
from gpudoctor.logs.intake import events_in, read_texts
from gpudoctor.logs.notebook import notebook_text

MISFIT = (
    "Loaded runtime CuDNN library: 8.0.5 but source was compiled with: 8.1.0.  CuDNN library needs to have matching"
)
CELLS: list[dict[str, Any]] = [
    {"cell_type": "markdown", "source": ["I have an RTX\n", "3090 and TensorFlow\n", "2.10 on Windows 10"]},
    {
        "cell_type": "code",
        "source": "model.fit(data)",
        "outputs": [
            {"output_type": "stream", "name": "stderr", "text": ["2021-01-01 00:00:00.000000: E cuda_dnn.cc:1] ", MISFIT, "\n"]},
            {"output_type": "execute_result", "data": {"text/plain": "[]", "image/png": "aGVsbG8="}},
            {
                "output_type": "error",
                "ename": "UnknownError",
                "evalue": "Failed to get convolution algorithm.",
                "traceback": ['\x1b[0;31mUnknownError\x1b[0m: Failed to get convolution algorithm. "quoted"'],
            },
        ],
    },
]  # fmt: skip


def notebook(**more: object) -> dict[str, Any]:
    return {"cells": CELLS, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}


def events(data: bytes) -> list[Any]:
    return list(events_in(io.BytesIO(data)))


def test_cells_and_their_outputs_stand_in_order_and_pictures_do_not() -> None:
    text = notebook_text(json.dumps(notebook()).encode())
    assert text is not None
    order = [
        text.index(word) for word in ("I have an RTX\n3090", "model.fit(data)", MISFIT, "[]", 'algorithm. "quoted"')
    ]
    assert order == sorted(order)
    assert "aGVsbG8" not in text
    assert "\\n" not in text, "line ends are line ends, not signs of JSON"


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("packed", [False, True])
def test_a_notebook_tells_what_its_text_would_tell(indent: int | None, packed: bool) -> None:
    data = json.dumps(notebook(), indent=indent).encode()
    found = events(gzip.compress(data) if packed else data)
    misfit = next(each for each in found if each.kind == "cudnn_mismatch")
    assert (misfit.values["loaded"], misfit.values["compiled"]) == ("8.0.5", "8.1.0")
    facts = merged(found, {})
    assert (facts["gpu"], facts["tf"], facts["os"]) == ("RTX 3090", "2.10", "windows")
    plain = notebook_text(data)
    assert plain is not None
    assert found == events(plain.encode())


def test_the_older_format_is_read_too() -> None:
    cell = {"cell_type": "code", "input": ["x = 1"], "outputs": [{"output_type": "stream", "text": [MISFIT]}]}
    document: dict[str, Any] = {"metadata": {}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": [cell]}]}
    assert "cudnn_mismatch" in {each.kind for each in events(json.dumps(document).encode())}


@pytest.mark.parametrize(
    "text",
    [
        '{"metadata": {}, "message": 1}\n{"metadata": {}}\n' + MISFIT,
        '{"cells": [' + MISFIT,
        '{"nbformat" : not JSON}\n' + MISFIT,
        json.dumps({"cells": "none"}) + "\n" + MISFIT,
    ],
)
def test_what_only_begins_like_a_notebook_is_the_text_that_it_is(text: str) -> None:
    assert "cudnn_mismatch" in {each.kind for each in events(text.encode())}


@pytest.mark.parametrize("cells", [[], [1, None, "x"], [{"cell_type": "code"}], [{"cell_type": "code", "source": 7, "outputs": [3, {"text": 1, "data": 2, "traceback": [None]}]}]])  # fmt: skip
def test_a_notebook_with_nothing_or_nonsense_in_it_says_nothing(cells: list[object]) -> None:
    assert [each.kind for each in events(json.dumps(notebook(cells=cells)).encode())] == ["text_end"]


def test_a_file_is_read_whatever_it_is_called(tmp_path: Path) -> None:
    for name in ("train.ipynb", "pasted.txt"):
        (tmp_path / name).write_text(json.dumps(notebook()), encoding="utf-8")
        assert "cudnn_mismatch" in {each.kind for each in read_texts([str(tmp_path / name)])}
