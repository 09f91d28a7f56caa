"""First code of ours in a Python process of the user's command: say hello, wait for TensorFlow, hand over to the user's own.

This folder stands first on PYTHONPATH and takes itself off `sys.path` at once. Loading the agent here would be simpler and
cost every worker process 30 ms; until TensorFlow or Keras is imported there is one small object on `sys.meta_path`.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# While a module of TensorFlow's is imported, a frame of ours stands below it. Under this name Python takes it for its own:
# cut out of tracebacks (remove_importlib_frames in Python/import.c), not counted by the `stacklevel` of a warning.
IMPORT_MACHINERY = "<frozen importlib._bootstrap_external>"


def _begin() -> None:
    import os

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [each for each in sys.path if not each or os.path.abspath(each) != here]
    sys.path_importer_cache.pop(here, None)
    spool = os.environ.get("GPUDOCTOR_SPOOL")
    if spool and os.environ.get("GPUDOCTOR_OFF", "0") in ("", "0") and sys.version_info >= (3, 8):
        import _imp
        from _frozen_importlib_external import SourceFileLoader

        known = "__future__" in sys.modules
        file = os.path.join(os.path.dirname(here), "waiting.py")
        scope: Any = {"__name__": "_gpudoctor_waiting", "__file__": file}
        code: Any = SourceFileLoader("_gpudoctor_waiting", file).get_code("_gpudoctor_waiting")
        rename = getattr(
            _imp, "_fix_co_filename", None
        )  # with it Python itself names the code of a .pyc that was moved
        if rename is not None:
            rename(code, IMPORT_MACHINERY)
        exec(code, scope)  # noqa: S102  # our own file; importing it would need our folder on the path
        scope["wait_for_tensorflow"](spool)
        if not known:
            sys.modules.pop("__future__", None)  # ours; a script that lists its modules finds its own


def _chain() -> None:
    """Run the sitecustomize that ours hides; where there is none, be as absent as Python expects."""
    from _frozen_importlib_external import PathFinder

    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        raise ImportError("No module named 'sitecustomize'", name="sitecustomize")
    from _frozen_importlib import module_from_spec

    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


try:
    _begin()
except Exception:
    pass
_chain()
