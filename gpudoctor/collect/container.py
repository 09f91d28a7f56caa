"""Which kind of container this runs in, from the marks that each leaves.

One mark would be neat, and each is missing somewhere: rootless Podman has no /.dockerenv, Kubernetes with containerd
neither, and with cgroup namespaces /proc/1/cgroup is silent. The innermost and most telling mark comes first.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gpudoctor.collect.text_file import text_of

NONE = "none"
# Words in /proc/*/cgroup paths and /run/systemd/container, most telling first.
WORDS = (
    ("kubepods", "kubernetes"),
    ("libpod", "podman"),
    ("podman", "podman"),
    ("docker", "docker"),
    ("lxc", "lxc"),
    ("systemd-nspawn", "systemd-nspawn"),
    ("containerd", "containerd"),
)


def container_kind(root: Path, environ: Mapping[str, str]) -> str:
    """Return none, docker, podman, kubernetes, apptainer, singularity, lxc, charliecloud, or what the mark says."""
    return _by_environment(environ) or _by_files(root) or _by_text(root, environ) or NONE


def _by_environment(environ: Mapping[str, str]) -> str:
    for name, kind in (
        ("APPTAINER_CONTAINER", "apptainer"),
        ("APPTAINER_NAME", "apptainer"),
        ("SINGULARITY_CONTAINER", "singularity"),
        ("SINGULARITY_NAME", "singularity"),
        ("CH_RUNNING", "charliecloud"),
        ("KUBERNETES_SERVICE_HOST", "kubernetes"),
    ):
        if environ.get(name):
            return kind
    return ""


def _by_files(root: Path) -> str:
    for path, kind in (
        (".singularity.d", "singularity"),
        ("var/run/secrets/kubernetes.io", "kubernetes"),
        ("run/secrets/kubernetes.io", "kubernetes"),
        ("run/.containerenv", "podman"),
        (".dockerenv", "docker"),
    ):
        if (root / path).exists():
            return kind
    return ""


def _by_text(root: Path, environ: Mapping[str, str]) -> str:
    said = (environ.get("container", ""), text_of(root / "run/systemd/container"))
    seen = (text_of(root / "proc/1/cgroup"), text_of(root / "proc/self/cgroup"))
    for text in (*said, *seen):
        for word, kind in WORDS:
            if word in text:
                return kind
    return next((word for text in said if (word := text.strip()) and "wsl" not in word), "")
