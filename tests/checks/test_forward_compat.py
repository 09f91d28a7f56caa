"""GD108: 804 blames cuda-compat only where a compat libcuda, and not a half-updated driver, stands behind it."""

from __future__ import annotations

from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Outcome
from gpudoctor.testing import judge
from gpudoctor_checks.driver.forward_compat import compat
from tests.checks.case import Case
from tests.checks.healthy import healthy_rtx_desktop
from tests.checks.machines import changed, healthy_h100, with_env, with_trial
from tests.checks.trials import on_cpu, trained

ON_GEFORCE = with_trial(
    with_env(
        changed(
            healthy_rtx_desktop(),
            kernel={"module_version": "535.183.01"},
            cuda={
                "status": "error",
                "libcuda_path": "/usr/local/cuda/compat/libcuda.so.580.95.05",
                "library_version": "580.95.05",
                "origin": "compat",
                "cu_init": 804,
                "cu_init_name": "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
                "devices": (),
            },
        ),
        LD_LIBRARY_PATH="/usr/local/cuda/compat",
    ),
    on_cpu(),
)
CASE = Case(
    check_code="GD108",
    fires=ON_GEFORCE,
    near_miss=changed(healthy_h100(), cuda={"origin": "compat", "library_version": "590.48.01"}),
    lacking=changed(ON_GEFORCE, cuda={"cu_init": Missing("timeout")}),
    trial_variants=(None, trained()),
)


def test_the_compat_folder_leaves_the_path() -> None:
    (finding,) = judge(compat, ON_GEFORCE).findings
    assert finding.fixes[0].id == "drop-cuda-compat"
    assert finding.fixes[0].text.startswith("export LD_LIBRARY_PATH=")


def test_a_compat_folder_of_the_loaders_configuration_leaves_that() -> None:
    (finding,) = judge(compat, changed(ON_GEFORCE, env={})).findings
    assert "ldconfig" in finding.fixes[0].text


def test_804_after_a_half_done_update_is_a_mismatch() -> None:
    machine = changed(ON_GEFORCE, cuda={"origin": "driver", "libcuda_path": "/usr/lib/libcuda.so.580.95.05"})
    assert judge(compat, machine).status is Outcome.PASSED


def test_803_with_a_compat_libcuda_is_compats() -> None:
    assert judge(compat, changed(ON_GEFORCE, cuda={"cu_init": 803})).status is Outcome.FOUND


def test_without_a_kernel_module_compat_is_not_the_trouble() -> None:
    machine = changed(ON_GEFORCE, cuda={"cu_init": 100}, kernel={"module_loaded": False})
    assert judge(compat, machine).status is Outcome.PASSED
