"""What a program says that was written for other releases than those here, or whose own file hides a module."""

from __future__ import annotations

from gpudoctor.logs.pattern import row

# names of TensorFlow 1 that TensorFlow 2 has under tf.compat.v1 only (the rules of tf_upgrade_v2)
NAMES_OF_1 = (
    "Session|InteractiveSession|placeholder|ConfigProto|GPUOptions|get_default_graph|get_default_session|reset_default_graph"
    "|set_random_seed|global_variables_initializer|get_variable|variable_scope|enable_eager_execution|enable_v2_behavior"
    "|disable_v2_behavior|disable_eager_execution|app|flags|logging|gfile|layers|to_float|to_int32|random_normal|log|contrib"
)
ROWS = (
    row(
        "module_hidden",
        "(most likely due to a circular",
        r"partially initialized module '(?P<module>tensorflow|keras|numpy)' has no attribute '\w{1,60}' \(most likely due to a circular import",
    ),
    row(
        "module_hidden",
        "(most likely due to a circular",
        r"partially initialized module '(?P<module>tensorflow|keras|numpy)' \(most likely due to a circular import\)"
        r" \([^)\n]{0,200}(?<![\w\-])(?P=module)\.py\)",
    ),
    # Python 3.13 tells it itself
    row(
        "module_hidden",
        "(consider renaming '",
        r"consider renaming '[^'\n]{0,200}?(?P<module>\w{1,40})\.py' (?:since|if) it has the same name as",
    ),
    row("code_of_tf1", "bute '", rf"module 'tensorflow' has no attribute '(?P<name>{NAMES_OF_1})'"),
    row("code_of_tf1", "No module named", r"No module named '?tensorflow\.(?P<name>contrib)\b"),
    row("wrappers_gone", "No module named", r"No module named '?(?:tensorflow\.)?(?:python\.)?keras\.wrappers\b"),
    row(
        "tensorflow_too_old_for",
        "This version of ",
        r"This version of (?P<asker>\w[\w \-]{1,40}?) requires TensorFlow version >= (?P<wanted>\d[\d.]{0,12}\d)"
        r"; Detected an installation of version (?P<tf>\d[\w.\-]{0,20}\w)",
    ),
    row(
        "channels_on_cpu",
        "NHWC on device type CPU",
        r"(?P<op>\w{1,40}) only supports NHWC on device type CPU",
    ),
    row(
        "channels_on_cpu",
        "NHWC tensor format on the CPU",
        r"The (?P<op>\w{1,40}) op currently only supports the NHWC tensor format on the CPU",
    ),
)
