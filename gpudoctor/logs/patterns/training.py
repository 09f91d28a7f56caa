"""What training itself says: retracing, slow paths, data that ended, losses that are no numbers."""

from __future__ import annotations

from gpudoctor.logs.pattern import row
from gpudoctor.model.observed import EPOCH

ROWS = (
    # fit() prints it before the first step of each epoch, loops of one's own with the loss: with no error after it, training ran
    row(EPOCH, "Epoch ", r"(?:^|[\s:>\]])Epoch \d{1,6}/\d{1,6}\s{0,4}$"),
    *(
        row(
            EPOCH,
            anchor,
            rf"(?:^|[\s:>\]]){anchor}\[?\d{{1,6}}(?: ?/ ?\d{{1,6}})?\]?[^\n\-]{{1,40}}\b[Ll]oss\b[^\n\d]{{1,4}}\d",
        )
        for anchor in ("Epoch ", "Epoch: ")
    ),
    row(
        "retracing",
        "Tracing is expensive",
        # the numbers grow from line to line: the event's own count tells how often it was said
        r"\d{1,9} out of the last \d{1,9} calls to <(?:function |bound method )?(?P<function>[^\n]{1,120}?)(?: at 0x[0-9a-f]{1,16})?>"
        r" triggered tf\.function retracing",
    ),
    # a pasted message is broken into lines where the window ended: the function stands in the line before
    row("retracing", "Tracing is expensive", r"tf\.function retracing\. Tracing is expensive"),
    row(
        "rnn_fallback",
        "DNN kernel",
        r"Layer (?P<layer>[\w/\-.]{1,80}) will not use cuDNN kernels? since it doesn't meet the (?:cuDNN kernel )?criteria",
    ),
    row(
        "mixed_precision_slow",
        "Mixed precision compat",
        r"Mixed precision compatibility check \((?P<policy>\w{1,30})\): WARNING",
    ),
    row("data_ended", "Your input ran out", r"Your input ran out of data"),
    # tf.keras of TensorFlow 1.9 to 2.0, for a dataset and for a generator
    row("data_ended", "Your dataset ", r"Your dataset (?:iterator )?ran out of data"),
    row("data_ended", "Your dataset/generator", r"Your dataset/generator (?:ran out of data|yielded fewer batches)"),
    row(
        "nan_loss",
        "Invalid loss",
        r"Batch (?P<batch>\d{1,9}): Invalid loss, terminating training",
        metric="loss",
        value="invalid",
    ),
    # Keras before 2.0.9 prints no time for each step, and no float16 policy existed then (it came with TensorFlow 2.1)
    row("nan_loss", ": nan", r"\] - \d{1,6}s - (?P<metric>loss): (?P<value>nan)\b", era="before float16 policies"),
    *(  # an anchor of its own for each way to write it: "nan" alone begins with one of the commonest letters
        row(
            "nan_loss",
            before + "nan",
            rf"\b(?P<metric>(?:val_)?(?:\w{{1,40}}_)?loss)\b['\"]?\s{{0,3}}{before}(?P<value>nan)\b",
        )
        for before in (": ", ":", "= ", "=", ": -", "= -", ":  ", "=  ")
    ),
    row("nan_loss", "NaN", r"\b(?P<metric>(?:val_)?(?:\w{1,40}_)?loss)\b['\"]?\s{0,3}[:=]\s{0,3}[-+]?(?P<value>NaN)\b"),
    row(
        "nan_loss",
        "NaN loss",
        r"NaN loss during training",
        metric="loss",
        value="nan",
    ),
    row(
        "nan_detected",
        "Infinity or NaN",
        r"Detected Infinity or NaN in output \d{1,4} of [^\n]{1,40}? op \"(?P<op>\w{1,60})\"",
    ),
    row("nan_detected", "Tensor had", r"Tensor had (?P<value>NaN|Inf|Inf and NaN|-Inf) values"),
)
