"""The tf.data graph as it really ran, stage by stage, with the user's line that asked for each, and the one that is slowest.

The graph is the optimised one: TensorFlow fuses map and batch, makes plain maps parallel and adds a prefetch. Reading the
user's chain alone would advise what is already so. Costs are wall time, and include waiting for the GIL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpudoctor.model.missing import Maybe, Missing
from gpudoctor.model.run import Pipeline, Stage
from gpudoctor.model.session import CallSite, IteratorRecord, PipelineNode, Session
from gpudoctor.profile.hot_lines import Read
from gpudoctor.profile.nested_inputs import as_one, attributed, splits
from gpudoctor.profile.node_names import base_name
from gpudoctor.profile.pipeline_calls import asked_for, calls_of
from gpudoctor.profile.pipeline_readings import gave_nothing, reading
from gpudoctor.profile.seen_pipeline import FEWEST, SeenPipeline, nodes_of
from gpudoctor.profile.steps import Loop

SIDE_BY_SIDE = frozenset({"Prefetch", "ParallelMap", "MapAndBatch", "ParallelInterleave", "ParallelBatch"})
READERS = frozenset({"TFRecord", "TextLine", "FixedLengthRecord"})
KEEPERS = frozenset({"cache", "snapshot", "save"})  # once full, they run without what lies below
REPEATERS = frozenset({"Repeat", "ForeverRepeat", "FiniteRepeat", "ShuffleAndRepeat"})
NO_COST = frozenset({"Prefetch", "Root"})  # what a prefetch collects is the waiting of its consumer
PARALLEL = frozenset({"num_parallel_calls", "argument_1"})  # of map; for interleave the second is cycle_length
AUTOTUNE_OFF = "autotune is off"  # agent/pipeline.py: why an iterator has no model
ENDED = "the input had ended when tf.data's model was read, and its nodes with it"
NOT_SEEN = "the profiler windows show nothing of the Python in it"


def pipeline(session: Session, loop: Loop, read: Read, windows: Sequence[SeenPipeline] = ()) -> Pipeline | Missing:
    """Return the pipeline of the main loop, without the estimates of changes; `windows` where there is no model of it."""
    iterators = _iterators(session, loop)
    if not iterators:
        return Missing("the main loop iterates over no tf.data iterator")
    chosen, nodes = reading(session, iterators)
    seen = _alike(windows, loop) if chosen is None else []
    if seen:
        chosen, nodes = _seen(session, iterators, seen, loop)
    if chosen is None:
        why = next((each.unknown for each in iterators if each.unknown), "tf.data's model was not read in time")
        return _as_asked(session, iterators[-1], read, why)
    bare = stages_of(nodes, session, chosen)
    if _lost_python(calls_of(session, chosen), bare):
        return _as_asked(session, chosen, read, NOT_SEEN if seen else ENDED)
    stages = tuple(replace(each, snippet=read(each.file, each.line) if each.line else "") for each in bare)
    slowest, batch_s = _slowest(stages)
    return Pipeline(
        source=stages[-1].method or stages[-1].name if stages else "",
        file=chosen.file,
        line=chosen.line,
        stages=stages,
        bottleneck=slowest,
        batch_s=batch_s,
        prefetch=_prefetch(stages),
        window_batches=sum(each.batches for each in seen),
    )


def rounds(session: Session, loop: Loop, found: Pipeline, epochs: int) -> int:
    """Return how often the data of the slowest stage came again, at most: one iterator over all epochs takes new ones on.

    A generator without an end, in epochs of `steps_per_epoch`, gives nothing twice.
    """
    at = 0 if isinstance(found.bottleneck, Missing) else found.bottleneck
    if any(base_name(each.name) in REPEATERS for each in found.stages[:at]):
        return epochs
    own = [each for each in _iterators(session, loop) if (each.file, each.line) == (found.file, found.line)]
    idle = gave_nothing(session, own)
    sites = [each.site for each in own if not isinstance(each.site, Missing) and each.iterator not in idle]
    return min(epochs, max((sites.count(each) for each in sites), default=epochs))


def _iterators(session: Session, loop: Loop) -> list[IteratorRecord]:
    record = loop.record
    own = [each for each in session.iterators if each.process == record.process]
    same = [each for each in own if each.label == record.label and (each.label != "loop" or each.line == record.line)]
    return same or [each for each in own if each.label == "loop"]


def _alike(windows: Sequence[SeenPipeline], loop: Loop) -> list[SeenPipeline]:
    """Return the windows of a loop that show the same stages as its last one."""
    own = [each for each in windows if (each.process, each.label) == (loop.record.process, loop.record.label)]
    return [each for each in own if each.stages == own[-1].stages]


def _seen(
    session: Session, iterators: Sequence[IteratorRecord], seen: Sequence[SeenPipeline], loop: Loop
) -> tuple[IteratorRecord, list[PipelineNode]]:
    """Return the iterator that windows show: of those made before, the last whose calls explain most of the stages."""
    made = {each.site: each for each in iterators if each.at <= seen[-1].at} or {each.site: each for each in iterators}
    batches = loop.steps // len(iterators)

    def explained(each: IteratorRecord) -> int:
        stages = stages_of(nodes_of(seen, each.iterator, batches), session, each)
        return sum(bool(stage.method) for stage in stages)

    chosen = max(reversed(made.values()), key=explained)
    return chosen, nodes_of(seen, chosen.iterator, batches)


def _lost_python(chain: Sequence[CallSite], stages: Sequence[Stage]) -> bool:
    """Return whether the user's Python is no stage of the model, though nothing above it keeps its elements."""
    kept = next((at for at, each in enumerate(chain) if each.method in KEEPERS), len(chain))
    asked = any(each.python_function or each.method == "from_generator" for each in chain[:kept])
    return asked and not any(each.python for each in stages)


