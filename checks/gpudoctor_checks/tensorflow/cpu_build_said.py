"""GD353: the log shows a TensorFlow without CUDA.

What it does
    Reads conda's list of packages, the answer of tf.test.is_built_with_cuda(), and the system, from a text.

Why it matters
    A CPU build never uses a GPU. conda's solver exchanges builds of one version without a word; on native Windows there is
    no CUDA build after 2.10. Another framework that sees the GPU proves that driver and GPU are fine.

How to fix
    conda: ask for the CUDA build by its build string, and pin it. Windows: WSL2, or the last release with CUDA. The driver
    and CUDA on the system stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Finding, Host, Log, LogEvent, TensorFlow, Trial, check, versions, weigh_unusable
from gpudoctor_checks.said import command, events, log_finding, newest, on_windows, release, stated
from gpudoctor_checks.tensorflow.cpu_build import LAST_NATIVE
from gpudoctor_checks.tensorflow.unexplained import listed_without_a_word

CPU_BUILDS = frozenset({"mkl", "eigen", "cpu"})
FIRST_WITHOUT = "2.11"  # tensorflow.org/install/pip: 2.10 is the last release with CUDA for native Windows
PIN_CONDA = command(
    "pin-conda-gpu-build",
    "Install the GPU build again, and pin it",
    "conda install 'tensorflow=*=gpu*' || conda install -c conda-forge 'tensorflow=*=cuda*'  # then add that line to conda-meta/pinned",
    why="an update exchanges it for a CPU build otherwise",
    minutes=10,
)
WSL = newest(
    "install-in-wsl",
    "Install TensorFlow with CUDA inside WSL2",
    'wsl --install -d Ubuntu && wsl -d Ubuntu -- sh -c "python3 -m venv ~/tf && ~/tf/bin/pip install {}"',
    why="a CPU build never uses a GPU; or keep tensorflow<2.11",
    minutes=20,
)
INSTALL = newest(
    "install-tensorflow",
    "Install the CUDA build",
    "pip uninstall -y tensorflow tensorflow-cpu && pip install {}",
    why="a CPU build never uses a GPU",
    minutes=3,
)


WHY_NOT = "python -c 'import tensorflow as tf; print(tf.test.is_built_with_cuda(), tf.config.list_physical_devices())'"


@check(
    code="GD353",
    slug="cpu-build-in-log",
    title="The log shows a CPU-only TensorFlow",
    family="tensorflow",
    cause=("cpu-build", "windows-native"),
    core=False,
)
def without_cuda(
    log: Log, tensorflow: TensorFlow | None, host: Host | None, baseline: Trial | None
) -> Iterator[Finding]:
    """Believe TensorFlow's own answer; a build string of conda comes next."""
    answers = events(log, "built_with_cuda")
    no = [each for each in answers if "False" in {each.values.get("value"), each.values.get("answer")}]
    lacks = events(log, "gpu_op_absent")
    builds = events(log, "conda_build")
    cpu = [each for each in builds if each.values.get("build") in CPU_BUILDS]
    if not no and not builds:
        yield from _without_its_operations(lacks, baseline)
        yield from listed_without_a_word(log, tensorflow, baseline)
        return
    version = release(tensorflow, log)
    late = versions.is_version(version) and versions.at_least(version, FIRST_WITHOUT)
    if on_windows(host) and late:
        weight = weigh_unusable(0.95, baseline)
        summary = f"TensorFlow {version} has no CUDA build for native Windows."
        yield log_finding(summary, weight, (*no, *builds), WSL, LAST_NATIVE, cause="windows-native")
    elif no or builds:
        conda = bool(builds) or stated(log, "conda") == "yes"
        yield log_finding(
            "The installed TensorFlow is a CPU-only build."
            if no or cpu
            else "conda chooses the build of TensorFlow here; it may have put a CPU build in.",
            weigh_unusable(0.95 if no or cpu else 0.55, baseline),
            (*no, *builds),
            PIN_CONDA if conda else INSTALL,
            cause="cpu-build",
            know=""
            if no or cpu
            else "conda list 'tensorflow|_tflow'; python -c 'import tensorflow as tf; print(tf.test.is_built_with_cuda())'",
        )


def _without_its_operations(lacks: tuple[LogEvent, ...], trial: Trial | None) -> Iterator[Finding]:
    """Judge an operation that only a CUDA build has, on a GPU that it sees."""
    if lacks:
        summary = (
            f"{lacks[0].values['op']} runs on a GPU only, and this TensorFlow has none: a CPU build, or no GPU seen."
        )
        yield log_finding(summary, weigh_unusable(0.7, trial), lacks, INSTALL, cause="cpu-build", know=WHY_NOT)
