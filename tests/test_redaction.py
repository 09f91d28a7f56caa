"""Nothing in a report names a person, a machine or a card unless it was asked for."""

from __future__ import annotations

import pytest

from gpudoctor.model.gpu import Gpu, GpuProcess
from gpudoctor.model.missing import Missing
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.software import Python
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


def test_a_user_without_a_home_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "LOGNAME", "USER", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    assert rewriter_of_this_machine()("/srv/x") == "/srv/x"
