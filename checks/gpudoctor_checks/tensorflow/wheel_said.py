"""GD352: the log shows that no TensorFlow wheel exists for this Python.

What it does
    Reads pip's "no matching distribution" for TensorFlow from a text, with the versions that pip saw, and compares with
    the releases that have a wheel for the Python in use.

Why it matters
    Each release has wheels for a few Pythons only. pip does not say so; it lists what is left.

How to fix
    Take a release that has a wheel for this Python, or make an environment with a Python that the release supports. pip
    itself is at fault only where its list ends with 1.14: it is older than the tags of later wheels. On ARM: NVIDIA's own
    builds. On native Windows there is no tensorflow-gpu after 2.10: TensorFlow inside WSL2.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import (
    Devices,
    Driver,
    Evidence,
    Finding,
    Gpus,
    Host,
    Log,
    LogEvent,
    Python,
    Trial,
    check,
    either,
    tensorflow_releases,
    versions,
    weigh_faulty,
)
from gpudoctor_checks.memory.shared_board import on_board
from gpudoctor_checks.said import events, log_finding, on_windows, stated
from gpudoctor_checks.tensorflow.cpu_build import LAST_NATIVE
from gpudoctor_checks.tensorflow.cpu_build_said import FIRST_WITHOUT, WSL
from gpudoctor_checks.tensorflow.cuda_wheels_absent import without_cuda_wheels
from gpudoctor_checks.tensorflow.wheel_for_gpu import Machine
from gpudoctor_checks.tensorflow.wheel_remedies import PLAIN_NAME, VERSION, fixes_for, why_none

ARM = frozenset({"aarch64", "arm64"})


@check(
    code="GD352",
    slug="no-wheel-in-log",
    title="The log shows: no wheel for this Python",
    family="tensorflow",
    cause=("python-tf-wheel", "windows-native"),
    core=False,
)
def no_wheel(
    log: Log,
    python: Python | None,
    host: Host | None,
    gpus: Gpus | None,
    devices: Devices | None,
    driver: Driver | None,
    baseline: Trial | None,
) -> Iterator[Finding]:
    """Compare what was asked for with what pip saw."""
    if removed := events(log, "package_removed"):
        summary = "tensorflow-gpu is an empty package since 2022: tensorflow is the same."
        weight = weigh_faulty(0.95, baseline)
        fixes = (WSL, LAST_NATIVE) if on_windows(host) else (PLAIN_NAME,)
        yield log_finding(summary, weight, removed, *fixes, cause="python-tf-wheel")
        return
    found = events(log, "no_wheel")
    machine = Machine(devices=devices, driver=driver, host=host, python=python)
    if not found:
        wheels = events(log, "cuda_wheel_absent")
        yield from without_cuda_wheels(wheels, host, baseline) if wheels else _by_facts(log, machine, baseline)
        return
    own = (either(python.version, "") if python is not None else "") or stated(log, "python")
    wanted = next((match[0] for each in found if (match := VERSION.search(each.values.get("wanted", "")))), "")
    if (
        on_windows(host)
        and any(_of_gpu(each) for each in found)
        and wanted
        and versions.at_least(wanted, FIRST_WITHOUT)
    ):
        summary, weight = f"TensorFlow {wanted} has no CUDA build for native Windows.", weigh_faulty(0.93, baseline)
        yield log_finding(summary, weight, found, WSL, LAST_NATIVE, cause="windows-native")
        return
    seen = next((each.values["versions"] for each in found if each.values.get("versions")), "")
    arm = _on_arm(host, gpus) and not any("aarch64" in each.values.get("platform", "") for each in found)
    yield log_finding(
        why_none(wanted, own, found, arm=arm),
        weigh_faulty(0.93 if wanted or own else 0.8, baseline),
        found,
        *machine.served(fixes_for(wanted, own, stated(log, "tf"), found, arm=arm, windows=on_windows(host))),
        cause="python-tf-wheel",
        more=(Evidence(label="pip saw", value=seen[:120] or "none", source="log"),),
        know="" if own else "python --version",
    )


def _on_arm(host: Host | None, gpus: Gpus | None) -> bool:
    """Return whether it is known that this is ARM with Linux; a Mac has wheels."""
    if host is not None and either(host.os, "") in {"darwin", "windows"}:
        return False
    return on_board(gpus) or (host is not None and either(host.arch, "") in ARM)


def _of_gpu(event: LogEvent) -> bool:
    return event.values.get("package", "").replace("_", "-") == "tensorflow-gpu"


def _by_facts(log: Log, machine: Machine, trial: Trial | None) -> Iterator[Finding]:
    """Find a release and a Python that no wheel brings together: certain as long as the text shows no TensorFlow that ran."""
    wanted, own = stated(log, "tf"), stated(log, "python")
    table = tensorflow_releases.release_of(wanted) if versions.is_version(wanted) else None
    ran = any(each.kind not in {"stated", "text_end"} for each in log.events)
    if ran or table is None or not versions.is_version(own) or not table.python or versions.minor(own) in table.python:
        return
    yield log_finding(
        f"TensorFlow {wanted} has no wheel for Python {own}.",
        weigh_faulty(0.6, trial),
        (),
        *machine.served(fixes_for(wanted, own, "", (), windows=on_windows(machine.host))),
        cause="python-tf-wheel",
        know="python -m pip download --no-deps tensorflow==" + wanted,
        more=(Evidence(label="has wheels for", value=", ".join(table.python), source="release table"),),
    )
