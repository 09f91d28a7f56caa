"""GD451: the log of a run ends out of GPU memory.

What it does
    Reads who ran out of memory, what was asked for and the allocator's dump, and tells apart: another process holds the
    GPU, one whole array lies on it, XLA's code finds no room, memory lies in pieces, or model and batch need more. An
    allocator of the host (cpu, mklcpu, bfc_cpu_allocator_for_gpu, gpu_host_bfc) that runs out is told as the host's.

Why it matters
    The message is nearly the same for all. A smaller batch helps in one case of five, and the allocator's own hint about
    fragmentation is printed in every one.

How to fix
    Pool far below the card's size: end the other process, or give it a memory limit that leaves what this one needs. One
    chunk as large as the data: feed batches, made on the CPU. XLA's code: leave it room (growth, a limit) or compile without
    XLA. Memory in pieces: see GD402. Else a smaller batch, the same batch in parts whose gradients are added up, float16
    activations, or the layer with most weights on the CPU; each is shown with the peak that the dump lets predict. A dump
    bounds the need from below: the request that failed need not be the step's last. A memory limit is no way out there: it
    makes the pool smaller. Where the text does not tell, measure first. On a board where GPU and CPU share their memory
    (Jetson): see it with tegrastats, end the desktop, give the CPU's side swap, and limit the pool.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Finding, Gpus, Log, LogEvent, Trial, check
from gpudoctor_checks.memory.dump_need import from_dump, sizes
from gpudoctor_checks.memory.fragmentation import FEWER_SHAPES, USE_ASYNC
from gpudoctor_checks.memory.growth_remedies import GROW
from gpudoctor_checks.memory.host_shortage import model_on_host, of_the_host
from gpudoctor_checks.memory.memory_limit import beside_another, reserve
from gpudoctor_checks.memory.memory_remedies import FREE_GPU, MEASURE, ON_CPU, SMALLER_EXAMPLES, WHO, WITHOUT_XLA
from gpudoctor_checks.memory.oom_events import (
    SLIVER_BYTES,
    held_before,
    listed_before,
    number,
    on_host,
    one_array,
    one_example,
)
from gpudoctor_checks.memory.shared_board import for_board, on_board
from gpudoctor_checks.memory.shared_gpu import by_table, by_word
from gpudoctor_checks.memory.ways_out import ways
from gpudoctor_checks.said import events, first, log_finding, unproven, weigh_program

OF_BATCHES = frozenset({"smaller-batch", "gradient-accumulation"})


@check(
    code="GD451",
    slug="out-of-memory-in-log",
    title="The log ends out of GPU memory",
    family="memory",
    cause=("batch-too-large", "other-process", "data-on-gpu", "xla-memory", "fragmentation"),
    core=False,
)
def ran_out(log: Log, gpus: Gpus | None, baseline: Trial | None) -> Iterator[Finding]:
    """Say what the lines show, with the remedies of a board where GPU and CPU share their memory."""
    board = on_board(gpus)
    for each in _by_lines(log, gpus, baseline):
        yield for_board(each, reserve(gpus)) if board else each


def _by_lines(log: Log, gpus: Gpus | None, baseline: Trial | None) -> Iterator[Finding]:
    """Ask in the order in which one cause would hide the next."""
    if outside := of_the_host(log):
        yield from model_on_host(outside, baseline)
        return
    dumps = [each for each in events(log, "oom") if not on_host(each)]
    device = events(log, "oom_device")
    tensors = [each for each in events(log, "oom_tensor") if not on_host(each)]
    copies, bare = events(log, "copy_failed"), events(log, "oom_bare")
    lines = (*dumps, *device, *copies, *tensors, *bare)
    slices = events(log, "slices_on_device")
    if not lines and not slices:
        yield from by_word(log, baseline)
        return
    xla = [each for each in device if each.values.get("why") == "xla_code"]
    arrays = [each for each in dumps if one_array(each)]
    if (held := held_before(log, dumps, device, gpus)) is not None:
        rest = next((each for each in reversed(held) if each.kind == "oom"), None)
        shared = beside_another(from_dump(rest, tensors), gpus)
        summary = "TensorFlow got only a rest of the GPU: another process holds it."
        weight = weigh_program(0.9, baseline)
        yield log_finding(summary, weight, held, *shared, cause="other-process", know=WHO, more=sizes(rest, tensors))
    elif others := listed_before(log, lines, gpus):
        yield by_table(others, lines, baseline)
    elif copies or slices or arrays:
        summary = "A whole array or data set is copied to the GPU."
        weight = weigh_program(0.9 if copies or (slices and lines) else 0.8 if arrays else 0.6, baseline)
        yield log_finding(summary, weight, (*copies, *slices, *arrays), ON_CPU, cause="data-on-gpu")
    elif xla:
        summary, weight = "XLA finds no memory to load its code: TensorFlow took it.", weigh_program(0.85, baseline)
        yield log_finding(summary, weight, xla, GROW, reserve(gpus), WITHOUT_XLA, cause="xla-memory")
    elif device and not dumps and not tensors and any(number(each, "asked_bytes") >= SLIVER_BYTES for each in device):
        weight = weigh_program(0.6, baseline)
        summary = "TensorFlow cannot take its pool: another process or notebook seems to hold the GPU."
        yield log_finding(summary, weight, device, FREE_GPU, GROW, cause="other-process", know=WHO)
    elif any(each.values.get("shortage") == "fragmentation" for each in dumps):
        return  # GD402 counts the pieces
    elif dumps and first(log, "bfc_garbage_collection") is not None and not any("shortage" in e.values for e in dumps):
        yield _in_pieces((*dumps, *events(log, "bfc_garbage_collection")), baseline)
    else:
        yield _too_large(lines, dumps, tensors, baseline)


def _in_pieces(lines: tuple[LogEvent, ...], trial: Trial | None) -> Finding:
    """TensorFlow gives regions back only where free memory as a whole would do (bfc_allocator.cc, DeallocateFreeRegions)."""
    summary = "A request fails though free memory as a whole would do: it lies in pieces."
    weight, know = weigh_program(0.65, trial), f"{WHO}; read the dump"
    return log_finding(summary, weight, lines, USE_ASYNC, FEWER_SHAPES, cause="fragmentation", know=know)


def _too_large(
    lines: tuple[LogEvent, ...], dumps: list[LogEvent], tensors: list[LogEvent], trial: Trial | None
) -> Finding:
    """Advise a smaller batch only where a size was told: a leak and one large array print the same bare words."""
    sized = bool(dumps or tensors)
    whole = next((each for each in reversed(dumps) if each.values.get("shortage") in {"full", "split_pool"}), None)
    need = from_dump(whole, tensors)
    single = not dumps and one_example(tensors)
    offered = (SMALLER_EXAMPLES, *(each for each in ways(need) if each.id not in OF_BATCHES)) if single else ways(need)
    return log_finding(
        "Model and batch need more memory than the GPU has."
        if sized
        else "The GPU's memory ran out; the text does not tell why.",
        weigh_program(0.85 if whole else 0.65 if sized else 0.5, trial),
        lines,
        *((*offered, unproven(FREE_GPU)) if sized else (MEASURE, unproven(FREE_GPU))),
        cause="batch-too-large",
        know=WHO if sized else "",
        more=sizes(whole, tensors),
    )
