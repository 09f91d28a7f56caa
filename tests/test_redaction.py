"""Nothing in a report names a person, a machine or a card unless it was asked for."""

from __future__ import annotations

import pytest

from gpudoctor.codec import dumps, load_snapshot, snapshot_to_builtins
from gpudoctor.model.gpu import Gpu, GpuProcess
from gpudoctor.model.machine import Host, Kernel, Scheduler, Storage, XidEvent
from gpudoctor.model.missing import Missing
from gpudoctor.model.observed import Log, LogEvent
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.software import Library, Python, TensorFlow
from gpudoctor.redaction import redact, rewriter, rewriter_of_this_machine

ID = "GPU-5a3f1c22-0b7d-4e11-9c55-0123456789ab"
REWRITE = rewriter(home="/home/alice", user="alice", host="trainbox.example")


def redacted_gpu(snapshot: Snapshot) -> Gpu:
    gpus = redact(snapshot, rewrite=REWRITE).gpus
    assert gpus
    return gpus[0]


def test_identifiers_of_a_gpu_and_of_its_processes_are_hidden() -> None:
    process = GpuProcess(pid=7, kind="compute", user="alice", command="python secret.py", name="python")
    snapshot = Snapshot(gpus=(Gpu(index=0, uuid=ID, serial="123", processes=(process,)),))
    gpu = redacted_gpu(snapshot)
    assert gpu.uuid == "GPU-#1"
    assert isinstance(gpu.serial, Missing)
    assert not isinstance(gpu.processes, Missing)
    assert isinstance(gpu.processes[0].command, Missing)
    assert isinstance(gpu.processes[0].user, Missing)
    assert gpu.processes[0].name == "python"


def test_a_uuid_has_one_token_wherever_it_stands_also_in_part_and_in_another_case() -> None:
    other = "GPU-99999999-0b7d-4e11-9c55-0123456789ab"
    snapshot = Snapshot(
        gpus=(Gpu(index=0, uuid=ID), Gpu(index=1, uuid=other)),
        env={"CUDA_VISIBLE_DEVICES": f"{other},{ID.upper()},GPU-5a3f", "NVIDIA_VISIBLE_DEVICES": f"MIG-{ID}/1/0"},
    )
    done = redact(snapshot, rewrite=REWRITE)
    assert [each.uuid for each in done.gpus or ()] == ["GPU-#1", "GPU-#2"]
    assert done.env == {"CUDA_VISIBLE_DEVICES": "GPU-#2,GPU-#1,GPU-#1", "NVIDIA_VISIBLE_DEVICES": "MIG-GPU-#1/1/0"}


def test_words_that_begin_like_a_uuid_are_left_alone() -> None:
    words = "GPU-accelerated, GPU-added, GPU-2 and MIG-1g.10gb"
    assert redact(Snapshot(env={"A": words}), rewrite=REWRITE).env == {"A": words}


def test_redacting_twice_changes_nothing_more() -> None:
    once = redact(Snapshot(gpus=(Gpu(index=0, uuid=ID),), env={"CUDA_VISIBLE_DEVICES": ID}), rewrite=REWRITE)
    assert redact(once, rewrite=REWRITE) == once


def test_the_home_folders_of_others_are_masked() -> None:
    assert REWRITE("/home/bob.smith/venv/bin/python:/Users/carol/x") == "/home/<user>/venv/bin/python:/Users/<user>/x"
    assert REWRITE("C:\\Users\\dave\\cuda") == "C:\\Users\\<user>\\cuda"


def test_home_user_host_and_uuid_are_masked_in_any_text() -> None:
    snapshot = Snapshot(
        python=Python(executable="/home/alice/venv/bin/python", prefix="/scratch/alice/x", manager="venv"),
        env={"CUDA_VISIBLE_DEVICES": ID, "LD_LIBRARY_PATH": "/home/alice:/mnt/trainbox/lib"},
    )
    done = redact(snapshot, rewrite=REWRITE)
    assert done.python is not None
    assert done.python.executable == "~/venv/bin/python"
    assert done.python.prefix == "/scratch/<user>/x"
    assert done.env == {"CUDA_VISIBLE_DEVICES": "GPU-#1", "LD_LIBRARY_PATH": "~:/mnt/<host>/lib"}


def test_a_name_inside_another_word_is_left_alone() -> None:
    assert REWRITE("/opt/malice/alice-in-chains") == "/opt/malice/alice-in-chains"
    assert REWRITE("/srv/alicent") == "/srv/alicent"


def test_a_missing_value_keeps_its_own_reason() -> None:
    snapshot = Snapshot(gpus=(Gpu(index=0, uuid=Missing("no_permission")),))
    assert redacted_gpu(snapshot).uuid == Missing("no_permission")


