"""XLA and PTX: ptxas and libdevice that are missing or too old."""

from __future__ import annotations

from gpudoctor.logs.pattern import row

ROWS = (
    row(
        "ptxas_too_old",
        "Value 'sm_",
        r"ptxas fatal\s{1,6}: Value '(?P<architecture>sm_\w{1,6})' is not defined for option 'gpu-name'",
    ),
    row("ptxas_too_old", "Falling back to the", r"ptxas too old\. Falling back to the driver to compile"),
    row(
        "ptxas_too_old",
        "Falling back to the",
        r"Falling back to the CUDA driver for PTX compilation; ptxas does not support CC (?P<compute_capability>\d{1,2}\.\d)",
    ),
    row("ptxas_too_old", "Loaded PTX assembler", r"Loaded PTX assembler is too old"),
    row("ptxas_missing", "Couldn't ", r"Couldn't (?:get ptxas(?:/nvlink)? version|invoke ptxas --version)"),
    row("ptxas_missing", "Failed to launch ptxas", r"Failed to launch ptxas"),
    row("ptxas_missing", "No PTX compilation", r"No PTX compilation provider is available"),
    row("ptxas_missing", "bin/ptxas not found", r"(?:^|[\s/.])bin/ptxas not found"),
    row("ptxas_missing", "Can't find ptxas", r"Can't find ptxas binary(?: in \$\{CUDA_DIR\}/bin)?"),
    row("libdevice_missing", "Can't find libdevice", r"Can't find libdevice directory"),
    row(
        "libdevice_missing",
        "HLO module but",
        r"libdevice is required by this HLO module but was not found at (?P<path>[^\s\n]{1,160})",
    ),
    row("libdevice_missing", "vice not found", r"libdevice not found at (?P<path>[^\s\n]{1,160})"),
)
