"""The parts of the run view: how it goes, the pipeline with what holds it up, hot lines, memories, findings and fixes.

Figures are the report's own (`model.run`); computing them here again would give a second answer to the same question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpudoctor.model.missing import Missing, either
from gpudoctor.model.report import Report
from gpudoctor.model.run import HIGHLY, UNFETCHED, GpuOverTime, HotLine, Run, Stage, StepTimes
from gpudoctor.present import figures
from gpudoctor.profile.outcome import STARTING
from gpudoctor.tui.run_news import RunNews
from gpudoctor.tui.run_watch import RunWatch
from gpudoctor.tui.views import words
from gpudoctor.tui.views.doctor import MARKS
from gpudoctor.tui.views.lines import Line, Span, crop, ends, fit, fit_right, width_of, wrap
from gpudoctor.tui.views.step_plot import share_bar

BAR, SHORT_BAR, PLACE, COST, WHO = 8, 5, 14, 9, 12  # cells
BARS_FROM = 64
EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(Error|Exception|Interrupt|Exit|Warning)(:|\s*$)")
INTERRUPTED = frozenset({130, 143})  # Ctrl-C and SIGTERM, as a shell tells them
NO_INPUT = "a run that the dashboard starts has no standard input"
MOST_GPUS = 2  # display only: with their figures; the rest is counted
SLOWEST = " BOTTLENECK"
TOLD_SHARE = 0.01  # display only
SILENT_S = 5.0  # display only: the wrapper writes each second
MINUTE_S, HOUR_S = 60, 3600
TINY_S = 1e-4  # display only: in milliseconds it would need more figures than there is room for
STEADY_BYTES = 64  # display only: less a step is 64 MB in a million steps
CLASSES = {
    "highly": ("[x] HIGHLY INPUT-BOUND", "bad"),
    "moderately": ("[!] MODERATELY INPUT-BOUND", "warn"),
    "not": ("[v] NOT INPUT-BOUND", "good"),
    "unknown": ("[?] INPUT UNKNOWN", "warn"),
}
ACTIVITIES = {"tensorflow_wait": "in TF", "tensorflow": "TF code"}
ROLES = {"pipeline": "input", "main": "main"}


def clock(seconds: float) -> str:
    """Return a length of time as people read it off a clock."""
    whole = int(seconds)
    if whole >= HOUR_S:
        return f"{whole // HOUR_S}:{whole % HOUR_S // MINUTE_S:02}:{whole % MINUTE_S:02}"
    return f"{whole // MINUTE_S}:{whole % MINUTE_S:02}"


def state_line(watch: RunWatch, width: int) -> Line:
    """Return which run it is and how it goes."""
    news, run = watch.news, watch.run
    if news is None or run is None:
        return (Span(""),)
    sign, told, style = _state(watch, news, run)
    left = (Span(f" {sign} ", style), Span(run.script, "strong"), Span(f"  {told}", style))
    more = [f"epoch {news.epoch}" if news.epoch else "", f"{news.steps:,} steps" if news.steps else ""]
    versions = [f"{name} {each}" for name, each in (("TF", run.tensorflow_version), ("Keras", run.keras_version)) if isinstance(each, str)]  # fmt: skip
    right = [*versions, f"session {run.session}"]
    if watch.live > 1:
        right.append(f"1 of {watch.live} live, n next")
    shown = "  ".join(each for each in more if each)
    return ends((*left, Span(f"  {shown}")), (Span("  ".join(right) + " ", "dim"),), width)


def _state(watch: RunWatch, news: RunNews, run: Run) -> tuple[str, str, str]:
    after = clock(news.place_s)
    if watch.stopping and watch.exit_code is None:
        return "!", f"asked to stop, {after}", "warn"
    if run.outcome == "running":
        if news.silent_s > SILENT_S:
            return "?", f"silent for {news.silent_s:.0f} s, {after}", "warn"
        return "●", f"running {after}", "good"
    if run.outcome == "cut_short":
        return "!", f"recording cut short after {after}", "warn"
    code = either(run.exit_code, 0)
    return (
        ("■", f"ended after {after}, exit 0", "good")
        if code == 0
        else ("x", f"ended after {after}, {run.signal or f'exit {code}'}", "bad")
    )


def verdict_line(run: Run, width: int, output: Sequence[str] = ()) -> Line:
    """Return how input-bound the run is, that it crashed, or what is not seen yet. `output`: what it printed, if known."""
    steps = run.steps
    code = either(run.exit_code, 0)
    if run.outcome == "ended" and code:
        how = f"by {run.signal} ({code})" if run.signal else f"exit {code}"
        word = f" [x] {'STOPPED' if code in INTERRUPTED else 'CRASHED'} {how}"
        return crop(
            (Span(word, "bad"), Span(f"  {fit(_last_words(output), max(0, width - len(word) - 2))}", "strong")), width
        )
    if steps is None:
        why = run.limits[0] if run.limits else run.unknown.get("steps", "no training step was seen")
        told = f"no training step yet: {why}" if run.outcome == "running" and not why.startswith(STARTING) else why
        return (Span(f" [?] {fit(told, width - 5)}", "dim"),)
    word, style, told = _bound_by(steps)
    if run.held_by_ends:
        word, style, told = (
            "[x] CALLBACK-BOUND",
            "bad",
            f"{run.held_by_ends:.0%} of the time is callbacks between epochs",
        )
    sure = f"confidence {steps.confidence:.2f} "
    left = (Span(f" {word}", style), Span(f"  {told}", "strong"))
    return ends(crop(left, width), (Span(sure, "dim"),), width)


def _bound_by(steps: StepTimes) -> tuple[str, str, str]:
    """Return the class of the steps, its style, and the share; of steps that fetch nothing from tf.data the host's."""
    word, style = CLASSES[steps.input_class]
    share, host = steps.shares.input, steps.shares.host
    if isinstance(share, Missing) and steps.kind in UNFETCHED and not isinstance(host, Missing):
        told = f"{host:.0%} of a step is your own Python between the calls of TensorFlow, over the run"
        return ("[x] HOST-BOUND", "bad", told) if host >= HIGHLY else ("[v] NOT HOST-BOUND", "good", told)
    most = "at most " if steps.device_plane in {"closed", "not recorded"} else ""
    if steps.host_bound and not isinstance(host, Missing) and not isinstance(share, Missing):
        told = f"{host:.0%} of a step is Python, {most}{share:.0%} waits for data, over the run"
        return "[x] HOST-BOUND", "bad", told
    told = share.reason if isinstance(share, Missing) else f"{most}{share:.0%} of a step waits for data, over the run"
    return word, style, told


