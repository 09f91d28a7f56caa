"""What the official wheels hold, and which fault belongs to which patch."""

from __future__ import annotations

import pytest

from gpudoctor.knowledge import causes, cuda_toolkits, cudnn_releases, versions
from gpudoctor.knowledge import tensorflow_releases as tf


def release(version: str) -> tf.TfRelease:
    found = tf.release_of(version)
    assert found is not None
    return found


def ids(version: str) -> set[str]:
    return {each.id for each in tf.defects_of(version)}


def test_an_h100_finds_binary_code_for_a_part_of_2_21_only() -> None:
    assert tf.covers(release("2.21.0"), "9.0") == "partial"
    assert tf.binary_objects(release("2.21.0"), "9.0") == (249, 1398)


@pytest.mark.parametrize(
    ("version", "cc", "expected"),
    [
        ("2.21.0", "8.6", "sass"),  # sm_80 runs on 8.6
        ("2.21.0", "7.5", "sass"),  # sm_70 runs on 7.5
        ("2.21.0", "6.1", "sass"),
        ("2.21.0", "5.2", "none"),
        ("2.16.2", "5.2", "sass"),
        ("2.15.1", "8.9", "partial"),  # sm_80 in a part only, and no sm_86 or sm_89
        ("2.15.1", "9.0", "ptx"),
        ("2.7.4", "8.6", "sass"),  # up to 2.7 sm_80 is there for every kernel
        ("2.8.4", "8.0", "partial"),
        ("2.14.1", "3.7", "sass"),
        ("2.15.1", "3.7", "none"),
        ("2.21.0", "12.0", "ptx-broken"),
        ("2.20.0", "10.0", "ptx-broken"),
    ],
)
def test_coverage_follows_the_rules_of_binary_code_and_ptx(version: str, cc: str, expected: str) -> None:
    assert tf.covers(release(version), cc) == expected


def had_once(release: tf.TfRelease) -> set[str]:
    """Return what is wrong with any patch of the release."""
    return {defect.id for patch in release.patches for defect in tf.defects_of(patch)}


def test_no_official_wheel_has_code_for_blackwell() -> None:
    for each in tf.RELEASES:
        assert all(code < tf.PTX_BROKEN_FROM for code in (*each.sass, *each.sass_partial, *each.ptx))
        assert tf.covers(each, "12.0") == "ptx-broken"
        assert "blackwell-not-supported" in had_once(each)


def test_the_lost_runpath_is_the_fault_of_2_16_1_alone() -> None:
    assert "missing-rpath" in ids("2.16.1")
    assert "missing-rpath" not in ids("2.16.2")
    assert "missing-rpath" in had_once(release("2.16.2")), "the minor release had it once"


def test_2_21_0_loses_the_path_of_cusolver_and_its_neighbours_do_not() -> None:
    lost = tf.defect("cusolver-rpath-lost", "2.21.0")
    assert lost is not None
    assert "LD_LIBRARY_PATH" in lost.command
    assert {"cusolver-rpath-lost"}.isdisjoint(ids("2.20.0") | ids("2.22.0rc0"))


def test_the_newest_stable_release_does_not_find_its_own_wheels() -> None:
    assert not tf.finds_its_wheels(tf.NEWEST_STABLE)
    assert not tf.finds_its_wheels("2.16.1")
    assert all(tf.finds_its_wheels(version) for version in ("2.15.1", "2.16.2", "2.19.1", "2.20.0", "2.22.0rc0"))


def test_nvml_is_needed_from_2_21_on() -> None:
    assert tf.defect("nvml-required", "2.20.0") is None
    assert tf.defect("nvml-required", "2.21.0") is not None
    assert tf.defect("nvml-required", "2.22.0-rc0") is not None


def test_a_post_release_without_the_fault_is_not_blamed() -> None:
    assert "tensorrt-libs-unavailable" in ids("2.15.0")
    assert "tensorrt-libs-unavailable" not in ids("2.15.0.post1")


@pytest.mark.parametrize(
    ("version", "unbounded"),
    [
        ("2.5.3", True),
        ("2.6.4", True),
        ("2.6.5", False),
        ("2.7.2", True),
        ("2.7.3", False),
        ("2.8.1", True),
        ("2.9.1", False),
    ],
)
def test_the_unbounded_protobuf_ends_with_the_patch_that_bounds_it(version: str, *, unbounded: bool) -> None:
    assert ("protobuf-unbounded" in ids(version)) is unbounded
    assert (tf.requirement_of(version, "protobuf") == ">=3.9.2") is unbounded


def test_pip_brings_a_cudnn_without_pascal_since_2_20() -> None:
    dropped = tf.defect("cudnn-drops-pre-turing", "2.20.0")
    assert dropped is not None
    assert dropped.applies(compute_capability="6.1") is True
    assert dropped.applies(compute_capability="7.5") is False
    assert dropped.applies() is None
    assert "cudnn-drops-pre-turing" not in ids("2.19.1")


def test_conditions_on_platform_and_python_are_told() -> None:
    windows = tf.defect("windows-last-gpu", "2.10.1")
    tensorrt = tf.defect("tensorrt-pin-py311", "2.14.1")
    assert windows is not None
    assert tensorrt is not None
    assert windows.applies(platform="linux") is False
    assert windows.applies() is None
    assert tensorrt.applies(python="3.11.7") is True
    assert tensorrt.applies(python="3.10.1") is False


@pytest.mark.parametrize("version", ["2.22.0rc0", "2.22.0-rc0", "2.22.0rc1", "2.22"])
def test_the_release_candidate_is_known(version: str) -> None:
    assert release(version).prerelease
    assert release(version).cuda_version == "12.5.1"


