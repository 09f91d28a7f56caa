"""Every key does what the help says, on the running app."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from textual.binding import Binding

from gpudoctor.codec import load_snapshot
from gpudoctor.tui.app import MonitorApp
from gpudoctor.tui.scans import TRIALS
from gpudoctor.tui.screens.dialogs import Ask, Choose, Confirm, Page
from gpudoctor.tui.screens.doctor import DoctorScreen
from gpudoctor.tui.screens.machine import MachineScreen
from gpudoctor.tui.screens.run import RunScreen
from gpudoctor.tui.sources import DEMO, demo
from gpudoctor.tui.views.help import KEYS, help_lines
from gpudoctor.tui.views.lines import text_of
from tests.tui.stage import PROCESSES, Stage, Told, gpu, invented_report, reading, run_news, stage

Act = Callable[[Stage], Awaitable[None]]


def on_stage(act: Act, **options: object) -> None:
    """Run the act on a dashboard that watches two GPUs and three processes."""

    async def run() -> None:
        async with stage(**options) as on:  # type: ignore[arg-type]  # the options of the app, of several types
            await on.show(reading(processes=PROCESSES))
            await act(on)

    asyncio.run(run())


def test_digits_change_the_view() -> None:
    async def act(on: Stage) -> None:
        for key, kind in (("2", DoctorScreen), ("3", RunScreen), ("1", MachineScreen)):
            await on.press(key)
            assert isinstance(on.app.screen, kind)

    on_stage(act)


def test_a_digit_leaves_a_dialog_only_by_its_own_keys() -> None:
    async def act(on: Stage) -> None:
        await on.press("question_mark")
        assert isinstance(on.app.screen, Page)
        await on.press("escape")
        assert isinstance(on.app.screen, MachineScreen)

    on_stage(act)


@pytest.mark.parametrize(("key", "chosen"), [("right", 1), ("l", 1), ("left", 1), ("h", 1)])
def test_arrows_choose_a_gpu(key: str, chosen: int) -> None:
    async def act(on: Stage) -> None:
        await on.press(key)
        assert on.app.watch_state.gpu == chosen
        assert f"GPU {chosen} a kernel ran" in on.text

    on_stage(act)


@pytest.mark.parametrize(
    ("keys", "row"), [("down", 1), ("j", 1), ("j j k", 1), ("down up", 0), ("pagedown", 2), ("pagedown pageup", 0)]
)
def test_arrows_choose_a_process(keys: str, row: int) -> None:
    async def act(on: Stage) -> None:
        await on.press(*keys.split())
        assert on.app.watch_state.row == row

    on_stage(act)


def test_s_looks_further_back_and_capital_s_less_far() -> None:
    async def act(on: Stage) -> None:
        assert "5 min" in on.text
        await on.press("s")
        assert "15 min" in on.text
        await on.press("S", "S")
        assert " 1 min" in on.text

    on_stage(act)


def test_o_changes_the_order_and_capital_o_back() -> None:
    async def act(on: Stage) -> None:
        await on.press("o", "o", "o")
        assert "by gpu" in on.text
        await on.press("O", "O")
        assert "by cpu" in on.text
        rows = [each.pid for _, each in on.app.watch_state.rows]
        assert rows == [4711, 4822, 4712]

    on_stage(act)


def test_t_shows_children_under_their_parents_and_asks_the_sampler_for_them() -> None:
    source = Told()

    async def act(on: Stage) -> None:
        await on.press("t")
        assert [(depth, each.pid) for depth, each in on.app.watch_state.rows] == [(0, 4711), (1, 4712), (0, 4822)]
        assert source.words == ["tree 1"]

    on_stage(act, source=source)


def test_slash_filters_and_escape_leaves_the_filter_as_it_was() -> None:
    async def act(on: Stage) -> None:
        await on.press("slash", *"serve", "enter")
        assert [each.pid for _, each in on.app.watch_state.rows] == [4822]
        assert "filter 'serve'" in on.text
        await on.press("slash")
        assert isinstance(on.app.screen, Ask)
        await on.press("x", "escape")
        assert on.app.watch_state.pattern == "serve"

    on_stage(act)


def test_space_tags_and_untags() -> None:
    async def act(on: Stage) -> None:
        await on.press("space")
        assert on.app.watch_state.tagged == {4711}
        assert "●" in on.text
        await on.press("space")
        assert not on.app.watch_state.tagged

    on_stage(act)


def test_enter_tells_all_of_the_process_and_g_of_the_gpu() -> None:
    async def act(on: Stage) -> None:
        await on.press("enter")
        assert "131 % of one core" in on.text
        await on.press("escape", "g")
        assert "memory was read or written 18 %" in on.text

    on_stage(act, size=(120, 60))


def test_p_holds_the_screen_until_p() -> None:
    async def act(on: Stage) -> None:
        await on.press("p")
        await on.show(reading(gpu(0, temperature_c=77)))
        assert "77C" not in on.text
        assert "PAUSED" in on.text
        await on.press("p")
        await on.show(reading(gpu(0, temperature_c=78)))
        assert "78C" in on.text

    on_stage(act)


def test_p_holds_a_run_that_goes_on_too() -> None:
    async def act(on: Stage) -> None:
        await on.press("p")
        assert on.app.watch_state.run.held
        await on.press("p")
        assert not on.app.watch_state.run.held
        on.app.watch_state.source = "SESSION"
        await on.press("p")
        assert not on.app.watch_state.run.held

    on_stage(act)


def test_capital_t_goes_through_the_themes() -> None:
    async def act(on: Stage) -> None:
        seen = [on.app.theme]
        for _ in range(3):
            await on.press("T")
            seen.append(on.app.theme)
        assert seen == ["dark", "light", "contrast", "dark"]

    on_stage(act)


def test_q_quits() -> None:
    async def act(on: Stage) -> None:
        await on.press("q")
        assert on.app.return_code == 0

    on_stage(act)


def test_the_palette_offers_the_keys() -> None:
    async def act(on: Stage) -> None:
        titles = [each.title for each in on.app.get_system_commands(on.app.screen)]
        assert {"filter processes", "quick scan", "next theme", "quit"} <= set(titles)
        assert len(titles) == len(set(titles))

    on_stage(act)


def test_a_signal_needs_a_choice_and_a_yes() -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    victim = replace(PROCESSES[0], pid=child.pid)

    async def act(on: Stage) -> None:
        await on.show(reading(processes=(victim,)))
        await on.press("K")
        assert isinstance(on.app.screen, Choose)
        await on.press("enter")
        assert isinstance(on.app.screen, Confirm)
        assert f"{child.pid}  ada  19G on GPU 0  python train.py --batch 512" in on.text
        await on.press("enter")  # only y means yes
        assert child.poll() is None
        await on.press("K", "enter", "y")

    on_stage(act)
    assert child.wait(timeout=30) == -signal.SIGTERM


def test_each_trial_is_chosen_with_what_it_answers() -> None:
    assert all(TRIALS.values())

    async def act(on: Stage) -> None:
        await on.press("b")
        assert "baseline       does it train" in on.text

    on_stage(act)


def test_the_help_begins_with_the_keys_of_the_view() -> None:
    for view in ("machine", "doctor", "run"):
        assert text_of(help_lines(100, view=view)[0]).strip().lower() == view


def test_ctrl_c_says_which_key_quits() -> None:
    async def act(on: Stage) -> None:
        await on.press("ctrl+c")
        assert on.app.is_running
        assert [each.message for each in on.app._notifications] == ["q quits"]  # pyright: ignore[reportPrivateUsage]

    on_stage(act)


def test_readonly_sends_no_signal() -> None:
    async def act(on: Stage) -> None:
        await on.press("K")
        assert isinstance(on.app.screen, MachineScreen)

    on_stage(act, readonly=True)


@pytest.mark.parametrize("key", ["R", "b"])
def test_what_loads_the_gpu_is_asked_first_and_no_is_no(key: str) -> None:
    async def act(on: Stage) -> None:
        await on.press(key)
        if key == "b":
            assert isinstance(on.app.screen, Choose)
            await on.press("enter")
        assert isinstance(on.app.screen, Confirm)
        await on.press("n")
        assert not on.app.scans.busy

    on_stage(act)


def test_the_doctor_moves_scrolls_explains_copies_and_finds_the_fixes() -> None:
    async def act(on: Stage) -> None:
        await on.judge(invented_report())
        await on.press("2", "j")
        assert "explained by" in on.text
        await on.press("k", "c")
        assert on.app.clipboard == "nvidia-smi -q -d PERFORMANCE -l 5"
        await on.press("f", "j", "c")
        assert on.app.clipboard == 'keras.mixed_precision.set_global_policy("mixed_float16")'
        await on.press("end", "home", "x")
        assert "Half the clock is half the speed." in on.text
        await on.press("escape", "pagedown", "pageup")
        assert isinstance(on.app.screen, DoctorScreen)

    on_stage(act)


def test_a_recording_is_paused_sped_up_and_scrubbed() -> None:
    async def act(on: Stage) -> None:
        recording = demo(load_snapshot((DEMO / "snapshot.json").read_bytes()))
        on.app.source = recording
        on.app.watch_state.paused = True
        await on.press("right_square_bracket", "right_square_bracket", "left_square_bracket")
        assert recording.place == 10
        assert "DEMO 0:10/4:59 x1" in on.text
        await on.press("greater_than_sign", "greater_than_sign", "less_than_sign")
        assert recording.speed == 2.0

    on_stage(act, size=(140, 40))


def test_the_run_view_moves_explains_copies_and_changes_its_span() -> None:
    async def act(on: Stage) -> None:
        await on.press("3")
        await on.train(run_news())
        await on.press("c")
        assert on.app.clipboard == "tf.pad(image, ...)  # in place of np.pad"
        await on.press("down", "up", "j")
        assert on.app.watch_state.run.row == 1
        await on.press("enter")
        assert isinstance(on.app.screen, Page)
        assert "Highly input-bound" in on.text
        await on.press("escape", "k", "x")
        assert "One Python function at a time holds the interpreter." in on.text
        await on.press("escape", "s")
        assert on.app.watch_state.run.span_s == 900
        await on.press("S", "S")
        assert on.app.watch_state.run.span_s == 60

    on_stage(act)


def test_n_without_another_run_and_o_and_capital_k_without_a_run_of_ours_change_nothing() -> None:
    async def act(on: Stage) -> None:
        await on.press("3")
        await on.train(run_news())
        await on.press("n", "o", "K")
        assert isinstance(on.app.screen, RunScreen)

    on_stage(act)


def test_a_replay_jumps_a_minute_with_braces() -> None:
    async def act(on: Stage) -> None:
        recording = demo(load_snapshot((DEMO / "snapshot.json").read_bytes()))
        on.app.source = recording
        on.app.watch_state.paused = True
        await on.press("right_curly_bracket", "right_curly_bracket", "left_curly_bracket")
        assert recording.place == 60

    on_stage(act)


def test_a_click_chooses_what_is_under_it() -> None:
    async def act(on: Stage) -> None:
        row = next(at for at, line in enumerate(on.lines) if " 1 H100" in line)
        await on.pilot.click(offset=(20, row))
        await on.settle()
        assert on.app.watch_state.gpu == 1
        await on.pilot.click(offset=(on.lines[0].index("Doctor"), 0))
        await on.settle()
        assert isinstance(on.app.screen, DoctorScreen)

    on_stage(act)


def test_every_key_of_the_help_is_bound_and_every_bound_key_is_in_the_help() -> None:
    text = " ".join(" ".join(text_of(line) for line in help_lines(100)).split())
    told = {word for keys in KEYS.values() for key, _ in keys for word in key.split()} | {"g", "{", "}"}
    names = {
        "slash": "/", "question_mark": "?", "space": "Space", "enter": "Enter", "escape": "Esc", "less_than_sign": "<",
        "greater_than_sign": ">", "left_square_bracket": "[", "right_square_bracket": "]",
        "left_curly_bracket": "{", "right_curly_bracket": "}",
    }  # fmt: skip
    bound = {
        names.get(key, key)
        for owner in (MonitorApp, MachineScreen, DoctorScreen, RunScreen)
        for binding in owner.BINDINGS
        if isinstance(binding, Binding) and binding.show
        for key in binding.key.split(",")
    }
    assert bound - told == {"pagedown"}
    assert told - bound == {"ctrl+p"}
    assert "100 % may be little work" in text
