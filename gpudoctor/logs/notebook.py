"""Reads a Jupyter notebook as the text that its reader sees: each cell's words or source, and below it what it printed.

Taken as plain text, a notebook is one JSON string after the other: a message keeps its quotes, escapes and line ends as signs,
and what stood in one line is told apart. Formats 3 and 4 (nbformat's notebook_schema) are read; the pictures are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeGuard

from gpudoctor.codec import loads

BEGINS = re.compile(
    rb'(?:\xef\xbb\xbf)?\s{0,64}\{\s{0,64}"(?:cells|metadata|nbformat|nbformat_minor|worksheets)"\s{0,8}:'
)
# As of a snapshot: a notebook is read whole, and a larger one holds pictures, not messages
LARGEST_BYTES = 64 * 1024 * 1024
SOURCES = ("source", "input")  # of format 4, of format 3
Json = Any  # a foreign document as Python builtins


def may_be_notebook(beginning: bytes) -> bool:
    """Return whether a text begins as a notebook does."""
    return BEGINS.match(beginning) is not None


def notebook_text(data: bytes) -> str | None:
    """Return what stands in the cells and in their outputs, in order; None for what is no notebook."""
    try:
        document = loads(data)
    except ValueError:
        return None
    cells = list(_cells(document))
    if not cells and not (_is_object(document) and "nbformat" in document):
        return None
    return "\n".join(part if part.endswith("\n") else f"{part}\n" for cell in cells for part in _parts(cell) if part)


def _is_object(node: object) -> TypeGuard[dict[str, Json]]:
    return isinstance(node, dict)


def _is_array(node: object) -> TypeGuard[list[Json]]:
    return isinstance(node, list)


def _cells(document: Json) -> Iterator[dict[str, Json]]:
    if not _is_object(document):
        return
    sheets = document.get("worksheets")
    for sheet in [document, *(sheets if _is_array(sheets) else [])]:
        cells = sheet.get("cells") if _is_object(sheet) else None
        yield from (each for each in (cells if _is_array(cells) else []) if _is_object(each) and "cell_type" in each)


def _parts(cell: dict[str, Json]) -> Iterator[str]:
    yield from (_joined(cell[each]) for each in SOURCES if each in cell)
    outputs = cell.get("outputs")
    for output in outputs if _is_array(outputs) else []:
        if _is_object(output):
            yield from _printed(output)


def _printed(output: dict[str, Json]) -> Iterator[str]:
    """Yield a stream's text, a result's, and an error: its traceback ends with the message, so that is not told twice."""
    data = output.get("data")
    yield _joined(output.get("text"))
    yield _joined(data.get("text/plain") if _is_object(data) else None)
    if _is_array(traceback := output.get("traceback")) and traceback:
        yield "\n".join(each for each in traceback if isinstance(each, str))
    elif output.get("ename"):
        yield f"{output['ename']}: {output.get('evalue', '')}"


def _joined(text: Json) -> str:
    """Return a text that is written as one string or as one for each line."""
    if _is_array(text):
        return "".join(each for each in text if isinstance(each, str))
    return text if isinstance(text, str) else ""
