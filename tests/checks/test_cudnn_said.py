"""GD252: the two version numbers decide."""

from __future__ import annotations

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
