"""What is advised to install leaves no machine that the next scan calls broken, and the command is complete by itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.model.missing import Missing
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.software import TensorFlow
from tests.checks.machines import changed, make_gpu, make_machine, without

NONE = TensorFlow(installed=False, version=Missing("not installed"))
CPU = {"is_cuda_build": False, "distribution": "tensorflow-cpu", "compute_capabilities": Missing("CPU build")}
SAME, ASKING = "install-older-tensorflow", {"GD302", "GD303"}  # the driver's check may give the same command first
OURS = frozenset(
    {"install-tensorflow", "install-in-wsl", "run-ngc-container", "other-build", "other-gpu", "fitting-python"}
)


def absent(cc: str, *, driver: str = "580.95.05", python: str = "3.11.9", **host: str) -> Snapshot:
    machine = make_machine((make_gpu(name="some GPU", cc=cc),), driver=driver)
    return changed(without(machine, "probe"), tensorflow=NONE, python={"version": python}, host=dict(host))


def cpu_build(cc: str, *, driver: str = "580.95.05", python: str = "3.11.9", **host: str) -> Snapshot:
    machine = make_machine((make_gpu(name="some GPU", cc=cc),), driver=driver)
    return changed(without(machine, "probe"), tensorflow=CPU, python={"version": python}, host=dict(host))


def advice(machine: Snapshot) -> str:
    fixes = diagnose(machine, registry.load().checks, level="quick").fixes
    return next(fix.text for fix in fixes if fix.id in OURS or (fix.id == SAME and ASKING & set(fix.addresses)))


@pytest.mark.parametrize("machine", [absent, cpu_build], ids=["absent", "CPU build"])
@pytest.mark.parametrize(
    ("cc", "options", "held"),
    [
        ("7.5", {}, ["pip install 'tensorflow[and-cuda]==2.20.0'"]),
        ("7.0", {}, ["'tensorflow[and-cuda]==2.20.0' 'nvidia-cudnn-cu12<9.11'"]),
        ("5.2", {}, ["'tensorflow[and-cuda]==2.16.2'"]),
        ("12.0", {}, ["docker run", "nvcr.io/nvidia/tensorflow"]),
        ("10.0", {}, ["nvcr.io/nvidia/tensorflow"]),
        ("9.0", {"arch": "aarch64"}, ["nvcr.io/nvidia/tensorflow"]),
        ("7.5", {"driver": "470.82.01"}, ["'tensorflow[and-cuda]==2.14.1'", "uv venv --python 3.10"]),
        ("7.5", {"os": "windows"}, ["wsl --install", "'tensorflow[and-cuda]==2.20.0'"]),
        ("7.0", {"os": "windows"}, ["wsl --install", "nvidia-cudnn-cu12<9.11"]),
        ("12.0", {"os": "windows"}, ["nvcr.io/nvidia/tensorflow"]),
        ("7.5", {"python": "3.8.20"}, ["uv venv --python 3.", "'tensorflow[and-cuda]==2.20.0'"]),
        ("2.0", {}, ["take a newer GPU or train on the CPU"]),
    ],
)
def test_gpu_driver_processor_system_and_python_decide_together(
    machine: Callable[..., Snapshot], cc: str, options: dict[str, str], held: list[str]
) -> None:
    text = advice(machine(cc, **options))
    assert [each for each in held if each not in text] == []


def test_a_python_without_a_wheel_gets_an_environment_for_its_gpu() -> None:
    text = advice(absent("7.0", python="3.14.1"))
    assert text.startswith("uv venv --python 3.12 ~/tf && uv pip install --python ~/tf 'tensorflow[and-cuda]==2.20.0'")
    assert "nvidia-cudnn-cu12<9.11" in text


def test_the_last_native_release_on_windows_is_a_command_of_its_own() -> None:
    machine = cpu_build("7.5", os="windows")
    fixes = diagnose(machine, registry.load().checks, level="quick").fixes
    text = next(fix.text for fix in fixes if fix.id == "last-native-windows-gpu")
    assert text == 'py -3.10 -m venv tf && tf\\Scripts\\pip install "tensorflow<2.11" "numpy<2"'


def test_where_another_environment_is_made_this_one_is_left_as_it_is() -> None:
    assert "uninstall" not in advice(cpu_build("7.5", driver="470.82.01"))
    assert advice(cpu_build("7.5")).startswith("pip uninstall -y tensorflow ")
