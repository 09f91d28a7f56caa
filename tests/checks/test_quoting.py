"""Words of a stranger's snapshot as words of a command."""

from __future__ import annotations

import subprocess

import pytest

from gpudoctor.sdk import search_path
from gpudoctor_checks.tensorflow.quoting import requirement


@pytest.mark.parametrize("text", ["-rhttps://example.org/x", "--pre", " --pre", ";--pre", "", "-e."])
def test_an_option_is_no_requirement(text: str) -> None:
    assert requirement(text) == "''"


def test_a_requirement_keeps_what_it_may_hold() -> None:
    assert requirement("protobuf>=4.25,!=5.*") == "'protobuf>=4.25,!=5.*'"
    assert requirement("numpy==1.26';id;'") == "'numpy==1.26id'"


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_a_list_of_folders_reaches_the_program_as_it_was_meant(shell: str) -> None:
    value = search_path(["/opt/a", "~/my libs", "~", "/x/$(id)", "~ada/lib"])
    command = f'export LD_LIBRARY_PATH={value}; printf %s "$LD_LIBRARY_PATH"'
    shown = subprocess.run(
        [shell, "-c", f"HOME=/home/me; {command}"], capture_output=True, text=True, check=True
    ).stdout
    assert shown == "/opt/a:/home/me/my libs:/home/me:/x/$(id):~ada/lib"