@pytest.mark.parametrize("version", ["1.15.5", "2.3.0", "2.99.0", "3.0.0", "", "nightly"])
def test_unknown_versions_stay_unknown(version: str) -> None:
    assert tf.release_of(version) is None
    assert tf.sonames_needed(version) == ()
    assert tf.requirement_of(version, "numpy") is None


def test_nothing_is_claimed_of_versions_after_the_table() -> None:
    assert tf.defects_of("2.99.0") == ()
    assert ids("2.23.0.dev20261026") == {"blackwell-not-supported", "build-info-keys-gone"}


def test_the_newest_stable_release_is_the_last_that_is_not_a_candidate() -> None:
    stable = [each for each in tf.RELEASES if not each.prerelease]
    assert stable[-1].latest == tf.NEWEST_STABLE
    assert tf.RELEASES[-1].latest == tf.NEWEST_PRERELEASE


def test_releases_for_a_python_leave_candidates_out_unless_asked() -> None:
    assert [each.version for each in tf.releases_for_python("3.13.0")] == ["2.20", "2.21"]
    assert [each.version for each in tf.releases_for_python("3.14", prereleases=True)] == ["2.22"]
    assert [each.version for each in tf.releases_for_python("3.12")] == ["2.16", "2.17", "2.18", "2.19", "2.20", "2.21"]
    assert tf.releases_for_python("3.15") == ()


@pytest.mark.parametrize(
    ("version", "wanted", "unwanted"),
    [
        ("2.4.4", "libcusolver.so.10", "libcusolver.so.11"),
        ("2.13.1", "libcurand.so.10", "libcudnn.so.9"),
        ("2.14.1", "libcudart.so.11.0", "libcurand.so.10"),
        ("2.17.1", "libcudnn.so.8", "libcudnn.so.9"),
        ("2.20.0", "libcudnn.so.9", "libnccl.so.2"),
    ],
)
def test_the_libraries_that_hide_every_gpu_when_absent(version: str, wanted: str, unwanted: str) -> None:
    assert wanted in tf.sonames_needed(version)
    assert unwanted not in tf.sonames_needed(version)


def test_sonames_agree_with_the_toolkit_and_cudnn_tables() -> None:
    for each in tf.RELEASES:
        assert each.cuda_version is not None
        assert each.cudnn_version is not None
        toolkit = set(cuda_toolkits.sonames(each.cuda_version).values())
        cudnn = cudnn_releases.SONAMES[versions.parse(each.cudnn_version)[0]]
        assert set(each.sonames) <= toolkit | {cudnn}
        assert cudnn in each.sonames


def test_requirements_are_those_of_the_very_patch_and_python() -> None:
    assert tf.requirement_of("2.14.0", "numpy") == ">=1.23.5"
    assert tf.requirement_of("2.14.1", "numpy") == "<2.0.0,>=1.23.5"
    assert tf.requirement_of("2.17.1", "numpy", "3.12.1") == "<2.0.0,>=1.26.0"
    assert tf.requirement_of("2.17.1", "numpy", "3.11.7") == "<2.0.0,>=1.23.5"
    assert tf.requirement_of("2.21.0", "protobuf") == "<8.0.0,>=6.31.1"
    assert tf.requirement_of("2.4.4", "keras") == "", "Keras is inside the package there"


def test_every_requirement_can_be_judged() -> None:
    for each in tf.RELEASES:
        fields = (
            each.numpy,
            each.numpy_first,
            each.numpy_from_python_3_12,
            each.keras,
            each.protobuf,
            each.protobuf_first,
        )
        for specifier in (*fields, each.h5py, each.ml_dtypes, *each.and_cuda.values()):
            assert versions.satisfies("0", specifier) is (not specifier), specifier


def test_the_extra_is_pinned_from_2_14_to_2_19_and_loose_after() -> None:
    pinned = {each.version for each in tf.RELEASES if each.and_cuda_pinned}
    extra = {each.version for each in tf.RELEASES if each.and_cuda}
    assert pinned == {"2.14", "2.15", "2.16", "2.17", "2.18", "2.19"}
    assert extra - pinned == {"2.20", "2.21", "2.22"}


def test_gpu_builds_exist_where_they_exist() -> None:
    assert all(each.linux_x86_64_gpu for each in tf.RELEASES)
    assert not any(each.linux_aarch64_gpu or each.macos_gpu for each in tf.RELEASES)
    assert [each.version for each in tf.RELEASES if each.windows_gpu][-1] == "2.10"


def test_every_row_has_a_source_and_known_ids() -> None:
    assert all(each.source and each.verified_wheels for each in tf.RELEASES)
    assert all(each.source and each.evidence and each.summary and each.workaround for each in tf.DEFECTS)
    assert all(each.cause is None or causes.cause(each.cause) for each in tf.DEFECTS)


def test_no_release_names_a_defect_twice_and_every_defect_hits_a_known_version() -> None:
    for each in tf.RELEASES:
        names = [defect.id for defect in tf.defects_of(each.latest)]
        assert len(names) == len(set(names))
    assert all(any(defect.id in had_once(each) for each in tf.RELEASES) for defect in tf.DEFECTS)


def test_rows_are_in_order_of_release() -> None:
    keys = [versions.parse(each.version) for each in tf.RELEASES]
    assert keys == sorted(keys)
    assert all(each.patches[0] == each.first and each.patches[-1] == each.latest for each in tf.RELEASES)


def test_an_unknown_attribute_is_an_error() -> None:
    with pytest.raises(AttributeError):
        _ = tf.NO_SUCH_TABLE  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
