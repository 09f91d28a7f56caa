"""GPUs of other makers: what ROCm's and Metal's TensorFlow print, so that a text of theirs is told as theirs.

Reading their errors too would be tempting; every remedy here is for CUDA and would send such a reader astray.
"""

from __future__ import annotations

from gpudoctor.logs.pattern import row

OTHER_MAKER = "other_maker"
AMD, APPLE = "AMD (ROCm)", "Apple (Metal)"

ROWS = (
    row(OTHER_MAKER, "hipSuccess", r"\bhipSuccess\b", maker=AMD),
    row(OTHER_MAKER, "HIP_ERROR_", r"\bHIP_ERROR_\w{1,60}", maker=AMD),
    row(OTHER_MAKER, "hipError", r"\bhipError[A-Z]\w{1,40}", maker=AMD),
    row(OTHER_MAKER, "hip64.so", r"\blibamdhip64\.so", maker=AMD),
    row(OTHER_MAKER, "MIOpen.so", r"\blibMIOpen\.so", maker=AMD),
    row(OTHER_MAKER, "AMD GPU ISA", r"ROCm AMD GPU ISA: gfx\w{1,8}", maker=AMD),
    row(OTHER_MAKER, "Metal device set", r"Metal device set to", maker=APPLE),
    row(OTHER_MAKER, "name: METAL", r"physical PluggableDevice \([^\n]{0,40}name: METAL", maker=APPLE),
    row(OTHER_MAKER, "Metal Performance Shaders", r"Metal Performance Shaders operations", maker=APPLE),
)
