"""Real TensorFlow environments, sound and broken: made, asked what really happens, scanned, mended by the first fix.

    python -m tests.benchmarks.real_environments FOLDER [--only NAME ...] [--level quick|standard] [--json FILE]

Each environment is made in FOLDER with the Pythons that `--pythons` holds (pyenv's by default) and kept, so that a second
run scans only; `--delete` removes each as soon as it is done, for all together are 20 GB. Downloads come through pip, or
uv where it is on PATH. The truth is what the environment's own interpreter does with `import tensorflow` and one step of
training. A row is right when the scan names the expected cause first, an error exactly where the truth is one, and the
first fix, applied to the environment as printed, makes the training work.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.environment_recipes import BROKEN, SOUND, Recipe

LIMIT_S = 900
TRUTH = """
import tensorflow as tf
print("imported", tf.__version__)
model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
model.compile(loss="mse")
model.fit(tf.zeros((8, 3)), tf.zeros((8, 2)), verbose=0)
print("trained")
"""
LOUD = ("error", "warning")


@dataclass(frozen=True, kw_only=True)
class Row:
    """What is known of one environment after its turn."""

    name: str
    truth: str  # trains | imports | fails
    says: str  # the last line that the import wrote
    level: str
    cause: str
    severity: str
    fix: str
    mended: str  # yes | no | -
    right: bool


def main() -> int:
    """Make, ask, scan, mend; print the table; return 0 where every row is right."""
    options = _options()
    chosen = [each for each in (*SOUND, *BROKEN) if not options.only or each.name in options.only]
    rows: list[Row] = []
    for recipe in chosen:
        home = options.folder / recipe.name
        try:
            python = _made(recipe, home, options.pythons)
        except subprocess.CalledProcessError as error:
            sys.stdout.write(f"{recipe.name}: cannot be made: {_last(error.stderr)}\n")
            continue
        for row in _rows(recipe, python, home, options.level, mend=not options.keep):
            sys.stdout.write(_line(row))
            sys.stdout.flush()
            rows.append(row)
        if options.delete:
            shutil.rmtree(home, ignore_errors=True)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    wrong = [row for row in rows if not row.right]
    sys.stdout.write(f"{len(rows)} scans of {len({row.name for row in rows})} environments, {len(wrong)} wrong\n")
    return 1 if wrong or not rows else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--level", choices=("quick", "standard", "both"), default="both")
    parser.add_argument("--pythons", type=Path, default=Path.home() / ".pyenv" / "versions")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--keep", action="store_true", help="apply no fix: the environments stay broken")
    parser.add_argument("--delete", action="store_true")
    return parser.parse_args()


def _made(recipe: Recipe, home: Path, pythons: Path) -> Path:
    """Return the interpreter of the environment, made where it is not there yet."""
    python = home / "venv" / "bin" / "python"
    done = home / "made"
    if not done.exists():
        shutil.rmtree(home, ignore_errors=True)
        base = next(iter(sorted(pythons.glob(f"{recipe.python}.*/bin/python{recipe.python}"))))
        _run([str(base), "-m", "venv", str(home / "venv")])
        for step in recipe.steps:
            _pip(python, step.split())
        for pattern in recipe.remove:
            for path in list(_site(python).glob(pattern)):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        (home / "work").mkdir()
        for name, text in recipe.files.items():
            (home / "work" / name).write_text(text)
        done.touch()
    return python


def _pip(python: Path, arguments: Sequence[str]) -> None:
    uv = shutil.which("uv")
    if uv:
        _run([uv, "pip", arguments[0], "-q", "--python", str(python), *arguments[1:]])
    else:
        _run(
            [
                str(python),
                "-m",
                "pip",
                "-q",
                arguments[0],
                *(("-y",) if arguments[0] == "uninstall" else ()),
                *arguments[1:],
            ]
        )


def _site(python: Path) -> Path:
    ask = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    return Path(_run([str(python), "-c", ask]).stdout.strip())


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=True)


def _rows(recipe: Recipe, python: Path, home: Path, level: str, *, mend: bool) -> Iterator[Row]:
    env = _environ(recipe, python, home)
    truth, says = _truth(python, env, home / "work")
    reports = [
        (each, _scan(python, env, home / "work", each)) for each in ("quick", "standard") if level in {each, "both"}
    ]
    for number, (name, report) in enumerate(reports):
        first = next(
            (each for each in report["findings"] if each.get("caused_by") is None and _of_packages(each)), None
        )
        fix = report["fixes"][0]["text"] if first and report["fixes"] else ""
        last = number == len(reports) - 1
        mended = _mended(fix, python, env, home / "work") if mend and last and truth == "fails" and fix else "-"
        cause, severity = (first["cause"], first["severity"]) if first else ("-", "-")
        yield Row(
            name=recipe.name,
            truth=truth,
            says=says,
            level=name,
            cause=cause,
            severity=severity,
            fix=fix,
            mended=mended,
            right=_is_right(recipe, truth, name, cause) and mended != "no",
        )


def _is_right(recipe: Recipe, truth: str, level: str, cause: str) -> bool:
    """Return whether the scan says what was expected, and the expectation itself holds."""
    expected = recipe.cause if recipe.at_quick or level != "quick" else None
    return cause == (expected or "-") and (truth == "fails") == (recipe.cause is not None)


def _of_packages(finding: Mapping[str, Any]) -> bool:
    """Return whether the finding is loud and about Python packages: this machine's GPU is not the question."""
    return finding["severity"] in LOUD and finding["code"].startswith("GD3")


def _environ(recipe: Recipe, python: Path, home: Path) -> dict[str, str]:
    path = os.pathsep.join((str(python.parent), os.environ.get("PATH", os.defpath)))
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "UV_"))}
    return {**kept, "PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "TF_CPP_MIN_LOG_LEVEL": "2", **recipe.variables}


def _truth(python: Path, env: Mapping[str, str], folder: Path) -> tuple[str, str]:
    done = subprocess.run(
        [python, "-c", TRUTH], env=dict(env), cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    return _told(done)


def _told(done: subprocess.CompletedProcess[str]) -> tuple[str, str]:
    if done.returncode == 0 and "trained" in done.stdout:
        return "trains", ""
    return "fails", _last(done.stderr)


def _last(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip()[:120] if lines else ""


def _scan(python: Path, env: Mapping[str, str], folder: Path, level: str) -> Any:
    command = [
        str(Path(sys.executable).with_name("gpudoctor")),
        "scan",
        "--json",
        "--level",
        level,
        "--python",
        str(python),
    ]
    done = subprocess.run(
        command, env=dict(env), cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    try:
        return json.loads(done.stdout)
    except ValueError:
        finding = {"cause": f"no report: {_last(done.stderr)}", "severity": "error", "code": "GD3"}
        return {"findings": [finding], "fixes": []}


def _mended(fix: str, python: Path, env: Mapping[str, str], folder: Path) -> str:
    """Apply the fix as it stands in the report, in a shell with the environment active, and train in the same shell."""
    script = f"{fix}\npython -c '{TRUTH}'"
    done = subprocess.run(
        ["bash", "-c", script], env=dict(env), cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    return "yes" if _told(done)[0] == "trains" else "no"


def _line(row: Row) -> str:
    sign = " " if row.right else "!"
    return (
        f"{sign} {row.name:<26}{row.truth:<8}{row.level:<9}{row.cause:<20}{row.severity:<8}mended {row.mended:<4}"
        f" {row.fix.splitlines()[0][:70] if row.fix else ''}\n{'' if not row.says else f'      {row.says}' + chr(10)}"
    )


if __name__ == "__main__":
    sys.exit(main())
