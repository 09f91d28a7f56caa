"""Keeps a remedy for a missing wheel from installing one that has no code for the GPU, or none for any GPU of Windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gpudoctor.sdk import Devices, Driver, Fix, Host, Python, tensorflow_releases, versions
from gpudoctor_checks.installing import install_tensorflow
from gpudoctor_checks.remedies import WORKING
from gpudoctor_checks.said import on_windows
from gpudoctor_checks.tensorflow.cpu_build_said import FIRST_WITHOUT


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What decides which wheel computes here, as far as it is known."""

    devices: Devices | None
    driver: Driver | None
    host: Host | None
    python: Python | None

    def served(self, fixes: Iterable[Fix]) -> Iterator[Fix]:
        """Yield these fixes; in place of those whose release cannot use the known GPU, the way to one that can."""
        given = tuple(fixes)
        kept = [each for each in given if not self._useless(each.release)]
        if len(kept) < len(given):
            yield from install_tensorflow(
                "Install a release that has code for this GPU",
                devices=self.devices,
                driver=self.driver,
                host=self.host,
                python=self.python,
            )
        yield from kept

    def _useless(self, version: str | None) -> bool:
        """Tell whether this release is known to have nothing for a GPU that is known."""
        capabilities = self.devices.compute_capabilities if self.devices is not None else ()
        release = tensorflow_releases.release_of(version) if version else None
        if release is None or version is None or not capabilities:
            return False
        if on_windows(self.host) and versions.at_least(version, FIRST_WITHOUT):
            return True
        if not on_windows(self.host) and release.and_cuda and not tensorflow_releases.finds_its_wheels(version):
            return True
        return not any(tensorflow_releases.covers(release, each) in WORKING for each in capabilities)
