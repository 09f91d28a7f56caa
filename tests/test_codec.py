"""JSON meets the model: sparse documents are legal, reasons survive, hostile ones are refused with a sentence."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.codec import dumps, load_baseline, load_snapshot, schema, snapshot_to_builtins
from gpudoctor.errors import SnapshotError, UsageError
from gpudoctor.model.gpu import Gpu, Memory, Power
from gpudoctor.model.machine import Host
from gpudoctor.model.missing import Missing
from gpudoctor.model.observed import Arm, Comparison, Probe, Trial
from gpudoctor.model.report import Report
from gpudoctor.model.snapshot import Snapshot

FULL = Snapshot(
    host=Host(os="linux", wsl=False, container=Missing("not collected")),
    gpus=(
        Gpu(
            index=0,
            name="Tesla T4",
            memory=Memory(total_bytes=16 << 30, used_bytes=Missing("not_supported")),
            power=Power(draw_w=Missing("no_permission"), limit_w=70.0),
            throttle_reasons=("GpuIdle",),
        ),
    ),
    packages={"numpy": "2.1.0"},
    probe=Probe(
        trials={
            "precision": Trial(
                name="precision",
                device="GPU",
                arms=(Arm(name="mixed", steps=50, step_s=0.004),),
                comparisons=(Comparison(arm="mixed", against="float32", pairs=8, speedup=1.8, low=1.7, high=1.9),),
                values={"width": 4096.0},
            )
        }
    ),
    missing={"kernel": "timeout after 3 s"},
)


def encoded(snapshot: Snapshot) -> bytes:
    return dumps(snapshot_to_builtins(snapshot)).encode()


def test_a_snapshot_comes_back_as_it_was_with_every_reason() -> None:
    assert load_snapshot(encoded(FULL)) == FULL


def test_missing_values_are_left_out_and_named_by_path() -> None:
    document: dict[str, Any] = json.loads(encoded(FULL))
    assert "draw_w" not in document["gpus"][0]["power"]
    assert document["missing"]["gpus[0].power.draw_w"] == "no_permission"
    assert document["missing"]["kernel"] == "timeout after 3 s"


def test_a_sparse_hand_written_snapshot_is_legal() -> None:
    snapshot = load_snapshot(b'{"nvml": {"status": "driver_not_loaded"}, "missing": {"gpus": "no driver"}}')
    assert snapshot.nvml is not None
    assert snapshot.nvml.status == "driver_not_loaded"
    assert snapshot.why_missing("gpus") == "no driver"
    assert snapshot.host is None


def test_a_byte_order_mark_is_passed_over() -> None:
    assert load_snapshot(b"\xef\xbb\xbf" + encoded(FULL)) == FULL


def test_the_snapshot_inside_a_report_is_found() -> None:
    report = json.dumps({"summary": {}, "snapshot": json.loads(encoded(FULL))})
    assert load_snapshot(report.encode()) == FULL


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[1, 2]", "JSON object"),
        (b'{"schema_version": 2}', "newer gpudoctor"),
        (b'{"schema_version": "1"}', "whole number"),
        (b'{"gpus": 7}', "gpus"),
        (b'{"gpus": [{"index": "zero"}]}', "index"),
        (b'{"host": {"cpu": {"cores": 1.5}}}', "cores"),
        (b'{"host": {"cpu": {"cores": 1e400}}}', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"probe":' * 5_000 + b"1" + b"}" * 5_000, "not JSON"),
    ],
)
def test_what_is_no_snapshot_is_refused_with_a_sentence(data: bytes, says: str) -> None:
    with pytest.raises(SnapshotError, match=says):
        load_snapshot(data)


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({"probe": {"trials": {"cpu": {"name": "cpu", "status": "warm"}}}}, r"\$\.probe\.trials\[\.\.\.\]\.status"),
        ({"probe": {"trials": {"cpu": {"name": "cpu", "device": "TPU"}}}}, r"\.device"),
        ({"probe": {"children": [{"environment": "default", "status": "oom"}]}}, r"children\[0\]\.status"),
        ({"gpus": [{"index": 0, "mig_mode": "x" * 100_000}]}, r"\$\.gpus\[0\]\.mig_mode"),
        ({"gpus": [{"index": 0, "compute_mode": "shared"}]}, r"compute_mode"),
        ({"gpus": [{"index": 0, "processes": [{"pid": 1, "kind": "mining"}]}]}, r"processes\[0\]\.kind"),
        ({"scheduler": {"kind": "cron"}}, r"\$\.scheduler\.kind"),
        ({"kernel": {"flavour": "vanilla"}}, r"\$\.kernel\.flavour"),
        ({"cuda": {"origin": "moon"}}, r"\$\.cuda\.origin"),
        ({"tensorflow": {"origin": "pip"}}, r"\$\.tensorflow\.origin"),
        ({"libraries": [{"soname": "libcudart.so.12", "origin": "pip"}]}, r"libraries\[0\]\.origin"),
        ({"run": {"outcome": "vanished"}}, r"\$\.run\.outcome"),
    ],
)
def test_a_word_outside_of_a_closed_vocabulary_is_refused_with_its_place(document: dict[str, Any], place: str) -> None:
    with pytest.raises(SnapshotError, match=f"Invalid enum value '.*{place}`$") as refused:
        load_snapshot(json.dumps(document).encode())
    assert len(str(refused.value)) < 400


def test_the_schema_names_the_words_of_a_closed_vocabulary() -> None:
    definitions = schema(Report)["$defs"]
    assert definitions["Trial"]["properties"]["device"]["enum"] == ["CPU", "GPU"]
    assert "refused" in definitions["Trial"]["properties"]["status"]["enum"]
    assert definitions["Fix"]["properties"]["action"]["enum"] == ["command", "diff", "manual", "setting"]
    assert schema(Snapshot)["$defs"]["Gpu"]["properties"]["mig_mode"]["enum"] == ["disabled", "enabled"]


def test_a_group_that_was_taken_out_of_a_snapshot_is_unknown_though_its_reasons_stayed() -> None:
    document: dict[str, Any] = json.loads(encoded(FULL))
    document["missing"]["probe.trials.precision.device_name"] = "not_supported"
    for path in (("probe", "trials", "precision"), ("probe",), ("gpus",), ("host",)):
        node = document
        for step in path[:-1]:
            node = node[step]
        node.pop(path[-1])
        assert load_snapshot(json.dumps(document).encode())


def test_a_trial_whose_status_is_not_recorded_is_not_ok() -> None:
    snapshot = load_snapshot(
        b'{"probe": {"trials": {"gradcheck": {"name": "gradcheck"}}, "children": [{"environment": "default"}]}}'
    )
    assert snapshot.probe is not None
    assert snapshot.probe.trials["gradcheck"].status == "unknown"
    assert snapshot.probe.children[0].status == "unknown"


def test_paths_in_missing_that_lead_nowhere_are_dropped() -> None:
    text: dict[str, Any] = {
        "gpus": [],
        "missing": {"gpus[3].name": "lost", "a.b.c": "x", "": "y", "[0]": "z", "host.cpu": 7},
    }
    snapshot = load_snapshot(json.dumps(text).encode())
    assert snapshot.gpus == ()


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_no_json_document_makes_the_reader_crash(document: Any) -> None:
    wrapped = {"host": document, "missing": document, "gpus": [document]}
    try:
        load_snapshot(json.dumps(wrapped).encode())
    except SnapshotError as error:
        assert str(error)  # noqa: PT017


def test_the_published_schema_accepts_what_is_written() -> None:
    published = schema(Snapshot)
    jsonschema.Draft202012Validator.check_schema(published)
    jsonschema.validate(json.loads(encoded(FULL)), published)
    assert "Missing" not in published["$defs"]
    assert "#/$defs/Missing" not in json.dumps(published)


def test_the_schema_refuses_a_wrong_type() -> None:
    document = json.loads(encoded(FULL))
    document["gpus"][0]["index"] = "zero"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema(Snapshot))


def test_the_report_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema(Report))


def test_a_name_that_is_not_utf8_is_written_as_valid_json() -> None:
    written = dumps(snapshot_to_builtins(Snapshot(env={"LD_LIBRARY_PATH": "/opt/\udcff/lib"})))
    written.encode()
    assert load_snapshot(written.encode()).env == {"LD_LIBRARY_PATH": "/opt/\ufffd/lib"}


def test_a_number_that_json_has_no_word_for_is_missing_with_its_reason() -> None:
    trial = Trial(name="baseline", values={"loss": float("nan")})
    document = snapshot_to_builtins(Snapshot(probe=Probe(trials={"baseline": trial})))
    assert document["missing"]["probe.trials.baseline.values.loss"] == "not a finite number: nan"
    dumps(document)


def test_a_path_deeper_than_the_model_builds_nothing() -> None:
    snapshot = load_snapshot(json.dumps({"missing": {"host." * 100_000 + "x": "why"}}).encode())
    assert snapshot.host is None


HUGE = "9" * 400


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (f'{{"host": {{"memory_bytes": {HUGE}}}}}', "host.memory_bytes"),
        (f'{{"host": {{"cpu": {{"affinity": {HUGE}}}}}}}', "host.cpu.affinity"),
        (f'{{"gpus": [{{"index": 0, "ecc": {{"uncorrected": -{HUGE}}}}}]}}', r"gpus\[0\].ecc.uncorrected"),
        ('{"gpus": [{"index": 0, "memory": {"total_bytes": -1}}]}', r"gpus\[0\].memory.total_bytes"),
        ('{"host": {"cpu": {"cores": -4}}}', "host.cpu.cores"),
        (f'{{"probe": {{"trials": {{"a": {{"values": {{"x": {"9" * 300}}}}}}}}}}}', "probe.trials.a.values.x"),
        ('{"timings_s": {"gpus": 1e300}}', "timings_s.gpus"),
        (f'{{"schema_version": {HUGE}}}', "schema_version|newer"),
        (f'{{"host": {{"memory_bytes": {"9" * 5000}}}}}', "host.memory_bytes|not JSON"),
    ],
    ids=range(9),
)
def test_a_number_that_no_machine_has_is_refused_with_its_place(text: str, path: str) -> None:
    with pytest.raises(SnapshotError, match=path) as caught:
        load_snapshot(text.encode(), name="it")
    assert len(str(caught.value)) < 300


def test_a_gpu_has_no_negative_number() -> None:
    with pytest.raises(SnapshotError, match=r"gpus\[0\]\.index is -1, which cannot be negative"):
        load_snapshot(b'{"gpus": [{"index": -1}]}')


def test_losses_and_codes_may_be_negative_and_counters_of_64_bits_pass() -> None:
    text = (
        '{"cuda": {"cu_init": -1}, "host": {"memory_bytes": 18446744073709551615},'
        ' "probe": {"trials": {"a": {"name": "a", "values": {"loss": -3.5, "best": -1e38}}}}}'
    )
    assert load_snapshot(text.encode()).cuda is not None


@pytest.mark.parametrize(
    "text", ['{"host": {}, "host": {}}', '{"host": {"cpu": {"cores": 1, "cores": 2}}}', '[{"a": 1, "\\u0061": 2}]']
)
def test_a_key_that_stands_twice_is_refused(text: str) -> None:
    with pytest.raises(SnapshotError, match="stands twice"):
        load_snapshot(text.encode())
    with pytest.raises(UsageError, match="stands twice"):
        load_baseline(text.encode(), name="it")
