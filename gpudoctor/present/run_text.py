"""The report at the end of a run: at most 30 lines of 72 columns, verdict first, then the line to change and for how much.

It is printed under the script's own output, so it stays narrower than a scan's report and never scrolls the last epoch away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpudoctor.diagnose.ranking import together
from gpudoctor.model.finding import Finding, Grade, Severity
from gpudoctor.model.missing import Missing
from gpudoctor.model.report import Report
from gpudoctor.model.run import HIGHLY, MODERATELY, ON_PROFILED, UNFETCHED, GpuOverTime, Run, StepTimes
from gpudoctor.present import figures, findings
from gpudoctor.present.findings import FULL, NUMBER, Columns
from gpudoctor.present.headers import target_line
from gpudoctor.present.style import Style, shorten
from gpudoctor.profile.signals import as_after

WIDTH = 72
LINES = 30
BAR_FULL = 20  # characters for a whole step; fewer where the line would not hold them
COLUMNS = Columns(width=WIDTH, title=42, gain=20, more="gpudoctor report -v")
BUDGETS = (
    (4, 3, 3),
    (3, 2, 2),
    (3, 1, 2),
    (2, 1, 1),
    (1, 0, 1),
)  # evidence, other findings, fixes: what is given up first
WORTH_SAYING = 1.05
# XProf's classes are lower than the words sound: they are given beside them, unless more than half waits anyway
SCALES = {"highly": f" (>={HIGHLY:.0%})", "moderately": f" ({MODERATELY:.0%}-{HIGHLY:.0%})"}
CALLBACKS = "epoch-end-stall"  # the cause by its id
PLAINLY = 0.5  # policy: where most of the time waits, nobody takes the word for an exaggeration
# steps of single calls from Python: the calling and the kernels are not told apart
EAGER = frozenset({"gradient", "update"})


def render(report: Report, *, style: Style | None = None, verbose: bool = False) -> str:
    """Return the text; without `verbose` what does not fit is counted, not shown."""
    style = style or Style()
    if verbose:
        return _text(report, style, (FULL, FULL, FULL))
    last = ""
    for budget in BUDGETS:
        last = _text(report, style, budget)
        if last.count("\n") <= LINES:
            break
    return last


def _text(report: Report, style: Style, budget: tuple[int, int, int]) -> str:
    run = report.snapshot.run
    if run is None:
        return "no run was recorded\n"
    evidence, also, fixes = budget
    parts = [
        [*_title(report), *_ending(run), *_verdict(report, run, style)],
        list(_primary(report, run, style, evidence)),
        list(_also(report, style, also)),
        list(_fixes(report, run, style, fixes)),
        list(_closing(report, run)),
    ]
    blocks = ["\n".join(line.rstrip() for line in part) for part in parts[:-1] if part]
    return "\n\n".join(blocks) + "\n" + "".join(f"{line}\n" for line in parts[-1])


def _title(report: Report) -> Iterator[str]:
    yield f"{'-' * (WIDTH - len(' gpudoctor report'))} gpudoctor report"
    if report.target:
        yield shorten(target_line(report.target, WIDTH), WIDTH)


def _ending(run: Run) -> Iterator[str]:
    how = {"ended": f"ended{_code(run)}", "cut_short": "was cut short", "running": "still runs"}.get(
        run.outcome, run.outcome
    )
    after = "" if isinstance(run.duration_s, Missing) else f" after {_clock(run.duration_s)}"
    steps = "" if run.steps is None else f"; {_steps(run.steps)}"
    yield from _wrapped(f"{run.script} {how}{after}{steps}")
    if run.ended_by:
        yield shorten(f"  ended by {run.ended_by}", WIDTH)


def _code(run: Run) -> str:
    """Return how it ended: a signal by its name, and of an exit code like that of a shell the signal that it stands for."""
    if isinstance(run.exit_code, Missing):
        return ""
    if run.signal:
        return f" by {run.signal} ({run.exit_code})"
    meant = as_after(run.exit_code)
    return f" {run.exit_code}" + (f" (what a shell returns after {meant})" if meant else "")


def _clock(seconds: float) -> str:
    whole = round(seconds)
    return (
        f"{whole // 3600}:{whole % 3600 // 60:02}:{whole % 60:02}"
        if whole >= 3600
        else f"{whole // 60}:{whole % 60:02}"
    )


def _steps(times: StepTimes) -> str:
    if times.warm_up_steps:
        return f"{times.steps:,} steady steps, {times.warm_up_steps:,} warm-up apart"
    return f"{times.steps:,} steps, warm-up not set apart"


def _verdict(report: Report, run: Run, style: Style) -> Iterator[str]:
    times = run.steps
    if times is None:
        for words in run.limits or (report.summary.headline,):
            yield from _wrapped(words)
        return
    if run.held_by_ends:
        yield style.bold(f"CALLBACK-BOUND: {run.held_by_ends:.0%} of the time is callbacks between epochs; steps:")
        style = Style()
    share, step = times.shares.input, times.step_s
    length = "step" if isinstance(step, Missing) else f"{figures.duration(step)}/step"
    if isinstance(share, Missing) and times.kind in UNFETCHED and not isinstance(times.shares.host, Missing):
        yield from _between(times.shares.host, length, style)
    elif isinstance(share, Missing):
        yield from _wrapped(f"INPUT UNKNOWN of {length}: {share.reason}")
    else:
        yield style.bold(shorten(_fetched(times, share, length), WIDTH))
    yield from _between_epochs(report, run)
    yield from _bars(times)
    yield from _wrapped(f"{_methods(times)}; device plane: {times.device_plane}", "  ")
    for gpu in (run.machine.held(run.settings) if run.machine is not None else ())[:2]:
        yield from _wrapped(_gpu(gpu), "  ")


def _fetched(times: StepTimes, share: float, length: str) -> str:
    """Return the verdict on steps that fetch their input from tf.data."""
    most = "at most " if times.device_plane in {"closed", "not recorded"} else ""
    host = times.shares.host
    if times.host_bound and not isinstance(host, Missing):
        return f"HOST-BOUND: {host:.0%} of {length} is Python, {most}{share:.0%} waits for data"
    scale = SCALES.get(times.input_class, "") if share < PLAINLY else ""
    return f"{times.input_class.upper()} INPUT-BOUND: {most}{share:.0%} of {length} waits for data{scale}"


def _between_epochs(report: Report, run: Run) -> Iterator[str]:
    """Yield what the steps' verdict leaves out, where a check has found that callbacks between the epochs hold them up."""
    share = run.calls.epoch_end_share if run.calls is not None and not run.held_by_ends else 0.0
    if share >= HIGHLY and any(each.cause == CALLBACKS for each in report.findings):
        yield f"  besides its steps, {share:.0%} of the time is callbacks between epochs"


