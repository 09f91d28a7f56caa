"""GD505: network and FUSE file systems are told, local ones are not, and nothing is called slow."""

from __future__ import annotations

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.machine import Storage
from gpudoctor.model.report import Outcome
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.testing import judge
from gpudoctor_checks.input.storage import remote
from tests.checks.case import Case
from tests.checks.healthy import healthy_wsl2
from tests.checks.machines import changed, healthy_h100, on_cpu


def on(filesystem: str, machine: Snapshot | None = None) -> Snapshot:
    storage = (Storage(folder="working folder", filesystem=filesystem),)
    return changed(machine or healthy_h100(), host={"storage": storage})


CASE = Case(
    check_code="GD505",
    fires=on("nfs4"),
    near_miss=on("ext4"),
    lacking=healthy_h100(),
    trial_variants=(None, on_cpu()),
)


@pytest.mark.parametrize("kind", ["nfs", "cifs", "lustre", "fuse.s3fs", "fuse.gcsfuse", "fuse.sshfs", "ceph"])
def test_it_is_a_note(kind: str) -> None:
    (finding,) = judge(remote, on(kind)).findings
    assert (finding.severity, kind in finding.summary) == (Severity.INFO, True)
    assert finding.confidence < 0.8


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "zfs", "overlay", "tmpfs", "fuseblk", "fuse.overlayfs"])
def test_a_local_file_system_passes(kind: str) -> None:
    assert judge(remote, on(kind)).status is Outcome.PASSED


def test_in_wsl_the_windows_drive_is_left() -> None:
    (finding,) = judge(remote, on("9p", healthy_wsl2())).findings
    assert finding.fixes[0].id == "move-into-wsl"
