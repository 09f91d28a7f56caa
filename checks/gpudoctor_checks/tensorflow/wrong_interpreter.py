"""GD305: training runs under another Python environment than the one that was set up.

What it does
    Compares the environment that is examined with the one that is active (VIRTUAL_ENV), looks for TensorFlow in other
    interpreters near by where this one has none, and tells a TensorFlow that comes from outside of its environment.

Why it matters
    The environment that was set up with care is then not the one that runs: TensorFlow is missing, is a CPU build, or
    has other libraries than expected. The usual ways into it: a notebook kernel of another environment, a terminal
    where nothing is activated, PYTHONPATH, or packages of the user (~/.local) that come before those of the system.

How to fix
    Train, and scan, with the Python that has TensorFlow: the report names it. `python -c "import sys;
    print(sys.executable)"` in the notebook or script tells which one runs. A notebook gets its own kernel with
    python -m ipykernel install --user --name NAME, run inside the environment. Nothing has to be installed anew.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Driver,
    Environment,
    Evidence,
    Finding,
    Fix,
    Kernel,
    Missing,
    Python,
    Severity,
    Skip,
    TensorFlow,
    Trial,
    check,
    either,
    must_know,
)
from gpudoctor_checks.presence import gpu_present
from gpudoctor_checks.tensorflow.environments import (
    NO_OVERLAY,
    leave_environment,
    register_kernel,
    use_interpreter,
)
from gpudoctor_checks.tensorflow.importable import weigh_import

ELSEWHERE = 0.9  # a folder of TensorFlow lies there; whether training was meant to use it is a guess
STALE = 0.8  # the variable names a folder, and another interpreter was found
OUTSIDE = 0.8
ISOLATED = frozenset({"venv", "uv", "conda"})  # environments that are meant to hold their own packages
USER_FOLDER = "/.local/"  # PEP 370


@check(
    code="GD305",
    slug="wrong-interpreter",
    title="Another Python environment is in use",
    family="tensorflow",
    cause="wrong-interpreter",
    core=False,
)
def other(
    python: Python,
    tensorflow: TensorFlow,
    env: Environment | None,
    driver: Driver | None,
    kernel: Kernel | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Find TensorFlow elsewhere, an active environment that is passed over, or packages from outside."""
    installed = must_know(tensorflow.installed, "whether TensorFlow is installed")
    if not installed and isinstance(python.elsewhere, Missing):
        raise Skip(f"whether another environment has TensorFlow is unknown: {python.elsewhere.reason}")
    others = either(python.elsewhere, ()) if not installed else ()
    active = (env.get("VIRTUAL_ENV") or "") if env is not None else ""
    prefix, chosen = either(python.prefix, ""), either(python.chosen_by, "--python")
    outside = _outside(tensorflow, python, env)
    notebook = chosen.startswith("notebook kernel")
    fixes: tuple[Fix, ...] = ()
    if others:
        where = "the notebook's kernel" if notebook else "this environment"
        words, static = f"TensorFlow is not in {where}; another one near by has it.", ELSEWHERE
        fixes = (register_kernel(others[0]), use_interpreter(others[0])) if notebook else (use_interpreter(others[0]),)
    elif active and active != prefix and not chosen.startswith(("--python", "VIRTUAL_ENV", "notebook kernel")):
        words, static = "The active environment has no Python: another one is in use.", STALE
        fixes = (leave_environment(active),)
    elif outside:
        words, static, fixes = "TensorFlow comes from outside of this environment.", OUTSIDE, (NO_OVERLAY,)
    else:
        return
    weight = weigh_import(static, tensorflow, baseline)
    absent = not installed and gpu_present(driver, kernel)
    yield Finding(
        summary=words,
        severity=Severity.ERROR if absent else Severity.WARNING,
        confidence=weight.confidence if not installed else static,
        basis="folders and variables" + (f"; {weight.basis.rpartition(', ')[2]}" if not installed else ""),
        evidence=(
            Evidence(label="examined", value=either(python.executable, "unknown"), source=f"chosen by {chosen}"),
            Evidence(label="VIRTUAL_ENV", value=active or "not set", source="environment"),
            Evidence(label="TensorFlow lies in", value=outside or ", ".join(others[:2]) or "nowhere", source="folders"),
        ),
        fixes=fixes,
    )


def _outside(tensorflow: TensorFlow, python: Python, env: Environment | None) -> str:
    """Return the place of a TensorFlow that PYTHONPATH or the user's folder put into an environment of its own."""
    path, prefix = either(tensorflow.path, ""), either(python.prefix, "")
    if not path or not prefix or path.startswith(f"{prefix}/") or either(python.manager, "") not in ISOLATED:
        return ""
    added = (env.get("PYTHONPATH") or "").split(":") if env is not None else []
    return path if USER_FOLDER in path or any(each and path.startswith(each.rstrip("/")) for each in added) else ""
