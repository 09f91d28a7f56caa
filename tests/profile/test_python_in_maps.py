"""A function of Python that a map calls back is known as such wherever it was made: its map is not to be made parallel."""

from __future__ import annotations

from typing import Any

import pytest

from gpudoctor.profile.agent import call_sites


def made_in(file: str) -> Any:
    """Return a lambda whose code says that it stands in this file."""
    names: dict[str, Any] = {}
    exec(compile("f = lambda t: t", file, "exec"), names)  # noqa: S102  # a code object of another file
    return names["f"]


@pytest.mark.parametrize(
    ("file", "known"),
    [
        ("/home/me/train.py", {"python_function": "<lambda>", "python_file": "/home/me/train.py", "python_line": 1}),
        ("/tmp/__autograph_generated_fileab1.py", {"python_function": "<lambda>"}),
        ("/usr/lib/python3/site-packages/keras/src/tree.py", {}),
    ],
)
def test_a_lambda_inside_a_converted_function_is_the_users_too(
    file: str, known: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    site: dict[str, Any] = {"method": "map"}
    monkeypatch.setattr(call_sites.building, "site", site, raising=False)

    def taken(func: object) -> object:
        return func

    call_sites.with_python(taken)(made_in(file))
    assert site == {"method": "map", **known}
