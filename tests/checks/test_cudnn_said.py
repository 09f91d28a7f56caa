"""GD252: the two version numbers decide."""

from __future__ import annotations

import pytest

from gpudoctor_checks.libraries.cudnn_said import wrong
from tests.checks.texts import FAULTY, found, text_case

CASE = text_case("GD252", "Loaded runtime CuDNN library: 8.0.5 but source was compiled with: 8.1.0.", variants=FAULTY)


def test_an_older_cudnn_is_replaced() -> None:
    finding = found(wrong, "Loaded runtime CuDNN library: 8.0.5 but source was compiled with: 8.1.0.")
    assert (finding.cause, finding.fixes[0].id) == ("cudnn-version", "install-fitting-cudnn")


def test_a_dnn_library_that_is_not_found_is_mostly_another_version() -> None:
    finding = found(wrong, "DNN library is not found.", tf="2.8.0")
    assert (finding.cause, finding.fixes[0].id) == ("cudnn-version", "install-fitting-cudnn")


def test_an_architecture_that_cudnn_left_out() -> None:
    finding = found(wrong, "CUDNN_STATUS_ARCH_MISMATCH", gpu="GTX 1080")
    assert (finding.cause, finding.fixes[0].id) == ("cudnn-dropped-gpu", "install-older-cudnn")


def test_on_windows_and_for_old_cudnn_there_is_no_wheel_to_install() -> None:
    line = "Loaded runtime CuDNN library: {} but source was compiled with: {}.  CuDNN library needs to have matching"
    windows = found(wrong, line.format("8.0.5", "8.1.0"), os="Windows 11", tf="2.10.1").fixes[0].text
    old = found(wrong, line.format("7.5.0", "7.6.3")).fixes[0].text
    assert "PATH" in windows
    assert "LD_LIBRARY_PATH" not in windows
    assert "cuDNN 7.6" in old
    assert "pip install" not in old


def test_numbers_without_dots_are_read() -> None:
    finding = found(
        wrong,
        "Loaded runtime CuDNN library: 5005 (compatibility version 5000) but source was compiled with 5110 (compatibility version 5100).",
    )
    assert "5.0.5 is loaded, but TensorFlow was built with 5.1.10" in finding.summary


MISFIT = "Loaded runtime CuDNN library: 8.0.5 but source was compiled with: 8.1.0."


@pytest.mark.parametrize(("facts", "advised"), [({}, False), ({"conda": "no"}, False), ({"conda": "yes"}, True)])
def test_conda_is_advised_only_to_who_has_it(facts: dict[str, str], advised: bool) -> None:
    commands = [each.text for each in found(wrong, MISFIT, **facts).fixes]
    assert any("conda" in each for each in commands) == advised
    assert ("conda remove --force cudnn" in commands) == advised
