"""`python -m gpudoctor`: the same as the command."""

from __future__ import annotations

import sys

from gpudoctor.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