def _between(host: float, length: str, style: Style) -> Iterator[str]:
    """Yield the verdict on steps that fetch nothing from tf.data: what they would wait for is made by the loop itself."""
    bound = "HOST-BOUND" if host >= HIGHLY else "NOT HOST-BOUND"
    yield style.bold(shorten(f"{bound}: {host:.0%} of {length} is your own Python between the calls", WIDTH))
    yield "  of TensorFlow: batches are made there, none is fetched from tf.data"


def _bars(times: StepTimes) -> Iterator[str]:
    """Yield the parts of a step in ms, largest with a bar."""
    step = times.step_s
    if isinstance(step, Missing):
        return
    shares = times.shares
    named = (
        ("input", shares.input),
        ("TF calls" if times.kind in EAGER else "compute", shares.compute),
        ("host", shares.host),
        ("tracing", shares.tracing),
    )
    known = [
        (name, share) for name, share in named if not isinstance(share, Missing) and (share > 0 or name != "tracing")
    ]
    lines = (_bar_line(known, step, full) for full in range(BAR_FULL, 0, -1))
    yield next((line for line in lines if len(line) <= WIDTH), "") or shorten(_bar_line(known, step, 1), WIDTH)


def _bar_line(known: Sequence[tuple[str, float]], step_s: float, full: int) -> str:
    parts = (f"{name} {share * step_s * 1000:.3g} {'#' * round(share * full)}".strip() for name, share in known)
    return f"  {'  '.join(parts)} (ms)"


def _methods(times: StepTimes) -> str:
    """Return whether the two methods agree, with the two figures that were held against each other."""
    called = times.kind in UNFETCHED
    stamped = times.stamped_host_share if called else times.stamped_input_share
    window = times.window_host_share if called else times.window_input_share
    if isinstance(times.agree, Missing) or isinstance(window, Missing) or isinstance(stamped, Missing):
        why = f", no window: {window.reason}" if isinstance(window, Missing) and "stamps" in times.methods else ""
        return f"one method only ({', '.join(times.methods) or 'none'}{why})"
    words = f"two methods agree{ON_PROFILED * times.agree_elsewhere}" if times.agree else "methods disagree"
    return f"{words} ({stamped:.0%}, {window:.0%})"


def _gpu(gpu: GpuOverTime) -> str:
    words = [f"GPU {gpu.index}"]
    if not isinstance(gpu.busy_share, Missing):
        words.append(f"at work {gpu.busy_share:.0%}")
    if not isinstance(gpu.power_w, Missing):
        limit = "" if isinstance(gpu.power_limit_w, Missing) else f" of {gpu.power_limit_w:.0f}"
        words.append(f"{gpu.power_w:.0f}{limit} W")
    if not isinstance(gpu.joules_per_step, Missing):
        words.append(f"energy {gpu.joules_per_step:.3g} J/step")
    if not isinstance(gpu.memory_peak_bytes, Missing):
        words.append(f"peak {figures.size(gpu.memory_peak_bytes)}")
    if not isinstance(gpu.foreign_processes, Missing) and gpu.foreign_processes:
        words.append(f"{gpu.foreign_processes} other process{'es' if gpu.foreign_processes > 1 else ''} on it")
    return ", ".join(words)


