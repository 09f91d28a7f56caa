"""Popular claims about GPU training that are false, misleading or outdated, as patterns that advice must never match.

For tests over all product text. A sentence that denies a claim is allowed, hence the look for a negation before each
match; a plain list of forbidden words would be tempting and would forbid the correction too. Facts of 2026-11-30.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from gpudoctor.knowledge.row import Row

ClaimVerdict = Literal["false", "misleading", "outdated", "unproven"]

_SENTENCE_END = re.compile(r"[.!?;]\s|\n\s*\n")
_NEGATION = re.compile(
    r"\b(?:not|never|no|none|nor|nothing|neither|cannot|without|hardly|rather than|instead of|past its end|end of life)\b"
    r"|n't\b",
    re.IGNORECASE,
)
_NEGATION_REACH = 60  # characters before a match, inside its sentence, in which a "not" turns it round


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Claim(Row):
    """One claim. `asserts`: wrong unless the sentence denies it; `never`: wrong in any sentence, such as a command.

    Patterns ignore case; a blank in them stands for any white space. `truth` is what holds instead.
    """

    id: str
    claim: str
    verdict: ClaimVerdict
    asserts: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    truth: str
    source: str


FALSE_CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="input-shape-parameters",
        claim="An input layer of (28, 28, 1) instead of (28, 28) costs 10,000 extra parameters",
        verdict="false",
        asserts=(r"28, ?28, ?1\).{0,80}\b(?:costs?|adds?|needs?|takes?|more|extra)\b.{0,40}parameters",),
        truth="Flatten gives 784 features either way: 101,770 parameters in both.",
        source="run: tensorflow-cpu 2.21.0, keras 3.15.1",
    ),
    Claim(
        id="memory-fill-is-use",
        claim="GPU memory utilisation should be over 90 %; 60 % means that a device is not used",
        verdict="false",
        asserts=(
            r"memory (?:utili[sz]ation|usage|use|fill).{0,30}\b(?:should|must|ought|needs? to)\b.{0,30}\b9\d ?%",
            r"memory.{0,30}\b60 ?%.{0,60}\b(?:unused|idle|under-?used|not enabled)\b",
        ),
        never=(r"memory.{0,40}\b60 ?% means.{0,40}\bnot (?:used|enabled)",),
        truth="TensorFlow maps nearly all memory at start; how full it is says nothing of use.",
        source="tensorflow/docs site/en/guide/gpu.ipynb; tensorflow/core/common_runtime/gpu/gpu_device.cc",
    ),
    Claim(
        id="cudnn-adam",
        claim="Adam converges 27 % faster with cuDNN",
        verdict="false",
        asserts=(
            r"\bcudnn\b.{0,60}\badam\b.{0,60}\b(?:fast|faster|accelerat\w+|converge\w*|speeds?|quicker)",
            r"\badam\b.{0,60}\b(?:fast|faster|accelerat\w+|converge\w*|speeds?|quicker).{0,60}\bcudnn\b",
            r"\bcudnn\b.{0,40}\b(?:accelerat\w+|speeds? up|optimi[sz]es)\b.{0,30}\b(?:adam|optimi[sz]er)",
        ),
        never=(r"\bcudnn[- ]adam\b", r"adam.{0,40}\b27 ?%"),
        truth="cuDNN has no optimizer; it matters for convolution, RNN, normalisation and attention.",
        source="nvidia-cudnn-cu12 9.3.0.75 wheel, include/*.h",
    ),
    Claim(
        id="visible-devices-limits-memory",
        claim="tf.config.set_visible_devices limits GPU memory",
        verdict="false",
        asserts=(
            r"set_visible_devices.{0,60}\b(?:limit|cap|restrict|reduce|save|bound)\w*\b.{0,30}memory",
            r"\b(?:limit|cap|restrict|reduce|save|bound)\w*\b.{0,30}memory.{0,60}set_visible_devices",
        ),
        truth="It chooses devices; memory_limit of a logical device caps memory, memory growth shares it.",
        source="docstrings of tensorflow-cpu 2.21.0; tensorflow/docs site/en/guide/gpu.ipynb",
    ),
    Claim(
        id="growth-prevents-fragmentation",
        claim="set_memory_growth prevents fragmentation",
        verdict="false",
        asserts=(
            r"growth.{0,60}\b(?:prevent|avoid|reduce|lower|cure|fix|lessen|help|solve)\w*\b.{0,40}fragment",
            r"fragment\w*.{0,60}\b(?:enable|turn on|switch on|use|try|set|activate)\b.{0,30}growth",
            r"\b(?:prevent|avoid|reduce|cure|fix)\w* .{0,20}fragment\w*.{0,40}\bgrowth\b",
        ),
        truth="The opposite: growth adds region after region; the default mapping reduces fragmentation.",
        source="tensorflow/docs site/en/guide/gpu.ipynb",
    ),
    Claim(
        id="mixed-precision-percentages",
        claim="Mixed precision cuts memory by 42 % and is 2-3 times faster",
        verdict="misleading",
        asserts=(
            r"mixed[ _-]?(?:precision|b?float16).{0,80}(?:reduc|cut|sav|halv|lower)\w*.{0,40}memory.{0,20}\d\d ?%",
            r"mixed[ _-]?(?:precision|b?float16).{0,80}(?:reduc|cut|sav|lower)\w*.{0,20}\d\d ?%.{0,30}memory",
            r"mixed[ _-]?(?:precision|b?float16).{0,80}(?<![\d.])2 ?(?:-|–|to) ?3 ?(?:x\b|times|fold)",  # noqa: RUF001
            r"mixed[ _-]?(?:precision|b?float16).{0,40}\balways\b.{0,40}\b(?:faster|pays|helps)",
        ),
        never=(r"\b42 ?%.{0,40}memory", r"memory.{0,40}\b42 ?%"),
        truth="Activations halve, weights do not; speed needs tensor cores and enough work: measure it.",
        source="run: keras 3.15.1; tensorflow/docs site/en/guide/mixed_precision.ipynb",
    ),
    Claim(
        id="fixed-recipe",
        claim="A fixed batch of 128, 50 epochs and 0.1 validation split is more stable",
        verdict="false",
        asserts=(
            r"\b128\b.{0,40}\b50\b.{0,20}epochs.{0,80}(?:stable|best|recommend)",
            r"fixed batch.{0,60}more stable",
        ),
        truth="Batch, learning rate and memory go together; validation_split takes the last, unshuffled part.",
        source="keras 3.15.1 src/trainers/data_adapters/array_slicing.py, train_validation_split",
    ),
    Claim(
        id="driver-535",
        claim="NVIDIA driver 535 is recommended",
        verdict="outdated",
        asserts=(
            r"\b(?:recommend\w*|install|use|upgrade to|update to|prefer|choose)\b.{0,40}\bR?535\b",
            r"\bdriver (?:branch )?R?535\b.{0,40}\b(?:recommend\w*|is enough|is right|is best|is current)",
        ),
        never=(r"nvidia-(?:driver|dkms|utils|headless)-535", r"nvidia-driver:535", r"cuda-drivers-535"),
        truth="R535 is past its end of life since June 2026; R580 is the long-term branch for Maxwell and newer.",
        source="endoflife-date/endoflife.date products/nvidia-driver.md; NVIDIA data-centre driver documentation",
    ),
    Claim(
        id="tf-2.12-or-newer",
        claim="TensorFlow 2.12 or newer is needed",
        verdict="outdated",
        asserts=(
            r"\b(?:use|upgrade to|update to|install|recommend\w*|needs?)\b.{0,25}\b(?:TensorFlow|TF) ?v?2\.12 ?(?:\+|or newer)",
            r"\b(?:TensorFlow|TF) ?v?2\.12 (?:or|and) (?:newer|later|above|higher|up)\b.{0,30}\b(?:needed|recommended|best)",
        ),
        never=(r"tensorflow(?:\[and-cuda\])?>=2\.12(?:\.0)?['\"\s]",),
        truth="It depends on the GPU: Kepler ends after 2.14, Maxwell after 2.16.2, Windows after 2.10.",
        source="the tables of TensorFlow releases, CUDA toolkits, drivers and cuDNN",
    ),
    Claim(
        id="a100-cudnn-8.6",
        claim="An A100 with Keras needs cuDNN 8.6.0",
        verdict="outdated",
        asserts=(
            r"\bA100\b.{0,60}\bcudnn ?8\.6",
            r"\b(?:install|needs?|requires?|use)\b.{0,30}\bcudnn ?8\.6(?:\.0)?\b.{0,60}\b(?:A100|Keras)",
        ),
        truth="A100 is supported since cuDNN 8.0; 8.6 is what TensorFlow 2.12 and 2.13 were built with.",
        source="the tables of TensorFlow and cuDNN releases",
    ),
    Claim(
        id="cuda-12.2-or-11.8",
        claim="CUDA 12.2 is mainstream, old devices need CUDA 11.8",
        verdict="outdated",
        asserts=(
            r"CUDA 12\.2.{0,30}\b(?:mainstream|recommended|standard|preferred)",
            r"\b(?:old|older)\b.{0,20}\b(?:devices?|GPUs?|cards?)\b.{0,40}\b(?:need|require|use|install)\w*\b.{0,20}CUDA 11\.8",
        ),
        truth="Only TensorFlow 2.15 is built with 12.2; only Kepler needs CUDA 11; with [and-cuda] the driver decides.",
        source="the tables of TensorFlow releases and CUDA toolkits",
    ),
    Claim(
        id="batch-doubling-triples-memory",
        claim="Doubling the batch moves memory from 1.2 GB to 3.7 GB",
        verdict="false",
        asserts=(r"doubl\w+ (?:the )?batch.{0,60}\b(?:triples?|more than doubles?|three times)\b.{0,30}memory",),
        never=(r"1\.2 ?GB?.{0,30}3\.7 ?GB",),
        truth="The need is a + b x batch, so doubling the batch at most doubles it; measure the peak inside TensorFlow.",
        source="arithmetic; get_memory_info in tensorflow-cpu 2.21.0",
    ),
    Claim(
        id="quantize-to-float16-flag",
        claim="tflite_convert --quantize_to_float16 shrinks a model",
        verdict="misleading",
        asserts=(r"--quantize_to_float16",),
        truth="The default converter ignores the flag silently, and it has nothing to do with training memory.",
        source="runs with tensorflow-cpu 2.21.0; tensorflow/lite/python/tflite_convert.py",
    ),
    Claim(
        id="unequal-memory-slows",
        claim="V100 cards of 16 GB and 32 GB in one MirroredStrategy slow the training",
        verdict="misleading",
        asserts=(
            r"(?:different|unequal|mixed|mixing) (?:GPU )?memory(?: sizes?)?.{0,40}\bslow",
            r"16 ?GB.{0,40}32 ?GB.{0,60}\bslow",
        ),
        truth="The slowest member sets the pace and the smallest memory bounds the batch; memory size itself slows nothing.",
        source="property of synchronous all-reduce; table of GPUs",
    ),
    Claim(
        id="few-epochs-hide-gpu",
        claim="Too few epochs are a reason why the GPU is not used",
        verdict="false",
        asserts=(
            r"\b(?:too few|few|more|low number of) epochs\b.{0,60}\bGPU\b.{0,30}\b(?:unused|idle|inactive)",
            r"\bGPU\b.{0,40}\b(?:unused|idle|not used)\b.{0,60}\b(?:increase|raise|more)\b.{0,20}epochs",
        ),
        never=(r"\bfew epochs\b.{0,40}\b(?:reason|why|cause)\b.{0,40}\bGPU\b.{0,20}\bnot used",),
        truth="Placement is the same in every epoch; short runs are dominated by start-up and compilation.",
        source="tensorflow/docs site/en/guide/gpu.ipynb; keras 3.15.1 src/trainers/trainer.py",
    ),
    Claim(
        id="clear-session-frees-memory",
        claim="Calling tf.keras.backend.clear_session() regularly frees GPU memory",
        verdict="misleading",
        asserts=(
            r"clear_session.{0,60}\b(?:free|release|return|reclaim|empt|give back)\w*\b.{0,30}\b(?:GPU|memory|device)",
            r"\b(?:free|release|reclaim|empty)\w*\b.{0,30}\b(?:GPU )?memory.{0,60}clear_session",
        ),
        truth="TensorFlow keeps its pool for the life of the process; end the process to give memory back.",
        source="keras 3.15.1 clear_session docstring; tensorflow/docs site/en/guide/gpu.ipynb",
    ),
    Claim(
        id="fragmentation-oscillates-loss",
        claim="An oscillating loss was caused by GPU memory fragmentation",
        verdict="false",
        asserts=(
            r"(?:oscillat|unstable|unsteady|jump)\w*.{0,40}\bloss\b.{0,60}fragment",
            r"\bloss\b.{0,40}(?:oscillat|unstable|unsteady|jump)\w*.{0,60}fragment",
            r"fragment\w*.{0,60}(?:oscillat\w*|unstable|unsteady).{0,20}\bloss\b",
        ),
        truth="Where a tensor lies does not change its values; look at learning rate, data order and loss scaling.",
        source="argument from what an allocator does",
    ),
    Claim(
        id="low-utilisation-is-misconfiguration",
        claim="GPU utilisation of 5 % means that something is not configured",
        verdict="misleading",
        asserts=(r"utili[sz]ation.{0,30}\b\d ?%.{0,60}\b(?:mis-?configured|configured wrongly|wrongly configured)",),
        never=(r"utili[sz]ation.{0,30}\b\d ?% means.{0,40}\bnot configured",),
        truth="A small network is bound by kernel launches on a large GPU with nothing configured wrongly.",
        source="NVML documentation of nvmlDeviceGetUtilizationRates; arithmetic",
    ),
    Claim(
        id="mnist-780",
        claim="MNIST needs input_shape=(780,)",
        verdict="false",
        never=(r"input_shape ?= ?\(780,?\)", r"\(780, ?\)"),
        truth="28 x 28 = 784.",
        source="arithmetic",
    ),
    Claim(
        id="sixty-percent-faster",
        claim="With these tricks training time falls by 60 % or more",
        verdict="unproven",
        asserts=(r"training time.{0,30}(?:fall|drop|shrink|reduc|cut|shorten)\w*.{0,20}\b60 ?%",),
        truth="Gains do not add up, and a gain holds only for the workload on which it was measured.",
        source="no workload, machine or baseline is given for it",
    ),
)

REINSTALL_EVERYTHING = r"\bre-?install (?:everything|all|the whole|CUDA,? cuDNN,? and|the driver,? CUDA)"


def asserted(text: str) -> tuple[Claim, ...]:
    """Return the false claims that a text makes; those that it denies do not count."""
    return tuple(each for each in FALSE_CLAIMS if _makes(text, each))


def _makes(text: str, claim: Claim) -> bool:
    if any(_compiled(pattern).search(text) for pattern in claim.never):
        return True
    return any(not _denied(text, match) for pattern in claim.asserts for match in _compiled(pattern).finditer(text))


def _compiled(pattern: str) -> re.Pattern[str]:
    lazy = re.sub(r"\.\{0,\d+\}", r"\g<0>?", pattern)  # the shortest match stays inside its sentence
    return re.compile(lazy.replace(" ?", r"\s*").replace(" ", r"\s+"), re.IGNORECASE | re.DOTALL)


def _denied(text: str, match: re.Match[str]) -> bool:
    """Tell whether a negation stands in the match, or close before it in the same sentence, or a sentence ends inside."""
    if _SENTENCE_END.search(match.group()):
        return True
    before = _SENTENCE_END.split(text[: match.start()])[-1]
    return _NEGATION.search(before[-_NEGATION_REACH:] + match.group()) is not None
