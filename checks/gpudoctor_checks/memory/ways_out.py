"""Ways to make a training fit, ranked, each with the peak that it is predicted to need: pure arithmetic on bounds.

What a step needs is a part that is there whatever the batch (weights, gradients, moments) and a part that grows with it.
From a line through measured peaks both are known, from a dump (`dump_need`) a lower bound only. A bound without evidence is
missing; a guess in its place would be believed. What float16 or the CPU saves is measured by no trial, so those peaks are
called bounds, also by the line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from gpudoctor.sdk import Fix, Maybe, Missing, Peak, either
from gpudoctor_checks.said import change, unproven

# Of a pool: what tensors can take; the allocator cannot use every gap. Measured on the CPU's BFC allocator, 256 MiB,
# TensorFlow 2.12 to 2.21: see child_ladder.USABLE_SHARE.
USABLE_SHARE = 0.9
MOST_PARTS = 64  # policy: a batch cut into more pieces keeps no GPU busy
MOMENTS = 2  # Adam keeps two figures for each weight (Kingma and Ba, 2015)
NO_DUMP = Missing("the text holds no whole dump of the allocator")
NO_WEIGHTS = Missing("what the weights take is not known")


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What training needs: at least `low`, at most `high` bytes, and what part of either grows with the batch.

    Of `low` at most `growing_of_low` does, of `high` at least `growing_of_high`: what a smaller batch saves of each end.
    `weights`: one copy of the trained weights; `limit`: the pool's size; `batch`: 0 where it is not known.
    """

    low: Maybe[int] = NO_DUMP
    high: Maybe[int] = NO_DUMP
    growing_of_low: Maybe[int] = NO_DUMP
    growing_of_high: Maybe[int] = NO_DUMP
    weights: Maybe[int] = NO_WEIGHTS
    limit: Maybe[int] = NO_DUMP
    batch: int = 0
    basis: str = "the text tells no sizes"


def from_line(
    *,
    fixed: float,
    each: float,
    fixed_high: float,
    each_high: float,
    batch: int,
    limit: int,
    weights: Maybe[int],
) -> Need:
    """Return what a batch needs by the line through measured peaks, and at most by the line above which none of them lies.

    The upper line is the one that the ladder's largest batch goes by (`child_ladder`): what is said to fit here is no
    larger than what is promised there.
    """
    return Need(
        low=round(fixed + each * batch),
        high=round(fixed_high + each_high * batch),
        growing_of_low=round(each * batch),
        growing_of_high=round(each_high * batch),
        weights=weights,
        limit=limit,
        batch=batch,
        basis=f"line through measured peaks: {fixed / 2**20:.1f} MiB + {each / 2**10:.2f} KiB x batch",
    )


def smaller(need: Need, parts: int) -> Peak:
    """Return the peak with a batch of one part."""
    return _bounds(need, _kept(need.growing_of_low, parts), _kept(need.growing_of_high, parts))


def accumulated(need: Need, parts: int) -> Peak:
    """Return the peak when the batch is run in parts and the gradients are added up in one more copy of the weights."""
    part = smaller(need, parts)
    high = _sum(part.high_bytes, need.weights)
    return replace(part, low_bytes=_sum(part.low_bytes, either(need.weights, 0)), high_bytes=high)


def mixed(need: Need) -> Peak:
    """Return the peak with float16 activations: at best half of what grows is saved, and float16 weights come on top."""
    halved = _bounds(need, _kept(need.growing_of_low, 2), 0)
    high = _sum(halved.high_bytes, _share(need.weights, 0.5))
    return replace(
        halved, high_bytes=high, bound=True, basis=f"{need.basis}; a bound: at best half of what grows is saved"
    )


def partly_on_cpu(need: Need) -> Peak:
    """Return the peak with layers on the CPU: at best all weights go with their gradients and moments."""
    moved = _share(need.weights, 2 + MOMENTS)
    peak = _bounds(need, moved, 0 if not isinstance(moved, Missing) else moved)
    return replace(
        peak, bound=True, basis=f"{need.basis}; a bound: at best all weights, gradients and moments are moved"
    )


