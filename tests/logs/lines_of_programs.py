"""Lines of programs that were written for other releases, or that hide a module, with the events that they are."""

from __future__ import annotations

from tests.logs.lines_of_runs import Expected

LINES: tuple[Expected, ...] = (
    (
        "AttributeError: partially initialized module 'tensorflow' has no attribute 'keras' (most likely due to a circular import)",
        "module_hidden",
        {"module": "tensorflow"},
    ),
    (
        "ImportError: cannot import name 'keras' from partially initialized module 'tensorflow' (most likely due to a circular import) (/home/me/tensorflow.py)",
        "module_hidden",
        {"module": "tensorflow"},
    ),
    (
        "AttributeError: module 'random' has no attribute 'Random' (consider renaming '/home/me/random.py' since it has the same name as the standard library module named 'random')",
        "module_hidden",
        {"module": "random"},
    ),
    ("AttributeError: module 'tensorflow' has no attribute 'Session'", "code_of_tf1", {"name": "Session"}),
    ("ModuleNotFoundError: No module named 'tensorflow.contrib'", "code_of_tf1", {"name": "contrib"}),
    ("ModuleNotFoundError: No module named 'keras.wrappers'", "wrappers_gone", {}),
    (
        "ImportError: This version of TensorFlow Probability requires TensorFlow version >= 2.18; Detected an installation of version 2.15.0. Please upgrade",
        "tensorflow_too_old_for",
        {"asker": "TensorFlow Probability", "wanted": "2.18", "tf": "2.15.0"},
    ),
    ("Default MaxPoolingOp only supports NHWC on device type CPU", "channels_on_cpu", {"op": "MaxPoolingOp"}),
    (
        "The Conv2D op currently only supports the NHWC tensor format on the CPU. The op was given the format: NCHW",
        "channels_on_cpu",
        {"op": "Conv2D"},
    ),
    ("Cannot set memory growth on device when virtual devices configured", "memory_option_late", {"what": "Both"}),
    ("2.17.0 []", "visible_gpus", {"count": "0"}),
    ("GPUs: []", "visible_gpus", {"count": "0"}),
)
