"""What hangs, crashes or raises becomes a reason, within its deadline and without a trace in this process."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpudoctor.collect import isolate_fork
from gpudoctor.collect.gathering import gather
from gpudoctor.collect.isolate import Answers, Outcome, Source, told_by
from gpudoctor.collect.isolate_threads import Threads
from gpudoctor.model.gpu import Gpu
from gpudoctor.model.missing import Missing
from tests.slow_machines import at_most

DEADLINE_S = 0.4  # of what hangs
ANSWERS_S = 20.0  # of what answers; the machine that runs the tests may be busy
SLACK_S = 1.0


def _hang(_: Answers) -> object:
    while True:
        time.sleep(60)


def _hang_deaf(_: Answers) -> object:
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    return _hang(_)


def _segfault(_: Answers) -> object:
    return ctypes.string_at(0)


def _exit(_: Answers) -> object:
    os._exit(7)


def _raise(_: Answers) -> object:
    message = "no\nsuch thing"
    raise LookupError(message)


def _leave(_: Answers) -> object:
    sys.exit(3)


def _parts_then_hang(_: Answers) -> Iterator[object]:
    yield Gpu(index=0)
    yield Gpu(index=1)
    _hang(_)


def _well(_: Answers) -> object:
    return "well"


def _ask(**collectors: Callable[[Answers], object]) -> dict[str, Outcome]:
    hang = {_hang, _hang_deaf, _parts_then_hang}
    return gather(
        [
            Source(name=name, collect=each, deadline_s=DEADLINE_S if each in hang else ANSWERS_S)
            for name, each in collectors.items()
        ]
    )


def _reason(outcome: Outcome) -> str:
    assert isinstance(outcome.value, Missing)
    return outcome.value.reason


def test_an_answer_comes_back_whole() -> None:
    answer = (Gpu(index=3, name="x" * 200_000), Missing("not_supported"), None)

    def whole(_: Answers) -> object:
        return answer

    assert _ask(it=whole)["it"].value == answer


def test_each_way_to_fail_has_its_reason_and_does_not_touch_the_others() -> None:
    ways = {"hang": _hang, "deaf": _hang_deaf, "segfault": _segfault, "exit": _exit, "error": _raise, "leave": _leave}
    with at_most(SLACK_S, after_s=DEADLINE_S):
        outcomes = _ask(**ways, well=_well)
    assert {name: each.value for name, each in outcomes.items()} == {
        "hang": Missing("timeout after 0.4 s"),
        "deaf": Missing("timeout after 0.4 s"),
        "segfault": Missing("crashed: signal 11"),
        "exit": Missing("crashed: exit code 7"),
        "error": Missing("failed: LookupError: no such thing"),
        "leave": Missing("crashed: exit code 1"),
        "well": "well",
    }


def test_parts_handed_over_before_a_hang_are_kept() -> None:
    outcome = _ask(it=_parts_then_hang)["it"]
    assert outcome.parts == (Gpu(index=0), Gpu(index=1))
    assert _reason(outcome).startswith("timeout")


def test_an_answer_that_cannot_travel_is_a_failure() -> None:
    def local(_: Answers) -> object:
        return local

    assert "failed" in _reason(_ask(it=local)["it"])


def test_a_source_receives_what_it_comes_after() -> None:
    order: list[str] = []
    outcomes = gather(
        [
            Source(name="sum", collect=lambda known: (known["one"], known["two"]), after=("one", "two")),
            Source(name="one", collect=lambda _: 1),
            Source(name="two", collect=lambda _: 2, isolated=False),
        ],
        on_done=lambda name, _: order.append(name),
    )
    assert outcomes["sum"].value == (1, 2)
    assert order[-1] == "sum"


def test_a_source_whose_need_is_missing_is_not_asked_and_says_whose_fault_it_is() -> None:
    outcomes = gather(
        [
            Source(name="late", collect=lambda _: "asked", after=("broken",)),
            Source(name="broken", collect=_raise, isolated=False),
            Source(name="lost", collect=lambda _: "asked", after=("nobody",)),
        ]
    )
    assert _reason(outcomes["late"]) == "broken: failed: LookupError: no such thing"
    assert _reason(outcomes["lost"]) == "nobody: not asked"


def test_sources_run_side_by_side(tmp_path: Path) -> None:
    def meet(_: Answers) -> str:
        (tmp_path / str(os.getpid())).touch()
        while len(list(tmp_path.iterdir())) < 8:
            time.sleep(0.01)
        return "met"

    outcomes = gather([Source(name=str(number), collect=meet, deadline_s=ANSWERS_S) for number in range(8)])
    assert {each.value for each in outcomes.values()} == {"met"}


def test_the_deadline_holds_where_neither_kill_nor_wait_does_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call in uninterruptible sleep ignores SIGKILL and is never reaped."""
    victims: list[int] = []

    def no_kill(pid: int, _: int) -> None:
        victims.append(pid)

    def no_wait(_pid: int, _options: int) -> tuple[int, int]:
        return 0, 0

    with at_most(SLACK_S, after_s=DEADLINE_S), monkeypatch.context() as patch:
        patch.setattr(os, "kill", no_kill)
        patch.setattr(os, "killpg", no_kill)
        patch.setattr(os, "waitpid", no_wait)
        outcomes = _ask(deaf=_hang_deaf, crash=_segfault)
    assert _reason(outcomes["deaf"]) == "timeout after 0.4 s"
    assert _reason(outcomes["crash"]) == "crashed: ended without an answer"
    for pid in set(victims):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_the_children_of_an_abandoned_child_end_with_it(tmp_path: Path) -> None:
    told = tmp_path / "pid"

    def start_another(_: Answers) -> None:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        told.write_text(str(child.pid), encoding="utf-8")
        child.wait()

    gather([Source(name="it", collect=start_another, deadline_s=1.0)])
    child = int(told.read_text(encoding="utf-8"))
    assert _comes_true(lambda: not _lives(child))


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _comes_true(wanted: Callable[[], bool]) -> bool:
    for _ in range(1000):
        if wanted():
            return True
        time.sleep(0.02)
    return False