def _bounds(need: Need, most_saved: Maybe[int], least_saved: Maybe[int]) -> Peak:
    low, high = _less(need.low, most_saved), _less(need.high, least_saved)
    return Peak(low_bytes=low, high_bytes=high, basis=need.basis, bound=isinstance(high, Missing))


def _kept(growing: Maybe[int], parts: int) -> Maybe[int]:
    """Return what is saved of the growing part."""
    return growing if isinstance(growing, Missing) else math.floor(growing * (1 - 1 / parts))


def _less(total: Maybe[int], saved: Maybe[int]) -> Maybe[int]:
    if isinstance(total, Missing):
        return total
    return saved if isinstance(saved, Missing) else max(0, total - saved)


def _sum(first: Maybe[int], second: Maybe[int]) -> Maybe[int]:
    if isinstance(first, Missing):
        return first
    return second if isinstance(second, Missing) else first + second


def _share(value: Maybe[int], share: float) -> Maybe[int]:
    return value if isinstance(value, Missing) else round(value * share)


def fits(peak: Peak, limit: Maybe[int]) -> bool | None:
    """Return whether it surely fits into the pool (True), surely not (False), or neither is known."""
    if isinstance(limit, Missing):
        return None
    room = USABLE_SHARE * limit
    if not isinstance(peak.high_bytes, Missing) and peak.high_bytes <= room:
        return True
    return False if not isinstance(peak.low_bytes, Missing) and peak.low_bytes > limit else None


def parts_needed(need: Need) -> int:
    """Return into how many parts the batch must be cut: the fewest that surely fit, else that may, else the most."""
    most = min(MOST_PARTS, need.batch) if need.batch > 1 else MOST_PARTS
    tried = [1 << power for power in range(1, 1 + max(1, int(math.log2(most))))]
    if isinstance(need.limit, Missing) or isinstance(need.low, Missing):
        return tried[0]
    for wanted in (True, None):
        found = next((parts for parts in tried if fits(smaller(need, parts), need.limit) is wanted), None)
        if found is not None:
            return found
    return tried[-1]


def ways(need: Need) -> tuple[Fix, ...]:
    """Return the ways out: those that surely fit first, those that cannot fit last, else what changes least first."""
    parts = parts_needed(need)
    size = f"batch_size = {max(1, need.batch // parts)}" if need.batch else f"batch_size //= {parts}"
    offered = (
        _way(
            "gradient-accumulation",
            f"Same batch in {parts} parts, gradients added up",
            f"optimizer = keras.optimizers.Adam(gradient_accumulation_steps={parts})  # Keras 3; and {size}",
            accumulated(need, parts),
            need,
        ),
        _way("smaller-batch", "Smaller batch", size, smaller(need, parts), need),
        _way(
            "mixed-precision-memory",
            "Float16 activations",
            'keras.mixed_precision.set_global_policy("mixed_float16")  # last layer: dtype="float32"',
            mixed(need),
            need,
        ),
        _way(
            "part-on-cpu",
            "The layer with most weights on the CPU",
            "with tf.device('/CPU:0'): x = keras.layers.Embedding(words, width)(x)  # or another layer large in weights",
            partly_on_cpu(need),
            need,
        ),
    )
    if isinstance(need.low, Missing):
        offered = (offered[1], offered[0], *offered[2:])  # nothing is predicted: the smallest change first
    order = {True: 0, None: 1, False: 2}
    return tuple(sorted(offered, key=lambda fix: order[fits(fix.peak or Peak(), need.limit)]))


def _way(name: str, title: str, text: str, peak: Peak, need: Need) -> Fix:
    words = {True: "predicted to fit", False: "predicted not to suffice alone", None: "may fit; not proven"}
    fix = change(name, title, text, why=f"{words[fits(peak, need.limit)]}: {peak.basis}", minutes=5)
    return replace(fix if fits(peak, need.limit) else unproven(fix, fix.gain.basis), peak=peak)
