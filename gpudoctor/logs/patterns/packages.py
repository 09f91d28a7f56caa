"""What Python packages and their installers say: NumPy, protobuf and Keras that do not fit, wheels that do not exist."""

from __future__ import annotations

from gpudoctor.logs.pattern import row

NUMPY, PROTOBUF, KERAS, ABSENT, NO_WHEEL, MISFIT, PIP = (
    "numpy_clash",
    "protobuf_clash",
    "keras_clash",
    "tensorflow_absent",
    "no_wheel",
    "dependency_misfit",
    "pip_misfit",
)
IMPORTED = "ml_dtypes|typing_extensions|flatbuffers|gast|wrapt|astunparse|opt_einsum|termcolor|h5py"
PACKAGE = r"(?P<package>tensorflow(?:[-_](?:gpu|cpu|intel|macos))?|tf[-_]nightly(?:[-_]gpu)?)(?:\[[\w,\-]{1,40}\])?"
# a version and what may stand before it, as pip writes what one package asks of another
BOUND = r"[<>=!~][^\s,;'\"]{0,24}(?:,[<>=!~][^\s,;'\"]{0,24}){0,5}"
# whom ld.so names, if anybody, is a library and no program of the shell
OF_A_LIBRARY = r"(?! \(required by (?![^)\n]{0,200}\.so)[^)\n]{1,200}\))"


def last_of_a_cut_list(values: dict[str, str]) -> dict[str, str]:
    """Return the fields with the versions that pip saw: the last ones of its list, or the first where its end is cut off."""
    beginning = values.pop("beginning", "")
    return {**values, "versions": beginning, "cut": "yes"} if beginning else values


