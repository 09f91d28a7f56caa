"""Advice over all machines and all checks: nothing known to be false, nothing wholesale, no version that cannot work."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from gpudoctor.diagnose import registry
from gpudoctor.diagnose.engine import diagnose
from gpudoctor.diagnose.summary import primary_of
from gpudoctor.knowledge import claims, tensorflow_releases, versions
from gpudoctor.model.finding import Finding, Fix, Severity
from gpudoctor.model.words import Level
from gpudoctor.testing import load_machine

MACHINES = sorted(each for each in (Path(__file__).parents[1] / "fixtures" / "machines").iterdir() if each.is_dir())
EVERYTHING = re.compile(claims.REINSTALL_EVERYTHING, re.IGNORECASE)
AND_CUDA = re.compile(r"tensorflow\[and-cuda\](?:==(?P<version>[\w.]+))?")
TENSORFLOW = re.compile(r"\btensorflow(?:\[[\w-]+\])?==(?P<version>\d[\w.]*)")
# A lower version may be advised where the present one cannot work: what makes it so.
LOWER_IS_THE_FIX = frozenset(
    {
        "and-cuda-wheels",  # the release does not find its own CUDA wheels
        "blackwell",
        "cpu-build",  # the CUDA build of this very release does not find its wheels
        "cudnn-dropped-gpu",  # the release needs a cuDNN that dropped this GPU
        "driver-too-old",  # for those who cannot change the driver
        "gpu-filtered",  # the release dropped this GPU
        "missing-cuda-libs",  # as and-cuda-wheels
        "no-kernel",
        "python-tf-wheel",  # the very version that was asked for, under a Python that it has a wheel for
        "windows-native",
    }
)


@cache
def all_findings() -> tuple[tuple[str, str, Finding], ...]:
    """Return (machine, its TensorFlow, finding) of every machine."""
    checks = registry.load().checks
    rows: list[tuple[str, str, Finding]] = []
    for folder in MACHINES:
        snapshot = load_machine(folder)
        level: Level = "quick" if snapshot.probe is None else "standard"
        own = snapshot.tensorflow.version if snapshot.tensorflow is not None else ""
        findings = diagnose(snapshot, checks, level=level).findings
        rows += [(folder.name, own if isinstance(own, str) else "", each) for each in findings]
    return tuple(rows)


def all_fixes() -> Iterator[tuple[str, str, Finding, Fix]]:
    return ((name, own, finding, fix) for name, own, finding in all_findings() for fix in finding.fixes)


def said(finding: Finding) -> str:
    fixes = ". ".join(f"{fix.title}. {fix.text}. {fix.gain.basis}" for fix in finding.fixes)
    return f"{finding.title}. {finding.summary} {finding.basis}. {fixes}"


def test_the_machines_make_most_checks_speak() -> None:
    speaking = {finding.code for _, _, finding in all_findings()}
    known = {check.code for check in registry.load().checks if check.code.startswith("GD")}
    assert len(MACHINES) >= 80
    assert len(speaking) >= len(known) / 2


def test_nothing_that_is_said_of_a_machine_repeats_a_false_claim() -> None:
    wrong = [(name, each.code, claims.asserted(said(each))) for name, _, each in all_findings()]
    assert [row for row in wrong if row[2]] == []


def test_nobody_is_told_to_install_everything_again() -> None:
    pages = [check.page for check in registry.load().checks]
    texts = [*pages, *(said(each) for _, _, each in all_findings())]
    assert [text for text in texts if EVERYTHING.search(text)] == []


def test_tensorflow_with_cuda_is_advised_by_a_version_that_finds_its_wheels() -> None:
    for name, _, finding, fix in all_fixes():
        for match in AND_CUDA.finditer(fix.text):
            version = match["version"]
            assert version, f"{name}, {finding.code}: {fix.text}"
            assert tensorflow_releases.finds_its_wheels(version), f"{name}, {finding.code}: {fix.text}"


def test_a_lower_tensorflow_is_advised_only_where_that_is_the_cure() -> None:
    for name, own, finding, fix in all_fixes():
        for match in TENSORFLOW.finditer(fix.text):
            lower = bool(own) and not versions.at_least(match["version"], own)
            assert not lower or finding.cause in LOWER_IS_THE_FIX, f"{name}, {finding.code}: {fix.text}"


LAST_FOR_KEPLER = 470  # NVIDIA's data center driver documentation: R470 is the last branch for Kepler
KEPLER = {"forum-tensorflow-31319", "forum-tensorflow-44301"}  # each a Tesla K80


def test_no_older_driver_is_ever_advised() -> None:
    for name, _, finding, fix in all_fixes():
        for branch in re.findall(r"nvidia-driver[-:](\d{3})|driver R(\d{3})", f"{fix.title} {fix.text}"):
            least = LAST_FOR_KEPLER if name in KEPLER or name.startswith("k80-") else 580
            assert int(branch[0] or branch[1]) >= least, f"{name}, {finding.code}: {fix.text}"


def test_only_an_unblocking_fix_and_a_measured_one_promise_anything() -> None:
    for name, _, finding, fix in all_fixes():
        assert fix.gain.speedup is None or fix.gain.basis, f"{name}, {finding.code}: {fix.id}"


def test_no_fix_that_a_module_holds_ready_advises_it_without_a_version() -> None:
    modules = {check.judge.__module__ for check in registry.load().checks}
    packages = {name.rpartition(".")[0] for name in modules}
    loaded = [module for name, module in list(sys.modules.items()) if name.rpartition(".")[0] in packages]
    fixes = [value for module in loaded for value in vars(module).values() if isinstance(value, Fix)]
    bare = [fix.id for fix in fixes for match in AND_CUDA.finditer(fix.text) if not match["version"]]
    assert len(fixes) > len(modules) / 2
    assert bare == []


@pytest.mark.parametrize("check", registry.load().checks, ids=lambda check: check.code)
def test_no_page_advises_tensorflow_with_cuda_without_a_version_that_works(check: registry.AnyCheck) -> None:
    for match in re.finditer(r"pip install\s+'tensorflow\[and-cuda\](==[^']*)?'", check.page):
        version = (match[1] or "").removeprefix("==")
        assert version, match.group()
        assert version.startswith("<") or tensorflow_releases.finds_its_wheels(version)


def test_who_is_told_of_a_trouble_is_told_what_to_do() -> None:
    troubles = [(name, each) for name, _, each in all_findings() if each.severity is not Severity.INFO]
    assert [(name, each.code) for name, each in troubles if not each.fixes] == []


def test_what_blocks_is_mended_before_what_is_only_slow() -> None:
    checks = registry.load().checks
    for folder in MACHINES:
        snapshot = load_machine(folder)
        report = diagnose(snapshot, checks, level="quick" if snapshot.probe is None else "standard")
        primary = next((each for each in report.findings if each.caused_by is None), None)
        if primary is not None and primary.severity is Severity.ERROR:
            assert primary.code in report.fixes[0].addresses, folder.name


def test_the_first_fix_mends_the_primary_finding() -> None:
    checks = registry.load().checks
    for folder in MACHINES:
        snapshot = load_machine(folder)
        report = diagnose(snapshot, checks, level="quick" if snapshot.probe is None else "standard")
        primary = primary_of(report.findings)
        if primary is not None and primary.fixes:
            assert primary.code in report.fixes[0].addresses, folder.name
