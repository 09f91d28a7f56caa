"""A command under `gpudoctor run` ends, reads, prints, and takes signals as it does alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpudoctor.profile.record import read_session, spool_folder
from tests.profile.launched import gpudoctor, plain, run, script, surroundings

PYTHON = sys.executable
LOOKS_AT_ITSELF = """
import os, sys, threading
print(sys.path)
print(sys.argv, sys.flags, sorted(sys.modules))
print("sitecustomize" in sys.modules, threading.active_count())
sys.stderr.write("warning: \\u00e9 \\x1b[1mbold\\x1b[0m no newline")
"""


@pytest.mark.parametrize("code", [0, 1, 3, 77, 255])
def test_the_exit_code_is_the_commands_own(tmp_path: Path, code: int) -> None:
    ran = run(tmp_path, PYTHON, "-c", f"raise SystemExit({code})")
    assert ran.code == code
    assert ran.session.exit_code == code
    assert ran.session.outcome == "ended"


def test_a_command_that_a_signal_ends_exits_as_in_a_shell(tmp_path: Path) -> None:
    ran = run(tmp_path, PYTHON, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert ran.code == 128 + signal.SIGSEGV
    assert [each.text for each in ran.session.events if each.kind == "signal"] == [str(int(signal.SIGSEGV))]


def test_standard_input_arrives(tmp_path: Path) -> None:
    data = bytes(range(256)) * 4000
    ran = run(
        tmp_path,
        PYTHON,
        "-c",
        "import shutil, sys; shutil.copyfileobj(sys.stdin.buffer, sys.stdout.buffer)",
        stdin=data,
    )
    assert ran.out == data


def test_output_is_the_same_byte_for_byte_and_the_script_sees_the_same_interpreter(tmp_path: Path) -> None:
    name = script(tmp_path, LOOKS_AT_ITSELF)
    alone, watched = plain(tmp_path, PYTHON, name, "--json", "-x"), run(tmp_path, PYTHON, name, "--json", "-x")
    assert watched.out == alone.out
    assert watched.err == alone.err


def test_ours_stands_before_and_after_the_commands_own_stderr_only(tmp_path: Path) -> None:
    name = script(tmp_path, LOOKS_AT_ITSELF)
    alone, watched = plain(tmp_path, PYTHON, name), run(tmp_path, PYTHON, name, options=())
    first, _, rest = watched.err.partition(b"\n")
    assert first.startswith(b"gpudoctor: watching train.py")
    assert rest.startswith(alone.err)
    assert watched.out == alone.out


def test_a_descriptor_that_the_caller_opened_is_the_commands(tmp_path: Path) -> None:
    read, write = os.pipe()
    script = f"import os; os.write({write}, b'seven')"
    command = gpudoctor("run", "-q", "--session", "s", "--", PYTHON, "-c", script)
    subprocess.run(command, cwd=tmp_path, env=surroundings(tmp_path), check=True, pass_fds=(write,))
    os.close(write)
    assert os.read(read, 100) == b"seven"
    os.close(read)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_signals_reach_the_command(tmp_path: Path, number: signal.Signals) -> None:
    text = f"""
import os, signal, time
def stop(number, frame):
    os.write(1, b"got %d" % number)
    os._exit(9)
signal.signal({int(number)}, stop)
os.write(1, b"ready\\n")
time.sleep(60)
"""
    name = script(tmp_path, text)
    child = subprocess.Popen(
        gpudoctor("run", "-q", "--session", "s", "--", PYTHON, name),
        cwd=tmp_path,
        env=surroundings(tmp_path),
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    child.send_signal(number)
    assert child.stdout.read() == f"got {int(number)}".encode()
    assert child.wait(60) == 9
    child.stdout.close()


def test_the_users_search_path_stays_behind_ours_and_children_see_ours_once(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "theirs.py").write_text("name = 'theirs'", encoding="ascii")
    text = """
import os, subprocess, sys, theirs
print(theirs.name, os.environ["PYTHONPATH"].count("importlib_bootstrap"))
if len(sys.argv) < 2:
    subprocess.run([sys.executable, __file__, "child"])
