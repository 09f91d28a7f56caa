"""`python -m gpudoctor`: the same as the command, the folder that it is started in not being searched for modules.

`-m` puts that folder first; a random.py in it, the very fault that a scan is to find, would then break the scan itself.
"""

from __future__ import annotations

import os
import sys


def _here() -> str:
    try:
        return os.getcwd()  # noqa: PTH109  # start-up path
    except OSError:
        return ""  # the folder is gone, which the command says


if __name__ == "__main__" and sys.path and sys.path[0] in {"", _here()}:
    del sys.path[0]

from gpudoctor.cli.main import command  # noqa: E402  # found only once that folder is out of the search path

if __name__ == "__main__":
    command()
