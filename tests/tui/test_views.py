"""What stands on the screen, from data alone: any size, 1 to 16 GPUs, any text, every unknown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from gpudoctor.model.gpu import Ecc, Gpu, Pcie, Power
from gpudoctor.model.machine import Nvml
from gpudoctor.model.missing import Missing
from gpudoctor.tui.history import History
from gpudoctor.tui.messages import HostLoad, ProcessLoad, Reading
from gpudoctor.tui.views import detail_pages, words
from gpudoctor.tui.views.chrome import footer_line, header_line
from gpudoctor.tui.views.doctor_frame import DoctorPlace, doctor_frame
from gpudoctor.tui.views.gpus import gpu_lines
from gpudoctor.tui.views.host import host_lines
from gpudoctor.tui.views.lines import Span, bar, cells, columns, crop, fit, fit_right, plain, text_of, width_of, wrap
from gpudoctor.tui.views.machine import FIXED, KEYS, heights, machine_frame
from gpudoctor.tui.views.plots import plot_lines
from gpudoctor.tui.views.processes import arranged, process_lines
from gpudoctor.tui.watch import Watch
from gpudoctor.tui.widgets.panel import changed_cells
from tests.tui.stage import HOST, PROCESSES, gpu, invented_report, reading, sick_gpu

SIZES = [(80, 24), (81, 25), (100, 30), (110, 40), (132, 36), (200, 50), (300, 80), (40, 12), (20, 6)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", [0, 1, 2, 4, 8, 16])
def test_a_frame_fills_the_screen_and_never_more(size: tuple[int, int], count: int) -> None:
    width, height = size
    watch = Watch(report=invented_report())
    watch.take(reading(*(gpu(index) for index in range(count))) if count else reading(gpus=()))
    for lines in (machine_frame(watch, width, height), doctor_frame(watch, DoctorPlace(), (), width, height)):
        assert len(lines) == height
        assert max(map(width_of, lines)) <= width


@pytest.mark.parametrize("count", [1, 2, 8, 16])
def test_every_gpu_is_seen_on_80x24(count: int) -> None:
    watch = Watch()
    watch.take(reading(*(gpu(index) for index in range(count))))
    shown = [text_of(line) for line in machine_frame(watch, 80, 24)]
    for index in range(count):
        assert any(f"{312 + index}/700W" in line and f"{64 + index}C" in line for line in shown)
    assert any("4711" in line for line in shown)


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (200, 50)])
@pytest.mark.parametrize("count", [2, 16])
def test_a_gpu_in_trouble_has_its_why_before_any_scan(size: tuple[int, int], count: int) -> None:
    watch = Watch()
    watch.take(reading(*(gpu(index) for index in range(count - 1)), sick_gpu(count - 1)))
    text = "\n".join(text_of(line) for line in machine_frame(watch, *size))
    assert f"WHY  GPU {count - 1}: too hot: slowed by HW (91 C, slows at 89)  r examines" in text
    watch.take(reading(gpu(0, status="gpu_lost"), sick_gpu(1)))
    text = "\n".join(text_of(line) for line in machine_frame(watch, *size))
    assert "WHY  GPU 0: GPU IS LOST; 1 more  r examines" in text


def test_the_fixes_below_the_why_are_its_own_first() -> None:
    judged = invented_report()
    watch = Watch(report=replace(judged, fixes=judged.fixes[::-1]))
    watch.take(reading())
    lines = [text_of(line) for line in machine_frame(watch, 120, 34)]
    at = next(place for place, line in enumerate(lines) if "GD901" in line)
    assert " FIX  2 Watch it, then see to cooling" in lines[at + 1]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"nvml": Nvml(status="library_not_found"), "gpus": ()}, "not known (NVML does not answer)"),
        ({"gpus": (gpu(0, status="gpu_lost", processes=Missing("lost")),)}, "not known (no GPU tells them)"),
        ({}, "no process holds a GPU"),
    ],
)
def test_no_process_is_said_only_where_somebody_was_asked(changes: dict[str, object], words: str) -> None:
    watch = Watch()
    watch.take(replace(reading(processes=()), **changes))  # type: ignore[arg-type]
    text = "\n".join(text_of(line) for line in machine_frame(watch, 100, 30))
    assert words in text
    assert ("processes 0" in text) == (not words.startswith("not known"))


@pytest.mark.parametrize("height", range(6, 100))
@pytest.mark.parametrize("count", [0, 1, 5, 16])
def test_heights_add_up(height: int, count: int) -> None:
    assert FIXED + sum(heights(height, count, 7, 3)) == height


def test_each_column_shows_its_own_field() -> None:
    heading, first, *_ = (text_of(line) for line in gpu_lines(reading(), 200, 0))
    for title, value in {
        "a kernel ran": "34%", "memory GiB": "21.0/79.0G", "power": "312/700W", "temp": "64C", "SM MHz": "1755/1980",
        "mem MHz": "2619", "PCIe ": "gen4 x16", "PCIe traffic": "282M in  131M out", "fan": "43%", "ECC c/u": "7/0",
        "state": "no throttling",
    }.items():  # fmt: skip
        begin = heading.index(title)
        at = first.index(value, max(0, begin - 12))
        assert abs(at + len(value) - (begin + len(title))) <= len(first), title
        assert at <= begin + len(title)
        assert at + len(value) > begin


def test_the_host_shows_its_own_figures() -> None:
    text = " ".join(text_of(line) for line in host_lines(HOST, 200))
    for figure in (
        "27%",
        "4 cores",
        "load 2.4",
        "46.0/125 GiB",
        "520M",
        "410M/s read",
        "13M/s write",
        "5M/s in",
        "1M/s out",
    ):
        assert figure in text


def test_one_busy_core_is_seen_among_a_hundred() -> None:
    cores = tuple(99.0 if core == 77 else 2.0 for core in range(128))
    line = host_lines(replace(HOST, core_percents=cores), 100)[0]
    assert any(span.style == "bar-warn" for span in line)
    assert width_of(line) <= 100


@pytest.mark.parametrize(
    ("changes", "sign", "text"),
    [
        ({"throttle_reasons": ("HwSlowdown", "HwThermalSlowdown")}, "x", "too hot: slowed by HW"),
        ({"throttle_reasons": ("HwPowerBrakeSlowdown",)}, "x", "power brake: slowed"),
        ({"throttle_reasons": ("SwThermalSlowdown",)}, "!", "hot: slowed by driver"),
        ({"throttle_reasons": ("SwPowerCap",)}, "~", "at its power cap"),
        ({"throttle_reasons": ("GpuIdle",)}, " ", "idle"),
        ({"throttle_reasons": ("ApplicationsClocksSetting",)}, " ", "clocks set by an operator"),
        ({"throttle_reasons": ("Unknown0x800",)}, " ", "Unknown0x800"),
        ({"throttle_reasons": ()}, " ", "no throttling"),
        ({"throttle_reasons": Missing("not_supported")}, "?", "clock reasons: not_supported"),
        ({"status": "gpu_lost"}, "x", "GPU IS LOST"),
        ({"status": "reset_required"}, "x", "needs a reset"),
        ({"ecc": Ecc(uncorrected=2)}, "x", "2 uncorrected ECC errors"),
        ({"ecc": Ecc(remap_failed=True)}, "x", "row remapping failed"),
        ({"pcie": Pcie(width=8, width_max=16)}, "!", "PCIe x8 of x16"),
        ({"pcie": Pcie(gen=1, gen_max=5, width=16, width_max=16)}, " ", "no throttling"),
    ],
)
def test_what_is_the_matter_is_said_in_words_with_a_sign(changes: dict[str, object], sign: str, text: str) -> None:
    assert words.state(gpu(0, **changes))[:2] == (sign, text)


def test_a_gpu_of_which_nothing_is_known_shows_no_number() -> None:
    line = text_of(gpu_lines(Reading(at_s=0.0, gpus=(Gpu(index=3),)), 200, 0)[1])
    assert not any(char.isdigit() for char in line.replace("3", "", 1))


def test_text_of_others_can_neither_steer_the_screen_nor_shift_a_column() -> None:
    evil = "python \x1b[31m\x07 \u202e训练🔥 e\u0301 [bold]x[/] " + "y" * 5000
    row = ProcessLoad(pid=1, gpus=(0,), gpu_memory_bytes=1, command=evil, user="ro\not")
    for width in (40, 80, 200):
        for line in process_lines([(0, row)], width, 4, cursor=0, tagged=frozenset()):
            assert width_of(line) <= width
            assert text_of(line).isprintable()
        assert width_of(process_lines([(0, row)], width, 4, cursor=0, tagged=frozenset())[1]) == width
    assert "\x1b" not in plain(evil)
    assert plain("训练🔥\u200b") == "训练🔥\\u200b"


def test_wide_characters_stand_as_they_are_and_take_two_cells() -> None:
    assert fit("漢字ab", 8) == "漢字ab  "
    assert fit("漢字ab", 4) == "漢 ~"
    assert fit("e\u0301 ⚠\ufe0f", 5) == "é ⚠  "
    assert fit_right("💥", 4) == "  💥"
    assert width_of(crop((Span("漢字"), Span("ab")), 3)) == 3
    assert wrap("漢字漢字 漢字", 5) == ["漢字", "漢字", "漢字"]
    for char in "漢💥█▏│└●aé":
        assert cells(char) == cell_len(char)


def test_a_name_keeps_its_first_word_beside_mig() -> None:
    line = text_of(gpu_lines(reading(gpu(0, mig_mode="enabled", mig_instances=2)), 100, 0)[1])
    assert " 0 H100  MIG " in line


def test_no_axis_is_invented_where_nothing_is_known() -> None:
    text = "\n".join(text_of(line) for line in plot_lines(Gpu(index=0, status="gpu_lost"), History(), 60, 120, 16))
    assert "500 W" not in text
    assert "GiB" not in text


def test_a_lost_gpu_keeps_the_axes_of_its_plots() -> None:
    history, whole = History(), gpu(0, power=Power(draw_w=300.0, limit_w=700.0), temperature_slowdown_c=89)
    lost = Gpu(index=0, status="gpu_lost")
    history.add(1.0, [whole])
    history.add(2.0, [lost])
    text = "\n".join(text_of(line) for line in plot_lines(lost, history, 60, 120, 16))
    assert "power, 0-700 W" in text
    assert "memory, 0-79.0 GiB" in text
    assert "slows at 89" in text


def test_a_limit_of_no_watts_is_no_end_of_an_axis() -> None:
    history, odd = History(), gpu(0, power=Power(draw_w=50.0, limit_w=0.0))
    history.add(1.0, [odd])
    text = "\n".join(text_of(line) for line in plot_lines(odd, history, 60, 120, 16))
    assert "power, 0-500 W" in text
    assert "50 W" in text


def test_order_filter_and_tree() -> None:
    def pids(**how: object) -> list[int]:
        return [each.pid for _, each in arranged(PROCESSES, **{"sort": "gpu memory", **how})]  # type: ignore[arg-type]

    assert pids() == [4711, 4822, 4712]
    assert pids(sort="cpu") == [4711, 4822, 4712]
    assert pids(sort="pid") == [4711, 4712, 4822]
    assert pids(sort="user") == [4711, 4712, 4822]
    assert pids(pattern="SERVE") == [4822]
    assert pids(pattern="4712") == [4712]
    assert [depth for depth, _ in arranged(PROCESSES, sort="cpu", tree=True)] == [0, 1, 0]


def test_processes_that_are_each_others_parents_do_not_hang_the_tree() -> None:
    loop = (ProcessLoad(pid=1, parent_pid=2), ProcessLoad(pid=2, parent_pid=1), ProcessLoad(pid=3, parent_pid=3))
    assert len(arranged(loop, sort="pid", tree=True)) == 1


def test_while_nvml_is_silent_the_gpus_stay_and_are_marked() -> None:
    watch = Watch()
    watch.take(reading())
    watch.trouble = "NVML does not answer since 12 s"
    watch.take(reading(gpus=(), host=HostLoad(cpu_percent=91.0)))
    shown = "\n".join(text_of(line) for line in machine_frame(watch, 120, 40))
    assert "does not answer since 12 s; the GPUs are shown as last seen" in shown
    assert "312/700W" in shown
    assert "91%" in shown


def test_details_name_every_field_with_its_own_figure() -> None:
    page = "\n".join(text_of(line) for line in detail_pages.of_gpu(gpu(0), reading(), 100))
    for label, value in {
        "a kernel ran": "34 %", "memory was read or written": "18 %", "memory used": "21.00 GiB", "memory free": "57.00 GiB",
        "power": "312 W", "power limit": "700 W", "default power limit": "701 W", "temperature": "64 C",
        "slows down at": "89 C", "SM clock": "1755 MHz", "highest SM clock": "1980 MHz", "memory clock": "2619 MHz",
        "highest memory clock": "2620 MHz", "PCIe generation": "4 of 5", "PCIe lanes": "16 of 16", "corrected errors": "7",
        "PCIe in, sampled 20 ms": "282M/s", "PCIe out, sampled 20 ms": "131M/s", "remapped rows": "3",
        "retired pages": "- (not collected)",
    }.items():  # fmt: skip
        rows = [line for line in page.splitlines() if line[1:27].strip() == label]
        assert [row[28:].strip() for row in rows] == [value], label
    assert "HwThermalSlowdown: Hardware thermal slowdown" in "\n".join(
        text_of(line) for line in detail_pages.of_gpu(sick_gpu(0), reading(), 100)
    )


def test_bars_and_columns() -> None:
    assert text_of(bar(0.5, 4)) == "██··"
    assert text_of(bar(9.0, 2)) == "██"
    assert columns([0.0, 0.5, 1.0, None], 2) == ["  █ ", "▁██ "]


def test_wrapping_keeps_indents_and_breaks_what_no_space_parts() -> None:
    assert wrap("   pip install x", 40) == ["   pip install x"]
    assert wrap("a" * 25, 10) == ["a" * 10, "a" * 10, "a" * 5]
    assert wrap("one two three", 8) == ["one two", "three"]


def test_only_the_cells_that_changed_are_repainted() -> None:
    before, now = gpu_lines(reading(), 200, 0)[1], gpu_lines(reading(gpu(0, temperature_c=65), gpu(1)), 200, 0)[1]
    begin, end = changed_cells(before, now)
    assert end - begin <= 6
    assert text_of(now)[begin:end].strip() == "65C"


def test_a_narrow_header_keeps_the_views_and_a_narrow_footer_whole_keys() -> None:
    header = text_of(header_line("machine", reading(), 80, source="DEMO 1:10/4:59 x1"))
    assert "2 Doctor" in header
    assert "DEMO 1:10/4:59 x1" in header
    footer = text_of(footer_line(KEYS, 30))
    assert footer.endswith(tuple(f" {key} {word}  …" for key, word, _ in KEYS))


def test_history_means_holes_and_its_end() -> None:
    history = History()
    for second in range(100, 160):
        history.add(second, [gpu(0, temperature_c=second - 60)])
    assert history.columns(0, "temperature", 60, 60) == [float(each) for each in range(40, 100)]
    history.add(400, [gpu(0, temperature_c=7)])
    assert history.columns(0, "temperature", 60, 60)[-2:] == [None, 7.0]
    history.add(10, [gpu(0)])  # the clock was set back
    assert history.columns(0, "temperature", 60, 60)[:-1] == [None] * 59
    assert history.columns(5, "temperature", 60, 3) == [None] * 3
