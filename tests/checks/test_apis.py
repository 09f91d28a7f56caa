"""Whatever a fix names of TensorFlow and Keras is dated: in the table of forms, or among what every release has."""

from __future__ import annotations

import re
from functools import cache

import pytest

from gpudoctor.knowledge import apis
from gpudoctor.knowledge.apis import Release
from gpudoctor.knowledge.apis_data import APIS
from gpudoctor.model.finding import Fix
from tests.checks.test_contract import all_fixes

# What TensorFlow 1.4 to 2.21 and Keras 2 and 3 all have (eager code counts as 2.x: nobody is told to write it for 1.x).
ALWAYS = frozenset(
    {
        "tf.", "tf.data.Dataset", "tf.data.Dataset.from_generator", "tf.data.Dataset.from_tensor_slices", "tf.data.TFRecordDataset",
        "tf.device", "tf.function", "tf.constant", "tf.shape", "tf.distribute.MirroredStrategy", "tf.test.is_built_with_cuda",
        "tf.distribute.HierarchicalCopyAllReduce", "tf.config.experimental.set_memory_growth",
        "keras.backend.set_image_data_format", "keras.layers.Dense", "keras.layers.Embedding", "keras.optimizers.Adam",
        "TF_CPP_MIN_LOG_LEVEL", "TF_NUM_INTEROP_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_MIN_GPU_MULTIPROCESSOR_COUNT",
        "TF_FORCE_GPU_ALLOW_GROWTH",  # for the probe, which trains with 2.x; for a program it has a row
        "TF_CUDA_COMPUTE_CAPABILITIES", "TF_USE_LEGACY_KERAS", "TF_CPU_BFC_MEM_LIMIT_IN_MB", "TF_GPU_HOST_MEM_LIMIT_IN_MB", "TF_CUDA_HOST_MEM_LIMIT_IN_MB", "TF_MKL_ALLOC_MAX_BYTES",
    }
)  # fmt: skip
NAMED = re.compile(r"\b(?:tf|keras)\.(?:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)?|\bTF_[A-Z_0-9]+(?==)")
ERAS = (
    Release(tensorflow="1.12.0", keras="2.0"),
    Release(tensorflow="1.15.5", keras="2.0"),
    Release(tensorflow="2.0.4", keras="2.0"),
    Release(tensorflow="2.3.0", keras="2.0"),
    Release(tensorflow="2.4.4", keras="2.0"),
    Release(tensorflow="2.10.1", keras="2.0"),
    Release(tensorflow="2.15.1", keras="2.0"),
    Release(tensorflow="2.16.2", keras="3.0"),
    Release(tensorflow="2.20.0", keras="3.99"),
)


@cache
def fixes() -> dict[str, Fix]:
    """Return the fixes of all checks that name something of TensorFlow or Keras."""
    return {name: fix for name, fix in all_fixes().items() if NAMED.search(fix.text)}


def test_the_checks_have_such_fixes() -> None:
    assert len(fixes()) > 20


def test_every_name_is_dated() -> None:
    unknown = {
        (name, word)
        for name, fix in fixes().items()
        for word in NAMED.findall(_without_rows(fix.text))
        if word not in ALWAYS
    }
    assert unknown == set()


def _without_rows(text: str) -> str:
    for each in APIS:
        text = re.sub(each.pattern, "", text)
    return text


@pytest.mark.parametrize("release", ERAS, ids=lambda release: release.tensorflow)
def test_a_fix_for_a_release_names_nothing_that_it_lacks(release: Release) -> None:
    for name, fix in fixes().items():
        form = apis.fitted(fix.text, fix.action, release)
        assert form is None or apis.lacking(form[0], release) == (), name


@pytest.mark.parametrize(("written", "older"), [("signature", "types"), ("batch_signature", "batch_types")])
def test_a_signature_has_the_form_of_the_release_whatever_it_is_called(written: str, older: str) -> None:
    text = f"tf.data.Dataset.from_generator(f, output_signature={written})"
    form = apis.fitted(text, "diff", Release(tensorflow="2.3.0", keras="2.0"))
    assert form is not None
    assert f"output_types={older}, output_shapes=" in form[0]


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_the_forms_of_an_api_go_from_new_to_old(api: apis.Api) -> None:
    ages = [tuple(map(int, form.since.split("."))) for form in api.older]
    assert ages == sorted(ages, reverse=True)
    assert all(age < tuple(map(int, api.since.split("."))) for age in ages if api.package == "tensorflow")
