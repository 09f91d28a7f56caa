"""GD651: each slow path is told once."""

from __future__ import annotations

from gpudoctor.sdk import Severity
from gpudoctor_checks.compute.slow_path_said import slow_path
from tests.checks.texts import FAULTY, found, text_case

CASE = text_case(
    "GD651",
    "WARNING:tensorflow:Layer gru will not use cuDNN kernel since it doesn't meet the cuDNN kernel criteria. It will use generic GPU kernel as fallback when running on GPU",
    variants=FAULTY,
)


def test_retracing() -> None:
    finding = found(
        slow_path,
        "WARNING:tensorflow:5 out of the last 5 calls to <function f at 0x7f> triggered tf.function retracing. Tracing is expensive",
    )
    assert (finding.cause, finding.fixes[0].id) == ("eager-or-tracing", "fewer-traces")


def test_predict_in_a_loop() -> None:
    finding = found(
        slow_path,
        "WARNING:tensorflow:5 out of the last 5 calls to <function Model.make_predict_function.<locals>.predict_function at 0x7f1> triggered tf.function retracing. Tracing is expensive",
    )
    assert (finding.cause, finding.fixes[0].id) == ("eager-or-tracing", "call-the-model")


def test_closed_counters() -> None:
    finding = found(slow_path, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES")
    assert (finding.cause, finding.fixes[0].id) == ("profiling-not-permitted", "open-counters")


def test_channels_first_on_the_cpu_means_that_no_gpu_is_used() -> None:
    for line in (
        "Default MaxPoolingOp only supports NHWC on device type CPU",
        "The Conv2D op currently only supports the NHWC tensor format on the CPU",
    ):
        finding = found(slow_path, line)
        assert (finding.cause, finding.severity, finding.fixes[0].id) == (
            "cpu-placement",
            Severity.ERROR,
            "channels-last",
        )
