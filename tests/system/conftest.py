"""What the system tests share: one sound stand-in environment, and the published schemas as the command prints them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system import target
from tests.system.command import bare_environment, gpudoctor
from tests.system.schemas import Schema


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> target.StandIn:
    """Return an environment with the files of tensorflow[and-cuda] 2.20.0, sound as pip installed it."""
    return target.build(tmp_path_factory.mktemp("stand-in") / "venv")


@pytest.fixture(scope="session")
def report_schema(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    """Return the JSON Schema of the report."""
    return _schema(tmp_path_factory.mktemp("schema"), "report")


@pytest.fixture(scope="session")
def snapshot_schema(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    """Return the JSON Schema of the snapshot."""
    return _schema(tmp_path_factory.mktemp("schema"), "snapshot")


def _schema(home: Path, document: str) -> Schema:
    return Schema(gpudoctor("schema", document, env=bare_environment(home)).document)
