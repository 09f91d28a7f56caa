"""`python -m gpudoctor`: the same as the command, the folder that it is started in not being searched for modules.

`-m` puts that folder first; a random.py in it, the very fault that a scan is to find, would then break the scan itself.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__" and sys.path and sys.path[0] in {"", os.getcwd()}:  # noqa: PTH109  # start-up path
    del sys.path[0]

from gpudoctor.cli.main import command

if __name__ == "__main__":
    command()
