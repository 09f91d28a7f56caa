"""What a recording can and cannot tell, in sentences: no agent, no TensorFlow, no step, cut short."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.model.missing import Missing
from gpudoctor.model.session import Session
from gpudoctor.profile.command import isolating_flag, script_of

# which loops the recorder counts: one that takes its gradients by tf.gradients, or none at all, has trained and is not seen
SEEN = "counted are fit, train_on_batch, loops over a tf.data.Dataset, and steps of your own with a GradientTape or an optimizer"
STARTING = "starting: "  # how a remark begins while a command runs that has not trained yet


def _where(session: Session) -> str:
    """Return which Python ran: another one may have been meant."""
    ran = next((each.executable for each in session.processes if each.executable), "")
    return f" (it ran in {ran})" if ran else ""


def remarks(session: Session) -> tuple[str, ...]:
    """Return the sentences, most important first."""
    return tuple(_remarks(session))


def _remarks(session: Session) -> Iterator[str]:
    if session.outcome == "running" and not session.trained:
        yield f"{STARTING}{_so_far(session)} ({_since(session)})"
        yield from _silent_child(session)
        return
    if session.outcome == "cut_short":
        yield "the recording was cut short: gpudoctor itself was killed; what it had until then is shown"
    if not session.hello:
        yield _silence(session)
        return
    if not session.trained:
        yield from _silent_child(session)
    if all(isinstance(each.tensorflow_version, Missing) for each in session.processes):
        yield f"{script_of(session.command)} never imported TensorFlow; there is nothing to profile{_where(session)}"
    elif not session.trained:
        why = next((each.limits[0] for each in session.processes if each.limits), SEEN)
        yield f"TensorFlow was imported, but no training step was seen: {why}"
    yield from _without_an_end(session)
    faults = [each for each in session.events if each.kind == "agent_fault"]
    if faults:
        yield f"{len(faults)} parts of the recording failed and are missing ({faults[0].text})"
    unread = sum(int(each.details.get("left_out_bytes", 0)) for each in session.messages if each.number == 0)
    if unread:
        yield f"{unread / 2**20:.1f} MiB of the output came faster than it is read for messages"


def _without_an_end(session: Session) -> Iterator[str]:
    """Say it where a process that trained never came to its exit handlers: what it wrote as it went is all there is."""
    trained = {each.process for each in session.loops}
    if session.outcome == "ended" and any(
        each.process in trained and isinstance(each.ended_at, Missing) for each in session.processes
    ):
        yield "no end of Python's was recorded (os._exit, a kill, exec): its last seconds may be missing"


def _so_far(session: Session) -> str:
    """Say how far a command has come: what it has not done yet is no verdict."""
    if not session.hello:
        return "no Python process with the recorder yet"
    if all(isinstance(each.tensorflow_version, Missing) for each in session.processes):
        return "TensorFlow not imported yet"
    return "TensorFlow imported, no training step yet"


def _since(session: Session) -> str:
    minutes, seconds = divmod(int(max(0.0, session.heartbeat_at - session.started_at)), 60)
    return f"{minutes}:{seconds:02}"


def _silent_child(session: Session) -> Iterator[str]:
    """Name the first Python process without the recorder: whoever trained may have been it."""
    silent = [each.text for each in session.events if each.kind == "not_recorded"]
    if silent:
        more = f", and {len(silent) - 1} more" if len(silent) > 1 else ""
        yield (
            f"a Python process ran without the recorder ({silent[0]}{more}): python -I, -E or -S, or a launcher that clears "
            "PYTHONPATH; let it through, or run the script itself"
        )


def _silence(session: Session) -> str:
    """Say why no Python process of the command said hello."""
    flag = isolating_flag(session.command)
    if flag:
        return (
            f"nothing was recorded: python {flag} ignores PYTHONPATH, which carries the recorder; run it without {flag}"
        )
    return (
        "nothing was recorded: no Python process of the command started with the recorder "
        "(not a Python program, or a launcher that clears PYTHONPATH)"
    )
