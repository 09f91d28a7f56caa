"""What a sampled thread is doing: NumPy, plain Python, waiting in TensorFlow, reading files; and whose thread it is.

Told from file and function names, and for the user's own line from the instruction under way. `frame.f_locals` would tell
more; up to Python 3.12 asking for it keeps the user's arrays alive.
"""

from __future__ import annotations

import dis
import os
from typing import Any

from . import places

WAITS_IN_TENSORFLOW = frozenset(
    [
        "quick_execute",
        "execute",
        "call_function",
        "call_flat",
        "iterator_get_next",
        "TFE_Py_FastPathExecute",
        "TFE_Py_Execute",
        "_numpy",
        "numpy",
        "iterator_get_next_sync",
        "_call_flat",
        "_inference_function",
        "call_preflattened",
        "flat_call",
    ]
)
WAITING_FILES = (
    "threading.py",
    "queue.py",
    "selectors.py",
    "connection.py",
    "pool.py",
    "popen_fork.py",
    "socket.py",
    "subprocess.py",
)
# of objects in C, whose frame is the user's own line; "get" and "join" are those of a dict and a text, too
WAITING_CALLS = frozenset(["recv", "recv_into", "recvfrom", "accept", "communicate", "acquire", "select", "poll"])
READING_FILES = (
    "gzip.py",
    "zipfile.py",
    "bz2.py",
    "lzma.py",
    "pathlib.py",
    "codecs.py",
    "_compression.py",
    "tempfile.py",
)
READING_CALLS = frozenset(
    [
        "open",
        "read",
        "readline",
        "readlines",
        "imread",
        "load",
        "fromfile",
        "memmap",
        "glob",
        "listdir",
        "scandir",
        "stat",
    ]
)
SYNC_CALLS = frozenset(["numpy", "float", "int", "bool", "item"])
PIPELINE_FILES = ("script_ops.py", "from_generator_op.py", "py_dataset_adapter.py")
CALLING_FILES = ("callback_list.py", "callbacks.py")  # of Keras 3 and 2: a list of callbacks
FRAMEWORKS = frozenset(["tensorflow", "keras", "tf_keras"])
OF_CALLER = frozenset(["numpy", "python", "other"])  # below a call of TensorFlow's they are its work, not the user's
MOST_CACHED = 20_000

_roles: dict[Any, str] = {}
_callbacks: dict[Any, str] = {}
_calls: dict[tuple[Any, int], tuple[str, str]] = {}
_framework: dict[str, bool] = {}


def role_of(code: Any) -> str:
    """Return main or pipeline where this frame tells whose thread it is, else ""."""
    role = _roles.get(code)
    if role is None:
        name = os.path.basename(code.co_filename)
        role = ""
        if name in PIPELINE_FILES:
            role = "pipeline"
        elif code.co_name == "<module>" and places.kind_of(code.co_filename) == places.USER:
            role = "main"
        _roles[code] = role
    return role


def callback_of(code: Any) -> str:
    """Return which method of its callbacks Keras calls in this frame ("on_train_batch_end"), else ""."""
    name = _callbacks.get(code)
    if name is None:
        of_keras = os.path.basename(code.co_filename) in CALLING_FILES and _package(code.co_filename) in FRAMEWORKS
        name = _callbacks[code] = code.co_name if of_keras and code.co_name.startswith("on_") else ""
    return name


def of(leaf: Any, user: Any) -> tuple[str, str]:
    """Return the activity, and the innermost function in words."""
    if leaf is user:
        return _of_line(user)
    activity, words = _of_leaf(leaf)
    if activity in OF_CALLER and _in_framework(leaf, user):
        return "tensorflow", words
    return activity, words


def _in_framework(leaf: Any, user: Any) -> bool:
    """Return whether the user's line has called TensorFlow or Keras, and these what is under way."""
    frame = leaf.f_back
    while frame is not None and frame is not user:
        file = frame.f_code.co_filename
        known = _framework.get(file)
        if known is None:
            known = _framework[file] = _package(file) in FRAMEWORKS
        if known:
            return True
        frame = frame.f_back
    return False


