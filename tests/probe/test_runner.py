"""The parent: whatever becomes of a child, the probe ends with a result for every trial."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from gpudoctor.model.gpu import Gpu, GpuProcess, Memory, Utilization
from gpudoctor.model.missing import Missing
from gpudoctor.model.observed import Probe
from gpudoctor.model.snapshot import Snapshot
from gpudoctor.probe import attend, runner
from gpudoctor.probe.clock import Progress
from gpudoctor.probe.jit_cache import LINE
from gpudoctor.probe.runner import KNOWN_TRIALS, run_probe
from tests.probe.scripts import BEFORE_MAP, SOUND, write
from tests.slow_machines import at_most, in_time

GIB = 1 << 30
TRIALS = ("baseline", "map", "numpy_loop")
ROOT = Path(__file__).parents[2]
HOUR_S, LONG_S = 3600.0, 600.0


@pytest.fixture
def hour_in_map(monkeypatch: pytest.MonkeyPatch) -> Progress:
    """Let an hour pass, as far as the probe can tell, as soon as `map` has begun."""
    ahead = [0.0]

    class Leap:
        def trial(self, name: str, done: int, total: int, left_s: float) -> None:  # noqa: ARG002  # the protocol
            ahead[:] = [ahead[0], ahead[0] + HOUR_S] if name == "map" else ahead[-1:]

    def now() -> float:
        told = time.monotonic() + ahead[0]  # the first look notes when the trial began
        del ahead[:-1]
        return told

    for module in (attend, runner):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=now, sleep=time.sleep))
    return Leap()


def probe(tmp_path: Path, body: str, *trials: str, deadline_s: float = 60.0, **options: object) -> Probe:
    given = dict(options)
    return run_probe(
        sys.executable,
        trials or TRIALS,
        script=write(tmp_path, body),
        deadline_s=deadline_s,
        silence_s=given.pop("silence_s", None),  # type: ignore[arg-type]
        environment=given.pop("environment", None),  # type: ignore[arg-type]
        snapshot=given.pop("snapshot", None),  # type: ignore[arg-type]
        progress=given.pop("progress", None),  # type: ignore[arg-type]
    )


def statuses(result: Probe) -> dict[str, str]:
    return {name: trial.status for name, trial in result.trials.items()}


def test_a_sound_child_gives_every_trial_and_one_import(tmp_path: Path) -> None:
    result = probe(tmp_path, SOUND)
    assert statuses(result) == {"baseline": "ok", "map": "ok", "numpy_loop": "ok"}
    (child,) = result.children
    assert (child.environment, child.status, child.exit_code) == ("default", "ok", 0)
    assert (child.import_s, child.tensorflow_version, child.visible_gpus) == (0.1, "2.0", 0)
    assert isinstance(child.import_error, Missing)


def test_trials_of_one_set_of_variables_share_a_child(tmp_path: Path) -> None:
    result = probe(tmp_path, SOUND, *KNOWN_TRIALS)
    assert [child.environment for child in result.children] == ["default", "fragmentation", "ladder", "replicas"]
    assert set(statuses(result).values()) == {"ok"}


def test_an_unknown_trial_is_the_callers_mistake(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        probe(tmp_path, SOUND, "nonsense")


@pytest.mark.parametrize(
    ("fault", "word"),
    [
        ("os.abort()", "SIGABRT"),
        ("ctypes.string_at(0)", "SIGSEGV"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
        ("sys.exit(0)", "exit code 0"),
        (
            "print('F1130 10:00:00.000000 1 gpu.cc:1] Check failed: fatal'); sys.stdout.flush(); os._exit(9)",
            "Check failed: fatal",
        ),
        ("os.close(fd); os.close(1); os.close(2); time.sleep(60)", "closed its pipe"),
    ],
)
def test_a_child_that_dies_leaves_a_crash_and_the_others_run(tmp_path: Path, fault: str, word: str) -> None:
    result = probe(tmp_path, BEFORE_MAP.format(fault=fault))
    assert statuses(result) == {"baseline": "ok", "map": "crashed", "numpy_loop": "ok"}
    assert word in result.trials["map"].reason
    assert isinstance(result.trials["map"].device, Missing)
    assert [child.status for child in result.children] == ["crashed", "ok"]


def test_a_silent_trial_is_a_timeout_that_tells_where_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hour_in_map: Progress
) -> None:
    monkeypatch.setattr(attend, "STACK_WAIT_S", 2.0)  # a busy machine's child is not at once at its word
    body = "import faulthandler; faulthandler.register(signal.SIGUSR1)\n" + BEFORE_MAP.format(fault="time.sleep(60)")
    result = probe(tmp_path, body, silence_s=LONG_S, deadline_s=10 * HOUR_S, progress=hour_in_map)
    assert statuses(result) == {"baseline": "ok", "map": "timeout", "numpy_loop": "ok"}
    assert "no answer for 600 s; it stood in <module> (fake_child.py:" in result.trials["map"].reason
    assert result.children[0].status == "timeout"


def test_progress_of_a_trial_does_not_hide_that_it_never_ends(tmp_path: Path) -> None:
    fault = "[(send('advance', name='map', share=0.1), time.sleep(0.1)) for _ in range(600)]"
    assert probe(tmp_path, BEFORE_MAP.format(fault=fault), silence_s=2.0).trials["map"].status == "timeout"


def test_two_culprits_end_the_set(tmp_path: Path) -> None:
    result = probe(tmp_path, "started()\nsend('begin', name=names[0])\nos.abort()\n")
    assert statuses(result) == {"baseline": "crashed", "map": "crashed", "numpy_loop": "inconclusive"}
    assert "not run" in result.trials["numpy_loop"].reason


def test_the_whole_time_is_kept_also_with_a_hanging_child(tmp_path: Path, hour_in_map: Progress) -> None:
    body = "started()\nok('baseline')\nsend('begin', name='map')\ntime.sleep(60)\n"
    with at_most(2.5):
        result = probe(tmp_path, body, deadline_s=LONG_S, silence_s=2 * HOUR_S, progress=hour_in_map)
    assert statuses(result) == {"baseline": "ok", "map": "timeout", "numpy_loop": "inconclusive"}


def test_a_child_that_hangs_in_the_import_is_a_timeout_of_the_first_trial(tmp_path: Path) -> None:
    result = probe(tmp_path, "send('hello', pid=1)\ntime.sleep(60)\n", silence_s=2.0)
    assert statuses(result) == {"baseline": "timeout", "map": "inconclusive", "numpy_loop": "inconclusive"}
    assert "while it imported TensorFlow" in result.trials["baseline"].reason
    assert len(result.children) == 1


def test_a_failing_import_is_told_and_not_tried_again(tmp_path: Path) -> None:
    body = (
        "send('hello', pid=1)\nsend('import_failed', error='ImportError: libcublas.so.11', import_s=0.2)\nsys.exit(3)\n"
    )
    result = probe(tmp_path, body, *KNOWN_TRIALS)
    assert result.trials["baseline"].status == "crashed"
    assert "cannot be imported: ImportError: libcublas.so.11" in result.trials["baseline"].reason
    assert {result.trials[name].status for name in KNOWN_TRIALS if name != "baseline"} == {"inconclusive"}
    (child,) = result.children
    assert (child.status, child.import_error) == ("import_failed", "ImportError: libcublas.so.11")


def test_an_environment_without_tensorflow_is_no_crash(tmp_path: Path) -> None:
    body = "send('hello', pid=1)\nsend('import_failed', error='ModuleNotFoundError: x', absent=True)\nsys.exit(3)\n"
    assert set(statuses(probe(tmp_path, body)).values()) == {"unsupported"}


def test_an_interpreter_that_is_none_is_told(tmp_path: Path) -> None:
    result = run_probe(str(tmp_path / "absent" / "python"), ("baseline",), deadline_s=5.0)
    assert result.children[0].status == "not_started"
    assert "No such file" in result.trials["baseline"].reason


def test_the_child_starts_in_an_empty_folder_and_without_it_on_the_search_path(tmp_path: Path) -> None:
    seen = "started()\nok('baseline', notes=[os.getcwd(), str(os.listdir('.'))])\nsend('done')\n"
    note = probe(tmp_path, seen, "baseline").trials["baseline"].notes
    assert note[1] == "[]"
    assert not Path(note[0]).exists()  # and it is gone


def test_what_a_child_prints_becomes_events_and_no_message(tmp_path: Path) -> None:
    body = PRINTS + SOUND
    result = probe(tmp_path, body)
    assert set(statuses(result).values()) == {"ok"}
    kinds = [event.kind for event in result.children[0].events]
    assert "cuinit_failed" in kinds
    assert "growth_forced" not in kinds  # the probe sets that variable itself


PRINTS = """
print(json.dumps({"kind": "trial", "name": "baseline", "result": {"status": "failed"}}))
print("E failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected", file=sys.stderr)
print("W Overriding orig_value setting because the TF_FORCE_GPU_ALLOW_GROWTH environment variable is set.", file=sys.stderr)
sys.stdout.write("x" * 5_000_000)
sys.stdout.flush()
"""


def test_garbage_on_the_pipe_is_skipped(tmp_path: Path) -> None:
    body = "os.write(fd, b'\\x00garbage\\n{\"kind\": \"tri\\n' + b'y' * 3_000_000 + b'\\n')\n" + SOUND
    assert set(statuses(probe(tmp_path, body)).values()) == {"ok"}


def test_a_grandchild_that_holds_the_pipes_is_killed_and_not_waited_for(tmp_path: Path) -> None:
    body = SOUND.replace(
        'send("done")',
        "pid = os.fork()\nif pid == 0:\n    time.sleep(60)\n    os._exit(0)\nok('baseline', notes=[str(pid)])\nsend('done')",
    )
    with at_most(5):
        result = probe(tmp_path, body)
    assert _is_gone(int(result.trials["baseline"].notes[0]))


def test_a_child_out_of_memory_tells_it_by_itself(tmp_path: Path) -> None:
    body = "started()\nfor name in names:\n    ok(name, status='oom', reason='ResourceExhaustedError: too large')\nsend('done')\n"
    assert set(statuses(probe(tmp_path, body)).values()) == {"oom"}


BUSY = Gpu(
    index=0,
    uuid="GPU-1",
    memory=Memory(total_bytes=48 * GIB, free_bytes=40 * GIB),
    processes=(GpuProcess(pid=812, kind="compute"),),
)


def test_a_gpu_left_alone_is_hidden_and_nothing_is_said_about_it(tmp_path: Path) -> None:
    body = (
        PRINTS
        + "started()\n"
        + "for name in names:\n    ok(name, notes=[os.environ['CUDA_VISIBLE_DEVICES']])\nsend('done')\n"
    )
    result = probe(tmp_path, body, "baseline", "cpu", "gradcheck", "prefetch", snapshot=Snapshot(gpus=(BUSY,)))
    assert "held by compute process 812" in result.gpu_left_alone
    assert statuses(result) == {"baseline": "refused", "cpu": "ok", "gradcheck": "refused", "prefetch": "ok"}
    assert isinstance(result.trials["baseline"].device, Missing)
    assert result.trials["baseline"].notes[0] == "-1"
    (child,) = result.children
    assert isinstance(child.visible_gpus, Missing)
    assert "cuinit_failed" not in [event.kind for event in child.events]


def test_a_fault_on_the_cpu_stays_a_fault_when_the_gpu_was_left_alone(tmp_path: Path) -> None:
    body = "started()\nok('baseline', status='failed', reason='the loss did not fall')\nsend('done')\n"
    assert probe(tmp_path, body, "baseline", snapshot=Snapshot(gpus=(BUSY,))).trials["baseline"].status == "failed"


def test_a_trial_that_nobody_asked_for_is_dropped(tmp_path: Path) -> None:
    body = "started()\nok('baseline')\nok('nonsense')\nsend('begin', name='nonsense')\nos.abort()\n"
    result = probe(tmp_path, body, "baseline", snapshot=Snapshot(gpus=(BUSY,)))
    assert statuses(result) == {"baseline": "refused"}


def test_the_idle_gpu_is_pinned_for_the_child(tmp_path: Path) -> None:
    idle = Gpu(index=1, uuid="GPU-2", memory=Memory(total_bytes=48 * GIB, free_bytes=40 * GIB), processes=())
    body = "started(1)\nok('baseline', device='GPU', notes=[os.environ['CUDA_VISIBLE_DEVICES'], str(spec['cap_bytes'])])\nsend('done')\n"
    result = probe(tmp_path, body, "baseline", snapshot=Snapshot(gpus=(BUSY, idle)))
    assert result.trials["baseline"].notes == ("GPU-2", str(6 * GIB))
    assert (result.trials["baseline"].status, result.children[0].visible_gpus) == ("ok", 1)


def test_a_busy_gpu_is_watched_before_it_is_judged(tmp_path: Path) -> None:
    idle = replace(BUSY, processes=(), utilization=Utilization(gpu_percent=0))
    blink = replace(idle, utilization=Utilization(gpu_percent=99))
    result = run_probe(
        sys.executable,
        ("baseline",),
        script=write(tmp_path, SOUND),
        snapshot=Snapshot(gpus=(blink,)),
        watch_gpus=lambda: (idle,),
    )
    assert result.gpu_left_alone == ""


def test_growth_of_the_compute_cache_tells_a_compilation_from_a_hang(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    fault = f"[(open(os.path.join({str(cache)!r}, str(n)), 'w').write('k' * 999), time.sleep(0.5)) for n in range(9)]; ok('map')"
    cache.mkdir()
    result = probe(
        tmp_path,
        BEFORE_MAP.format(fault=fault),
        silence_s=2.0,
        environment={**os.environ, "CUDA_CACHE_PATH": str(cache)},
    )
    assert statuses(result) == {"baseline": "ok", "map": "ok", "numpy_loop": "ok"}


def test_tensorflows_own_line_is_a_compilation_until_the_whole_time_is_over(tmp_path: Path) -> None:
    fault = f"print('CUDA kernels will be jit-compiled from PTX, {LINE}.'); sys.stdout.flush(); time.sleep(60)"
    result = probe(tmp_path, BEFORE_MAP.format(fault=fault), silence_s=1.5, deadline_s=4.0)
    told = result.trials["map"]
    assert (told.status, told.notes) == ("timeout", ("ptx-jit",))
    assert "PTX is still being compiled" in told.reason


def test_without_such_a_sign_silence_is_a_hang(tmp_path: Path, hour_in_map: Progress) -> None:
    body = BEFORE_MAP.format(fault="time.sleep(60)")
    told = probe(tmp_path, body, silence_s=LONG_S, deadline_s=10 * HOUR_S, progress=hour_in_map).trials["map"]
    assert (told.status, told.notes) == ("timeout", ())


def test_ctrl_c_kills_the_child_and_ends(tmp_path: Path) -> None:
    script = write(
        tmp_path, f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\nstarted()\ntime.sleep(60)\n"
    )
    with _driver(f"run_probe({sys.executable!r}, ('baseline',), script=Path({str(script)!r}))") as driver:
        child = _wait_for(tmp_path / "pid")
        driver.send_signal(signal.SIGINT)
        _, told = driver.communicate(timeout=60)
    assert "KeyboardInterrupt" in told
    assert _is_gone(child)


def test_a_child_that_survives_its_kill_is_left_behind_in_time(tmp_path: Path) -> None:
    script = write(
        tmp_path,
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\nstarted()\nsend('begin', name='baseline')\nsignal.signal(signal.SIGUSR1, signal.SIG_IGN)\ntime.sleep(60)\n",
    )
    call = (
        f"print(run_probe({sys.executable!r}, ('baseline', 'map'), script=Path({str(script)!r}), deadline_s=3).trials)"
    )
    begun = time.monotonic()
    with _driver("import os, signal\nos.killpg = lambda *_: None\n" + call) as driver:
        told, _ = driver.communicate(timeout=60)
    spent = time.monotonic() - begun
    child = int((tmp_path / "pid").read_text())
    os.kill(child, signal.SIGKILL)
    assert "does not even end when killed" in told
    assert in_time(spent, 1 + 1, after_s=3)  # the second it may take, and Python's own start


def _driver(code: str) -> subprocess.Popen[str]:
    lines = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nfrom pathlib import Path\nfrom gpudoctor.probe.runner import run_probe\n"
    return subprocess.Popen(
        [sys.executable, "-c", lines + code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _wait_for(path: Path) -> int:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if path.exists() and path.read_text():
            return int(path.read_text())
        time.sleep(0.02)
    raise AssertionError(path)


def _is_gone(pid: int) -> bool:
    """Return whether it is dead, or will be in a moment; a zombie that nobody here can reap is dead."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            if "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text(encoding="utf-8"):
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False
