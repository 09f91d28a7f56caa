"""Entry points are found by reading files, as `importlib.metadata` would find them."""

from __future__ import annotations

import posixpath
from importlib.metadata import entry_points
from pathlib import Path

from gpudoctor.diagnose.entry_points import Point, find

GROUP = "gpudoctor.checks"


def distribution(folder: Path, name: str, text: str, suffix: str = "dist-info") -> None:
    place = folder / f"{name}.{suffix}"
    place.mkdir(parents=True)
    (place / "entry_points.txt").write_text(text)


def test_the_same_are_found_as_by_the_standard_library() -> None:
    for group in (GROUP, "console_scripts"):
        expected = {(each.name, each.value) for each in entry_points(group=group)}
        assert {tuple(each) for each in find(group)} == expected


def test_other_groups_comments_and_extras_are_left_out(tmp_path: Path) -> None:
    distribution(
        tmp_path,
        "acme-1.0",
        f"[console_scripts]\na = b:c\n\n[{GROUP}]\n# old = gone\nacme = acme_checks [x]\n[z]\nq = r\n",
    )
    distribution(tmp_path, "plain_0.1", f"[{GROUP}]\nplain=plain.checks", suffix="egg-info")
    assert find(GROUP, [str(tmp_path)]) == (Point("acme", "acme_checks [x]"), Point("plain", "plain.checks"))


def test_of_a_distribution_that_is_there_twice_the_first_on_the_path_counts(tmp_path: Path) -> None:
    distribution(tmp_path / "first", "my_acme-2.0", f"[{GROUP}]\nacme = new_checks\n")
    distribution(tmp_path / "second", "my.acme-1.0", f"[{GROUP}]\nacme = old_checks\n")
    assert find(GROUP, [str(tmp_path / "first"), str(tmp_path / "second")]) == (Point("acme", "new_checks"),)


def test_unreadable_folders_and_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "bad-1.dist-info").mkdir()
    (tmp_path / "bad-1.dist-info" / "entry_points.txt").write_bytes(b"\xff\xfe")
    assert find(GROUP, [str(tmp_path), str(tmp_path / "none"), "/dev/null"]) == ()


def test_an_attribute_of_a_module_is_loaded() -> None:
    assert Point("x", "os.path:join").load() is posixpath.join
    assert Point("x", "os.path:join [extra]").load() is posixpath.join
