"""What the events of tf.data in a profiler window add up to, stage by stage: elements, own time, calls of the user's function.

Each element that an iterator hands out is an event, and lies in that of its consumer. Where stages run side by side it lies
in a `...Produce` event of the stage's own thread instead, and the consumer's event there is nothing but waiting; a mapped
function runs in a pool, known by the number of its call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from gpudoctor.profile.node_names import base_name
from gpudoctor.profile.xplane import Event, threads

HOST = "/host:CPU"
ITERATOR, ROOT = "Iterator::", "Iterator::Root"
PRODUCE = "Produce"  # PrefetchProduce, MapAndBatchProduce ...
STARTED = "InstantiatedCapturedFunction::RunAsync"  # a mapped function is given to the pool; `id` is the call's number
CALLED = "FunctionRun"  # a function is called, also by an operation of another
WORK, DONE = "ExecutorState::Process", "ExecutorDoneCallback"  # operations of a call, in any thread; its end
FETCHED = re.compile(r"IteratorGetNext\w*Op::DoCompute")
# A dataset that flat_map, interleave or repeat made: `FlatMap[0]::Generator`. The inputs of these have numbers, too.
NUMBERED = re.compile(r"(?<!::Zip)(?<!::Concatenate)(?<!::DirectedInterleave)\[\d+\]")
INPUT = re.compile(r"\[(\d+)\]::\w+$")  # the number of an input in what is left
# XProf's list (xplane_to_tf_data_stats.cc), and the parallel filter
BESIDE = frozenset(
    {"Prefetch", "ParallelInterleave", "ParallelMap", "ParseExample", "MapAndBatch", "ParallelBatch", "ParallelFilter"}
)
# The output's iterator; path of names; the dataset's own name: inputs of a zip have one path
Key = tuple[int, str, str]


class Node:
    """Sums of one stage, over all iterators that were made for it."""

    def __init__(self, key: Key) -> None:
        self.key, self.name = key, NUMBERED.sub("", key[1]).rpartition("::")[2]
        self.beside = base_name(self.name) in BESIDE
        self.parent: Key | None = None
        self.count = 0  # elements that were handed out
        self.made = 0  # events in its own threads
        self.inside = 0  # of its elements, those that lie in an event of its consumer that was seen whole
        self.total_s = self.own_s = 0.0
        self.calls: list[int] = []
        self.last: Event | None = None

    @property
    def number(self) -> int:
        """Return which input of its consumer it is, as far as its path tells: the first is 0."""
        told = INPUT.search(self.key[1])
        return int(told[1]) if told else 0

    @property
    def stats(self) -> Mapping[str, int | str]:
        """Return what its last element told: parallelism, buffered_elements, shapes ..."""
        return {} if self.last is None else self.last.stats


class _Open:
    """An event under way in a thread, with what lies in it."""

    def __init__(self, event: Event, node: Node | None) -> None:
        self.event, self.node = event, node
        self.nested_s = 0.0
        self.held: list[Node] = []
        self.calls: list[int] = []


class Sums:
    """All sums of a trace. Raises ValueError for anything but a trace."""

    def __init__(self, data: bytes) -> None:
        self.nodes: dict[Key, Node] = {}
        self.sizes: list[int] = []  # bytes of each batch
        self._work: dict[int, list[tuple[float, float]]] = {}  # each call's spans of work
        self._done: set[int] = set()
        self._caller: dict[int, int] = {}
        self._by_id: dict[int, Node] = {}
        lines = list(threads(data, HOST, _wanted))
        self._know([each for line in lines for each in line if each.name.startswith(ITERATOR)])
        for line in lines:
            self._nest(line)
        self._gather()

    def call_s(self, node: Node) -> float:
        """Return the mean time of a call of a stage's function, without its waiting for a thread of the pool.

        Of those calls that were seen to begin and to end. Operations of a call that ran side by side count once.
        """
        began = [each for each in node.calls if each in self._work]
        ended = [each for each in began if each in self._done] or began
        return sum(_length(self._work[each]) for each in ended) / len(ended) if ended else 0.0

    def _gather(self) -> None:
        """Give what functions did that a call's operations called in turn to the call."""
        for call in list(self._work):
            first = self._first(call)
            if first != call:
                self._work.setdefault(first, []).extend(self._work.pop(call))

    def _first(self, call: int) -> int:
        seen: set[int] = set()
        while call in self._caller and call not in seen:
            seen.add(call)
            call = self._caller[call]
        return call

    def _know(self, events: list[Event]) -> None:
        """Make the stages: an iterator knows its own number and its consumer's."""
        by_id = {each.stats.get("id"): each for each in events}
        for number, each in by_id.items():
            root = each
            for _ in range(len(by_id)):
                above = by_id.get(root.stats.get("parent_id"))
                if above is None:
                    break
                root = above
            if root.name == ROOT and isinstance(number, int):
                key = _key(root, each)
                self._by_id[number] = self.nodes.setdefault(key, Node(key))
                above = by_id.get(each.stats.get("parent_id"))
                self._by_id[number].parent = None if above is None else _key(root, above)

    def _nest(self, events: Iterable[Event]) -> None:
        under_way: list[_Open] = []
        for event in sorted(events, key=lambda each: (each.start, -each.end)):
            while under_way and under_way[-1].event.end <= event.start:
                self._close(under_way.pop())
            self._enter(event, under_way)
        while under_way:
            self._close(under_way.pop())

    def _enter(self, event: Event, under_way: list[_Open]) -> None:
        number = event.stats.get("id")
        call = number if isinstance(number, int) else 0
        if event.name.startswith(ITERATOR):
            self._element(event, self._by_id.get(call), under_way)
        elif event.name.endswith(PRODUCE):
            under_way.append(_Open(event, None))
        elif event.name == STARTED:
            making = next((each for each in reversed(under_way) if each.event.name.endswith(PRODUCE)), None)
            if making is not None:
                making.calls.append(call)
        elif event.name == DONE:
            self._done.add(call)
        elif event.name == CALLED:
            outer = under_way[-1].event if under_way and under_way[-1].event.name == WORK else None
            if outer is not None and outer.stats.get("id") not in {call, None}:
                self._caller[call] = int(outer.stats["id"])
        elif event.name == WORK:
            if not any(each.event.name == WORK for each in under_way):
                self._work.setdefault(call, []).append((event.start, event.end))
            under_way.append(_Open(event, None))
        elif isinstance(size := event.stats.get("element_size"), int):
            self.sizes.append(size)

    def _close(self, done: _Open) -> None:
        """Add what an event took without what lies in it: to its own stage, or to the one that makes its elements there."""
        own_s = max(0.0, done.event.end - done.event.start - done.nested_s)
        node = done.node
        if node is None and done.held and done.held[0].parent is not None:
            node = self.nodes[done.held[0].parent]
            node.made += 1
            node.calls += done.calls
            node.own_s += own_s
        elif node is not None and not node.beside:
            node.own_s += own_s
        for each in done.held:
            each.inside += 1

    def _element(self, event: Event, node: Node | None, under_way: list[_Open]) -> None:
        if node is None:
            return
        node.count += 1
        node.total_s += event.end - event.start
        if node.last is None or node.last.start < event.start:
            node.last = event
        if under_way:
            under_way[-1].nested_s += event.end - event.start
            under_way[-1].held.append(node)
        under_way.append(_Open(event, node))


def _length(spans: list[tuple[float, float]]) -> float:
    """Return how long any of the spans lasted."""
    total, until = 0.0, 0.0
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


def _key(root: Event, each: Event) -> Key:
    name = "" if NUMBERED.search(each.name) else str(each.stats.get("name", ""))  # those have a new one each
    return (int(root.stats["id"]), NUMBERED.sub("", each.name), name)


def _wanted(name: str) -> bool:
    return (
        name.startswith(ITERATOR)
        or name.endswith(PRODUCE)
        or name in {STARTED, CALLED, WORK, DONE}
        or FETCHED.fullmatch(name) is not None
    )
