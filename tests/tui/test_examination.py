"""The scan beside the screen: the same answer as the other doors, progress, failure, cancel; nothing starts by itself."""

from __future__ import annotations

import asyncio
import json
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.model.finding import Finding, Fix, Severity
from gpudoctor.present import figures, text
from gpudoctor.tui.examination import Examination
from gpudoctor.tui.messages import Progress
from gpudoctor.tui.views import doctor
from gpudoctor.tui.views.lines import text_of
from gpudoctor.tui.watch import Watch
from tests.fakes import FURTHER_SCENARIOS, environment
from tests.tui.stage import MACHINES, reading, report, stage

SLUG = "v100-driver-450"
PATIENCE_S = 60.0


def follow(examination: Examination) -> list[Progress]:
    """Return all news until the end."""
    news: list[Progress] = []
    limit = time.monotonic() + PATIENCE_S
    while time.monotonic() < limit:
        select.select([examination.fd], [], [], 0.5)
        told = examination.take() or examination.check()
        if told is not None:
            news.append(told)
            if told.ended:
                return news
    pytest.fail(f"no end; last {examination.last}")


def test_text_json_and_screen_give_the_same_findings_order_and_gains() -> None:
    path = MACHINES / SLUG / "snapshot.json"
    judged = follow(Examination("judgement", "--snapshot", str(path)))[-1].report
    assert judged is not None
    words = [sys.executable, "-m", "gpudoctor", "scan", "--snapshot", str(path)]
    document = json.loads(subprocess.run([*words, "--json"], capture_output=True, text=True, check=False).stdout)
    shown = subprocess.run([*words, "-v"], capture_output=True, text=True, check=False).stdout
    entries = doctor.items(judged, 200)
    findings = [item.subject for item in entries if isinstance(item.subject, Finding)]
    fixes = [(item.subject, text_of(item.line)) for item in entries if isinstance(item.subject, Fix)]
    assert [(each.code, each.caused_by) for each in findings] == [
        (each["code"], each.get("caused_by")) for each in document["findings"]
    ]
    assert [each.id for each, _ in fixes] == [each["id"] for each in document["fixes"]]
    places = [
        shown.index(each.title if len(each.text.splitlines()) > 1 or len(each.text) > 46 else each.text)
        for each, _ in fixes
    ]
    assert places == sorted(places)
    for fix, line in fixes:
        assert figures.gain(fix.gain) in line
        assert figures.gain(fix.gain) in shown
    assert text.render(judged, verbose=True).split("FIXES")[1].split("\n")[1] in shown


def test_settings_choose_checks_and_severities_here_too() -> None:
    path = str(MACHINES / SLUG / "snapshot.json")
    words = ("--ignore=GD102", "--select=GD1", "--severity=GD101=info")
    judged = follow(Examination("judgement", "--snapshot", path, *words))[-1].report
    assert judged is not None
    assert {each.code[:3] for each in judged.checks} == {"GD1"}
    assert "GD102" not in {each.code for each in judged.checks}
    assert next(each.severity for each in judged.findings if each.code == "GD101") is Severity.INFO


def test_thresholds_are_those_of_the_configuration_here_too() -> None:
    path = str(MACHINES / "h100-hardware-thermal-slowdown-quick" / "snapshot.json")
    words = ("--threshold=GD801=slowdown_ratio=100", "--threshold=GD401=needed_bytes=1")
    judged = follow(Examination("judgement", "--snapshot", path, *words))[-1].report
    assert judged is not None
    assert next(each.severity for each in judged.findings if each.code == "GD801") is Severity.WARNING


def test_every_machine_can_be_shown() -> None:
    for folder in sorted(MACHINES.iterdir()):
        if not (folder / "snapshot.json").is_file():
            continue
        judged = report(folder.name)
        for item in doctor.items(judged, 80):
            for line in doctor.details(item.subject, judged, {}, 76):
                assert len(text_of(line)) <= 78 or isinstance(item.subject, (Finding, Fix)), folder.name


def test_a_file_that_is_no_snapshot_is_said(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text("[]", encoding="utf-8")
    news = follow(Examination("judgement", "--snapshot", str(wrong)))[-1]
    assert "not a snapshot" in news.failure


def test_a_quick_scan_from_the_keyboard_ends_in_the_doctor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    variables = environment(FURTHER_SCENARIOS["healthy"], tmp_path)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    async def act() -> None:
        async with stage(root=variables["GPUDOCTOR_SYSROOT"]) as on:
            await on.show(reading())
            await on.press("r")
            assert "Esc cancels" in on.text
            for _ in range(int(PATIENCE_S / 0.1)):
                if on.app.watch_state.report is not None:
                    break
                await on.pilot.pause(0.1)
            await on.settle()
            assert "CHECKS" in on.text
            assert set(on.app.scans.pages) >= {"GD101", "GD801"}

    asyncio.run(act())


def test_a_scan_that_is_cancelled_ends_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment(FURTHER_SCENARIOS["hang_at_init"], tmp_path).items():
        monkeypatch.setenv(name, value)
    examination = Examination("scan", "--level", "quick", "--root", str(tmp_path / "root"))
    time.sleep(1.0)
    examination.cancel()
    assert "cancelled" in follow(examination)[-1].failure


def test_nothing_runs_before_a_key_asks_for_it() -> None:
    async def act() -> None:
        async with stage() as on:
            await on.press("2", "3", "1")
            assert on.app.scans.running is None

    asyncio.run(act())
    assert Watch().report is None
    assert registry.load().checks