"""
    name = script(tmp_path, text)
    ran = run(tmp_path, PYTHON, name, environ={"PYTHONPATH": str(tmp_path / "lib")})
    assert sorted(ran.out.splitlines()) == [b"theirs 1", b"theirs 1"]
    assert len(ran.session.processes) == 2


def test_a_sitecustomize_that_ours_hides_is_run_once_and_is_the_one_that_python_knows(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "sitecustomize.py").write_text(
        "import sys\nmarks = sys.marks = getattr(sys, 'marks', 0) + 1\n", encoding="ascii"
    )
    ran = run(
        tmp_path,
        PYTHON,
        "-c",
        "import sitecustomize as s; print(s.marks, s.__file__)",
        environ={"PYTHONPATH": str(tmp_path / "lib")},
    )
    assert ran.out.decode() == f"1 {tmp_path}/lib/sitecustomize.py\n"
    assert ran.session.hello


def test_a_sitecustomize_that_fails_fails_as_it_does_alone(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "sitecustomize.py").write_text("raise RuntimeError('theirs')\n", encoding="ascii")
    environ = {"PYTHONPATH": str(tmp_path / "lib")}
    alone, watched = (each(tmp_path, PYTHON, "-c", "print(1)", environ=environ) for each in (plain, run))
    assert watched.out == alone.out
    assert watched.err.splitlines()[-1] == alone.err.splitlines()[-1]
    assert watched.code == alone.code


def test_switched_off_nothing_is_recorded_and_all_else_is_the_same(tmp_path: Path) -> None:
    ran = run(tmp_path, PYTHON, "-c", "import sys; print('on'); sys.exit(4)", environ={"GPUDOCTOR_OFF": "1"})
    assert (ran.code, ran.out) == (4, b"on\n")
    assert not ran.path.exists()


def test_a_command_that_does_not_exist_ends_as_in_a_shell(tmp_path: Path) -> None:
    ran = run(tmp_path, "no-such-program")
    assert ran.code == 127
    assert ran.err == b"gpudoctor: no-such-program: command not found\n"


def test_a_file_that_is_no_program_ends_as_in_a_shell_and_the_way_to_run_it_is_named(tmp_path: Path) -> None:
    name = script(tmp_path, "print(1)", name="train.txt")
    ran = run(tmp_path, f"./{name}")
    assert ran.code == 126
    assert b"gpudoctor run -- python ./train.txt" in ran.err


def test_a_bare_script_a_module_and_a_shell_script_are_run(tmp_path: Path) -> None:
    script(tmp_path, "import sys; print('ran', sys.argv[1:])")
    script(tmp_path, f"{PYTHON} train.py inside\n", name="train.sh")
    for words, told in (
        (["--python", PYTHON, "train.py", "--epochs", "3"], b"ran ['--epochs', '3']\n"),
        (["--python", PYTHON, "-m", "train", "-q"], b"ran ['-q']\n"),
        (["bash", "train.sh"], b"ran ['inside']\n"),
    ):
        (tmp_path / "s").unlink(missing_ok=True)
        ran = subprocess.run(
            gpudoctor("run", "-q", "--session", "s", *words),
            cwd=tmp_path,
            env=surroundings(tmp_path),
            capture_output=True,
            check=False,
        )
        assert (ran.stdout, ran.returncode) == (told, 0), ran.stderr
        assert read_session(tmp_path / "s").hello


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ((PYTHON, "-E", "-c", "1"), "python -E ignores PYTHONPATH"),
        ((PYTHON, "-I", "-c", "1"), "python -I ignores PYTHONPATH"),
        (("true",), "no Python process of the command started with the recorder"),
        ((PYTHON, "-c", "1"), "never imported TensorFlow"),
        (("env", "-u", "PYTHONPATH", PYTHON, "-c", "1"), "no Python process of the command"),
    ],
)
def test_what_could_not_be_recorded_is_said(tmp_path: Path, command: tuple[str, ...], sentence: str) -> None:
    ran = run(tmp_path, *command, options=())
    assert ran.code == 0
    assert sentence in " ".join(ran.err.decode().split())


@pytest.mark.parametrize("text", ["import nothing_of_that_name", "1/0", "def f(:"])
def test_a_script_that_crashes_shows_its_own_traceback_and_code(tmp_path: Path, text: str) -> None:
    name = script(tmp_path, text)
    alone, watched = plain(tmp_path, PYTHON, name), run(tmp_path, PYTHON, name, options=())
    assert watched.code == alone.code == 1
    assert alone.err in watched.err
    assert watched.err.count(b"Traceback") == alone.err.count(b"Traceback")


def test_a_missing_script_is_reported_by_python_itself(tmp_path: Path) -> None:
    ran = run(tmp_path, PYTHON, "absent.py", options=())
    assert ran.code == 2
    assert b"can't open file" in ran.err


def test_much_output_passes(tmp_path: Path) -> None:
    ran = run(tmp_path, PYTHON, "-c", "import sys\nfor _ in range(200): sys.stdout.write('x' * 100_000)")
    assert len(ran.out) == 20_000_000


def test_a_session_that_cannot_be_written_is_said_before_anything_runs(tmp_path: Path) -> None:
    command = gpudoctor("run", "--session", "no/such/folder/s", "--", PYTHON, "-c", "print('ran')")
    ran = subprocess.run(command, cwd=tmp_path, env=surroundings(tmp_path), capture_output=True, check=False)
    assert ran.returncode == 2
    assert ran.stdout == b""
    assert b"--session" in ran.stderr


def test_killing_the_wrapper_leaves_a_session_that_opens_and_a_command_that_goes_on(tmp_path: Path) -> None:
    name = script(tmp_path, "import time\nprint('ready', flush=True)\ntime.sleep(1.5)\nopen('done', 'w').close()\n")
    child = subprocess.Popen(
        gpudoctor("run", "-q", "--session", "s", "--", PYTHON, name),
        cwd=tmp_path,
        env=surroundings(tmp_path),
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    child.stdout.readline()
    child.kill()
    child.wait()
    session = read_session(tmp_path / "s")
    assert session.outcome == "cut_short"
    assert session.hello
    deadline = time.monotonic() + 60
    while not (tmp_path / "done").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    while spool_folder(tmp_path / "s").exists():  # the command has still to end
        assert time.monotonic() < deadline
        time.sleep(0.05)
        read_session(tmp_path / "s")
    child.stdout.close()
