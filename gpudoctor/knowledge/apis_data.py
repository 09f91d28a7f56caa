"""Rows of `apis`. Facts of 2026-12-01.

Read in the wheels of PyPI, each boundary between two neighbours: tensorflow 1.13.1, 1.14.0, 2.0.4 and tensorflow-cpu 2.1.4,
2.2.3, 2.3.4, 2.4.4, 2.5.3, 2.6.5, 2.8.4, 2.9.3 (the modules of tensorflow/_api, the sources behind them, the strings of the
main library), keras 2.6.0, 2.7.0, 2.8.0, 3.0.0, 3.0.2, 3.15.1. An older end that was not read lies at the oldest that was.
"""

from __future__ import annotations

from gpudoctor.knowledge.apis import TF_2, Api, Form

GROW_IN_SESSION = (
    "config = tf.ConfigProto(); config.gpu_options.allow_growth = True; session = tf.Session(config=config)"
)

APIS: tuple[Api, ...] = (
    # whole lines
    Api(
        name="gradient_accumulation_steps",
        pattern=r"optimizer = keras\.optimizers\.Adam\(gradient_accumulation_steps=(\d+)\)  # Keras 3; and ([^\n]*)",
        package="keras",
        since="3.0.2",
        older=(
            Form(
                since=TF_2,
                text=(
                    r"total = [t + g / \1 for t, g in zip(total, tape.gradient(loss, weights))]  # for each of \1 parts; \2"
                    "\noptimizer.apply_gradients(zip(total, weights))  # once for all of them; then zeros again"
                ),
            ),
            Form(
                since="1.0",
                text=(
                    "total = [tf.Variable(tf.zeros_like(w.initialized_value()), trainable=False) for w in tf.trainable_variables()]\n"
                    r"add = [t.assign_add(g / \1) for t, (g, _) in zip(total, optimizer.compute_gradients(loss))]  # for each of \1 parts; \2"
                    "\nstep = optimizer.apply_gradients(zip(total, tf.trainable_variables()))  # once for all of them; then zeros again"
                ),
            ),
        ),
    ),
    Api(
        name="set_memory_growth",
        pattern=(
            r"for gpu in tf\.config\.list_physical_devices\('GPU'\): tf\.config\.experimental\.set_memory_growth\(gpu, True\)"
        ),
        since="2.1",
        older=(
            Form(
                since="1.14",
                text=(
                    "for gpu in tf.config.experimental.list_physical_devices('GPU'): "
                    "tf.config.experimental.set_memory_growth(gpu, True)"
                ),
            ),
            Form(since="1.0", text=GROW_IN_SESSION),
        ),
    ),
    Api(
        name="TF_FORCE_GPU_ALLOW_GROWTH",
        pattern=r"export TF_FORCE_GPU_ALLOW_GROWTH=true",
        since="1.13",
        older=(Form(since="1.0", text=GROW_IN_SESSION, action="diff"),),
    ),
    Api(
        name="set_logical_device_configuration",
        pattern=(
            r"gpu = tf\.config\.list_physical_devices\('GPU'\)\[0\]\n"
            r"tf\.config\.set_logical_device_configuration\(gpu, \[tf\.config\.LogicalDeviceConfiguration\(memory_limit=([^)\n]*)\)\]\)"
        ),
        since="2.1",
        older=(
            Form(
                since="1.14",
                text=(
                    "gpu = tf.config.experimental.list_physical_devices('GPU')[0]\n"
                    "tf.config.experimental.set_virtual_device_configuration("
                    r"gpu, [tf.config.experimental.VirtualDeviceConfiguration(memory_limit=\1)])"
                ),
            ),
            Form(
                since="1.0",
                text=(
                    r"options = tf.GPUOptions(per_process_gpu_memory_fraction=(\1) / GPU_MIB)  # GPU_MIB: the GPU's size"
                    "\nsession = tf.Session(config=tf.ConfigProto(gpu_options=options))"
                ),
            ),
        ),
    ),
    Api(
        name="LogicalDeviceConfiguration",
        pattern=r"tf\.config\.LogicalDeviceConfiguration\(memory_limit=([^)\n]*)\)",
        since="2.1",
        older=(
            Form(since="1.14", text=r"tf.config.experimental.VirtualDeviceConfiguration(memory_limit=\1)"),
            Form(since="1.0", text=r"tf.GPUOptions(per_process_gpu_memory_fraction=\1 / GPU_MIB)"),
        ),
    ),
    Api(
        name="get_memory_info",
        pattern=r"python -c \"import tensorflow as tf; print\(tf\.config\.experimental\.get_memory_info\('GPU:0'\)\)\"[^\n]*",
        since="2.5",
        older=(
            Form(
                since="1.14",
                text="nvidia-smi --query-gpu=memory.used --format=csv -l 5  # of a training with TF_FORCE_GPU_ALLOW_GROWTH=true: growing or not",
            ),
            Form(
                since="1.0",
                text="nvidia-smi --query-gpu=memory.used --format=csv -l 5  # of a training with gpu_options.allow_growth: growing or not",
            ),
        ),
    ),
    Api(
        name="get_memory_info in a program",
        pattern=r"print\(tf\.config\.experimental\.get_memory_info\('GPU:0'\)\)",
        since="2.5",
        older=(Form(since="2.4", text="print(tf.config.experimental.get_memory_usage('GPU:0'))"),),
    ),
    Api(
        name="bucket_by_sequence_length",
        pattern=(
            r"dataset = dataset\.bucket_by_sequence_length\(([^#]*)\)  # none longer than the last\n"
            r"# or one shape: (dataset\.padded_batch\([^\n]*\))"
        ),
        since="2.6",
        older=(
            Form(
                since="1.14",
                text=(
                    "dataset = dataset.apply(tf.data.experimental.bucket_by_sequence_length("
                    r"\1))  # none longer than the last"
                    "\n"
                    r"# or one shape: \2"
                ),
            ),
            Form(since="1.0", text=r"dataset = \2"),
        ),
    ),
    Api(
        name="jit_compile of compile()",
        pattern=r"model\.compile\(\.\.\., jit_compile=False\)",
        since="2.8",
        older=(
            Form(since=TF_2, text="tf.config.optimizer.set_jit(False)  # and no compiling argument at tf.function"),
            Form(
                since="1.0",
                text="config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.OFF  # of the session",
            ),
        ),
    ),
    Api(
        name="get_scaled_loss",
        pattern=r"  # get_scaled_loss, get_unscaled_gradients",
        package="keras",
        since="1.0",
        gone="3.0",
        newer="  # loss = optimizer.scale_loss(loss)",
    ),
    Api(
        name="enable_check_numerics",
        pattern=r"tf\.debugging\.enable_check_numerics\(\)",
        since="2.1",
        older=(
            Form(since=TF_2, text="loss = tf.debugging.check_numerics(loss, 'loss')"),
            Form(since="1.0", text="check = tf.add_check_numerics_ops()  # and let the session run it with the step"),
        ),
    ),
    Api(
        name="set_soft_device_placement",
        pattern=r"tf\.config\.set_soft_device_placement\(True\)",
        since="1.14",
        older=(Form(since="1.0", text="session = tf.Session(config=tf.ConfigProto(allow_soft_placement=True))"),),
    ),
    Api(
        name="cuda_malloc_async",
        pattern=r"TF_GPU_ALLOCATOR=cuda_malloc_async",
        since="2.5",  # gpu_cudamallocasync_allocator.h: it needs CUDA 11.2, with which 2.5 is the first to be built
    ),
    # names
    Api(
        name="jit_compile of tf.function",
        pattern=r"@tf\.function\(jit_compile=True\)",
        since="2.5",
        older=(Form(since="2.2", text="@tf.function(experimental_compile=True)"),),
    ),
    Api(
        name="TF_CPP_MAX_VLOG_LEVEL",
        pattern=r"TF_CPP_MAX_VLOG_LEVEL=",
        since="2.5",
        older=(Form(since="1.0", text="TF_CPP_MIN_VLOG_LEVEL="),),
    ),
    Api(
        name="set_global_policy",
        pattern=r"keras\.mixed_precision\.set_global_policy",
        since="2.4",
        older=(Form(since="2.1", text="keras.mixed_precision.experimental.set_policy"),),
    ),
    Api(
        name="LossScaleOptimizer",
        pattern=r"keras\.mixed_precision\.LossScaleOptimizer\(optimizer\)",
        since="2.4",
        older=(Form(since="2.1", text="keras.mixed_precision.experimental.LossScaleOptimizer(optimizer, 'dynamic')"),),
    ),
    Api(
        name="list_physical_devices",
        pattern=r"tf\.config\.list_physical_devices",
        since="2.1",
        older=(
            Form(since="1.14", text="tf.config.experimental.list_physical_devices"),
            Form(since="1.0", text="tf.test.is_gpu_available"),
        ),
    ),
    Api(
        name="AUTOTUNE",
        pattern=r"tf\.data\.AUTOTUNE",
        since="2.4",
        older=(Form(since="1.13", text="tf.data.experimental.AUTOTUNE"), Form(since="1.4", text="os.cpu_count()")),
    ),
    Api(
        name="image.resize",
        pattern=r"tf\.image\.resize\(",
        since=TF_2,
        older=(Form(since="1.0", text="tf.image.resize_images("),),
    ),
    Api(
        name="image.extract_patches",
        pattern=r"tf\.image\.extract_patches",
        since=TF_2,
        older=(Form(since="1.0", text="tf.extract_image_patches"),),
    ),
    Api(
        name="output_signature",
        pattern=r"output_signature=(\w*)signature",
        since="2.4",
        older=(Form(since="1.4", text=r"output_types=\1types, output_shapes=\1shapes"),),
    ),
    Api(
        name="reduce_retracing",
        pattern=r"reduce_retracing=True",
        since="2.9",
        older=(Form(since=TF_2, text="experimental_relax_shapes=True"),),
    ),
    Api(
        name="run_functions_eagerly",
        pattern=r"tf\.config\.run_functions_eagerly",
        since="2.3",
        older=(Form(since=TF_2, text="tf.config.experimental_run_functions_eagerly"),),
    ),
    Api(
        name="enable_tensor_float_32_execution",
        pattern=r"tf\.config\.experimental\.enable_tensor_float_32_execution",
        since="2.4",
    ),
    Api(
        name="set_log_device_placement",
        pattern=r"tf\.debugging\.set_log_device_placement\(True\)",
        since="1.14",
        older=(Form(since="1.0", text="session = tf.Session(config=tf.ConfigProto(log_device_placement=True))"),),
    ),
    Api(
        name="steps_per_execution",
        pattern=r"steps_per_execution=(\d+)",
        since="2.4",
        older=(Form(since="2.3", text=r"experimental_steps_per_execution=\1"),),
    ),
    Api(
        name="set_dtype_policy",
        pattern=r"keras\.config\.set_dtype_policy",
        package="keras",
        since="3.0",
        older=(Form(since="2.4", text="keras.mixed_precision.set_global_policy"),),
    ),
    Api(
        name="set_floatx",
        pattern=r"keras\.config\.set_floatx",
        package="keras",
        since="3.0",
        older=(Form(since="1.0", text="keras.backend.set_floatx"),),
    ),
)