def _as_asked(session: Session, iterator: IteratorRecord, read: Read, why: str) -> Pipeline:
    """Return the pipeline as the user wrote it, without costs: Python in it is the suspect, where there is any."""
    chain = list({each.site: each for each in calls_of(session, iterator)}.values())
    stages = tuple(
        Stage(
            name=each.method,
            method=_method(each),
            file=each.file,
            line=each.line,
            callee=each.callee,
            callee_file=each.python_file or each.callee_file,
            callee_line=each.python_line or each.callee_line,
            python_function=each.python_function,
            made_by=_maker(each, iterator),
            python=_python("Generator" if each.method == "from_generator" else "", each),
            parallel_asked=_parallel_asked(each),
            snippet=read(each.file, each.line),
        )
        for each in chain
    )
    suspect = next((at for at, each in enumerate(stages) if each.python and each.made_by == "user"), None)
    untuned = AUTOTUNE_OFF in why  # then TensorFlow adds nothing by itself: what is not asked for is not there
    if suspect is None and untuned:
        suspect = _only_serial_map(stages)
    return Pipeline(
        source=chain[-1].method if chain else "",
        file=iterator.file,
        line=iterator.line,
        stages=stages,
        bottleneck=Missing(why) if suspect is None else suspect,
        batch_s=Missing(why),
        prefetch=_asked_prefetch(chain) if untuned else "unknown",
        unknown=why,
    )


def _only_serial_map(stages: Sequence[Stage]) -> int | None:
    maps = [at for at, each in enumerate(stages) if each.method == "map"]
    return maps[0] if len(maps) == 1 and not stages[maps[0]].parallel_asked else None


def _asked_prefetch(chain: Sequence[CallSite]) -> str:
    last = next((each.method for each in chain if each.method not in {"with_options", "options"}), "")
    return "user" if last == "prefetch" else "none" if last else "unknown"


def stages_of(nodes: Sequence[PipelineNode], session: Session, iterator: IteratorRecord) -> tuple[Stage, ...]:
    nodes = as_one(nodes)
    batches = float(max(1, next((each.num_elements for each, _ in _from_output(nodes, 1.0) if each.num_elements), 1)))
    found = [each for each in _from_output(nodes, batches) if base_name(each[0].name) != "Root"]
    asked = asked_for([node for node, _ in found], session, iterator)
    stages = [_stage(node, sites, made, iterator) for (node, made), sites in zip(found, asked, strict=True)]
    return attributed([node for node, _ in found], stages)


def _from_output(nodes: Sequence[PipelineNode], batches: float) -> Iterator[tuple[PipelineNode, float]]:
    """Yield the nodes, each with the batches that its count made: what is repeated is built, and counted, anew each time."""
    children: dict[int, list[PipelineNode]] = {}
    for each in nodes:
        children.setdefault(each.parent, []).append(each)
    waiting = [(each, batches) for each in children.get(-1, [])]
    seen: set[int] = set()
    while waiting:
        node, made = waiting.pop(0)
        if node.node not in seen:
            seen.add(node.node)
            yield node, made
            inputs = children.get(node.node, [])
            if inputs and base_name(node.name) in REPEATERS:
                inputs = [max(inputs, key=lambda each: each.num_elements)]
                made *= _share(inputs[0], node)
            inside = inputs[1:] if splits(node.name) else []  # those that are still open, of all that were
            outside = inputs[: len(inputs) - len(inside)]
            below = [*((each, made) for each in outside), *((each, made * _share(each, node)) for each in inside)]
            waiting = [*below, *waiting]


