"""The environment variables that are taken, and above all those that are not; and what a scheduler granted."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.collect.environment import NAMES, collect_environment
from gpudoctor.collect.scheduler import collect_scheduler
from gpudoctor.model.missing import Missing


def test_what_matters_is_taken_and_nothing_else() -> None:
    environ = {
        "CUDA_VISIBLE_DEVICES": "",
        "LD_LIBRARY_PATH": "/opt/cuda/lib64",
        "TF_FORCE_GPU_ALLOW_GROWTH": "true",
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "NCCL_DEBUG": "INFO",
        "KERAS_BACKEND": "tensorflow",
        "HOME": "/home/ada",
        "USER": "ada",
        "HOSTNAME": "node17",
        "PATH": "/bin",
        "SSH_AUTH_SOCK": "/tmp/x",
        "SLURM_JOB_NODELIST": "node[1-4]",
    }
    assert collect_environment(environ) == {
        "CUDA_VISIBLE_DEVICES": "",
        "KERAS_BACKEND": "tensorflow",
        "LD_LIBRARY_PATH": "/opt/cuda/lib64",
        "NCCL_DEBUG": "INFO",
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "TF_FORCE_GPU_ALLOW_GROWTH": "true",
    }


@pytest.mark.parametrize(
    "name", ["TF_VAR_db", "TF_TOKEN_app_example_com", "TF_CLI_CONFIG_FILE", "TF_HTTP_PASSWORD", "TF_LOG", "TF_DATA_DIR"]
)
def test_terraforms_variables_are_not_tensorflows(name: str) -> None:
    assert collect_environment({name: "x"}) == {}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("KERAS_API_KEY", "x"),
        ("NCCL_SECRET", "x"),
        ("TF_GPU_TOKEN", "x"),
        ("XLA_FLAGS", "--xla_dump_to=https://ada:hunter2@example.com/dump"),
        ("PYTHONPATH", "/x:ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
        ("LD_PRELOAD", "AKIAABCDEFGHIJKLMNOP"),
        ("TF_XLA_FLAGS", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc"),
        ("KERAS_HOME", "-----BEGIN RSA PRIVATE KEY-----"),
    ],
)
def test_what_looks_like_a_secret_is_never_taken(name: str, value: str) -> None:
    assert collect_environment({name: value}) == {}


def test_an_address_is_told_as_set() -> None:
    cluster = '{"cluster": {"worker": ["10.0.0.1:2222", "node2:2222"]}}'
    assert collect_environment({"TF_CONFIG": cluster, "KUBERNETES_SERVICE_HOST": "10.0.0.1"}) == {
        "KUBERNETES_SERVICE_HOST": "(set)",
        "TF_CONFIG": "(set)",
    }


def test_a_value_can_be_written_out_and_has_an_end() -> None:
    taken = collect_environment({"LD_LIBRARY_PATH": "/caf\udce9", "PYTHONPATH": "x" * 100_000})
    assert all(value.encode() for value in taken.values())
    assert len(taken["PYTHONPATH"]) < 5_000


def test_each_name_says_what_it_is_good_for() -> None:
    assert all(len(reason.split()) >= 2 for reason in NAMES.values())


@pytest.mark.parametrize(
    ("environ", "kind", "gpus"),
    [
        ({}, "none", Missing("no job")),
        ({"SLURM_JOB_ID": "7", "SLURM_STEP_GPUS": "1", "SLURM_GPUS_ON_NODE": "4"}, "slurm", 1),
        ({"SLURM_JOB_ID": "7", "SLURM_JOB_GPUS": "0"}, "slurm", 1),
        ({"SLURM_JOB_ID": "7", "SLURM_JOB_GPUS": "0-3,6"}, "slurm", 5),
        ({"SLURM_JOB_ID": "7", "SLURM_GPUS_ON_NODE": "2"}, "slurm", 2),
        ({"SLURM_JOB_ID": "7", "SLURM_GPUS_ON_NODE": "gpu:a100:2"}, "slurm", 2),
        ({"SLURM_JOB_ID": "7", "CUDA_VISIBLE_DEVICES": "NoDevFiles"}, "slurm", 0),
        ({"PBS_JOBID": "7.server", "PBS_NGPUS": "2"}, "pbs", 2),
        ({"SGE_TASK_ID": "undefined", "SGE_GPU": "0,1"}, "sge", 2),
        ({"KUBERNETES_SERVICE_HOST": "x", "NVIDIA_VISIBLE_DEVICES": "GPU-1,GPU-2"}, "kubernetes", 2),
        ({"KUBERNETES_SERVICE_HOST": "x", "NVIDIA_VISIBLE_DEVICES": "void"}, "kubernetes", 0),
    ],
)
def test_what_a_scheduler_granted_on_this_node(environ: dict[str, str], kind: str, gpus: object) -> None:
    scheduler = collect_scheduler(environ)
    assert (scheduler.kind, scheduler.allocated_gpus) == (kind, gpus)


@pytest.mark.parametrize(
    "environ",
    [
        {"SLURM_JOB_ID": "7"},
        {"SLURM_JOB_ID": "7", "CUDA_VISIBLE_DEVICES": ""},
        {"LSB_JOBID": "7"},
        {"KUBERNETES_SERVICE_HOST": "x", "NVIDIA_VISIBLE_DEVICES": "all"},
    ],
)
def test_a_job_that_does_not_tell_its_gpus_is_unknown_not_none(environ: dict[str, str]) -> None:
    assert isinstance(collect_scheduler(environ).allocated_gpus, Missing)


@pytest.mark.parametrize(
    ("commands", "kind"),
    [(("srun",), "slurm"), (("qsub",), "pbs"), (("qsub", "qrsh"), "sge"), (("bsub",), "lsf"), ((), "none")],
)
def test_a_login_node_has_the_schedulers_commands_and_no_job(
    tmp_path: Path, commands: tuple[str, ...], kind: str
) -> None:
    for command in commands:
        (tmp_path / command).write_text("#!/bin/sh\n", encoding="utf-8")
        (tmp_path / command).chmod(0o755)
    scheduler = collect_scheduler({"PATH": str(tmp_path)})
    assert (scheduler.kind, scheduler.installed) == ("none", kind)
