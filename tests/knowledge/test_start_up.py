"""Importing the fact base must not load its tables: the doors of the product start before anybody asks."""

from __future__ import annotations

import subprocess
import sys

LOAD_ALL = (
    "import sys; from gpudoctor.knowledge import causes, clock_events, cuda_toolkits, cudnn_releases, drivers, gpus, "
    "nvml_returns, tensorflow_releases, versions, xids; print(*[name for name in sys.modules if name.endswith('_data')], "
    "*[name for name in ('tomllib', 'packaging', 'json') if name in sys.modules])"
)


def test_no_table_is_loaded_before_it_is_asked() -> None:
    done = subprocess.run([sys.executable, "-c", LOAD_ALL], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
