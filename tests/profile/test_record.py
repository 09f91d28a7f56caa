"""The session file: what agents spool is in it once, whole lines only, and it opens after any death."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from gpudoctor.errors import UsageError
from gpudoctor.model.missing import Missing
from gpudoctor.profile.record import SessionWriter, default_folder, read_session, spool_folder
from gpudoctor.profile.schema import SCHEMA_VERSION

NOTHING: dict[str, int] = {}


def spool(path: Path, name: str, *lines: object, tail: str = "") -> None:
    text = "".join(json.dumps(each) + "\n" for each in lines) + tail
    with (spool_folder(path) / name).open("a", encoding="utf-8") as stream:
        stream.write(text)


def started(path: Path) -> SessionWriter:
    writer = SessionWriter(path)
    writer.note(session="ab12", command=["python", "train.py"], started_at=1.0, outcome="running")
    return writer


def test_what_agents_spool_is_read_back_as_records(tmp_path: Path) -> None:
    writer = started(tmp_path / "s")
    spool(
        writer.path,
        "7-1.0.jsonl",
        ["processes", {"pid": 7, "argv": ["train.py"], "python": "3.11.7"}],
        ["loops", {"loop": 0, "label": "fit", "file": "train.py", "line": 9}],
        ["steps", {"loop": 0, "at": 2.0, "count": 40, "wait_s": 0.5}],
        ["pipeline_nodes", {"iterator": 1, "node": 2, "name": "Map", "parameters": {"parallelism": [4.0, True]}}],
    )
    writer.tick()
    writer.note(outcome="ended", exit_code=0, ended_at=3.0)
    writer.close()
    session = read_session(writer.path)
    assert session.schema_version == SCHEMA_VERSION
    assert (session.session, session.outcome, session.exit_code) == ("ab12", "ended", 0)
    assert session.command == ("python", "train.py")
    assert session.processes[0].argv == ("train.py",)
    assert session.loops[0].process == "7-1"
    assert session.steps[0].count == 40
    assert isinstance(session.steps[0].inside_s, Missing)
    assert session.pipeline_nodes[0].parameters["parallelism"] == (4.0, True)
    assert session.hello
    assert session.trained


def test_a_finished_session_is_one_file(tmp_path: Path) -> None:
    writer = started(tmp_path / "s")
    spool(writer.path, "7-1.0.jsonl", ["processes", {"pid": 7}])
    writer.tick()
    writer.close()
    assert [each.name for each in tmp_path.iterdir()] == ["s"]


def test_a_second_message_about_a_row_completes_it(tmp_path: Path) -> None:
    writer = started(tmp_path / "s")
    spool(writer.path, "7-1.0.jsonl", ["phases", {"phase": 0, "kind": "fit", "started_at": 2.0}])
    writer.tick()
    spool(writer.path, "7-1.0.jsonl", ["phases", {"phase": 0, "kind": "fit", "ended_at": 9.0}])
    writer.tick()
    (phase,) = read_session(writer.path).phases
    assert (phase.started_at, phase.ended_at) == (2.0, 9.0)
    writer.close()


def test_a_line_that_was_cut_off_and_lines_that_are_no_messages_are_left_out(tmp_path: Path) -> None:
    writer = started(tmp_path / "s")
    spool(
        writer.path,
        "7-1.0.jsonl",
        ["nothing_of_ours", NOTHING],
        "text",
        ["steps", 3],
        [1, NOTHING],
        tail='["steps", {"lo',
    )
    spool(writer.path, "x.jsonl.tmp")
    writer.tick()
    assert read_session(writer.path).steps == ()
    spool(writer.path, "7-1.0.jsonl", tail='op": 0, "at": 2.0, "count": 1}]\n')
    writer.tick()
    assert len(read_session(writer.path).steps) == 1
    writer.close()


def test_each_line_is_taken_in_once_and_read_files_with_a_successor_are_removed(tmp_path: Path) -> None:
    writer = started(tmp_path / "s")
    spool(writer.path, "7-1.0.jsonl", ["steps", {"loop": 0, "at": 2.0, "count": 1}])
    spool(writer.path, "7-1.1.jsonl", ["steps", {"loop": 0, "at": 3.0, "count": 2}])
    writer.tick()
    writer.tick()
    assert [each.count for each in read_session(writer.path).steps] == [1, 2]
    assert not (spool_folder(writer.path) / "7-1.0.jsonl").exists()
    writer.close()


def test_what_a_killed_wrapper_left_in_the_spool_is_taken_in_by_the_next_reader(tmp_path: Path) -> None:
    writer = started(tmp_path / "s")
    spool(writer.path, "999999999-1.0.jsonl", ["steps", {"loop": 0, "at": 2.0, "count": 1}])
    writer.tick()
    spool(writer.path, "999999999-1.0.jsonl", ["steps", {"loop": 0, "at": 3.0, "count": 2}])
    (spool_folder(writer.path) / "owner").write_text("999999999-1", encoding="ascii")
    writer.close(whole=False)
    for _ in range(2):
        session = read_session(writer.path)
        assert session.outcome == "cut_short"
        assert [each.count for each in session.steps] == [1, 2]
    assert not spool_folder(writer.path).exists()


def test_a_recording_that_runs_can_be_read_beside_it(tmp_path: Path) -> None:
    writer = started(tmp_path / "s")
    writer.tick()
    assert read_session(writer.path).outcome == "running"
    assert spool_folder(writer.path).is_dir()
    writer.close()


@pytest.mark.parametrize("content", [b"", b"not a database, but long enough to be looked at" * 40])
def test_what_is_not_a_session_is_refused_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "s").write_bytes(content)
    with pytest.raises(UsageError, match="not a session"):
        read_session(tmp_path / "s")


def test_a_session_of_a_newer_gpudoctor_is_refused(tmp_path: Path) -> None:
    started(tmp_path / "s").close()
    database = sqlite3.connect(tmp_path / "s")
    database.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    database.commit()
    database.close()
    with pytest.raises(UsageError, match="newer gpudoctor"):
        read_session(tmp_path / "s")


def test_an_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("thesis", encoding="ascii")
    with pytest.raises(FileExistsError):
        SessionWriter(tmp_path / "s")


def test_sessions_lie_in_the_state_folder(tmp_path: Path) -> None:
    assert default_folder({"XDG_STATE_HOME": str(tmp_path)}) == tmp_path / "gpudoctor" / "sessions"
