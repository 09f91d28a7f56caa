"""What a foreign snapshot says where a version stands is believed only if it can be one."""

from __future__ import annotations

from gpudoctor.knowledge.plausible import NO_VERSION, plausible
from gpudoctor.model.gpu import Gpu
from gpudoctor.model.machine import Nvml
from gpudoctor.model.observed import Log, LogEvent
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.model.software import Python


def test_nonsense_in_the_place_of_a_version_is_unknown() -> None:
    mended = plausible(
        Snapshot(
            nvml=Nvml(driver_version="", cuda_driver_version="13.0"),
            python=Python(version="nan"),
            gpus=(Gpu(index=0, compute_capability="eight"), Gpu(index=1, compute_capability="8.6")),
        )
    )

    assert mended.nvml is not None
    assert mended.python is not None
    assert mended.gpus is not None
    assert (mended.nvml.driver_version, mended.nvml.cuda_driver_version) == (NO_VERSION, "13.0")
    assert mended.python.version == NO_VERSION
    assert [each.compute_capability for each in mended.gpus] == [NO_VERSION, "8.6"]


def test_an_xid_without_a_number_is_none() -> None:
    events = (LogEvent(kind="xid", values={"code": "x"}), LogEvent(kind="xid", values={"code": "79"}))

    mended = plausible(Snapshot(log=Log(events=events)))

    assert mended.log is not None
    assert [each.values["code"] for each in mended.log.events] == ["79"]


def test_a_sound_snapshot_is_not_touched() -> None:
    sound = Snapshot(nvml=Nvml(driver_version="580.95.05"), python=Python(version="3.11.7"))

    assert plausible(sound) is sound
