"""A fix is for the interpreter that was examined, not for whichever pip the shell finds."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.aim import aim
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.model.finding import Finding, Fix, Gain, Grade, Severity
from gpudoctor.model.machine import Host, Scheduler
from gpudoctor.model.missing import Missing
from gpudoctor.model.software import Python
from gpudoctor.model.words import Action
from tests.checks.machines import changed, healthy_t4


def command(text: str, executable: str, *, chosen_by: str = "--python", action: Action = "command") -> str:
    fix = Fix(id="x", title="x", action=action, text=text, gain=Gain(grade=Grade.UNPROVEN))
    finding = Finding(summary="x.", severity=Severity.ERROR, confidence=1, basis="x", fixes=(fix,))
    return aim([finding], Python(executable=executable, chosen_by=chosen_by))[0].fixes[0].text


@pytest.mark.parametrize(
    ("executable", "run"),
    [
        ("~/tf/bin/python", "~/tf/bin/python -m pip"),
        ("/opt/my envs/tf/bin/python", "'/opt/my envs/tf/bin/python' -m pip"),
        ("~/my envs/tf/bin/python", "~/'my envs/tf/bin/python' -m pip"),
        ("C:\\Program Files\\Python\\python.exe", '"C:\\Program Files\\Python\\python.exe" -m pip'),
        ("C:\\tools(x86)\\python.exe", '"C:\\tools(x86)\\python.exe" -m pip'),
    ],
)
def test_pip_runs_under_the_examined_interpreter(executable: str, run: str) -> None:
    assert (
        command("pip uninstall -y a && pip install 'b<2'", executable) == f"{run} uninstall -y a && {run} install 'b<2'"
    )


@pytest.mark.parametrize("word", ["pip", "python -m pip", "python3 -m pip"])
def test_python_m_pip_is_no_less_bare(word: str) -> None:
    assert command(f"{word} install 'a<2'  # then {word} list", "~/tf/bin/python") == (
        "~/tf/bin/python -m pip install 'a<2'  # then ~/tf/bin/python -m pip list"
    )


@pytest.mark.parametrize("path", ["/opt/my envs/python", "C:\\x;id;", "\\$(id)", "C:\\`id`"])
def test_a_path_stays_one_word_for_the_shell(path: str) -> None:
    text = command("pip install x", path)
    shown = subprocess.run(["bash", "-c", f"printf '%s|' {text}"], capture_output=True, text=True, check=True).stdout
    assert shown.split("|")[0] == path


@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "CONDA_PREFIX"])
def test_the_active_environments_pip_is_the_right_one(variable: str) -> None:
    assert command("pip install x", "~/tf/bin/python", chosen_by=variable) == "pip install x"


@pytest.mark.parametrize(
    "text",
    [
        "uv pip install --python ~/tf x",
        "~/tf/bin/pip install x",
        "~/tf/bin/python -m pip install x",
        "'/opt/my tf/bin/python' -m pip install x",
        "tf\\Scripts\\pip install x",
        "conda install x",
    ],
)
def test_a_command_that_names_its_environment_is_left_alone(text: str) -> None:
    assert command(text, "/opt/python") == text


def test_prose_is_left_alone() -> None:
    assert command("without pip install of wheels", "/opt/python", action="manual") == "without pip install of wheels"


def test_every_check_profits() -> None:
    machine = changed(
        replace(healthy_t4(), probe=None),
        tensorflow={"is_cuda_build": False, "compute_capabilities": Missing("CPU build")},
        python={"chosen_by": "--python", "executable": "/opt/my envs/bin/python"},
    )
    fixes = diagnose(machine, registry.load().checks).fixes
    assert any("'/opt/my envs/bin/python' -m pip install 'tensorflow[and-cuda]" in fix.text for fix in fixes)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("docker run --gpus all IMAGE", "podman run --device nvidia.com/gpu=all IMAGE"),
        (
            "docker rm -f C && docker run --gpus all -it --rm I",
            "podman rm -f C && podman run --device nvidia.com/gpu=all -it --rm I",
        ),
        ("docker run --cpus=4 IMAGE", "podman run --cpus=4 IMAGE"),
        ("sudo systemctl restart docker", "sudo systemctl restart docker"),
    ],
)
def test_inside_of_podman_the_commands_are_podmans(text: str, wanted: str) -> None:
    fix = Fix(id="x", title="x", action="command", text=text, gain=Gain(grade=Grade.UNPROVEN))
    finding = Finding(summary="x.", severity=Severity.ERROR, confidence=1, basis="x", fixes=(fix,))
    assert aim([finding], None, Host(container="podman"))[0].fixes[0].text == wanted
    assert aim([finding], None, Host(container="docker"))[0].fixes[0].text == text


def test_inside_a_job_what_needs_root_is_for_the_administrators() -> None:
    fix = Fix(id="x", title="x", action="command", text="sudo modprobe nvidia_uvm", gain=Gain(grade=Grade.UNPROVEN))
    finding = Finding(summary="x.", severity=Severity.ERROR, confidence=1, basis="x", fixes=(fix,))
    told = aim([finding], None, None, Scheduler(kind="pbs"))[0].fixes[0]
    assert (told.action, told.text) == ("manual", "Ask the cluster's administrators for: modprobe nvidia_uvm")
    assert aim([finding], None, None, Scheduler(kind="none"))[0].fixes[0] == fix