ABANDONER = """
import os, signal, sys, time
os.kill = os.killpg = lambda *_: None
os.waitpid = lambda *_: (0, 0)
from gpudoctor.collect.gathering import gather
from gpudoctor.collect.isolate import Source
def deaf(_):
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    print(os.getpid(), file=open(sys.argv[1], "w"), flush=True)
    time.sleep(600)
print(gather([Source(name="it", collect=deaf, deadline_s=0.2)])["it"].value, flush=True)
"""


def test_an_abandoned_child_holds_neither_the_output_nor_the_exit_of_its_parent(tmp_path: Path) -> None:
    command = [sys.executable, "-c", ABANDONER, str(tmp_path / "pid")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert _comes_true(lambda: (tmp_path / "pid").is_file() and (tmp_path / "pid").read_text().endswith("\n"))
    child = int((tmp_path / "pid").read_text(encoding="ascii"))
    assert _lives(child)
    os.kill(child, signal.SIGKILL)
    assert "timeout after 0.2 s" in done.stdout
    assert done.stderr == ""


CLOSED_STREAMS = """
import os, sys
for fd in (0, 1, 2):
    os.close(fd)
from gpudoctor.collect.gathering import gather
from gpudoctor.collect.isolate import Source
answer = gather([Source(name="it", collect=lambda _: "well", deadline_s=5)])["it"].value
os._exit(0 if answer == "well" else 1)
"""


def test_it_works_where_the_standard_streams_are_closed() -> None:
    assert subprocess.run([sys.executable, "-c", CLOSED_STREAMS], check=False, timeout=30).returncode == 0


def test_what_a_source_prints_is_never_seen(capfd: pytest.CaptureFixture[str]) -> None:
    def chatter(_: Answers) -> None:
        os.write(1, b"driver chatter")
        os.write(2, b"driver complaint")

    _ask(it=chatter)
    assert capfd.readouterr() == ("", "")


def test_a_refused_fork_is_a_failure_of_that_source(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)
    assert "Resource temporarily unavailable" in _reason(_ask(it=_well)["it"])


def test_no_file_is_left_open_and_no_zombie_stays() -> None:
    _ask(warm=_well)
    before = list(Path("/dev/fd").iterdir())
    _ask(hang=_hang, segfault=_segfault, well=_well)
    _ask(again=_well)
    assert len(list(Path("/dev/fd").iterdir())) == len(before)

    def reaped() -> bool:
        gather([])
        return not isolate_fork.unreaped

    assert _comes_true(reaped)


def test_without_fork_threads_outlast_a_hang_and_an_exception() -> None:
    stop = threading.Event()
    sources = [
        Source(name="hang", collect=lambda _: stop.wait(), deadline_s=DEADLINE_S),
        Source(name="error", collect=_raise),
        Source(name="leave", collect=_leave),
        Source(name="parts", collect=lambda _: (each for each in (1, 2))),
        Source(name="well", collect=_well),
    ]
    with at_most(SLACK_S, after_s=DEADLINE_S):
        outcomes = gather(sources, carrier=Threads(told_by))
    stop.set()
    for thread in set(threading.enumerate()) - {threading.current_thread()}:
        thread.join()  # a later test forks, and only a process of one thread does
    assert _reason(outcomes["hang"]) == "timeout after 0.4 s"
    assert _reason(outcomes["error"]) == "failed: LookupError: no such thing"
    assert _reason(outcomes["leave"]) == "crashed: SystemExit"
    assert outcomes["parts"].parts == (1, 2)
    assert outcomes["well"].value == "well"


def test_where_threads_run_nothing_is_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = threading.Event()
    other = threading.Thread(target=stop.wait)
    other.start()
    try:
        monkeypatch.delattr(os, "fork")
        assert _ask(it=_well)["it"].value == "well"
    finally:
        stop.set()
        other.join()


def test_sources_of_one_child_answer_each_for_itself() -> None:
    needs = Source(name="needs", collect=lambda known: f"{known['first']}, then this", after=("first",))
    lacks = Source(name="lacks", collect=_well, after=("fails",))
    fails = Source(name="fails", collect=_raise)
    outcomes = gather([Source(name="first", collect=lambda _: os.getpid(), then=(needs, fails, lacks))])
    assert outcomes["needs"].value == f"{outcomes['first'].value}, then this"
    assert _reason(outcomes["fails"]) == "failed: LookupError: no such thing"
    assert _reason(outcomes["lacks"]) == "fails: failed: LookupError: no such thing"


@pytest.mark.parametrize(("dies", "how"), [(_hang, "timeout after 0.4 s"), (_segfault, "crashed: signal 11")])
def test_a_child_that_does_not_survive_takes_none_of_its_other_sources_along(
    dies: Callable[[Answers], object], how: str
) -> None:
    well = Source(name="well", collect=lambda _: "well", deadline_s=ANSWERS_S)
    lacks = Source(name="lacks", collect=_well, after=("dies",), deadline_s=ANSWERS_S)
    middle = Source(name="dies", collect=dies, deadline_s=DEADLINE_S if dies is _hang else ANSWERS_S)
    outcomes = gather([Source(name="first", collect=lambda _: 1, deadline_s=ANSWERS_S, then=(middle, lacks, well))])
    assert outcomes["first"].value == 1
    assert _reason(outcomes["dies"]) == how
    assert _reason(outcomes["lacks"]) == f"dies: {how}"
    assert outcomes["well"].value == "well"
