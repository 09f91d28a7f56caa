"""GD403: TensorFlow's pool is known by what it leaves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.model.finding import Severity
from gpudoctor.model.gpu import Gpu, GpuProcess
from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.memory.reserved_not_used import reserved
from tests.checks.case import Case
from tests.checks.machines import MIB, make_gpu, make_machine, on_cpu

TOTAL_MIB = 15360  # a T4


def a_t4(memory: Maybe[int], *, own: bool = True) -> Gpu:
    python = GpuProcess(pid=77, kind="compute", memory_bytes=memory, name="/usr/bin/python3", own=own)
    gpu = make_gpu(name="Tesla T4", cc="7.5", memory_mib=TOTAL_MIB, limit_w=70.0)
    return replace(gpu, processes=(python,))


FULL = make_machine((a_t4(14100 * MIB),))  # free at start less 1050 MiB, and the context on top
CASE = Case(
    check_code="GD403",
    fires=FULL,
    near_miss=make_machine((a_t4(6000 * MIB),)),
    lacking=make_machine((a_t4(Missing("not available")),)),
    trial_variants=(None, on_cpu()),
)


def test_it_is_a_note_that_tells_where_the_real_need_stands() -> None:
    (finding,) = judge(reserved, FULL).findings
    assert finding.severity is Severity.INFO
    assert "your python3" in finding.summary
    assert "get_memory_info" in finding.fixes[0].text


@pytest.mark.parametrize("gpu", [a_t4(14100 * MIB, own=False), make_gpu()])
def test_what_others_hold_and_an_empty_gpu_are_not_your_reservation(gpu: Gpu) -> None:
    assert judge(reserved, make_machine((gpu,))).status is Outcome.PASSED


def test_what_the_desktop_holds_is_no_part_of_the_pool() -> None:
    gpu = a_t4(12500 * MIB)
    screen = GpuProcess(pid=5, kind="graphics", memory_bytes=1600 * MIB, own=False)
    assert judge(reserved, make_machine((gpu,))).status is Outcome.PASSED
    held = replace(gpu, processes=(*(gpu.processes if isinstance(gpu.processes, tuple) else ()), screen))
    assert judge(reserved, make_machine((held,))).status is Outcome.FOUND


def test_a_remainder_too_small_for_a_pool_is_no_reservation() -> None:
    gpu = a_t4(150 * MIB)
    other = GpuProcess(pid=8, kind="compute", memory_bytes=14600 * MIB, own=False)
    held = replace(gpu, processes=(*(gpu.processes if isinstance(gpu.processes, tuple) else ()), other))
    assert judge(reserved, make_machine((held,))).status is Outcome.PASSED
