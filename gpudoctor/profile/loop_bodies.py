"""The line that a sample on a loop's head belongs to, where that is certain.

CPython hands its lock over where a loop jumps back, and the jump of a `while` stands on its head (of a `for`, on the last line
of its body; seen in the byte code of 3.11 and 3.12). So the head is seen for the whole round. Only where the condition does
nothing and the body is one line is it certain where the time went; of several lines none is named in another's place.
"""

from __future__ import annotations

import ast
import linecache
from functools import lru_cache

# What a condition may hold to count as nothing: names and constants compared; a call, a subscript or an attribute may work.
IDLE = (
    ast.Name,
    ast.Constant,
    ast.Compare,
    ast.BoolOp,
    ast.UnaryOp,
    ast.cmpop,
    ast.boolop,
    ast.unaryop,
    ast.expr_context,
)


def line_of_work(file: str, line: int) -> int:
    """Return the body's line for the head of such a loop, any other line as it is."""
    return _bodies(file).get(line, line) if file.endswith(".py") else line


@lru_cache(maxsize=64)
def _bodies(file: str) -> dict[int, int]:
    """Return head -> body of the loops of a source file that are certain; nothing where it cannot be read."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return {}
    loops = [each for each in ast.walk(tree) if isinstance(each, ast.While)]
    return {each.lineno: each.body[0].lineno for each in loops if _is_certain(each)}


def _is_certain(loop: ast.While) -> bool:
    (first, *more) = loop.body
    simple = isinstance(first, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr))
    one_line = first.lineno == first.end_lineno and loop.test.end_lineno == loop.lineno < first.lineno
    return simple and one_line and not more and all(isinstance(each, IDLE) for each in ast.walk(loop.test))