def _last_words(output: Sequence[str]) -> str:
    """Return the line with which Python names an exception, and what it means where standard input is what is lacking."""
    last = next((line.strip() for line in reversed(output) if EXCEPTION.match(line)), "")
    return f"{last} ({NO_INPUT})" if last.startswith("EOFError") else last


def figures_line(news: RunNews, run: Run, width: int) -> Line:
    """Return the figures: pace, step and wait of now, then GPU and cores over the run; only whole ones."""
    last = next((each for each in reversed(news.columns) if each is not None), None)
    spans: list[Span] = []
    if last is not None:
        when = "now" if run.outcome == "running" else "last"
        spans += (Span(f"   {when} ", "title"), *_figure(f"{last.steps_per_s:.3g}", "steps/s"))
        spans += _figure(figures.duration(last.step_s), "a step")
        if run.steps is not None and not isinstance(run.steps.shares.input, Missing):
            spans += _figure(f"{last.input / last.step_s:.0%}", "input")
    begun = len(spans)
    spans.append(Span("   run ", "title"))
    for figure in _gpus(run, width - width_of(tuple(spans))):
        spans += figure
    for value, label in _host(run):
        figure = _figure(value, label)
        if width_of((*spans, *figure)) <= width:
            spans += figure
    return crop(tuple(spans if len(spans) > begun + 1 else spans[:begun]), width)


def _gpus(run: Run, width: int) -> list[Line]:
    """Return the GPUs that the run held, each whole or not at all: a figure must not stand beside another GPU's name."""
    held = () if run.machine is None else run.machine.held(run.settings)
    for count, energy in (*((each, True) for each in range(min(len(held), MOST_GPUS), 0, -1)), (1, False)):
        told = [figure for figure in (_gpu_figure(each, energy=energy) for each in held[:count]) if figure]
        rest = len(held) - count
        more: list[Line] = [(Span(f" +{rest} GPU{'s' if rest > 1 else ''} ", "dim"),)] if rest > 0 and told else []
        if sum(map(width_of, [*told, *more])) <= width:
            return [*told, *more]
    return []


def _gpu_figure(gpu: GpuOverTime, *, energy: bool) -> Line:
    spans: list[Span] = []
    if not isinstance(gpu.busy_share, Missing):
        spans += (Span(f" {gpu.busy_share:.0%}", "strong"), Span(" at work", "dim"))
    if energy and not isinstance(gpu.joules_per_step, Missing):
        spans += (Span(f" {gpu.joules_per_step:.3g}", "strong"), Span(" J/step", "dim"))
    return (Span(f" GPU {gpu.index}", "dim"), *spans, Span(" ")) if spans else ()


