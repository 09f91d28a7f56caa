"""Product text is searched for claims that do not hold; here the net itself is tried, in both directions."""

from __future__ import annotations

import re

import pytest

from gpudoctor.knowledge import causes, claims, tensorflow_releases

MADE = {
    "input-shape-parameters": "An input of (28, 28, 1) costs over 10,000 extra parameters.",
    "memory-fill-is-use": "GPU memory utilisation should be over 90 %.",
    "cudnn-adam": "With cuDNN, Adam converges 27 % faster.",
    "visible-devices-limits-memory": "Call tf.config.set_visible_devices(gpus[0], 'GPU') to limit memory.",
    "growth-prevents-fragmentation": "Turn on memory growth: it prevents fragmentation.",
    "mixed-precision-percentages": "Mixed precision reduces GPU memory by 42 %.",
    "fixed-recipe": "Batch 128, 50 epochs and 0.1 validation split is the most stable choice.",
    "driver-535": "We recommend NVIDIA driver 535.",
    "tf-2.12-or-newer": "Upgrade to TensorFlow 2.12 or newer.",
    "a100-cudnn-8.6": "An A100 with Keras needs cuDNN 8.6.0.",
    "cuda-12.2-or-11.8": "Older devices need CUDA 11.8.",
    "batch-doubling-triples-memory": "Doubling the batch more than doubles memory.",
    "quantize-to-float16-flag": "Run tflite_convert --quantize_to_float16.",
    "unequal-memory-slows": "V100 cards of 16 GB and 32 GB in one strategy slow the training.",
    "few-epochs-hide-gpu": "Too few epochs leave the GPU idle.",
    "clear-session-frees-memory": "Call clear_session() regularly to free GPU memory.",
    "fragmentation-oscillates-loss": "The oscillating loss comes from memory fragmentation.",
    "low-utilisation-is-misconfiguration": "GPU utilisation of 5 % means that something is not configured.",
    "mnist-780": "Dense(128, input_shape=(780,))",
    "sixty-percent-faster": "Training time falls by 60 % or more.",
}


@pytest.mark.parametrize("claim", claims.FALSE_CLAIMS, ids=lambda claim: claim.id)
def test_each_claim_is_caught_when_a_text_makes_it(claim: claims.Claim) -> None:
    assert claim in claims.asserted(MADE[claim.id])


@pytest.mark.parametrize("claim", claims.FALSE_CLAIMS, ids=lambda claim: claim.id)
def test_each_claim_has_a_truth_and_a_source_and_its_truth_makes_no_claim(claim: claims.Claim) -> None:
    assert claim.truth
    assert claim.source
    assert claims.asserted(claim.truth) == ()


@pytest.mark.parametrize(
    "text",
    [
        "cuDNN has no optimizer: nothing in it can make Adam faster.",
        "Memory growth does not prevent fragmentation; it tends to add to it.",
        "set_visible_devices chooses devices; it never limits memory.",
        "Driver 535 is past its end of life since June 2026.",
        "Do not install driver 535.",
        "clear_session() does not give GPU memory back.",
        "Mixed precision trained 2.3 times as fast here (2.1-2.6, 95 %).",
        "Mixed precision measured 1.2-3.1x on this machine.",
        "Memory growth is on.\n\nFragmentation 0.46: the largest free chunk is 120 MiB.",
        "TensorFlow 2.12 to 2.15 with Keras 2 is supported as far as it goes.",
        "pip install 'tensorflow[and-cuda]==2.12.1'",
        "GPU memory: 61 of 80 GB reserved, 12 GB in use.",
    ],
)
def test_corrections_and_plain_figures_are_left_alone(text: str) -> None:
    assert claims.asserted(text) == ()


@pytest.mark.parametrize("text", ["sudo apt install nvidia-driver-535", "dnf module install nvidia-driver:535-dkms"])
def test_a_command_that_installs_an_ended_driver_is_caught(text: str) -> None:
    assert [each.id for each in claims.asserted(text)] == ["driver-535"]


@pytest.mark.parametrize("claim", claims.FALSE_CLAIMS, ids=lambda claim: claim.id)
def test_each_claim_has_patterns_that_compile(claim: claims.Claim) -> None:
    assert claim.asserts or claim.never
    assert all(re.compile(pattern) for pattern in (*claim.asserts, *claim.never))


@pytest.mark.parametrize(
    ("text", "id_"),
    [
        ("Memory use of 60 % means that a device is not used.", "memory-fill-is-use"),
        ("Too few epochs are a reason why the GPU is not used.", "few-epochs-hide-gpu"),
    ],
)
def test_a_claim_that_says_not_itself_is_still_caught(text: str, id_: str) -> None:
    assert id_ in [each.id for each in claims.asserted(text)]


def test_line_breaks_inside_a_sentence_do_not_hide_a_claim() -> None:
    assert claims.asserted("memory growth\n  prevents\n  fragmentation")


def test_reinstalling_everything_is_recognised() -> None:
    assert re.search(claims.REINSTALL_EVERYTHING, "Reinstall CUDA, cuDNN and the driver", re.IGNORECASE)


def test_the_fact_base_itself_makes_no_false_claim() -> None:
    texts = [cause.title for cause in causes.CAUSES]
    texts += [text for each in tensorflow_releases.DEFECTS for text in (each.summary, each.workaround, each.command)]
    assert [claims.asserted(text) for text in texts if claims.asserted(text)] == []
