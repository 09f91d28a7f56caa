"""GD156: nvidia-smi that lists no device is the scheduler's, the container's or the kernel module's doing, never a variable's."""

from __future__ import annotations

from gpudoctor_checks.driver.no_device_said import no_device
from gpudoctor_checks.driver.none_listed_said import none_listed
from tests.checks.texts import UNUSABLE, found, nothing, text_case

LISTS_NONE = "No devices were found"
NO_DEVICE = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"
CASE = text_case("GD156", LISTS_NONE, variants=UNUSABLE)


def test_on_a_machine_the_kernel_log_tells_why() -> None:
    finding = found(none_listed, LISTS_NONE)
    assert (finding.cause, finding.fixes[0].text) == ("kernel-module-not-loaded", "sudo dmesg | grep NVRM")


def test_in_a_job_the_scheduler_is_asked() -> None:
    finding = found(none_listed, "SLURM_JOB_ID=4711", LISTS_NONE)
    assert (finding.cause, finding.fixes[0].id) == ("scheduler-no-gpu", "ask-scheduler-for-gpu")


def test_in_a_container_the_gpu_is_given_to_it() -> None:
    finding = found(none_listed, LISTS_NONE, container="docker")
    assert (finding.cause, finding.fixes[0].id) == ("container-no-gpu", "give-container-gpu")


def test_a_variable_is_not_blamed_for_what_nvidia_smi_says() -> None:
    assert nothing(no_device, LISTS_NONE, NO_DEVICE)


def test_no_device_in_a_job_is_for_the_scheduler() -> None:
    finding = found(no_device, "#SBATCH --partition=gpu", NO_DEVICE)
    assert (finding.cause, finding.fixes[0].id) == ("scheduler-no-gpu", "ask-scheduler-for-gpu")


def test_a_variable_that_is_told_goes_before_the_scheduler() -> None:
    finding = found(no_device, "#SBATCH --partition=gpu", NO_DEVICE, env_CUDA_VISIBLE_DEVICES="-1")
    assert finding.cause == "cuda-visible-devices"
