"""The help: keys in groups, and what the figures mean where monitors are usually misread."""

from __future__ import annotations

from gpudoctor.tui.views.lines import Line, Span, wrap

KEYS = {
    "everywhere": (
        ("1 2 3", "Machine, Doctor, Run"),
        ("?", "this help"),
        ("p", "pause and go on"),
        ("T", "next theme: dark, light, contrast"),
        ("ctrl+p", "all commands"),
        ("Esc", "back; cancel a scan"),
        ("q", "quit"),
    ),
    "Machine": (
        ("left right h l", "choose a GPU"),
        ("s S", "longer, shorter history (1 min to 1 h)"),
        ("up down j k", "choose a process"),
        ("/", "filter processes by pid, user or command"),
        ("o O", "next, last order"),
        ("t", "tree with the children of each process"),
        ("Enter", "all of the chosen process; g: of the GPU"),
        ("Space", "tag a process"),
        ("K", "signal the tagged processes (asks first)"),
    ),
    "Doctor": (
        ("r", "quick scan: facts only, no load"),
        ("R", "scan with the reference network (asks first)"),
        ("b", "one trial (asks first)"),
        ("x Enter", "explain the check"),
        ("f", "go to the fixes"),
        ("c", "copy the fix"),
    ),
    "Run": (
        ("up down j k", "choose a finding"),
        ("Enter", "all of it; x: explain the check; c: copy the fix"),
        ("s S", "longer, shorter time line"),
        ("o", "what a run that was started here printed"),
        ("n", "the next of the runs that are being recorded"),
        ("K", "stop a run that was started here (asks first)"),
    ),
    "replay": (
        ("p", "pause and go on"),
        ("< >", "slower, faster"),
        ("[ ]", "10 s back, 10 s on; { } a minute"),
    ),
}
MEANINGS = (
    (
        "a kernel ran: share of the last sample period (1/6 to 1 s) in which some kernel ran. 100 % may be little work: "
        "look at power and clocks beside it."
    ),
    "memory: used by all processes; TensorFlow takes nearly all at start unless memory growth is on, so full is normal.",
    "state: what holds the clocks down, as the driver says. At its power cap is normal under full load.",
    (
        "input: share of a step that waits for its data. On a GPU a wait may lie beside device work, so without a profiler "
        "window it is at most so much."
    ),
    "PCIe: the generation drops at rest by design; missing lanes do not come back by themselves.",
)
COLUMN = 16


def help_lines(width: int, view: str = "") -> list[Line]:
    """Return the help, the keys of the present view first."""
    lines: list[Line] = []
    for group, keys in sorted(KEYS.items(), key=lambda each: each[0].lower() != view):
        lines.append((Span(f" {group}", "title"),))
        lines += [(Span(f"   {key:<{COLUMN}}", "key"), Span(word)) for key, word in keys]
        lines.append(())
    lines.append((Span(" what the figures mean", "title"),))
    for text in MEANINGS:
        lines += [(Span(f"   {line}", "dim"),) for line in wrap(text, width - 5, "  ")]
    return lines
