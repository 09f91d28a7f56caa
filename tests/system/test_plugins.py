"""Checks of third parties: another distribution's check is listed and judged, a broken plug-in costs one line and no scan."""

from __future__ import annotations

import re
from pathlib import Path

from tests.system.command import Json, Run, assert_clean, assert_readable, bare_environment, gpudoctor
from tests.system.schemas import Schema

CHECK = '''"""A check of another distribution.

What it does
    Finds machines that have a host.
"""

from gpudoctor.sdk import Finding, Host, Severity, check


@check(code="{code}", slug="acme-host", title="A host is there", family="driver", cause="acme-host", trials=(), core=False)
def host_is_there(host: Host):
    yield Finding(summary="This machine has a host.", severity=Severity.WARNING, confidence=0.9, basis="it was asked")
'''
RAISES = '{quoted}\nfrom gpudoctor.sdk import check\n\n\n@check(code="ACME2", slug="acme-bad", title="Raises", family="driver", cause="acme", trials=(), core=False)\ndef bad():\n    raise RuntimeError("from the plug-in")\n    yield\n'
MACHINE = Path(__file__).parents[2] / "fixtures/machines/healthy-t4/snapshot.json"


def install(folder: Path, name: str, files: dict[str, str], *, point: str) -> None:
    """Put a distribution with one entry point into a folder that stands on PYTHONPATH."""
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(f"[gpudoctor.checks]\n{name} = {point}\n", encoding="utf-8")
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def run(folder: Path, *arguments: str | Path) -> Run:
    return gpudoctor(*arguments, env=bare_environment(folder / "home", PYTHONPATH=str(folder / "site")))


def plugins(document: Json) -> dict[str, Json]:
    return {each["name"]: each for each in document["plugins"]}


def test_a_check_of_another_distribution_is_listed_explained_and_judged(tmp_path: Path, report_schema: Schema) -> None:
    install(tmp_path / "site", "acme", {"acme_checks.py": CHECK.format(code="ACME1")}, point="acme_checks")
    listed = run(tmp_path, "checks", "--json").document
    assert "ACME1" in [each["code"] for each in listed["checks"]]
    assert plugins(listed)["acme"]["checks"] == 1
    assert "Finds machines that have a host." in run(tmp_path, "explain", "ACME1").out
    report = run(tmp_path, "scan", "--json", "--snapshot", MACHINE)
    report_schema.validate(report.document)
    assert "ACME1" in [each["code"] for each in report.document["findings"]]
    assert report.document["summary"]["status"] == "warning"
    assert "ACME1" in run(tmp_path, "scan", "--snapshot", MACHINE).out


def test_it_can_be_selected_and_ignored_like_any_other(tmp_path: Path) -> None:
    install(tmp_path / "site", "acme", {"acme_checks.py": CHECK.format(code="ACME1")}, point="acme_checks")
    for option in ("ACME1", "acme-host"):
        chosen = run(tmp_path, "scan", "--json", "--select", option, "--snapshot", MACHINE).document
        assert [each["code"] for each in chosen["checks"]] == ["ACME1"]
        left = run(tmp_path, "scan", "--json", "--ignore", option, "--snapshot", MACHINE).document
        assert "ACME1" not in [each["code"] for each in left["checks"]]


def test_a_package_of_checks_is_walked_through(tmp_path: Path) -> None:
    files = {
        "acme_pack/__init__.py": "",
        "acme_pack/inner/__init__.py": "",
        "acme_pack/inner/one.py": CHECK.format(code="ACME1"),
    }
    install(tmp_path / "site", "acme", files, point="acme_pack")
    assert plugins(run(tmp_path, "checks", "--json").document)["acme"]["checks"] == 1


def test_a_broken_plug_in_is_one_line_of_the_report_and_the_rest_is_judged(
    tmp_path: Path, report_schema: Schema
) -> None:
    breaks: dict[str, tuple[dict[str, str], str]] = {
        "absent": ({}, "no_such_module"),
        "syntax": ({"acme_syntax.py": "def ("}, "acme_syntax"),
        "exits": ({"acme_exits.py": "raise SystemExit(4)"}, "acme_exits"),
        "object": ({"acme_object.py": "thing = 3"}, "acme_object:thing"),
        "clash": ({"acme_clash.py": CHECK.format(code="GD101")}, "acme_clash"),
    }
    for name, (files, point) in breaks.items():
        install(tmp_path / name / "site", name, files, point=point)
        text = run(tmp_path / name, "scan", "--snapshot", MACHINE)
        assert_clean(text)
        assert_readable(text)
        assert len([line for line in text.lines if line.startswith(f"plug-in {name} ")]) == 1, (name, text.out)
        report = run(tmp_path / name, "scan", "--json", "--snapshot", MACHINE)
        report_schema.validate(report.document)
        told = plugins(report.document)
        assert told[name]["error"], name
        assert not told["builtin"]["error"]
        assert report.document["summary"]["status"] == "healthy"
        assert f"plug-in {name}" in run(tmp_path / name, "checks").out


def test_a_check_that_raises_is_crashed_and_ends_nothing(tmp_path: Path) -> None:
    install(tmp_path / "site", "acme", {"acme_bad.py": RAISES.format(quoted='"""Raises."""')}, point="acme_bad")
    report = run(tmp_path, "scan", "--json", "--snapshot", MACHINE)
    assert_clean(report)
    verdict = next(each for each in report.document["checks"] if each["code"] == "ACME2")
    assert (verdict["status"], verdict["reason"]) == ("crashed", "RuntimeError: from the plug-in")
    assert report.code == 0


def test_a_check_that_exits_ends_nothing_either(tmp_path: Path) -> None:
    text = RAISES.format(quoted='"""Exits."""').replace('RuntimeError("from the plug-in")', "SystemExit(0)")
    install(tmp_path / "site", "acme", {"acme_bad.py": text}, point="acme_bad")
    report = run(tmp_path, "scan", "--json", "--snapshot", MACHINE)
    verdict = next(each for each in report.document["checks"] if each["code"] == "ACME2")
    assert verdict["status"] == "crashed"


def test_a_machine_whose_built_in_checks_do_not_load_is_unknown_and_not_healthy(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "gpudoctor_checks.py").write_text("raise ImportError('half installed')\n", encoding="utf-8")
    report = run(tmp_path, "scan", "--json", "--snapshot", MACHINE)
    assert_clean(report)
    assert report.document["summary"]["status"] == "unknown"
    text = run(tmp_path, "scan", "--snapshot", MACHINE)
    assert_readable(text)
    assert re.search(r"plug-in builtin is broken: .*ImportError: half installed", text.out)
