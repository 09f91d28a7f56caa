"""What a foreign snapshot says where a version stands is believed only if it can be one."""

from __future__ import annotations

import pytest

from gpudoctor.knowledge.plausible import NO_PLACE, NO_VERSION, plausible
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


@pytest.mark.parametrize("behind", ["';id;'", "$(id)", "`id`", " --pre", "\nid", "\n", "1" * 200_000])
def test_what_begins_like_a_version_is_none(behind: str) -> None:
    mended = plausible(Snapshot(python=Python(version=f"3.11.7{behind}")))

    assert mended.python is not None
    assert mended.python.version == NO_VERSION


@pytest.mark.parametrize(
    "version",
    ["2.17.0+nv25.2", "2.22.0rc0", "2.23.0.dev20261026", "3.13.0b1", "580.65.06", "470.256.02-0ubuntu1", "v2.1"],
)
def test_versions_of_distributions_are_versions(version: str) -> None:
    sound = Snapshot(python=Python(version=version))

    assert plausible(sound) is sound


def test_a_command_in_an_events_number_is_left_out_and_the_rest_stays() -> None:
    events = (LogEvent(kind="gpu_skipped", values={"count": "1;id;", "why": "multiprocessor_count"}),)

    mended = plausible(Snapshot(log=Log(events=events)))

    assert mended.log is not None
    assert [each.values for each in mended.log.events] == [{"why": "multiprocessor_count"}]


def test_a_name_that_is_an_option_or_moves_the_cursor_is_no_path() -> None:
    shadowing = ("--force", "a\x1b[2J.py", "keras.py")
    mended = plausible(Snapshot(python=Python(shadowing=shadowing, elsewhere=("-x",))))

    assert mended.python is not None
    assert (mended.python.shadowing, mended.python.elsewhere) == (("keras.py",), NO_PLACE)
