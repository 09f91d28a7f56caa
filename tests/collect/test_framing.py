"""Messages through a pipe: whole ones only, of the type that was agreed, and nothing else believed."""

from __future__ import annotations

import os
import signal
import time

import pytest

from gpudoctor.collect.framing import LENGTH, BrokenMessageError, send, taken
from gpudoctor.collect.isolate import Message
from gpudoctor.forking import fork_alone


def framed(message: object) -> bytearray:
    read_end, write_end = os.pipe()
    send(write_end, message)
    os.close(write_end)
    data = bytearray(os.read(read_end, 1 << 16))
    os.close(read_end)
    return data


def test_a_message_that_is_cut_waits_for_its_rest() -> None:
    whole = framed(Message("part", 1)) + framed(Message("done", 2))
    buffer = whole[:-3]
    assert taken(buffer, Message) == [Message("part", 1)]
    buffer += whole[-3:]
    assert taken(buffer, Message) == [Message("done", 2)]
    assert not buffer


@pytest.mark.parametrize("body", [b"no pickle at all", b"\x80\x05K\x07."], ids=["not pickled", "another type"])
def test_what_is_no_message_is_refused(body: bytes) -> None:
    with pytest.raises(BrokenMessageError):
        taken(bytearray(LENGTH.pack(len(body)) + body), Message)


def test_an_interrupt_at_the_fork_reaches_the_parent_alone() -> None:
    read_end, write_end = os.pipe()
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})

    def work() -> None:
        time.sleep(0.1)
        os.write(write_end, b"worked")

    pid = fork_alone(work, keep={write_end}, handlers={signal.SIGINT: signal.SIG_DFL})
    os.close(write_end)
    os.kill(os.getpid(), signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
    assert os.read(read_end, 100) == b"worked"
    assert os.waitpid(pid, 0)[1] == 0
    os.close(read_end)
