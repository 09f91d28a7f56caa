"""Snapshots whose every text attacks its reader and whose every number is absurd: each format stays sound, nothing breaks."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import TypeGuard

import pytest
import xmlschema

from tests.system.command import Json, assert_clean, bare_environment, gpudoctor
from tests.system.schemas import Schema

MACHINES = Path(__file__).parents[2] / "fixtures/machines"
JUNIT = xmlschema.XMLSchema(Path(__file__).parents[1] / "present/junit.xsd")
ATTACK = "\x1b[31m\x1b]0;x\x07\x9b2J\u202e\u2028\ufffe\x00 ]]><img src=x>&\"' ::error title=x::y ##[command]z %0A @all [l](js:x) ` | \\"
FORMATS = ("text", "json", "jsonl", "junit", "github", "markdown")
SLUGS = ("v100-driver-450", "t4-memory-held-by-another-user", "a100-out-of-memory-in-pieces", "docker-without-gpus")
CLOSED = frozenset({"origin", "flavour", "mig_mode", "compute_mode"})  # a word outside of the known ones is refused
WORDS = CLOSED | frozenset(
    {"status", "kind", "os", "device", "environment", "name"}
)  # what is looked up keeps its first word


def is_object(node: object) -> TypeGuard[dict[str, Json]]:
    return isinstance(node, dict)


def is_array(node: object) -> TypeGuard[list[Json]]:
    return isinstance(node, list)


def attacked(node: Json, key: str = "") -> Json:
    """Return the document with the attack in every text; words that are looked up keep theirs in half of the places."""
    if is_object(node):
        return {name: attacked(value, name) for name, value in node.items()}
    if is_array(node):
        return [attacked(each, key) for each in node]
    if isinstance(node, str) and key not in WORDS:
        return f"{node}{ATTACK}"
    return node


def absurd(node: Json, number: float) -> Json:
    """Return the document with each number replaced, whole ones by whole ones."""
    if is_object(node):
        return {name: value if name == "schema_version" else absurd(value, number) for name, value in node.items()}
    if is_array(node):
        return [absurd(each, number) for each in node]
    if isinstance(node, bool) or not isinstance(node, int | float):
        return node
    return int(number) if isinstance(node, int) else number


def saved(document: Json, folder: Path) -> Path:
    path = folder / "machine.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def machine(slug: str) -> Json:
    return json.loads((MACHINES / slug / "snapshot.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize("form", FORMATS)
def test_texts_that_attack_are_shown_as_text(slug: str, form: str, tmp_path: Path, report_schema: Schema) -> None:
    path = saved(attacked(machine(slug)), tmp_path)
    run = gpudoctor("scan", "--snapshot", path, "--format", form, env=bare_environment(tmp_path / "home"))
    assert_clean(run)
    assert run.code in {0, 1}, run.err
    assert {char for char in run.out if unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp"}} <= {"\n"}
    if form == "junit":
        JUNIT.validate(run.out)
    elif form == "json":
        report_schema.validate(run.document)
    elif form == "jsonl":
        assert [json.loads(line) for line in run.lines][-1]["event"] == "summary"
    elif form == "github":
        assert all(line.startswith(("::error ", "::warning ", "::notice ")) for line in run.lines[:-1])
        assert run.lines[-1].startswith("gpudoctor: ")
    elif form == "markdown":
        assert "<img" not in run.out


def test_a_word_outside_of_a_closed_vocabulary_is_refused_and_steers_nothing(tmp_path: Path) -> None:
    document = machine("v100-driver-450")
    document["cuda"]["origin"] += ATTACK
    path = saved(document, tmp_path)
    run = gpudoctor("scan", "--snapshot", path, env=bare_environment(tmp_path / "home"))
    assert_clean(run)
    assert (run.code, run.out) == (2, "")
    assert "origin" in run.err
    assert {char for char in run.err if unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp"}} <= {"\n"}


@pytest.mark.parametrize("number", [0.0, -1.0, 1e300, 2.0**62, 5e-324])
@pytest.mark.parametrize("slug", SLUGS[:3])
def test_absurd_numbers_break_nothing(slug: str, number: float, tmp_path: Path, report_schema: Schema) -> None:
    whole = min(number, 2.0**62)
    document = absurd(machine(slug), whole) if number in {0.0, -1.0, 2.0**62} else machine(slug)
    if number not in {0.0, -1.0, 2.0**62}:
        for gpu in document.get("gpus", []):
            gpu["power"] = {"draw_w": number, "limit_w": number}
    path = saved(document, tmp_path)
    for form in ("text", "json", "junit"):
        run = gpudoctor("scan", "--snapshot", path, "--format", form, env=bare_environment(tmp_path / "home"))
        assert_clean(run)
        refused = number in {-1.0, 1e300}  # no machine counts below nothing, nor so far
        assert run.code in ({2} if refused else {0, 1}), run.err
        assert ("not a snapshot of a machine: " in run.err) is refused
        if form == "json":
            report_schema.validate(run.document)


@pytest.mark.parametrize("slug", SLUGS)
def test_a_hostile_snapshot_can_be_compared_and_packed(slug: str, tmp_path: Path) -> None:
    path, env = saved(attacked(machine(slug)), tmp_path), bare_environment(tmp_path / "home")
    for words in (
        ("compare", path, MACHINES / slug / "snapshot.json", "--max-regression", "10"),
        ("bundle", "--snapshot", path, "--yes", "-o", tmp_path / "b.tgz"),
        ("scan", "--snapshot", tmp_path / "b.tgz"),
    ):
        run = gpudoctor(*words, env=env)
        assert_clean(run)
        assert run.code in {0, 1, 3}, run.err
        assert {char for char in run.out if unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp"}} <= {"\n"}


def test_judging_a_file_runs_nothing_that_file_or_configuration_name(tmp_path: Path) -> None:
    (tmp_path / "evil").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n", encoding="utf-8")
    (tmp_path / "evil").chmod(0o755)
    (tmp_path / "gpudoctor.toml").write_text(f'python = "{tmp_path}/evil"\n', encoding="utf-8")
    document = machine(SLUGS[0])
    document["python"]["executable"] = str(tmp_path / "evil")
    path, env = saved(document, tmp_path), bare_environment(tmp_path / "home")
    for words in (
        ("scan", "--snapshot", path),
        ("config", "show"),
        ("compare", path, path),
        ("bundle", "--snapshot", path),
    ):
        assert_clean(gpudoctor(*words, env=env, folder=tmp_path))
    assert not (tmp_path / "ran").exists()