def _figure(value: str, label: str) -> Line:
    return (Span(f" {value}", "strong"), Span(f" {label} ", "dim"))


def _host(run: Run) -> Iterator[tuple[str, str]]:
    if run.machine is not None and not isinstance(run.machine.cores_used, Missing):
        yield f"{run.machine.cores_used:.1f}", f"of {words.amount(run.machine.cores)} cores"
    if run.tracings is not None and run.tracings.share > 0:
        yield f"{run.tracings.share:.0%}", "retracing"


def pipeline_title(run: Run) -> str:
    """Return how long a batch takes and who runs ahead."""
    found = run.pipeline
    if found is None or isinstance(found.batch_s, Missing):
        return ""
    few = f" ({found.window_batches} seen)" if found.window_batches else ""
    return f"a batch takes {figures.duration(found.batch_s)}{few}, prefetch: {found.prefetch}"


def pipeline_lines(run: Run, width: int, height: int) -> list[Line]:
    """Return the stages from the output down, the slowest one lit; where not all fit, those around it."""
    found = run.pipeline
    if found is None:
        return [(Span(f"   {fit(run.unknown.get('pipeline', 'not seen yet'), width - 4)}", "dim"),)]
    slowest = -1 if isinstance(found.bottleneck, Missing) else found.bottleneck
    most = max((each.batch_s for each in found.stages), default=0.0)
    first = max(0, min(slowest - height // 2, len(found.stages) - height))
    return [
        _stage(each, most, width, slowest=at == slowest)
        for at, each in list(enumerate(found.stages))[first : first + max(1, height)]
    ]


def _stage(stage: Stage, most: float, width: int, *, slowest: bool) -> Line:
    place = f"{_short(stage.file)}:{stage.line}" if stage.line else "TF's own" if stage.made_by == "tensorflow" else ""
    wide = f" x{stage.parallelism:.0f}" if stage.parallelism > 1 else ""
    callee = f" {stage.callee}()" if stage.callee else ""
    python = " in Python" if stage.python else ""
    cost = _cost(stage.batch_s) if stage.batch_s > 0 else ""
    bar_width = BAR if width >= BARS_FROM else 0
    room = max(8, width - 3 - PLACE - COST - bar_width - len(SLOWEST) - 3)
    style = "warn" if slowest else ""
    return crop(
        (
            Span(" > " if slowest else "   ", "warn"),
            Span(fit(f"{stage.method or stage.name}{wide}{callee}{python}", room), style),
            Span(f" {fit(place, PLACE)} ", "accent" if stage.line else "dim"),
            Span(f"{fit_right(cost, COST)} ", style),
            Span(share_bar(stage.batch_s / most if most else 0.0, bar_width), "input" if slowest else "bar"),
            Span(SLOWEST if slowest else "", "warn"),
        ),
        width,
    )


def _cost(seconds: float) -> str:
    """Return a time that fits its column with its unit."""
    return f"{seconds * 1e6:.3g} us" if seconds < TINY_S else figures.duration(seconds)


def hot_lines(run: Run, width: int, height: int) -> list[Line]:
    """Return the lines of the user's code that took most time, with their source."""
    found = run.hot_lines
    if found is None or not found.lines:
        return [(Span(f"   {fit(run.unknown.get('hot_lines', 'not sampled yet'), width - 4)}", "dim"),)]
    lines: list[Line] = []
    for each in _merged(found.lines)[: max(1, height)]:
        place = f"{_short(each.file)}:{each.line}"
        doing = ACTIVITIES.get(each.activity, each.activity)
        head = f" {each.share:4.0%} "
        who = f" {fit(f'{ROLES.get(each.role, each.role)} {doing}', WHO)} "
        lines.append(
            crop(
                (
                    Span(head, "strong"),
                    Span(share_bar(each.share, SHORT_BAR), "host" if each.role == "main" else "input"),
                    Span(who, "dim"),
                    Span(f"{fit(place, PLACE)} ", "accent"),
                    Span(
                        fit(each.snippet or each.function, max(0, width - len(head) - SHORT_BAR - len(who) - PLACE - 1))
                    ),
                ),
                width,
            )
        )
    return lines


def _merged(lines: Sequence[HotLine]) -> list[HotLine]:
    """Return a line once for what it did there, whatever function of a library it was in; tiny ones are left out."""
    told: dict[tuple[str, int, str, str], HotLine] = {}
    for each in lines:
        key = (each.file, each.line, each.role, each.activity)
        before = told.get(key)
        told[key] = each if before is None else replace(before, share=before.share + each.share)
    return [each for each in sorted(told.values(), key=lambda each: -each.share) if each.share >= TOLD_SHARE]


def memory_lines(run: Run, width: int, height: int) -> list[Line]:
    """Return each memory with its growth for a step."""
    found = run.memory
    if found is None:
        return [(Span(f"   {fit(run.unknown.get('memory', 'not sampled yet'), width - 4)}", "dim"),)]
    lines: list[Line] = []
    for each in found.slopes[: max(1, height)]:
        growth = (
            each.bytes_per_step.reason if isinstance(each.bytes_per_step, Missing) else _growth(each.bytes_per_step)
        )
        peak = "" if isinstance(each.peak_bytes, Missing) else f"peak {figures.size(each.peak_bytes)}"
        lines.append(
            (
                Span(f"   {fit(each.device, 7)} ", "dim"),
                Span(fit_right(figures.size(each.last_bytes), 10), "strong"),
                Span(f"   {fit(growth, 20)} "),
                Span(fit(peak, max(0, width - 42)), "dim"),
            )
        )
    return lines


def _growth(bytes_per_step: float) -> str:
    if abs(bytes_per_step) < STEADY_BYTES:
        return "steady"
    sign = "+" if bytes_per_step >= 0 else "-"
    return f"{sign}{figures.size(abs(bytes_per_step))}/step"


def finding_lines(watch: RunWatch, width: int, height: int) -> list[Line]:
    """Return the findings, symptoms under their cause, then the fixes by rank."""
    report = watch.report
    if report is None:
        return []
    height = max(1, height)
    if not report.findings:
        told = (
            "nothing found so far"
            if watch.run is not None and watch.run.outcome == "running"
            else report.summary.headline
        )
        return [(Span(f"   {fit(told, width - 4)}", "dim"),)]
    lines: list[Line] = []
    for at, each in enumerate(report.findings):
        mark, style = MARKS[each.severity]
        lead = "  └ " if each.caused_by is not None else " "
        chosen = at == min(watch.row, len(report.findings) - 1)
        cursor = ">" if chosen else " "
        text = f"{each.code} {each.summary}"
        room = max(0, width - len(lead) - len(mark) - 2)
        spans = (
            Span(cursor, "accent"),
            Span(f"{lead}{mark} ", style),
            Span(fit(text, room), "chosen" if chosen else ""),
        )
        lines.append(crop(tuple(span._replace(action=f"screen.choose({at})") for span in spans), width))
    kept = max(1, height - min(1, len(report.fixes)))  # the best fix is never left out
    first = max(0, min(watch.row, len(lines) - 1) - kept + 1)
    return [*lines[first : first + kept], *_fix_lines(report, width)][:height]


def _fix_lines(report: Report, width: int) -> Iterator[Line]:
    for number, fix in enumerate(report.fixes, start=1):
        gain = f"  {figures.gain(fix.gain)} "
        label = " FIX  " if number == 1 else "      "
        yield (
            Span(label, "title"),
            Span(f"{number} ", "strong"),
            Span(fit(fix.title, max(0, width - 8 - len(gain)))),
            Span(gain, "accent"),
        )


def output_lines(output: Sequence[str], width: int, height: int) -> list[Line]:
    """Return the last lines that the command printed."""
    shown = [line for line in output if line.strip()][-height:] if height > 0 else []
    if not shown:
        return [(Span("   nothing printed yet", "dim"),)]
    return [(Span(" │ ", "track"), Span(fit(line, max(0, width - 3)), "dim")) for line in shown]


def nothing_yet(watch: RunWatch, width: int) -> list[Line]:
    """Return what stands where no run is watched."""
    if watch.started:
        words = " ".join(watch.started)
        ended = watch.exit_code is not None
        texts = [
            (
                f"{words} ended, exit {watch.exit_code}" if ended else f"Starting {words} ...",
                "bad" if watch.exit_code else "strong",
            )
        ]
    else:
        texts = [
            (watch.waiting or "No training run is being recorded.", "strong"),
            ("", ""),
            ("Start one in another terminal, and it shows here by itself:", ""),
            ("   gpudoctor run -- python train.py", "good"),
            ("or start both at once:", ""),
            ("   gpudoctor monitor -- python train.py", "good"),
            ("or play one that is over (gpudoctor sessions lists them):", ""),
            ("   gpudoctor monitor --session FILE", "good"),
            ("", ""),
            (
                (
                    "This view then shows steps per second, where each step's time goes, the tf.data pipeline with its "
                    "bottleneck, the hot lines of your source and the memory's slope; findings appear while it trains."
                ),
                "dim",
            ),
        ]
    return [(Span(f"  {line}", style),) for text, style in texts for line in wrap(text, min(width, 100) - 4)]


def _short(path: str) -> str:
    return path.rpartition("/")[2]
