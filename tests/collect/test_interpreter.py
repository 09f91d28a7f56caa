"""Asking an interpreter what it is: this one, other versions, and programs that are none."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from time import monotonic

import pytest

from gpudoctor.collect import ask_target
from gpudoctor.collect.interpreter import NotPythonError, ask_interpreter, own_interpreter
from tests.slow_machines import at_most

SCRIPTS = sorted(path for path in ask_target.SCRIPTS.glob("*.py") if path.name != "__init__.py")
OLD_SYNTAX = "3.8"
PATIENCE_S = 20.0


def _program(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def test_asked_and_own_agree() -> None:
    asked, own = ask_interpreter(Path(sys.executable)), own_interpreter()
    assert (asked.version, asked.prefix, asked.base_prefix) == (own.version, own.prefix, own.base_prefix)
    assert set(asked.path) <= {*own.path, Path.cwd()}


def test_pythonpath_counts_as_it_does_in_the_users_run_and_the_folder_of_the_run_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    asked = ask_interpreter(Path(sys.executable), environ={**os.environ, "PYTHONPATH": f"{tmp_path}/mine"})
    assert asked.path[0] == tmp_path / "mine"
    assert tmp_path not in asked.path


def test_a_module_of_the_users_with_a_known_name_does_not_interfere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "ctypes", "ast", "subprocess"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(f'shadowed by {__name__}')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert ask_interpreter(Path(sys.executable)).version


def test_what_a_sitecustomize_prints_is_not_taken_for_an_answer(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('welcome {')\nprint('gpudoctor')", encoding="utf-8")
    assert ask_interpreter(Path(sys.executable), environ={**os.environ, "PYTHONPATH": str(tmp_path)}).version


def test_a_program_that_is_no_python_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotPythonError, match="is not a working Python"):
        ask_interpreter(_program(tmp_path / "python", "#!/bin/sh\necho hello\n"))
    with pytest.raises(NotPythonError, match="cannot be started"):
        ask_interpreter(_program(tmp_path / "other", "no program at all"))


def test_a_broken_python_is_told_in_its_own_words(tmp_path: Path) -> None:
    script = "#!/bin/sh\necho 'Fatal Python error: no encodings' >&2\nexit 1\n"
    with pytest.raises(NotPythonError, match="no encodings"):
        ask_interpreter(_program(tmp_path / "python", script))


def test_a_python_that_is_too_old_is_told(tmp_path: Path) -> None:
    script = "#!/bin/sh\necho '  File \"<string>\", line 6' >&2\necho 'SyntaxError: future feature' >&2\nexit 1\n"
    with pytest.raises(NotPythonError, match=r"older than 3\.8"):
        ask_interpreter(_program(tmp_path / "python", script))
    answer = "{'version': '3.7.16', 'implementation': 'cpython', 'prefix': '/', 'base_prefix': '/', 'path': []}"
    with pytest.raises(NotPythonError, match=r"is Python 3\.7\.16; 3\.8 or newer"):
        ask_interpreter(_program(tmp_path / "python3", f'#!/bin/sh\necho "gpudoctor:{answer}"\n'))


def test_a_program_that_does_not_end_is_given_up(tmp_path: Path) -> None:
    with at_most(9.5, after_s=0.5), pytest.raises(NotPythonError, match=r"within 0\.5 s"):
        ask_interpreter(_program(tmp_path / "python", "#!/bin/sh\nexec sleep 60\n"), deadline_s=0.5)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.stem))
def test_a_script_for_the_target_keeps_to_the_grammar_of_python_3_8(script: Path) -> None:
    assert ast.parse(script.read_text(encoding="utf-8"), feature_version=(3, 8)).body


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.stem))
def test_a_script_for_the_target_runs_on_python_3_8(script: Path) -> None:
    old = os.environ.get("GPUDOCTOR_TEST_PYTHON_3_8")
    if not old:
        pytest.skip("GPUDOCTOR_TEST_PYTHON_3_8 names no Python 3.8")
    done = subprocess.run(
        [old, "-c", script.read_text(encoding="utf-8")],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_answers_that_were_cut_off_are_left_out(tmp_path: Path) -> None:
    program = _program(tmp_path / "python", "#!/bin/sh\necho \"gpudoctor:{'a': 1}\"\necho \"gpudoctor:{'b': \"\n")
    answers = ask_target.ask_target(program, "describe_interpreter", deadline_s=10)
    assert answers.values == ({"a": 1},)
    assert answers.exit_code == 0


@pytest.mark.parametrize("to", ["", " 1>&2"])
def test_a_program_that_writes_without_end_is_ended_at_once_with_all_that_it_started(tmp_path: Path, to: str) -> None:
    mark = f"flood-{os.getpid()}-{len(to)}"
    program = _program(tmp_path / "python", f"#!/bin/sh\nyes {mark}{to}\n")
    with at_most(5), pytest.raises(NotPythonError, match="writes without end"):
        ask_interpreter(program)
    limit = monotonic() + PATIENCE_S
    while [path for path in Path("/proc").glob("[0-9]*/cmdline") if _told(path) == f"yes {mark}"]:
        assert monotonic() < limit


def _told(path: Path) -> str:
    try:
        return path.read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""
