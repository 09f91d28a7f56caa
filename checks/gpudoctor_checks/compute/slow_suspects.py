"""What may be behind a slow training, as far as a text tells: by what its code does, else by what is usual.

None of them is a finding of its own: the same figures are printed whichever it is.
"""

from __future__ import annotations

from collections.abc import Iterable

from gpudoctor.sdk import LogEvent

MOST = 3  # suspects that are named
# What the code shows: (cause, how it is called). Those of the first kind leave the GPU waiting, the others keep it at work.
WAITING = {
    "python-batches": ("input-pipeline", "the input pipeline (batches made in Python)"),
    "remote-files": ("storage", "files read over a network"),
    "calls-in-loop": ("per-call-overhead", "a call for each small piece"),
    "one-example": ("launch-bound", "steps of one example"),
    "eager": ("eager-or-tracing", "eager steps"),
    "histograms": ("epoch-end-stall", "histograms at each epoch's end"),
    "several-gpus": ("multi-gpu-no-gain", "several GPUs for a small step"),
}
WORKING = {
    "recurrent": ("rnn-cudnn", "recurrent layers without cuDNN"),
    "half-precision": ("mixed-precision-no-gain", "mixed precision that gains nothing"),
    "double-precision": ("float64", "float64"),
}
# By how many public threads there are of each (`causes`): what is likely where the code shows nothing.
USUAL = (("input-pipeline", "the input pipeline"), ("launch-bound", "too little work a step"))
ON_CPU = ("cpu-placement", "training that is not on the GPU")
BUSY = ("compute-bound-healthy", "no more than the model's own work")
CAUSES = tuple(dict.fromkeys(cause for cause, _ in (*USUAL, ON_CPU, BUSY, *WAITING.values(), *WORKING.values())))


def suspects_of(codes: Iterable[LogEvent], use: LogEvent | None, *, busy: bool) -> list[tuple[str, str]]:
    """Return the causes with their words, the likeliest first; `busy`: the GPU is seen at work, so that nothing starves it."""
    told = [each.values["what"] for each in codes]
    waiting = [WAITING[what] for what in WAITING if what in told]
    working = [WORKING[what] for what in WORKING if what in told]
    if busy:
        return [*working, BUSY][:MOST]
    absent = [ON_CPU] if "on-cpu" in told or (use is not None and use.values.get("process") == "no") else []
    named = {cause for cause, _ in waiting}
    usual = [each for each in USUAL if each[0] not in named]
    return [*absent, *waiting, *(working if use is None else []), *usual][:MOST]


def in_words(suspects: list[tuple[str, str]]) -> str:
    """Return them as a guess in a sentence."""
    *others, last = [words for _, words in suspects]
    return f"perhaps {', '.join(others)} or {last}" if others else f"perhaps {last}"
