"""The place of the run view: what it will show, and what does the same until then. It shows no figure that nothing measured."""

from __future__ import annotations

from gpudoctor.tui.views.lines import Line, Span, wrap

TEXTS = (
    ("No training run is being watched.", "strong"),
    ("", ""),
    ("This view is for one run of your training script, started with", ""),
    ("   gpudoctor run -- python train.py", "good"),
    ("", ""),
    (
        (
            "It will show steps per second, how each step's time divides into waiting for input, device, host and the rest, "
            "the tf.data pipeline with its bottleneck, the hot lines of your source, and the memory's slope; findings "
            "appear while the run goes on."
        ),
        "",
    ),
    ("", ""),
    ("It does not follow a run yet: `gpudoctor run` reports when your script ends,", "warn"),
    ("and `gpudoctor sessions` lists what it recorded. What can be watched now:", "warn"),
    ("   1  Machine: is the GPU at work, and what holds it down", ""),
    ("   2  Doctor: why TensorFlow does not use it, and which fix brings what", ""),
)


def run_lines(width: int) -> list[Line]:
    """Return the text."""
    return [(Span(f"  {line}", style),) for text, style in TEXTS for line in wrap(text, min(width, 100) - 4)]
