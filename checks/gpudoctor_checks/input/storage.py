"""GD505: the working data lies on a network or FUSE file system.

What it does
    Reads from the kernel's table of mounts which file system holds the working folder and the data folders that
    TFDS_DATA_DIR and KERAS_HOME name. It does not read the data, and does not call your pipeline slow.

Why it matters
    A data set of many small files pays a round trip to the server for each, and shuffled reading defeats read-ahead.
    An object store behind FUSE (s3fs, gcsfuse) pays most. In WSL the Windows drives under /mnt are of this kind too.
    One epoch then waits for storage, and the GPU with it; the second is quick only if the cache holds the data.

How to fix
    Copy the data to a local disk before the training, or write it once as TFRecord files of 100 MB and more, which are
    read in sequence. cache('/local/path') does the same on the way through the first epoch. In WSL keep data and
    project in the Linux home folder. Measure before and after: `gpudoctor run` shows the share of time spent waiting.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.sdk import Evidence, Finding, Fix, Gain, Grade, Host, Severity, Trial, check, either, must_know
from gpudoctor_checks.usage import weigh_pace

SEEN = 0.4  # policy: the mount is certain; that training reads from it, and is slowed by it, was not seen
# Names of Linux's network and cluster file systems (Documentation/filesystems of the kernel, and their own manuals).
REMOTE = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "9p", "virtiofs", "lustre", "gpfs", "beegfs", "orangefs", "pvfs2",
    "glusterfs", "ocfs2", "drvfs", "vboxsf", "fuse",
})  # fmt: skip
FUSE = "fuse."
LOCAL_FUSE = frozenset({"fuse.overlayfs", "fuse.fuse-overlayfs", "fuse.mergerfs", "fuse.portal", "fuse.snapfuse"})
COPY = Fix(
    id="copy-data-to-local-disk",
    title="Copy the data to a local disk first",
    action="command",
    text='rsync -a --info=progress2 DATA/ "${TMPDIR:-/tmp}/data/"',
    gain=Gain(grade=Grade.UNPROVEN, basis="how long your training waits for files was not measured"),
    effort_minutes=15,
)
CACHE = Fix(
    id="cache-on-local-disk",
    title="Or let the first epoch fill a local cache",
    action="setting",
    text="dataset = dataset.cache('/local/path/cache')   # before shuffle, repeat and random augmentation",
    gain=Gain(grade=Grade.UNPROVEN, basis="from the second epoch on"),
)


@check(
    code="GD505",
    slug="storage",
    title="The data lies on a network file system",
    family="input",
    cause="storage",
    core=False,
)
def remote(host: Host, baseline: Trial | None) -> Iterator[Finding]:
    """Tell which of the likely data folders is not on a local disk."""
    places = must_know(host.storage, "the file systems of the data folders")
    far = [each for each in places if _is_remote(each.filesystem)]
    if not far:
        return
    weight = weigh_pace(SEEN, baseline)
    names = " and ".join(each.folder for each in far)
    yield Finding(
        summary=f"{names[0].upper()}{names[1:]}: on {far[0].filesystem}, not on a local disk.",
        severity=Severity.INFO,
        confidence=weight.confidence,
        basis=weight.basis,
        evidence=tuple(
            Evidence(label=each.folder, value=each.filesystem, source="/proc/self/mountinfo") for each in far
        ),
        fixes=(_move_in_wsl(),) if either(host.wsl, False) else (COPY, CACHE),
    )


def _is_remote(filesystem: str) -> bool:
    return filesystem in REMOTE or (filesystem.startswith(FUSE) and filesystem not in LOCAL_FUSE)


def _move_in_wsl() -> Fix:
    return Fix(
        id="move-into-wsl",
        title="Keep data and project in the Linux home",
        action="command",
        text='cp -r "$PWD" ~/',
        gain=COPY.gain,
        effort_minutes=10,
    )
