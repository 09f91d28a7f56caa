"""What the system tests share: one sound stand-in environment, and the published schemas as the command prints them."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.system import target
from tests.system.command import bare_environment, gpudoctor


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> target.StandIn:
    """Return an environment with the files of tensorflow[and-cuda] 2.20.0, sound as pip installed it."""
    return target.build(tmp_path_factory.mktemp("stand-in") / "venv")


@pytest.fixture(scope="session")
def report_schema(tmp_path_factory: pytest.TempPathFactory) -> Draft202012Validator:
    """Return the JSON Schema of the report."""
    return _schema(tmp_path_factory.mktemp("schema"), "report")


@pytest.fixture(scope="session")
def snapshot_schema(tmp_path_factory: pytest.TempPathFactory) -> Draft202012Validator:
    """Return the JSON Schema of the snapshot."""
    return _schema(tmp_path_factory.mktemp("schema"), "snapshot")


def _schema(home: Path, document: str) -> Draft202012Validator:
    schema = gpudoctor("schema", document, env=bare_environment(home)).document
    Draft202012Validator.check_schema(schema)  # here and not with each document: it takes twenty times as long as one
    return Draft202012Validator(schema)