ROWS = (
    row(NUMPY, "NumPy 1.x", r"compiled using NumPy 1\.x cannot be run in"),
    row(NUMPY, "NumPy 2.", r"NumPy (?P<numpy>2\.\d{1,2}\.\d{1,2}\w{0,6}) as it may crash"),
    row(NUMPY, "downgrade to 'numpy<2'", r"downgrade to 'numpy<2' or try to upgrade the affected module"),
    row(NUMPY, "ARRAY_API not found", r"_ARRAY_API not found"),
    row(NUMPY, "NumPy 2.0 release", r"was removed in the NumPy 2\.0 release"),
    row(NUMPY, "y.dtype size", r"numpy\.dtype size changed, may indicate binary incompatibility"),
    row(NUMPY, "y.core.", r"numpy\.core\.(?:multiarray|umath) failed to import"),
    row(
        NUMPY,
        "Unable to convert function return",
        r"Unable to convert function return value to a Python type! The signature was",
    ),
    row(
        NUMPY,
        "bute '",
        r"module 'numpy' has no attribute '(?P<attribute>object|bool|int|float|complex|str|typeDict)'",
        why="alias",
    ),
    # what TensorFlow imports before anything of its own (knowledge/import_names); NumPy, protobuf and Keras have rows above
    row(MISFIT, "bute '", rf"module '(?P<module>{IMPORTED})' has no attribute '(?P<attribute>\w{{1,60}})'"),
    row(
        MISFIT,
        "ImportError: cannot import",
        rf"cannot import name '(?P<attribute>\w{{1,60}})' from '(?P<module>{IMPORTED})'",
    ),
    # h5py 3 gives text where Keras before TensorFlow 2.4 decodes bytes; the traceback shows the line of Keras's own saving
    # and nothing else does, for much code decodes bytes
    row(
        MISFIT,
        "decode('utf",
        r"(?:json\.loads\((?:model|training)_config|\bf(?:\.attrs)?\['(?:keras_version|backend)'\])\.decode\('utf-?8'\)"
        r"|\[n\.decode\('utf-?8'\) for n in \w{1,20}\.attrs\b",
        module="h5py",
        why="bytes",
    ),
    # ld.so's words where a library of the system is older than the wheel was built with
    row(
        MISFIT,
        "GLIBCXX_",
        rf"version [`'](?P<symbol>GLIBCXX_[\d.]{{1,12}})' not found{OF_A_LIBRARY}",
        module="libstdc++",
        why="libstdcxx",
    ),
    row(
        MISFIT,
        "CXXABI_",
        rf"version [`'](?P<symbol>CXXABI_[\d.]{{1,12}})' not found{OF_A_LIBRARY}",
        module="libstdc++",
        why="libstdcxx",
    ),
    row(
        MISFIT,
        "GLIBC_",
        rf"version [`'](?P<symbol>GLIBC_[\d.]{{1,12}})' not found{OF_A_LIBRARY}",
        module="glibc",
        why="glibc",
    ),
    # the module was compiled for a NumPy that is newer than the one here
    row(
        MISFIT,
        "y.ndarray size",
        r"numpy\.ndarray size changed, may indicate binary incompatibility",
        module="numpy",
        why="compiled-for-newer",
    ),
    row(
        MISFIT,
        "y.ufunc size",
        r"numpy\.ufunc size changed, may indicate binary incompatibility",
        module="numpy",
        why="compiled-for-newer",
    ),
    row(
        PIP,
        "which is incompatible",
        rf"(?P<asker>[\w\-.]{{1,60}}) (?P<of>\d[\w.+]{{0,20}}) (?:requires|has requirement) (?P<package>[\w\-.]{{1,60}}?)(?:\[[\w,\-]{{1,40}}\])?"
        # behind a semicolon: for which machines it is asked for
        rf"(?P<wanted>{BOUND})(?:; [^\n]{{1,200}}?)?, but you(?:'ll)? have (?P=package) (?P<there>\d[\w.+]{{0,20}}) which is incompatible",
    ),
    row(
        "pip_conflict",
        "Cannot install ",
        r"Cannot install (?P<packages>[^\n]{0,300}?\b(?:tensorflow|keras)\b[^\n]{0,300}?) because these package versions have conflicting dependencies",
    ),
    row("nvml_binding", "The pynvml package", r"The pynvml package is deprecated\. Please install nvidia-ml-py"),
    row("nvml_binding", "bute '", r"module 'pynvml' has no attribute '(?P<attribute>\w{1,60})'"),
    row(PROTOBUF, "Descriptors cannot", r"Descriptors cannot (?:not )?be created directly"),
    row(PROTOBUF, "Protobuf Gencode", r"Detected (?:incompatible|mismatched) Protobuf Gencode/Runtime"),
    row(PROTOBUF, "MessageFactory", r"'?MessageFactory'? object has no attribute '?GetPrototype"),
    row(PROTOBUF, "ImportError: cannot import", r"cannot import name '\w{1,40}' from 'google\.protobuf[\w.]{0,40}'"),
    row(
        KERAS,
        "TF_USE_LEGACY_KERAS",
        r"TF_USE_LEGACY_KERAS set to True, but you do not have the `?tf_keras",
        why="tf-keras-missing",
    ),
    row(
        KERAS,
        "Keras 3",
        r"(?P<message>(?:(?:is not supported in|yet supported|version of Keras is) )?Keras 3, but this is not yet supported[^\n]{0,160}|"
        r"(?:is not supported in|yet supported|version of Keras is) Keras 3|Keras 3 only supports|Keras 3, but this is not)",
    ),
    row(KERAS, "Please install the backwards-compatible tf-keras", r"install the backwards-compatible tf-keras"),
    row(KERAS, "A KerasTensor cannot", r"A KerasTensor cannot be used as input to a TensorFlow function"),
    row(KERAS, "Only instances of ", r"Only instances of `?keras\.Layer`? can be added to a Sequential model"),
    row(
        KERAS,
        "No module named",
        r"No module named '(?P<module>tf_keras|keras\.src\.engine\S{0,30}|keras\.engine\S{0,30}|keras\.src\.\S{1,40}|keras\.utils\.generic_utils|"
        r"tensorflow\.python\.keras\S{0,40}|keras\.api\S{0,40}|keras\.preprocessing\S{0,30}|keras\.backend\S{0,30})'",
    ),
    row(
        KERAS,
        "Unrecognized keyword arguments",
        r"Unrecognized keyword arguments(?: passed to \w{1,40})?: [\[{]'(?P<argument>batch_input_shape|synchronized|lr|decay|groups|time_major)'",
    ),
    # a name that only Keras 3 writes into a file: the one that reads it is Keras 2
    row(
        KERAS,
        "Unrecognized keyword arguments",
        r"Unrecognized keyword arguments(?: passed to \w{1,40})?: [\[{]'(?P<argument>batch_shape)'",
        why="file-of-keras-3",
    ),
    # names that later releases of Keras 3 write into a file
    row(
        KERAS,
        "Unrecognized keyword arguments",
        r"Unrecognized keyword arguments(?: passed to \w{1,40})?: [\[{][^\n]{0,80}?'(?P<argument>quantization_config|optional)'",
        why="file-of-newer-keras",
    ),
    row(
        KERAS,
        "ImportError: cannot import",
        r"cannot import name '(?P<name>[\w.]{1,60})' from '(?:partially initialized module ')?(?:tensorflow\.)?keras[\w.]{0,60}'",
    ),
    row(KERAS, "zed: {'", r"Argument\(s\) not recognized: \{'(?P<argument>lr|decay)'"),
    row(
        KERAS,
        "bute 'register_",
        r"module 'tensorflow\.compat\.v2\.__internal__' has no attribute 'register_\w{1,60}'",
        why="release",
    ),
    row(KERAS, "bute 'tf2'", r"module 'tensorflow\.compat\.v2\.__internal__' has no attribute 'tf2'", why="release"),
    row(
        KERAS,
        "_config' from 'tensorflow",
        r"cannot import name 'get_config' from 'tensorflow\.python\.eager\.context'",
        why="release",
    ),
    row(
        KERAS,
        "_keras.",
        r"(?:Received|[Gg]ot|Found|but)\b[^\n]{0,200}<class 'tf_keras\.",
        why="two-kerases",
    ),
    row(KERAS, "variables, but received", r"expected \d{1,5} variables, but received \d{1,5} variables during loading"),
    row(ABSENT, "No module named", r"No module named ['\"]?tensorflow['\"]?(?![\w.])", why="absent"),
    row(ABSENT, "Failed to load the native TensorFlow", r"Failed to load the native TensorFlow runtime", why="import"),
    # _pywrap_tensorflow_internal from 2.x on; 1.x named no module, or its own: one of its libraries is missing
    row(ABSENT, "DLL load failed", r"DLL load failed[^\n]{0,40}_pywrap_tensorflow_internal", why="dll"),
    row(
        ABSENT,
        "DLL load failed",
        r"DLL load failed: (?:The specified module could not be found|A dynamic link library)",
        why="dll",
    ),
    row(
        ABSENT,
        "AVX",
        r"was compiled to use AVX\d? instructions, but these aren't available",
        why="instructions",
    ),
    row(ABSENT, "Illegal instruction", r"Illegal instruction", why="instructions"),
    row(
        NO_WHEEL,
        "Could not find a version",
        rf"Could not find a version that satisfies the requirement {PACKAGE}(?P<wanted>[^\s(]{{0,30}})"
        # ascending: the last ones tell most, and the line may be cut off before them
        r"(?: \(from versions: (?:(?:[^)\n]{0,4000}?, )??(?P<versions>[^)\n]{1,180})\)|(?P<beginning>[^)\n]{0,180})))?",
        refine=last_of_a_cut_list,
    ),
    row(NO_WHEEL, "No matching distribution", rf"No matching distribution found for {PACKAGE}(?P<wanted>\S{{0,30}})"),
    row(
        NO_WHEEL,
        "Unable to find installation",
        rf"Unable to find installation candidates for {PACKAGE} ?(?P<wanted>[^\n]{{0,30}})",
    ),
    row(NO_WHEEL, "wheels with a matching", r"tensorflow\S{0,60} has no wheels with a matching (?:Python|platform)"),
    row(
        NO_WHEEL,
        "whl is not a supported",
        r"tensorflow\S{0,60}?(?:-cp(?P<tag>[23]\d{1,2})-\S{0,40}?-(?P<platform>[a-z][\w.]{2,80}?)(?:\.whl)?)?"
        r" is not a supported wheel on this platform",
    ),
    # what tensorflow[and-cuda] asks for: wheels for Linux
    *(
        row(
            "cuda_wheel_absent",
            anchor,
            rf"{words} (?P<package>nvidia-[\w\-]{{2,40}}-cu\d{{2}})\b[^\n]{{0,60}}and-cuda",
        )
        for anchor, words in (
            ("Could not find a version", "Could not find a version that satisfies the requirement"),
            ("No matching distribution", "No matching distribution found for"),
        )
    ),
    row("package_removed", 'The "tensorflow-gpu"', r"The \"(?P<package>tensorflow-gpu)\" package has been removed"),
    row("conda_build", "_tflow_select", r"_tflow_select\s{1,40}[\d.]{1,12}\s{1,40}(?P<build>[a-z]{2,8})\b"),
    row(
        "conda_build",
        "w  ",
        r"(?<![\w\-])tensorflow\s{2,40}(?P<version>\d[\d.]{2,10})\s{1,40}(?P<build>mkl|eigen|cpu|cuda|gpu)[_\w]{0,30}",
    ),
    row("fact", "w  ", r"(?<![\w\-])tensorflow\s{2,40}(?P<tf>\d{1,2}\.\d{1,2}\.\d{1,2})\b"),
    row("fact", "Name: tensorflow", r"Name: (?P<distribution>tensorflow[\w\-]{0,12})"),
    row(
        "built_with_cuda",
        "_with_cuda",
        r"(?:(?P<value>True|False)\b[^\n]{0,20}is_built_with_cuda|is_built_with_cuda\(?\)?[^\nTF]{0,12}(?P<answer>True|False))",
    ),
)
