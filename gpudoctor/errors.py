"""The exceptions a person can meet, each with its exit code; raised where known, caught once in `cli/main.py`."""

from __future__ import annotations


class GpudoctorError(Exception):
    """Base of all expected failures; the message is a sentence that names the cure."""

    exit_code = 70


class UsageError(GpudoctorError):
    """The command line, configuration or an input file cannot be used as given."""

    exit_code = 2


class SnapshotError(UsageError):
    """A snapshot file cannot be read: not JSON, not a snapshot, or written by a newer gpudoctor."""


class OutputError(GpudoctorError):
    """The report cannot be written where it was asked for."""

    exit_code = 2
