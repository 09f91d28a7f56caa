"""What a TensorFlow build says of itself in two of its files: `build_info.py`, and the header `cuda_config.h` beside it.

Importing `tensorflow.python.platform.build_info` would be one line and runs all of TensorFlow; the file is parsed instead.
The header is the fallback: from 2.22 on `build_info` says no more for which CUDA the build was made.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

BUILD_INFO = "python/platform/build_info.py"
CUDA_CONFIG = "include/third_party/gpus/cuda/cuda_config.h"
DEFINE = re.compile(r"^#define[ \t]+(TF_\w+)[ \t]*(.*?)[ \t]*$", re.MULTILINE)


def read_build_info(package: Path) -> Mapping[str, Any]:
    """Return the keys of `build_info` in the TensorFlow package folder, empty where it cannot be read or understood."""
    try:
        tree = ast.parse((package / BUILD_INFO).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    facts: dict[str, Any] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(target := statement.targets[0], ast.Name):
            value = _literal(statement.value)
            if target.id == "build_info" and isinstance(value, dict):
                facts.update(cast("dict[str, Any]", value))
            elif value is not None:  # before 2.3 each key was a variable
                facts[target.id] = value
    return facts


def _literal(node: ast.expr) -> Any:  # whatever the build wrote down
    """Return the value of a literal, or of a mapping made by a call: OrderedDict([...]), dict(key=...)."""
    try:
        if isinstance(node, ast.Call):
            pairs = dict(ast.literal_eval(node.args[0])) if node.args else {}
            return {**pairs, **{each.arg: ast.literal_eval(each.value) for each in node.keywords}}
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return None


def read_cuda_config(package: Path) -> Mapping[str, str]:
    """Return the TF_* definitions of the CUDA header in the package folder, those without a value left out."""
    try:
        text = (package / CUDA_CONFIG).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    return {name: value for name, raw in DEFINE.findall(text) if (value := raw.strip('"'))}


def capabilities_in_header(config: Mapping[str, str], *, official: bool) -> tuple[str, ...]:
    """Return the architectures of the header, whose numbers no longer tell binary code (sm) from PTX (compute).

    In official wheels the last is PTX and the others binary (read in all wheels from 2.4 to 2.22). Elsewhere the last
    may be both: TensorFlow's configure makes both of a plain "8.6".
    """
    words = config.get("TF_CUDA_COMPUTE_CAPABILITIES", "").split(",")
    numbers = [word.strip() for word in words if word.strip().isdigit()]
    binary = numbers[:-1] if official else numbers
    return (*(f"sm_{number}" for number in binary), *(f"compute_{number}" for number in numbers[-1:]))
