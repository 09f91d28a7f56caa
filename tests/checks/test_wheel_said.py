"""GD352: what was asked for is compared with what pip saw."""

from __future__ import annotations

from gpudoctor_checks.tensorflow.wheel_said import no_wheel
from tests.checks.texts import FAULTY, found, text_case

CASE = text_case("GD352", "ERROR: No matching distribution found for tensorflow==2.13.0", variants=FAULTY)


def test_a_release_for_this_python_is_offered() -> None:
    finding = found(
        no_wheel,
        "ERROR: Could not find a version that satisfies the requirement tensorflow==2.13.0 (from versions: 2.16.1, 2.17.0, 2.18.0)",
        python="3.12",
    )
    assert (finding.cause, finding.fixes[0].id) == ("python-tf-wheel", "release-with-wheel")


def test_without_any_version_another_python_is_needed() -> None:
    finding = found(
        no_wheel, "ERROR: Could not find a version that satisfies the requirement tensorflow (from versions: none)"
    )
    assert (finding.cause, finding.fixes[0].id) == ("python-tf-wheel", "older-python")


def test_a_release_and_a_python_that_no_wheel_brings_together() -> None:
    finding = found(no_wheel, tf="2.13", python="3.12")
    assert (finding.cause, finding.fixes[0].id) == ("python-tf-wheel", "release-with-wheel")


def test_where_pip_saw_no_version_another_python_is_the_only_way() -> None:
    finding = found(
        no_wheel,
        "ERROR: Could not find a version that satisfies the requirement tensorflow (from versions: none)",
        python="3.13.0",
    )
    assert [each.id for each in finding.fixes] == ["older-python"]


def test_a_wheel_for_this_very_python_is_refused_by_a_32_bit_one() -> None:
    finding = found(
        no_wheel,
        "tensorflow_gpu-1.13.1-cp35-cp35m-win_amd64.whl is not a supported wheel on this platform.",
        python="3.5.1",
    )
    assert finding.fixes[0].id == "python-64-bit"


def test_a_program_for_tensorflow_1_is_not_sent_to_2() -> None:
    finding = found(
        no_wheel,
        "Could not find a version that satisfies the requirement tensorflow==1.13.1 (from versions: 2.2.0, 2.3.0, 2.4.0)",
    )
    assert finding.fixes[0].id == "older-python"
    assert "python3.7" in finding.fixes[0].text


def test_tensorflow_gpu_of_native_windows_ends_with_2_10() -> None:
    line = "ERROR: No matching distribution found for tensorflow-gpu==2.12.0"
    finding = found(no_wheel, line, os="Windows 11", python="3.10.10")
    assert (finding.cause, finding.fixes[0].id) == ("windows-native", "install-in-wsl")
    assert found(no_wheel, line, os="Ubuntu 22.04", python="3.10.10").cause == "python-tf-wheel"


OLD_LIST = (
    "Could not find a version that satisfies the requirement tensorflow{} (from versions: 1.13.2, 1.14.0, 2.0.0b1)"
)


def test_a_list_that_ends_where_the_wheels_tag_changed_shows_an_old_pip() -> None:
    for wanted in ("~=1.15.0", "==2.3.0", ""):
        assert [each.id for each in found(no_wheel, OLD_LIST.format(wanted)).fixes] == ["upgrade-pip"]


def test_a_list_whose_end_is_cut_off_or_whose_release_is_older_says_nothing_of_pip() -> None:
    for line in (OLD_LIST.format("==1.15")[:-20], OLD_LIST.format("==1.2.9")):
        assert "upgrade-pip" not in [each.id for each in found(no_wheel, line).fixes]


def test_wheels_of_a_pc_are_not_for_an_arm_board() -> None:
    finding = found(no_wheel, "ERROR: No matching distribution found for tensorflow", gpu="Jetson Xavier NX")
    assert [each.id for each in finding.fixes] == ["tensorflow-for-arm"]


def test_a_wheel_for_arm_that_is_refused_is_for_another_python() -> None:
    line = "tensorflow-2.3.1-cp36-cp36m-linux_aarch64.whl is not a supported wheel on this platform."
    finding = found(no_wheel, line, gpu="Jetson Nano", python="3.8")
    assert (finding.fixes[0].id, "python3.6" in finding.fixes[0].text) == ("fitting-python", True)


def test_on_windows_the_other_python_is_started_as_windows_starts_it() -> None:
    line = "ERROR: Could not find a version that satisfies the requirement tensorflow (from versions: none)"
    finding = found(no_wheel, "PS C:\\work> pip install tensorflow", line, python="3.13.0")

    assert finding.fixes[0].text == 'py -3.11 -m venv tf && tf\\Scripts\\pip install "tensorflow"'


def test_the_empty_package_of_the_old_name_is_replaced() -> None:
    line = 'The "tensorflow-gpu" package has been removed!'
    finding = found(no_wheel, line)
    assert (finding.cause, finding.fixes[0].id) == ("python-tf-wheel", "install-tensorflow")
    assert found(no_wheel, line, os="Windows 11").fixes[0].id == "install-in-wsl"


def test_cuda_wheels_that_are_for_linux_are_no_matter_of_python() -> None:
    line = 'ERROR: No matching distribution found for nvidia-nccl-cu12==2.19.3; extra == "and-cuda"'
    windows, anywhere = found(no_wheel, line, os="windows"), found(no_wheel, line)
    assert (windows.cause, windows.fixes[0].id) == ("windows-native", "install-in-wsl")
    assert (anywhere.cause, anywhere.fixes[0].id) == ("python-tf-wheel", "install-tensorflow")
    assert "WSL2" in anywhere.fixes[0].text


def test_a_release_without_code_for_the_known_gpu_is_not_offered() -> None:
    for system in ("linux", "windows"):
        finding = found(no_wheel, tf="2.11", python="3.12", gpu="RTX 5090", os=system)
        assert [each.id for each in finding.fixes] == ["run-ngc-container"]


def test_on_windows_a_known_gpu_is_used_from_wsl() -> None:
    finding = found(no_wheel, tf="2.11", python="3.12", gpu="RTX 3090", os="windows")
    assert [each.id for each in finding.fixes] == ["install-in-wsl"]


def test_for_a_known_gpu_the_release_comes_with_its_cuda() -> None:
    finding = found(no_wheel, tf="2.11", python="3.12", gpu="RTX 3090")
    assert "tensorflow[and-cuda]==" in finding.fixes[0].text
    assert "older-python" in [each.id for each in finding.fixes]
