"""Cures of packages that do not fit: the one package is pinned, or TensorFlow moved to a release that fits."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Fix, LogEvent, tensorflow_releases, versions
from gpudoctor_checks.said import by_hand, command

FIRST_WITH_NUMPY_2 = "2.18"  # the wheels' own requirement (tensorflow_releases)
FIRST_WITH_KERAS_3 = "2.16"
# Keras 2.4 hands every call on to tensorflow.keras (its release notes); TensorFlow 2.6 is the first that requires a Keras
FIRST_WITH_KERAS_BESIDE, LAST_THAT_HANDS_ON = "2.6", "==2.4.3"
SEE = "python -m pip list | grep -iE 'tensorflow|keras|numpy|protobuf'"
OLD_NUMPY = command(
    "pin-numpy",
    "Keep NumPy below 1.24 in this environment",
    "python -m pip install 'numpy<1.24'",
    why="NumPy 1.24 took names away that this release still uses",
)
CHECK = "python -m pip check; python -m pip show tensorflow | grep -iE 'version|requires'"
RIGHT_BINDING = command(
    "install-nvidia-ml-py",
    "Keep only the official NVML bindings",
    "python -m pip uninstall -y pynvml && python -m pip install --force-reinstall nvidia-ml-py",
    why="both write the same module; the official one is current",
)
RUNTIME = by_hand(
    "install-vc-runtime",
    "Install Microsoft's Visual C++ runtime (x64)",
    "Install https://aka.ms/vs/17/release/vc_redist.x64.exe and start anew; still failing: the processor may lack AVX, which"
    " the wheels need",
    why="TensorFlow's DLL needs that runtime, of 2019 or newer",
)
KERAS_3 = command(
    "upgrade-tensorflow",
    "Read it with Keras 3, or save it again",
    f"python -m pip install --upgrade 'tensorflow>={FIRST_WITH_KERAS_3}'",
    why="Keras 2 cannot read what Keras 3 saves; the other way round the weights can be saved anew",
    minutes=15,
    risk="medium",
)
NEWER_KERAS = command(
    "upgrade-keras",
    "Read it with the Keras that saved it, or newer",
    "python -m pip install --upgrade 'keras>=3'",
    why="an older Keras 3 does not know what a newer one writes",
)
ONE_KERAS = by_hand(
    "one-keras",
    "One Keras in the whole program",
    "unset TF_USE_LEGACY_KERAS and use Keras 3 throughout; or keep tf_keras, with releases of the other libraries that use it, too",
    why="neither Keras takes the other's layers and models",
    minutes=30,
)
OLD_H5PY = command(
    "pin-h5py",
    "Keep h5py below 3 in this environment",
    "python -m pip install 'h5py<3'",
    why="this Keras decodes bytes, and h5py 3 gives text",
)
REBUILT = by_hand(
    "rebuild-for-numpy",
    "Install the module anew that names NumPy",
    "python -m pip install --force-reinstall --no-deps PACKAGE  # PACKAGE: where the traceback ends, in a release made for this NumPy;"
    " or a newer NumPy, where TensorFlow's own bound allows one",
    why="it was compiled for a NumPy newer than the one here",
)
AVX = by_hand(
    "build-for-this-cpu",
    "Use a build for this processor",
    "The official wheels need AVX; take conda-forge's build, an older release, or another machine",
    why="the processor lacks instructions that the wheel uses",
    minutes=30,
)


def for_numpy(version: str) -> Iterator[Fix]:
    yield command(
        "pin-numpy",
        "Keep NumPy 1 in this environment",
        "python -m pip install 'numpy<2'",
        why="this TensorFlow was built for it",
    )
    if not versions.is_version(version) or not versions.at_least(version, FIRST_WITH_NUMPY_2):
        yield command(
            "upgrade-tensorflow",
            "Or a TensorFlow built for NumPy 2",
            f"python -m pip install --upgrade 'tensorflow>={FIRST_WITH_NUMPY_2}'",
            why="its wheels fit NumPy 2",
            minutes=15,
            risk="medium",
        )


def for_protobuf(version: str) -> Fix:
    bound = tensorflow_releases.requirement_of(version, "protobuf") if versions.is_version(version) else None
    wanted = bound or "<3.21"  # the message itself names 3.20.x
    if "<" not in wanted:
        wanted = f"{wanted},<3.21"  # releases before 2.9 state no upper bound, and nothing above 3.20 serves them
    return command(
        "pin-protobuf",
        "Install a protobuf that fits",
        f"python -m pip install 'protobuf{wanted}'",
        why="TensorFlow's generated code was made for it",
    )


def for_misfit(line: LogEvent, version: str) -> Fix:
    """Return the cure of what the line names: two have a reason of their own, the others come back with TensorFlow."""
    own = {"bytes": OLD_H5PY, "compiled-for-newer": REBUILT}
    return own.get(line.values.get("why", "")) or for_dependency(line.values["module"], version)


def for_dependency(module: str, version: str) -> Fix:
    """Return the cure of a package that TensorFlow imports: pip keeps a release's own bounds when it is asked for again."""
    known = versions.is_version(version) and version.count(".") > 1
    text = (
        f"python -m pip install 'tensorflow=={version}'"
        if known
        else "python -m pip install \"tensorflow==$(python -m pip show tensorflow | sed -n 's/^Version: //p')\""
    )
    return command(
        "install-dependencies",
        f"Let pip bring the {module} that TensorFlow asks for",
        f"{text}  # the same release again: only what does not fit is changed",
        why="another package has moved it past what this TensorFlow was made for",
        release=version if known else None,
    )


def for_keras(version: str, *, missing: bool) -> Iterator[Fix]:
    minor = f"~={versions.minor(version)}.0" if versions.is_version(version) else ""
    legacy = command(
        "install-tf-keras",
        "Install Keras 2 beside it, or unset the variable",
        f"python -m pip install 'tf_keras{minor}'  # or, where nothing needs Keras 2: unset TF_USE_LEGACY_KERAS",
        why="code for Keras 2 needs it from TensorFlow 2.16 on",
    )
    if missing:
        yield legacy
        return
    yield command(
        "use-legacy-keras",
        "Run it with Keras 2 (tf_keras)",
        f"python -m pip install 'tf_keras{minor}' && export TF_USE_LEGACY_KERAS=1",
        why="set before TensorFlow is imported; or change the code to Keras 3",
    )


def same_keras(version: str) -> Fix:
    wanted = tensorflow_releases.requirement_of(version, "keras") if versions.is_version(version) else None
    minor = f"=={versions.minor(version)}.*" if versions.is_version(version) else ""
    if versions.is_version(version) and not versions.at_least(version, FIRST_WITH_KERAS_BESIDE):
        wanted = LAST_THAT_HANDS_ON
    text = (
        f"python -m pip install 'keras{wanted or minor}'"
        if wanted or minor
        else f"{SEE}  # then keras of TensorFlow's own number"
    )
    return command(
        "install-keras",
        "Install the Keras of this TensorFlow",
        text,
        why="from 2.6 to 2.15 Keras comes as a package with TensorFlow's own number",
    )