def _roots(report: Report) -> list[Finding]:
    return [each for each in report.findings if each.caused_by is None]


def _primary(report: Report, run: Run, style: Style, limit: int) -> Iterator[str]:
    roots = [each for each in _roots(report) if each.severity is not Severity.INFO]
    if not roots:
        if run.steps is not None:
            yield style.good("Nothing stands out; see the notes." if report.fixes else "Nothing to change was found.")
        return
    primary = roots[0]
    yield findings.heading(primary, style, COLUMNS)
    yield from _wrapped(primary.summary, "  ", "")
    yield from findings.table(report, primary, findings.to_show(primary, limit), COLUMNS)
    yield shorten(f"  {primary.basis}", WIDTH)


def _also(report: Report, style: Style, limit: int) -> Iterator[str]:
    roots = _roots(report)
    primary = next((each for each in roots if each.severity is not Severity.INFO), None)
    others = [each for each in roots if each is not primary]
    if not others:
        return
    yield style.bold("ALSO" if primary is not None else "NOTES")
    yield from findings.others(others, limit, style, COLUMNS)


def _fixes(report: Report, run: Run, style: Style, limit: int) -> Iterator[str]:
    bound = _perfect(report, run)
    if not report.fixes and not bound:
        return
    if report.fixes:
        yield findings.fixes_heading(style, COLUMNS)
    yield from findings.listed(report.fixes, limit, _columns(run))
    yield from bound
    most = together(run.steps.shares) if run.steps is not None and _several_levers(report, bound) else None
    if most is None or most < WORTH_SAYING or f"<= {most:.2g}x" in "".join(bound):
        return
    if _leave_compute(report, most):
        yield _bound("all of them together, at most:", most)


def _columns(run: Run) -> Columns:
    """Return the widths, and the command that shows the rest of this run's fixes where it is short enough for a line."""
    own = f"gpudoctor report {run.session} -v"
    return replace(COLUMNS, more=own) if run.session and len(own) < WIDTH - len("   9 more: ") else COLUMNS


def _several_levers(report: Report, bound: Sequence[str]) -> bool:
    """Return whether the fixes take away more than the wait: what those of the pipeline bring together is its own bound."""
    beside = [each for each in report.fixes if not (bound and each.id.startswith("pipeline-"))]
    return len(report.fixes) > 1 and bool(beside)


def _leave_compute(report: Report, most: float) -> bool:
    """Return whether every fix is known to bring no more than that: one that is not (a graph, XLA) may lessen compute, too."""
    gains = [each.gain for each in report.fixes]
    known = [each.speedup for each in gains if each.grade in {Grade.BOUND, Grade.ESTIMATE} and each.speedup is not None]
    return len(known) == len(gains) and all(each <= most for each in known)


def _bound(words: str, speedup: float) -> str:
    return _row(words, f"<= {speedup:.2g}x bound")


def _row(words: str, gain: str) -> str:
    return f"{'':<{NUMBER}}{words:<{COLUMNS.title + 1}}{gain}"


def _perfect(report: Report, run: Run) -> list[str]:
    """Return the bound of the input pipeline, where steps wait for it at all, and no fix of it relieves the rest, too."""
    if run.pipeline is None or run.steps is None or run.steps.input_class not in {"highly", "moderately"}:
        return []
    perfect = next((each for each in run.pipeline.changes if each.kind == "perfect"), None)
    highest = max((each.gain.high or 0.0 for each in report.fixes if each.id.startswith("pipeline-")), default=0.0)
    if perfect is None or round(perfect.high, 2) < highest:
        return []
    if not report.fixes:
        return [f"A perfect input pipeline would bring at most {perfect.high:.2g}x."]
    if 1 < perfect.low * WORTH_SAYING < perfect.high:  # its Python may slow the steps beside it: nobody knows how much
        return [_row("a perfect input pipeline:", f"{perfect.low:.2g}-{perfect.high:.2g}x bound")]
    return [_bound("a perfect input pipeline:", perfect.high)]


def _closing(report: Report, run: Run) -> Iterator[str]:
    needless = run.pipeline.needless if run.pipeline is not None else ()
    if needless and report.findings:
        yield from _wrapped("Not advised: " + "; ".join(f"{each.what} ({each.why})" for each in needless), "", "  ")
    for each in run.limits[:2] if run.steps is not None else ():
        yield from _wrapped(f"Not seen: {each}")
    if run.session:
        yield from _session(run.session)


def _session(path: str) -> Iterator[str]:
    """Yield where the recording is and how its report is shown again; a command is copied whole."""
    line, command = f"Session {path}", f"gpudoctor report {path}"
    yield from (f"{line} | {command}",) if len(line) + len(command) + 3 <= WIDTH else (line, command)


def _wrapped(text: str, first: str = "", rest: str = "  ") -> Iterator[str]:
    yield from findings.wrapped(text, first, first + rest if first else rest, WIDTH)