def _share(part: PipelineNode, whole: PipelineNode) -> float:
    """Return which part of a node's elements an input has counted."""
    return min(1.0, part.num_elements / max(1, whole.num_elements)) or 1.0


def _stage(node: PipelineNode, sites: Sequence[CallSite], batches: float, iterator: IteratorRecord) -> Stage:
    name = base_name(node.name)
    site = next((each for each in sites if each.method in {"map", "from_generator"}), sites[0] if sites else None)
    asked = any(_parallel_asked(each) for each in sites)
    parallelism, tunable = node.parameters.get("parallelism", (1.0, False))
    cost = 0.0 if name in NO_COST or node.num_elements < 1 else node.processing_s / node.num_elements
    visits = node.num_elements / batches
    return Stage(
        name=node.name,
        method=_method(site) if site is not None else "",
        file=site.file if site is not None else "",
        line=site.line if site is not None else 0,
        callee=site.callee if site is not None else "",
        callee_file=site.python_file or site.callee_file if site is not None else "",
        callee_line=site.python_line or site.callee_line if site is not None else 0,
        python_function=site.python_function if site is not None else "",
        made_by=_maker(site, iterator),
        python=_python(name, site),
        parallelism=max(1.0, parallelism),
        tunable=tunable and not asked,
        parallel_asked=asked,
        elements=node.num_elements,
        visits=visits,
        cost_s=cost,
        batch_s=cost * visits / (max(1.0, parallelism) if name in SIDE_BY_SIDE else 1.0),
        random=_random(site),
        buffered=node.buffered_elements,
        element_bytes=node.bytes_produced / node.num_elements if node.num_elements else 0.0,
    )


def _random(site: CallSite | None) -> Maybe[bool]:
    told = site.arguments.get("random") if site is not None else None
    return bool(told) if told is not None else Missing("the function calls Python, or was not looked into")


def _parallel_asked(site: CallSite) -> bool:
    """Return whether the user asked for calls side by side: of a map or interleave, or workers for a Sequence."""
    if "sequence" in site.arguments:
        return float(site.arguments.get("workers") or 0) > 1 or bool(site.arguments.get("use_multiprocessing"))
    return site.method in {"map", "interleave"} and bool(PARALLEL & site.arguments.keys())


def _method(site: CallSite) -> str:
    """Return the method of Dataset, or the class of Keras's for whose objects Keras called it."""
    return str(site.arguments.get("sequence", site.method))


def _maker(site: CallSite | None, iterator: IteratorRecord) -> str:
    if site is None:
        return "tensorflow"
    ours = "site-packages" in site.callee_file or "dist-packages" in site.callee_file
    if site.method == "from_generator" and site.callee_file and not ours:
        return "user"  # Keras asked for it, of what the user's own code makes
    keras = iterator.label != "loop" and (site.file, site.line) == (iterator.file, iterator.line)
    return "library" if ours or keras else "user"


def _python(name: str, site: CallSite | None) -> str:
    if name == "Generator":
        return "sequence" if site is not None and "sequence" in site.arguments else "generator"
    return "python function" if site is not None and site.python_function and name != "FlatMap" else ""


def _slowest(stages: Sequence[Stage]) -> tuple[int | Missing, float | Missing]:
    """Return the dearest stage of the slowest group; a new group begins where stages run side by side with their input."""
    if not stages or stages[0].elements < FEWEST:
        return Missing("too few batches"), Missing("too few batches")
    groups: list[list[int]] = [[]]
    for at, each in enumerate(stages):
        groups[-1].append(at)
        if base_name(each.name) in SIDE_BY_SIDE:
            groups.append([])
    totals = [sum(stages[at].batch_s for at in group) for group in groups]
    worst = totals.index(max(totals))
    return max(groups[worst], key=lambda at: stages[at].batch_s, default=0), totals[worst]


def _prefetch(stages: Sequence[Stage]) -> str:
    """Return who lets the output run ahead of the loop: user, tensorflow, library, none, or fused (a parallel output does)."""
    if not stages:
        return "unknown"
    name = base_name(stages[0].name)
    if name == "Prefetch":
        return stages[0].made_by
    return "parallel output" if name in SIDE_BY_SIDE else "none"
