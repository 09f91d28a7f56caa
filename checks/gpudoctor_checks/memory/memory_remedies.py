"""Cures of a run that ended out of GPU memory, shared so that each has one id."""

from __future__ import annotations

from gpudoctor_checks.said import change, command, unproven

WHO = "nvidia-smi --query-compute-apps=pid,used_memory --format=csv"
FREE_GPU = command(
    "end-other-process",
    "See who holds the GPU, and end it",
    WHO,
    why="an idle notebook keeps its memory until its kernel is shut down",
)
ON_CPU = change(
    "data-on-cpu",
    "Build the data set on the CPU",
    "with tf.device('/CPU:0'): dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(64)  # or a keras Sequence",
    why="only one batch then lies on the GPU; its size is not the matter",
)
WITHOUT_XLA = change(
    "without-xla",
    "Or compile without XLA",
    "model.compile(..., jit_compile=False)",
    why="no module has to be loaded then",
    minutes=1,
)
SMALLER = unproven(change("smaller-batch", "Smaller batch, or a smaller model", "batch_size //= 2", why="", minutes=5))
SMALLER_EXAMPLES = unproven(
    change(
        "smaller-examples",
        "Smaller images, or cut into tiles",
        "x = tf.image.resize(x, (height // 2, width // 2))  # or tf.image.extract_patches; sequences: cut them",
        why="",
        minutes=10,
    ),
    "the batch is one example already; memory grows with the pixels of it",
)
MEASURE = command(
    "measure-memory",
    "Watch the memory round by round",
    "python -c \"import tensorflow as tf; print(tf.config.experimental.get_memory_info('GPU:0'))\"  # print it in your loop: growing or not",
    why="it tells a leak, one large array and a true need apart",
)
