"""Real environments, sound and broken, as people get into them: what is installed, and what a scan must say of each.

Expected causes are written down beforehand; whether TensorFlow really imports and trains there is asked of the
environment itself, never assumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """One environment. `steps`: arguments of `pip`, in turn. `remove`: globs below site-packages, taken away at the end.

    `files`: what lies in the folder that the training is started from. `cause`: what a scan must put first; None: nothing
    about packages. `at_quick`: whether facts alone can tell, without an import.
    """

    name: str
    python: str
    steps: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    cause: str | None = None
    at_quick: bool = True


SOUND = (
    Recipe(name="tf-2.12-py3.8", python="3.8", steps=("install tensorflow-cpu==2.12.1",)),
    Recipe(name="tf-2.13-py3.8", python="3.8", steps=("install tensorflow-cpu==2.13.1",)),
    Recipe(name="tf-2.14-py3.9", python="3.9", steps=("install tensorflow-cpu==2.14.1",)),
    Recipe(name="tf-2.15-full-py3.9", python="3.9", steps=("install tensorflow==2.15.1",)),
    Recipe(name="tf-2.16-py3.12", python="3.12", steps=("install tensorflow-cpu==2.16.2",)),
    Recipe(name="tf-2.17-py3.10", python="3.10", steps=("install tensorflow-cpu==2.17.1",)),
    Recipe(name="tf-2.18-py3.11", python="3.11", steps=("install tensorflow-cpu==2.18.1",)),
    Recipe(name="tf-2.19-full-py3.12", python="3.12", steps=("install tensorflow==2.19.1",)),
    Recipe(name="tf-2.20-py3.13", python="3.13", steps=("install tensorflow-cpu==2.20.0",)),
    Recipe(name="tf-2.21-py3.13", python="3.13", steps=("install tensorflow-cpu==2.21.0",)),
    Recipe(name="nightly-py3.13", python="3.13", steps=("install tf-nightly-cpu",)),
    Recipe(
        name="legacy-keras-2.18",
        python="3.11",
        steps=("install tensorflow-cpu==2.18.1 tf-keras==2.18.0",),
        variables={"TF_USE_LEGACY_KERAS": "1"},
    ),
    Recipe(
        name="protobuf-7-tf-2.17",  # outside of what it asks for, and it trains
        python="3.10",
        steps=("install tensorflow-cpu==2.17.1", "install --no-deps protobuf==7.36.2"),
    ),
    Recipe(
        name="protobuf-6-tf-2.12",  # likewise
        python="3.11",
        steps=("install tensorflow-cpu==2.12.1", "install --no-deps protobuf==6.33.0"),
    ),
    Recipe(
        name="keras-3-tf-2.15",  # likewise
        python="3.11",
        steps=("install tensorflow-cpu==2.15.1", "install --no-deps keras==3.3.3", "install namex optree rich"),
    ),
    Recipe(
        name="pynvml-over-nvidia-ml-py",
        python="3.10",
        steps=("install tensorflow-cpu==2.17.1 nvidia-ml-py", "install pynvml==11.5.3"),
    ),
)
BROKEN = (
    Recipe(
        name="numpy-2-tf-2.12",
        python="3.10",
        steps=("install tensorflow-cpu==2.12.1", "install --no-deps numpy==2.2.6"),
        cause="numpy2",
    ),
    Recipe(
        name="numpy-2-tf-2.16",
        python="3.11",
        steps=("install tensorflow-cpu==2.16.2", "install --no-deps numpy==2.3.4"),
        cause="numpy2",
    ),
    Recipe(
        name="numpy-2-tf-2.17",
        python="3.12",
        steps=("install tensorflow-cpu==2.17.1", "install --no-deps numpy==2.3.4"),
        cause="numpy2",
    ),
    Recipe(
        name="keras-3-tf-2.14",
        python="3.11",
        steps=("install tensorflow-cpu==2.14.1", "install --no-deps keras==3.3.3", "install namex optree rich"),
        cause="keras3",
    ),
    Recipe(
        name="keras-2-tf-2.18",
        python="3.12",
        steps=("install tensorflow-cpu==2.18.1", "install --no-deps keras==2.15.0"),
        cause="keras3",
    ),
    Recipe(
        name="legacy-without-tf-keras",
        python="3.13",
        steps=("install tensorflow-cpu==2.21.0",),
        variables={"TF_USE_LEGACY_KERAS": "1"},
        cause="keras3",
    ),
    Recipe(
        name="protobuf-3-tf-2.21",
        python="3.12",
        steps=("install tensorflow-cpu==2.21.0", "install --no-deps protobuf==3.20.3"),
        cause="protobuf",
    ),
    Recipe(
        name="protobuf-4-tf-2.21",
        python="3.13",
        steps=("install tensorflow-cpu==2.21.0", "install --no-deps protobuf==4.25.8"),
        cause="protobuf",
    ),
    Recipe(
        name="ml-dtypes-tf-2.20",
        python="3.11",
        steps=("install tensorflow-cpu==2.20.0", "install --no-deps ml_dtypes==0.3.2"),
        cause="dependency-misfit",
    ),
    Recipe(
        name="jax-old-ml-dtypes",
        python="3.12",
        steps=(
            "install tensorflow-cpu==2.21.0",
            "install jax==0.4.26 jaxlib==0.4.26",
            "install --no-deps ml_dtypes==0.4.1",
        ),
        cause="dependency-misfit",
    ),
    Recipe(
        name="without-dependencies",
        python="3.12",
        steps=("install --no-deps tensorflow-cpu==2.19.1", "install numpy==2.1.3 six"),
        cause="dependency-misfit",
    ),
    Recipe(
        name="old-wrapt",
        python="3.11",
        steps=("install tensorflow-cpu==2.19.1", "install --no-deps wrapt==1.10.0"),
        cause="dependency-misfit",
    ),
    Recipe(
        name="two-tensorflows-one-gone",
        python="3.11",
        steps=(
            "install tensorflow==2.19.1",
            "install tensorflow-cpu==2.19.1",
            "uninstall tensorflow-cpu",
        ),
        cause="tensorflow-absent",
    ),
    Recipe(
        name="half-uninstalled",
        python="3.11",
        steps=("install tensorflow-cpu==2.18.1",),
        remove=("tensorflow/__init__.py", "tensorflow/python", "tensorflow_cpu-*.dist-info"),
        cause="tensorflow-absent",
    ),
    Recipe(
        name="numpy-in-pieces",
        python="3.11",
        steps=("install tensorflow-cpu==2.19.1",),
        remove=("numpy/_core/_multiarray_umath*",),
        cause="dependency-misfit",
        at_quick=False,
    ),
    Recipe(name="without-tensorflow", python="3.13", steps=("install numpy",), cause="tensorflow-absent"),
    Recipe(
        name="shadowed-by-tensorflow.py",
        python="3.12",
        steps=("install tensorflow-cpu==2.20.0",),
        files={"tensorflow.py": "print('my first network')\n"},
        cause="shadowed-module",
    ),
    Recipe(
        name="shadowed-by-random.py",
        python="3.12",
        steps=("install tensorflow-cpu==2.20.0",),
        files={"random.py": "x = 4\n"},
        cause="shadowed-module",
    ),
)
