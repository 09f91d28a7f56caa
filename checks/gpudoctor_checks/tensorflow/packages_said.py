"""GD351: the log of a run shows Python packages that do not fit.

What it does
    Reads what NumPy, protobuf, Keras, the smaller packages that TensorFlow imports (ml_dtypes, ...) and the import of TensorFlow itself print where versions do not fit each other.

Why it matters
    A TensorFlow built for NumPy 1 crashes beside NumPy 2 (wheels before 2.18), one built for an older protobuf or for Keras
    2 fails at import or when a model is loaded. The GPU has no part in it.

How to fix
    Pin the one package that does not fit, in the environment that trains; or move TensorFlow to a release that fits. CUDA,
    the driver and Python stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Finding, Log, Severity, TensorFlow, Trial, check, weigh_faulty
from gpudoctor_checks.said import events, first, log_finding, release
from gpudoctor_checks.tensorflow.packages_findings import of_absence, of_keras, of_misfit, of_numpy
from gpudoctor_checks.tensorflow.packages_remedies import RIGHT_BINDING, for_protobuf
from gpudoctor_checks.tensorflow.pip_misfits import by_pip
from gpudoctor_checks.tensorflow.programs_said import of_program


@check(
    code="GD351",
    slug="packages-clash-in-log",
    title="The log shows packages that do not fit",
    family="tensorflow",
    cause=("numpy2", "protobuf", "keras3", "pynvml", "dependency-misfit", "tensorflow-absent", "shadowed-module"),
    core=False,
)
def clash(log: Log, tensorflow: TensorFlow | None, baseline: Trial | None) -> Iterator[Finding]:
    """Name the package; an import that fails for a clash is told as the clash."""
    version = release(tensorflow, log)
    weight = weigh_faulty(0.92, baseline)
    numpy, protobuf, keras = events(log, "numpy_clash"), events(log, "protobuf_clash"), events(log, "keras_clash")
    if numpy:
        yield of_numpy(numpy, version, weight)
    if protobuf:
        summary = "The installed protobuf does not fit this TensorFlow."
        yield log_finding(summary, weight, protobuf, for_protobuf(version), cause="protobuf")
    if keras:
        yield of_keras(keras, version, weight)
    misfit = events(log, "dependency_misfit")
    if misfit and not numpy:
        yield of_misfit(misfit, version, weigh_faulty(0.8, baseline))
    yield from of_program(log, baseline)
    if not numpy and not protobuf and not keras and not misfit:
        yield from by_pip(log, baseline)
    binding = events(log, "nvml_binding")
    if binding:
        summary = "Another package shadows the official NVML bindings."
        yield log_finding(summary, weight, binding, RIGHT_BINDING, cause="pynvml", severity=Severity.WARNING)
    told = events(log, "tensorflow_absent")
    # the line that names the reason outranks the sentence that every failed import ends with
    absent = next((each for each in told if each.values.get("why") != "import"), first(log, "tensorflow_absent"))
    library = any("ImportError" in each.text or "libcuda.so" in each.text for each in events(log, "dlopen_failed"))
    if library and absent is not None and absent.values.get("why") == "import":
        return  # TensorFlow 1.x opens its libraries and the driver's when it is imported: see GD251 and GD155
    if absent is not None and not numpy and not protobuf and not keras and not misfit:
        yield of_absence(absent, weight if absent.values.get("why") == "absent" else weigh_faulty(0.7, baseline))
