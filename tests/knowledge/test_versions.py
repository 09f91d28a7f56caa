"""Version order and specifiers, held against the `packaging` library, which pip itself uses."""

from __future__ import annotations

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from gpudoctor.knowledge import versions

VERSIONS = (
    "1.19.2", "1.19.5", "1.20", "1.26.4", "2.0.0", "2.0.0rc1", "2.0.0.dev1", "2.0.0.post1", "2.1", "2.1.0", "2.14.1", "2.15.0",
    "2.15.0.post1", "2.15.1", "2.16.1", "2.20", "2.21.0", "2.22.0rc0", "2.22.0-rc0", "2.22.0rc1", "2.22.0", "2.23.0.dev20261026",
    "3.20.3", "4.21.0", "4.25.8", "5.0.0rc1", "5.0.0", "5.28.0", "6.31.1", "7.36.2", "8.0.0", "9.3.0.75", "9.10.2.21", "9.11.0.98",
    "12.5.82", "2.20.0+nv25.3", "1.0a1", "1.0b2",
)  # fmt: skip
SPECIFIERS = (
    ">=1.26.0", "<8.0.0,>=6.31.1", "~=1.19.2", "~=2.15", "==2.15.0", "==2.15.*", "!=4.21.0,!=4.21.1,<5.0.0dev,>=3.20.3", "!=2.0.*",
    "<2.0.0", "<=2.22.0rc0", ">2.15.0", ">2.15.0.post1", ">=2.22.0", "<2.22.0", "<10.0,>=9.3.0.75", "~=2.5.0.dev", "==2.23.0.dev20261026",
    ">=2.7.0rc0,<2.8", "==1.0a1", "===2.0.0", "",
)  # fmt: skip


@pytest.mark.parametrize("specifier", SPECIFIERS)
def test_specifiers_are_met_as_pip_judges_installed_packages(specifier: str) -> None:
    judged = SpecifierSet(specifier)
    for version in VERSIONS:
        assert versions.satisfies(version, specifier) == judged.contains(version, prereleases=True), version


@pytest.mark.parametrize("first", VERSIONS)
def test_versions_are_ordered_as_pip_orders_them(first: str) -> None:
    public = Version(Version(first).public)
    for second in VERSIONS:
        assert versions.at_least(first, second) == (public >= Version(Version(second).public)), second


@pytest.mark.parametrize("version", VERSIONS)
def test_prereleases_are_told_apart(version: str) -> None:
    assert versions.is_prerelease(version) == Version(version).is_prerelease


def test_driver_numbers_compare_field_by_field_and_not_as_text() -> None:
    assert versions.at_least("580.65.06", "525.60.13")
    assert versions.at_least("525.147.05", "525.60.13")
    assert not versions.at_least("525.60.11", "525.60.13")
    assert versions.parse("580.65.06") == (580, 65, 6)


def test_a_release_candidate_keeps_its_numbers() -> None:
    assert versions.parse("2.22.0rc0") == (2, 22, 0)
    assert versions.minor("2.22.0rc0") == "2.22"


@pytest.mark.parametrize("text", ["N/A", "", "unknown", "[Not Supported]"])
def test_what_is_not_a_version_is_refused_and_never_guessed(text: str) -> None:
    assert versions.parse(text) == ()
    assert not versions.is_version(text)
    with pytest.raises(ValueError, match="not a version"):
        versions.at_least(text, "1.0")
    with pytest.raises(ValueError, match="not a version"):
        versions.satisfies(text, "==1.*")


def test_a_malformed_specifier_is_refused() -> None:
    with pytest.raises(ValueError, match="not a version specifier"):
        versions.satisfies("1.0", "about 2")


@pytest.mark.parametrize(("text", "number"), [("8.6", 86), ("10.0", 100), ("12.1", 121), (75, 75)])
def test_compute_capabilities_become_numbers(text: str | int, number: int) -> None:
    assert versions.capability(text) == number


@pytest.mark.parametrize("text", ["8", "8.60", "sm_86", "", "8.x"])
def test_a_malformed_compute_capability_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a compute capability"):
        versions.capability(text)


def test_cuda_numbers_are_decoded() -> None:
    assert versions.from_cuda_number(12050) == "12.5"
    assert versions.from_cuda_number(13000) == "13.0"
