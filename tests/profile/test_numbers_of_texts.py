"""`float()` takes a text as well as a tensor: only a line that asked a tensor for its value waits for one."""

from __future__ import annotations

from dataclasses import replace

from gpudoctor.model.sampled import Burst, StackLine, SyncRecord
from gpudoctor.model.session import Session
from gpudoctor.profile.timeline import analyse
from tests.profile.timelines import PROCESS, START, loop, readings, session


def activities(recording: Session) -> dict[int, str]:
    """Return what each sampled line is said to do."""
    lines = analyse(recording, (), lambda _file, _line: "").hot_lines
    assert lines is not None
    return {each.line: each.activity for each in lines.lines}


def test_float_of_a_text_is_plain_python_and_of_a_tensor_a_wait_for_its_value() -> None:
    recording = replace(
        session(loop(), steps=readings((5.0, 40, 1.0), (6.0, 80, 1.2))),
        bursts=(Burst(process=PROCESS, at=START + 5.0, duration_s=0.5, samples=50),),
        stack_lines=tuple(
            StackLine(
                process=PROCESS,
                role="pipeline",
                file="train.py",
                line=line,
                function="rows",
                activity="sync",
                leaf=leaf,
                weight_s=0.1,
                samples=10,
            )
            for line, leaf in ((20, "float"), (21, "float"), (22, "loss.numpy"))
        ),
        syncs=(SyncRecord(process=PROCESS, file="train.py", line=21, method="__float__", count=40, seconds_s=0.1),),
    )
    assert activities(recording) == {20: "python", 21: "sync", 22: "sync"}
