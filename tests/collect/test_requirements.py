"""What METADATA asks for: markers that hold, both ways of writing a specifier, and nothing from what is not understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.collect.requirements import requirements_of

MARKS = {
    "python_version": "3.12",
    "python_full_version": "3.12.1",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
    "implementation_name": "cpython",
}


def asked(folder: Path, *lines: str, **marks: str) -> tuple[str, ...]:
    (folder / "METADATA").write_text(
        "Name: tensorflow\n" + "\n".join(lines) + "\n\nRequires-Dist: prose\n", encoding="utf-8"
    )
    return requirements_of(folder, {**MARKS, **marks})


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("Requires-Dist: absl-py>=1.0.0", "absl-py >=1.0.0"),
        ("Requires-Dist: typing_extensions (>=3.6.6,<4.6.0)", "typing-extensions >=3.6.6,<4.6.0"),
        ("Requires-Dist: packaging", "packaging"),
        ("Requires-Dist: ml_dtypes ~=0.3.1", "ml-dtypes ~=0.3.1"),
        ("Requires-Dist: keras[extra] >=3.5.0", "keras >=3.5.0"),
        ('Requires-Dist: numpy <2.0.0,>=1.26.0 ; python_version >= "3.12"', "numpy <2.0.0,>=1.26.0"),
        ("Requires-Dist: a ; (sys_platform != 'win32' and python_version < '3.13')", "a"),
        ('Requires-Dist: a ; platform_machine != "arm64" or platform_system != "Darwin"', "a"),
        (
            'Requires-Dist: a ; platform_system == "Windows" or (sys_platform == "linux" and python_version > "3.9")',
            "a",
        ),
    ],
)
def test_what_holds_is_asked_for(line: str, wanted: str, tmp_path: Path) -> None:
    assert asked(tmp_path, line) == (wanted,)


@pytest.mark.parametrize(
    "line",
    [
        'Requires-Dist: numpy <2.0.0,>=1.23.5 ; python_version <= "3.11"',
        "Requires-Dist: nvidia-cudnn-cu12 ==8.9.7.29 ; extra == 'and-cuda'",
        'Requires-Dist: tensorflow-intel ==2.16.2 ; platform_system == "Windows"',
        "Requires-Dist: a ; os_name == 'posix'",  # a variable that is not read
        "Requires-Dist: a ; python_version in '3.11 3.12'",
        "Requires-Dist: a ; ((((",
        "Requires-Dist: a ; )(",
        "Requires-Dist: a ; python_version >= 'x'",
        "Requires-Dist: a ; True and __import__('os')",
        "Requires-Dist: a @ https://example.com/a.whl",
        "Requires-Dist: \x1b[31m",
        "Requires-Dist:",
    ],
)
def test_what_does_not_hold_or_is_not_understood_is_left_out(line: str, tmp_path: Path) -> None:
    assert asked(tmp_path, line) == ()


def test_without_a_file_nothing_is_asked_for(tmp_path: Path) -> None:
    assert requirements_of(tmp_path / "none", MARKS) == ()