def _of_leaf(leaf: Any) -> tuple[str, str]:
    code = leaf.f_code
    file, name = code.co_filename, code.co_name
    base = os.path.basename(file)
    package = _package(file)
    words = f"{package}.{name}" if package else f"{base}:{name}"
    if package == "numpy":
        return "numpy", words
    if package in FRAMEWORKS:
        return ("tensorflow_wait" if name in WAITS_IN_TENSORFLOW else "tensorflow"), words
    if base in WAITING_FILES:
        return "wait", words
    if base in READING_FILES or (not package and name in READING_CALLS):
        return "io", words
    return "other" if package else "python", words


def _package(file: str) -> str:
    for packages in places.PACKAGES:
        if packages in file:
            return file.rpartition(packages)[2].split(os.sep, 1)[0].partition(".")[0]
    return ""


def _of_line(frame: Any) -> tuple[str, str]:
    """Return what the instruction under way is: a call of NumPy's, of a reader, or plain Python."""
    key = (frame.f_code, frame.f_lasti)
    known = _calls.get(key)
    if known is None:
        if len(_calls) > MOST_CACHED:
            _calls.clear()
        known = _calls[key] = _classed(_called(frame), frame)
    return known


def _classed(name: str, frame: Any) -> tuple[str, str]:
    """Class a dotted name by what its root is in the module's globals; operators on arrays stay unknown."""
    if not name:
        return "python", ""
    root, _, _ = name.partition(".")
    last = name.rpartition(".")[2]
    value = frame.f_globals.get(root)
    module = str(getattr(value, "__name__", "")) if type(value).__name__ == "module" else ""
    module = module or str(getattr(value, "__module__", "") or "")
    top = module.partition(".")[0]
    if top == "numpy" or "numpy" in type(value).__module__:
        return ("io" if last in READING_CALLS else "numpy"), name
    if top in FRAMEWORKS:
        return "tensorflow", name
    if (top == "time" and last == "sleep") or (root == "sleep" and top == "time"):
        return "wait", name
    if last in READING_CALLS:
        return "io", name
    if (name != last and last in WAITING_CALLS) or (last == "get" and type(value).__module__ in {"_queue", "queue"}):
        return "wait", name
    if last == "numpy" or (name == last and last in SYNC_CALLS and value is None):
        return "sync", name
    return "python", name


def _called(frame: Any) -> str:
    """Return the dotted name that the instruction under way calls, "" where it is no call."""
    code = frame.f_code
    positions = getattr(code, "co_positions", None)
    if positions is None:
        return _by_opcode(code, frame.f_lasti)
    place = frame.f_lasti // 2
    for index, (line, end, start, stop) in enumerate(positions()):
        if index == place:
            return _from_source(code.co_filename, line, end, start, stop)
    return ""


def _from_source(file: str, line: int | None, end: int | None, start: int | None, stop: int | None) -> str:
    import ast
    import linecache

    if line is None or end is None or start is None or stop is None or end - line > 20:
        return ""
    rows = [linecache.getline(file, number).encode() for number in range(line, end + 1)]
    if not rows or not rows[0]:
        return ""
    rows[-1] = rows[-1][:stop]
    rows[0] = rows[0][start:]
    try:
        node: Any = ast.parse(b"".join(rows).decode("utf-8", "replace").strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return ""
    if isinstance(node, ast.Call):
        node = node.func
    else:
        return ""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def _by_opcode(code: Any, lasti: int) -> str:
    """Without positions (Python 3.10 and before): the last names loaded on the way to the instruction, on its line."""
    names: list[str] = []
    for instruction in dis.get_instructions(code):
        if instruction.offset > lasti:
            break
        if instruction.starts_line is not None:
            names = []
        if instruction.opname in {"LOAD_GLOBAL", "LOAD_NAME"}:
            names = [str(instruction.argval)]
        elif instruction.opname in {"LOAD_ATTR", "LOAD_METHOD"} and names:
            names.append(str(instruction.argval))
    return ".".join(names)
