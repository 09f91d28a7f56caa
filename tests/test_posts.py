"""Whole posts as people write them, prose and printed lines mixed: the cause, or that only a run tells, or nothing at all."""

from __future__ import annotations

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.from_text import judge_text
from gpudoctor.logs.facts import snapshot_of
from gpudoctor.logs.reader import read_events
from gpudoctor.model.observed import LogEvent
from tests.corpus import primary

CHECKS = registry.load().checks
# name: (the post, cause, first fix); '' where nothing is to be found, or where several fixes are as good
POSTS: dict[str, tuple[str, str, str]] = {
    "slow-generator": (
        """\
Hi all,

I'm training a ResNet50 on about 40k images on my RTX 3080 and it is painfully slow. Each epoch takes around 25 minutes.
I checked with nvidia-smi and the GPU is hardly used:

+-----------------------------------------------------------------------------+
| NVIDIA-SMI 515.65.01    Driver Version: 515.65.01    CUDA Version: 11.7     |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|===============================+======================+======================|
|   0  NVIDIA GeForce ...  Off  | 00000000:0A:00.0  On |                  N/A |
| 30%   48C    P2    98W / 320W |   9350MiB / 10240MiB |      4%      Default |
+-------------------------------+----------------------+----------------------+
| Processes:                                                                  |
|    0   N/A  N/A     31337      C   python                           9100MiB |
+-----------------------------------------------------------------------------+

train_gen = ImageDataGenerator(rescale=1./255, rotation_range=20).flow_from_directory('train', batch_size=32)
model.fit(train_gen, epochs=20, workers=1)

Epoch 1/20
 212/1250 [====>.........................] - ETA: 20:38 - loss: 2.1032 - accuracy: 0.31
1250/1250 [==============================] - 1493s 1s/step - loss: 1.7020 - accuracy: 0.42

Any ideas?
""",
        "input-pipeline",
        "measure-this-run",
    ),
    "slow-batch1": (
        """\
Why is my GPU not faster than my CPU?

I have a small MLP (3 layers, 64 units) for tabular data. On CPU one epoch takes 40 s, on the RTX 2060 it takes 95 s.

model.fit(X, y, epochs=10, batch_size=1)

Epoch 1/10
60000/60000 [==============================] - 95s 2ms/step - loss: 0.4411
GPU-Util hovers between 8% and 15%.
""",
        "launch-bound",
        "measure-this-run",
    ),
    "colab-drive": (
        """\
Google Colab Pro (T4). Training takes forever, the first epoch needs over an hour!

from google.colab import drive
drive.mount('/content/drive')
train_ds = tf.keras.utils.image_dataset_from_directory('/content/drive/MyDrive/data/train', batch_size=64)
model.fit(train_ds, epochs=5)

Epoch 1/5
 31/782 ━━━━━━━━━━━━━━━━━━━━ 1:02:13 5s/step - accuracy: 0.1022 - loss: 4.8011
""",
        "storage",
        "measure-this-run",
    ),
    "busy-gpu-slow": (
        """\
My BERT fine-tuning is slow on a single V100, 1.8 s/step. GPU utilization is at 97-99% all the time and I do not know what else to do.
TF 2.12, Ubuntu 20.04.
""",
        "compute-bound-healthy",
        "measure-this-run",
    ),
    "predict-loop": (
        """\
My RL agent (DQN) is very slow on GPU, about 20 steps per second, nvidia-smi shows GPU-Util 6%.

for step in range(10000):
    q = model.predict(state[None], verbose=0)
    action = np.argmax(q)
    state, r, done, _ = env.step(action)
    model.fit(np.array([state]), target, epochs=1, verbose=0)

1/1 [==============================] - 0s 22ms/step
1/1 [==============================] - 0s 23ms/step
""",
        "per-call-overhead",
        "measure-this-run",
    ),
    "custom-loop-eager": (
        """\
My custom training loop is 10x slower than model.fit on the same model (A100, TF 2.14, GPU utilization ~12%).

for epoch in range(EPOCHS):
    for x, y in train_ds:
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))

Epoch 1: 100%|##########| 500/500 [04:10<00:00,  2.00it/s]
""",
        "eager-or-tracing",
        "measure-this-run",
    ),
    "estimator-slow": (
        """\
tensorflow object detection api training is extremely slow on GTX 1080 Ti. gpu utilization is 0% most of the time with spikes up to 20%

INFO:tensorflow:global_step/sec: 0.31
INFO:tensorflow:loss = 2.11, step = 100 (322.580 sec)
""",
        "input-pipeline",
        "measure-this-run",
    ),
    "cpu-faster-than-gpu-tqdm": (
        """\
TF 2.10 on Windows 10, RTX 2070. Training takes forever compared to PyTorch:
100%|##########| 300/300 [25:00<00:00,  5.00s/it]
nvidia-smi --query-gpu=utilization.gpu,memory.used --format=csv
utilization.gpu [%], memory.used [MiB]
7 %, 6200 MiB
""",
        "input-pipeline",
        "measure-this-run",
    ),
    "slow-no-info": (
        """\
Hello, my deep learning is slow. What GPU should I buy? I have about 600 euros.
""",
        "",
        "",
    ),
    "healthy-fast": (
        """\
Epoch 1/3
1875/1875 [==============================] - 5s 2ms/step - loss: 0.2912 - accuracy: 0.9154
Epoch 2/3
1875/1875 [==============================] - 4s 2ms/step - loss: 0.1411 - accuracy: 0.9580
Epoch 3/3
1875/1875 [==============================] - 4s 2ms/step - loss: 0.1050 - accuracy: 0.9677
""",
        "",
        "",
    ),
    "import-slow": (
        """\
Importing tensorflow is very slow on my machine, it takes 40 seconds until the prompt is back:

$ time python -c "import tensorflow"
real    0m41.2s
Python 3.11, TF 2.16.1, Ubuntu 22.04, RTX 3060
""",
        "",
        "",
    ),
    "oom-with-idle-smi": (
        """\
I get OOM when training on an RTX 3060 (12GB):

|  0%   35C    P8    10W / 170W |    300MiB / 12288MiB |      0%      Default |
|    0   N/A  N/A      1201      G   /usr/lib/xorg/Xorg                250MiB |

Epoch 1/10
ResourceExhaustedError: Graph execution error:
OOM when allocating tensor with shape[256,512,56,56] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc [[node model/conv/Conv2D]]
""",
        "batch-too-large",
        "smaller-batch",
    ),
    "slow-with-missing-cuda": (
        """\
Training is very slow (8s/step) although I have an RTX 3090:
2023-11-11 11:11:11.111111: I tensorflow/tsl/cuda/cudart_stub.cc:28] Could not find cuda drivers on your machine, GPU will not be used.
2023-11-11 11:11:12.111111: W tensorflow/core/common_runtime/gpu/gpu_device.cc:2211] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.
Skipping registering GPU devices...
Epoch 1/3
  4/500 [..............................] - ETA: 1:06:08 - loss: 0.91
""",
        "missing-cuda-libs",
        "install-tensorflow-with-cuda",
    ),
    "slurm-no-gres": (
        """\
srun --partition=gpu --pty bash
[user@node07 ~]$ echo $SLURM_JOB_GPUS

[user@node07 ~]$ nvidia-smi
No devices were found
[user@node07 ~]$ python train.py
2024-03-03 10:00:00.000000: E tensorflow/compiler/xla/stream_executor/cuda/cuda_driver.cc:268] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
Num GPUs Available:  0
""",
        "scheduler-no-gpu",
        "ask-scheduler-for-gpu",
    ),
    "windows-tf-2.13": (
        """\
System information

OS platform and distribution
Windows 11 Pro 23H2

TensorFlow version
2.13.0

Python version
3.10.11

CUDA/cuDNN version
11.8 / 8.6

GPU model and memory
NVIDIA GeForce RTX 3070 8GB

Current behavior?

tf.config.list_physical_devices('GPU') returns [] although nvidia-smi works fine.
>>> tf.test.is_built_with_cuda()
False
""",
        "windows-native",
        "",
    ),
}


@pytest.mark.parametrize("name", POSTS)
def test_a_post_gets_its_cause_and_first_fix_or_nothing(name: str) -> None:
    text, cause, first_fix = POSTS[name]
    lines = text.splitlines()
    end = LogEvent(kind="text_end", line=len(lines))
    report = judge_text(snapshot_of((*read_events(lines), end)), CHECKS)
    found = primary(report)

    assert (found.cause if found is not None else "") == cause
    if first_fix or not cause:
        assert (report.fixes[0].id if report.fixes else "") == first_fix
