"""`python -m gpudoctor`: the same as the command."""

from __future__ import annotations

from gpudoctor.cli.main import command

if __name__ == "__main__":
    command()
