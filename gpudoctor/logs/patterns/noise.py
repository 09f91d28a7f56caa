"""Lines that look like trouble and are none: kind `harmless`, told as such, because people chase them for days."""

from __future__ import annotations

from gpudoctor.logs.pattern import row

HARMLESS = "harmless"

ROWS = (
    row(HARMLESS, "NUMA node", r"successful NUMA node read from SysFS had negative value \(-1\)", topic="numa"),
    row(
        HARMLESS, "NUMA support", r"[Yy]our kernel may (?:not )?have (?:been )?built without NUMA support", topic="numa"
    ),
    row(
        HARMLESS,
        "Unable to register",
        r"Unable to register (?P<library>cuDNN|cuFFT|cuBLAS) factory: Attempting to register factory for plugin \w+ "
        r"when one has already been registered",
        topic="duplicate-factory",
    ),
    row(HARMLESS, "Please check linkage", r"computation placer already registered", topic="duplicate-factory"),
    row(
        HARMLESS,
        "Computation placer creation",
        r"Computation placer creation function is already registered",
        topic="duplicate-factory",
    ),
    row(
        HARMLESS,
        "Not creating XLA devices",
        r"Not creating XLA devices, tf_xla_enable_xla_devices not set",
        topic="xla-devices",
    ),
    row(HARMLESS, "DNN custom", r"oneDNN custom operations are on", topic="onednn"),
    row(
        HARMLESS,
        "TensorFlow binary",
        r"This TensorFlow binary is optimized (?:with oneAPI[^\n]{0,60} )?to use (?:available CPU|the following CPU)"
        r" instructions",
        topic="cpu-instructions",
    ),
    row(
        HARMLESS,
        "TensorFlow binary",
        r"Your CPU supports instructions that this TensorFlow binary was not compiled to use",
        topic="cpu-instructions",
    ),
    row(
        HARMLESS,
        "TF-TRT",
        r"TF-TRT Warning: (?:Could not find TensorRT|Cannot dlopen some TensorRT libraries)",
        topic="tensorrt",
    ),
    row(
        HARMLESS,
        "Could not load dynamic library",
        r"Could not load dynamic library '(?P<library>libnvinfer[^']{0,60})'",
        topic="tensorrt",
    ),
    row(
        HARMLESS,
        "InitializeLog()",
        r"All log messages before absl::InitializeLog\(\) is called are written to STDERR",
        topic="log",
    ),
    row(
        HARMLESS,
        "OUT_OF_RANGE: End of sequence",
        r"(?:Local rendezvous is aborting with status|Executor start aborting[^:\n]{0,90}): OUT_OF_RANGE: End of sequence",
        topic="end-of-data",
    ),
    row(
        HARMLESS,
        "Executor start aborting",
        r"Executor start aborting \(this does not indicate an error and you can ignore this message\)",
        topic="end-of-data",
    ),
    row(
        HARMLESS,
        "If the cause is memory fragmentation",
        r"If the cause is memory fragmentation maybe the environment variable 'TF_GPU_ALLOCATOR=cuda_malloc_async'",
        topic="generic-allocator-hint",  # printed at every OOM of this allocator, so it proves nothing
    ),
    row(
        HARMLESS,
        "If this is caused by memory fragmentation",
        r"If this is caused by memory fragmentation, the environment variable 'TF_GPU_ALLOCATOR=cuda_malloc_async'",
        topic="generic-allocator-hint",
    ),
    row(HARMLESS, "PredictCost", r"Error in PredictCost\(\) for the op", topic="optimizer"),
    row(
        HARMLESS,
        "yout failed:",
        r"layout failed: INVALID_ARGUMENT: Size of values \d{1,9} does not match",
        topic="optimizer",
    ),
    row(
        HARMLESS,
        "Mutation::Apply",
        r"(?:remapper|model_pruner|\w{1,40}) failed: [^\n]{0,60}Mutation::Apply error",
        topic="optimizer",
    ),
    row(
        HARMLESS,
        "Skipping loop optimization",
        r"Skipping loop optimization for Merge node with control input",
        topic="optimizer",
    ),
    row(HARMLESS, "XLA is disabling parallel", r"XLA is disabling parallel compilation", topic="compiler"),
    row(HARMLESS, "MLIR crash reproducer", r"disabling MLIR crash reproducer", topic="compiler"),
    row(HARMLESS, "Registers are spilled", r"Registers are spilled to local memory in function", topic="compiler"),
    row(
        HARMLESS,
        "Delay kernel timed out",
        r"Delay kernel timed out: measured time has sub-optimal accuracy",
        topic="compiler",
    ),
    row(HARMLESS, "AutoGraph could not", r"AutoGraph could not transform", topic="autograph"),
    row(
        HARMLESS,
        "The calling iterator did not",
        r"The calling iterator did not fully read the dataset being cached",
        topic="end-of-data",
    ),
)