def test_a_uuid_whose_first_block_has_no_digit_is_masked_too() -> None:
    snapshot = Snapshot(gpus=(Gpu(index=0, uuid="GPU-abcdefab-1234-abcd-abcd-abcdefabcdef"),))
    assert redacted_gpu(snapshot).uuid == "GPU-#1"


def test_the_home_folder_is_masked_only_where_a_path_begins_with_it() -> None:
    root = rewriter(home="/root", user="root", host="trainbox")
    assert root("/root/venv:/mnt/root/lib:/proc/1/root/usr") == "~/venv:/mnt/root/lib:/proc/1/root/usr"


def test_a_user_named_like_a_word_of_the_model_does_not_take_the_word_along() -> None:
    snapshot = Snapshot(
        scheduler=Scheduler(kind="slurm", job="7"),
        tensorflow=TensorFlow(origin="source", path="/home/slurm/tf"),
        env={"SLURM_JOB_USER": "slurm", "NOTE": "run by slurm"},
    )
    done = redact(snapshot, rewrite=rewriter(home="/home/source", user="source", host=""))
    assert done.scheduler is not None
    assert done.scheduler.kind == "slurm"
    assert done.tensorflow is not None
    assert (done.tensorflow.origin, done.tensorflow.path) == ("source", "/home/<user>/tf")
    assert (done.env or {})["NOTE"] == "run by <user>"
    assert load_snapshot(dumps(snapshot_to_builtins(done)).encode()) == done


@pytest.mark.parametrize("name", ["slurm", "compute", "gpu", "GPU", "ok", "root", "x", "node[01-04],gpu7"])
@pytest.mark.parametrize("variable", ["SLURM_JOB_USER", "USER", "HOSTNAME", "SLURM_JOB_NODELIST"])
def test_whatever_the_user_or_the_host_is_called_its_variable_does_not_tell_it(variable: str, name: str) -> None:
    said = LogEvent(kind="variable", values={"name": variable, "value": name})
    snapshot = Snapshot(env={variable: name, "CUDA_VISIBLE_DEVICES": "0"}, log=Log(events=(said,)))
    done = redact(snapshot, rewrite=rewriter(home="", user="", host=""))
    mask = "<user>" if "USER" in variable else "<host>"
    assert done.env == {variable: mask, "CUDA_VISIBLE_DEVICES": "0"}
    assert done.log is not None
    assert done.log.events[0].values == {"name": variable, "value": mask}


def test_a_user_without_a_home_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "LOGNAME", "USER", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    assert rewriter_of_this_machine()("/srv/x") == "/srv/x"


def test_the_user_and_the_host_that_a_snapshot_names_are_masked_wherever_they_stand() -> None:
    process = GpuProcess(pid=9, kind="compute", user="mallory", command="python x.py", name="python")
    snapshot = Snapshot(
        host=Host(storage=(Storage(folder="/scratch/carolsecret-runs/1", filesystem="nfs4"),)),
        kernel=Kernel(xids=(XidEvent(code=31, message="pid=22, name=python, user carolsecret on mallory's GPU"),)),
        gpus=(Gpu(index=0, processes=(process,)),),
        python=Python(executable="/home/carolsecret/venv/bin/python"),
        libraries=(Library(soname="libcudart.so.12", path="C:\\Users\\carolsecret\\x.dll"),),
        tensorflow=TensorFlow(import_error="host gpu-node-17.corp.example.com: CarolSecret cannot open gpu-node-17"),
        env={
            "LD_LIBRARY_PATH": "/home/carolsecret/lib:/data/carolsecret:/nfs/gpu-node-17/lib",
            "TF_CONFIG": "worker-3.lab.example.com:2222",
            "HOSTNAME": "quietbox",
            "XLA_FLAGS": "--xla_dump_to=/mnt/quietbox/d",
        },
    )
    text = dumps(snapshot_to_builtins(redact(snapshot, rewrite=REWRITE))).lower()
    for name in ("carolsecret", "mallory", "gpu-node-17", "example.com", "worker-3", "quietbox", "x.py"):
        assert name not in text


@pytest.mark.parametrize(
    "words",
    [
        "/opt/x86_64-linux-gnu/libcudnn-graph.so libcudart.so.12.4.99",
        "tensorflow-2.16.1-cp311-manylinux.whl, kernel 6.8.0-90-generic and 5.15.167.4-microsoft-standard-WSL2",
        "copied from host memory by user code; host x86_64-linux-gnu; node 0",
        "https://storage.googleapis.com/tensorflow and tensorflow.python.framework.errors_impl",
        "conv2d.keras.layers.py model-1.weights.h5",
        "data user=root",
    ],
)
def test_what_names_neither_a_person_nor_a_host_stays(words: str) -> None:
    snapshot = Snapshot(env={"A": words, "HOME": "/home/data", "USER": "root"})
    done = redact(snapshot, rewrite=REWRITE).env
    assert done is not None
    assert done["A"] == words
