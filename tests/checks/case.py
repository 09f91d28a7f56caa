"""What each check's test hands to the contract test: machines on which it fires, stays quiet, and cannot know.

One `CASE = Case(...)` stands at the top of each `tests/checks/test_<problem>.py`; `test_contract.py` collects them all.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpudoctor.model.observed import Trial
from gpudoctor.model.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The least that a check must show.

    `fires`: found. `near_miss`: almost the same machine, nothing found. `lacking`: `fires` with the decisive evidence
    removed, must be skipped or inconclusive. `trial` names the probe trial that is varied on `fires`; each of
    `trial_variants` (None: the trial did not run) must change status, severity or confidence against the trial that
    `fires` holds, nothing else being changed.
    """

    check_code: str
    fires: Snapshot
    near_miss: Snapshot
    lacking: Snapshot
    trial: str = "baseline"
    trial_variants: tuple[Trial | None, Trial | None]
