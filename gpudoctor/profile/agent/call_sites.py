"""Which line of the user's built which part of a dataset, kept beside the dataset objects, never on them."""

from __future__ import annotations

import functools
import threading
import weakref
from typing import Any

from . import core, feeders, graphs, hidden, places

METHODS = [
    "apply",
    "batch",
    "bucket_by_sequence_length",
    "cache",
    "concatenate",
    "enumerate",
    "filter",
    "flat_map",
    "get_single_element",
    "group_by_window",
    "ignore_errors",
    "interleave",
    "map",
    "padded_batch",
    "prefetch",
    "ragged_batch",
    "rebatch",
    "rejection_resample",
    "repeat",
    "scan",
    "shard",
    "shuffle",
    "skip",
    "snapshot",
    "take",
    "take_while",
    "unbatch",
    "unique",
    "window",
    "with_options",
]
STATIC = [
    "choose_from_datasets",
    "counter",
    "from_generator",
    "from_tensor_slices",
    "from_tensors",
    "list_files",
    "load",
    "random",
    "range",
    "sample_from_datasets",
    "zip",
]
WITH_OTHERS = ("concatenate",)  # methods of a dataset that take another one
READERS = ("TFRecordDatasetV2", "TextLineDatasetV2", "FixedLengthRecordDatasetV2")
MOST_SITES = 2000
MOST_WALKED = 64

building = threading.local()  # `site`: the call of tf.data that is under way in this thread
_sites: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_count = [0]


def hook(module: Any) -> None:
    """Replace methods of DatasetV2, constructors of readers, or the maker of Python functions."""
    name = module.__name__.rpartition(".")[2]
    if name == "dataset_ops":
        kind = module.DatasetV2
        for method in METHODS:
            if callable(kind.__dict__.get(method)):
                setattr(kind, method, _noted(kind.__dict__[method], method, bound=True))
        for method in STATIC:
            if isinstance(kind.__dict__.get(method), staticmethod):
                setattr(kind, method, staticmethod(_noted(getattr(kind, method), method, bound=False)))
    elif name == "readers":
        for each in READERS:
            kind = getattr(module, each, None)
            if kind is not None and "__init__" in kind.__dict__:
                kind.__init__ = _noted(kind.__init__, each.replace("V2", ""), bound=False, made=True)
    elif hasattr(module, "_internal_py_func"):
        module._internal_py_func = with_python(module._internal_py_func)


def _noted(original: Any, method: str, *, bound: bool, made: bool = False) -> Any:
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if core.process.off or getattr(building, "site", None) is not None:
            with hidden.unseen:
                return original(*args, **kwargs)
        building.site = site = {"method": method}
        try:
            with hidden.unseen:
                result = original(*args, **kwargs)
        finally:
            building.site = None
        try:
            own = args[1:] if bound or made else args
            _tell(args[0] if made else result, site, args[0] if bound else None, own, kwargs)
        except Exception as error:
            core.note_fault("call_sites", error)
        return result

    return hidden.hide(call, original)


def with_python(original: Any) -> Any:
    @functools.wraps(original)
    def make(func: Any, *args: Any, **kwargs: Any) -> Any:
        site: dict[str, Any] | None = getattr(building, "site", None)
        try:
            if site is not None and "python_function" not in site:
                name, file, line = places.of_function(func)
                if file and places.kind_of(file) == places.USER:
                    site.update(python_function=name, python_file=file, python_line=line)
                elif places.GENERATED in file:  # made inside the mapped function, whose place is known
                    site["python_function"] = name
        except Exception as error:
            core.note_fault("call_sites", error)
        with hidden.unseen:
            return original(func, *args, **kwargs)

    return hidden.hide(make, original)


def _tell(dataset: Any, site: dict[str, Any], source: Any, args: Any, kwargs: dict[str, Any]) -> None:
    file, line, function, _ = places.here(2)
    if not file or _count[0] >= MOST_SITES:
        return
    _count[0] += 1
    number = _count[0]
    alone = source is not None and site["method"] not in WITH_OTHERS
    inputs = sites_of(source) if alone else _inputs(dataset)
    _sites[dataset] = number
    callee = next((each for each in (*args, *kwargs.values()) if _is_function(each)), None)
    if callee is not None:
        name, callee_file, callee_line = places.of_function(callee)
        site.update(callee=name, callee_file=callee_file, callee_line=callee_line)
        if site["method"] == "from_generator" and places.kind_of(callee_file) != places.USER:
            site.update(feeders.behind(callee))
    more = {name: site.pop(name) for name in feeders.TOLD if name in site}
    random = graphs.draws_random(dataset) if site["method"] == "map" else None
    if random is not None:
        more["random"] = random
    if random is False and graphs.does_nothing(dataset):
        more["does_nothing"] = True
    core.emit(
        "call_sites",
        site=number,
        file=file,
        line=line,
        function=function,
        arguments={**_plain(args, kwargs), **more},
        inputs=inputs,
        **site,
    )


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, type) and not hasattr(value, "element_spec")


def _plain(args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    named = {f"argument_{place}": each for place, each in enumerate(args)}
    named.update(kwargs)
    return {
        name: each for name, each in named.items() if isinstance(each, (bool, int, float, str)) and len(str(each)) < 200
    }


def sites_of(dataset: Any) -> list[int]:
    """Return the nearest call site at or below a dataset; where datasets come together below it, of the first that has one."""
    number = _sites.get(dataset)
    return [number] if number is not None else [each for each in _inputs(dataset) if each][:1]


def _inputs(dataset: Any) -> list[int]:
    """Return the nearest call site below a dataset in each of its inputs, in their order; 0 for one without."""
    return [_nearest(each) for each in _below(dataset)]


def _nearest(dataset: Any) -> int:
    for _ in range(MOST_WALKED):
        number = _sites.get(dataset)
        if number is not None:
            return number
        below = _below(dataset)
        if len(below) != 1:
            return 0
        dataset = below[0]
    return 0


def _below(dataset: Any) -> list[Any]:
    return list(dataset._inputs()) if hasattr(dataset, "_inputs") else []
