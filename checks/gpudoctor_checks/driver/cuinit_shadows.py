"""A libcuda that shadows the driver's own: CUDA's stub, or on WSL a folder that comes before Windows' part."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Environment, Evidence, Finding, Host, Log, LogEvent, Trial, weigh_unusable
from gpudoctor_checks.driver.cuda_errors import DROP_STUBS
from gpudoctor_checks.driver.cuinit_events import FIND_LIBCUDA, LIKELY, SEE_LIBCUDA, WSL_FIRST
from gpudoctor_checks.said import container_of, events, first, log_finding, on_wsl, outside


def wsl_itself(host: Host | None) -> bool:
    """Return whether it is WSL, and no container on it is known: a container's driver is the matter of how it was started."""
    return on_wsl(host) and not container_of(host)


def shadow_likely(host: Host | None, env: Environment | None) -> bool:
    """Return whether "no device" means a Linux driver's libcuda inside WSL: no container and no variable hides the GPU."""
    hidden = env is not None and env.get("CUDA_VISIBLE_DEVICES") is not None
    return wsl_itself(host) and not hidden


def shadowed(log: Log, host: Host | None, env: Environment | None, trial: Trial | None) -> Iterator[Finding]:
    """On WSL a folder of stubs, or of another libcuda, must not come before WSL's own."""
    path = (env.get("LD_LIBRARY_PATH") if env is not None else None) or ""
    if not on_wsl(host) or "stubs" not in path or first(log, "gpu_created") is not None:
        return
    ahead = path.split(":")[0].endswith(("wsl/lib", "lxss/lib"))
    yield log_finding(
        "On WSL the loader's path holds a folder with CUDA's stub of libcuda.",
        weigh_unusable(0.55 if ahead else 0.7, trial),
        events(log, "variable"),
        WSL_FIRST,
        cause="wsl-libcuda",
        know=SEE_LIBCUDA,
        more=(Evidence(label="LD_LIBRARY_PATH", value=path[:160], source="environment"),),
    )


def stub_found(lines: tuple[LogEvent, ...], host: Host | None, trial: Trial | None) -> Iterator[Finding]:
    """Tell a stub, or on WSL another libcuda; where nobody says whether it is a container, its image is the likelier place."""
    weight = weigh_unusable(LIKELY, trial)
    if wsl_itself(host):
        yield log_finding(
            "WSL's own libcuda is not the one that is found.",
            weight,
            lines,
            WSL_FIRST,
            cause="wsl-libcuda",
            know=SEE_LIBCUDA,
        )
        return
    yield log_finding(
        "CUDA's stub of libcuda is loaded; the driver's own lies elsewhere.",
        weight,
        lines,
        *((DROP_STUBS, FIND_LIBCUDA) if outside(host) else (FIND_LIBCUDA,)),
        cause="missing-cuda-libs" if outside(host) else "container-no-gpu",
        know="find / -name 'libcuda.so*' 2>/dev/null",
    )
