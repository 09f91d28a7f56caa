"""Say what this interpreter is and where it looks for packages; `sys` alone, so that nothing on its path can interfere.

It is handed over with -c and without -I: PYTHONPATH and the user's packages count, as they do in the user's own run.
"""

from __future__ import annotations

import sys

facts = {
    "version": ".".join(str(part) for part in sys.version_info[:3]),
    "implementation": sys.implementation.name,
    "executable": sys.executable,
    "prefix": sys.prefix,
    "base_prefix": sys.base_prefix,
    "path": [folder for folder in sys.path if folder],  # the empty one is where -c was run
}
sys.stdout.write("gpudoctor:" + ascii(facts) + "\n")
