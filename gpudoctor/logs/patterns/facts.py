"""What a text tells in passing about the machine: versions, GPUs, the system, `nvidia-smi` tables (kind `fact`).

Only lines that a program prints, that a form for bug reports asks for, or in which somebody tells of the own machine: any
other version in a sentence may be somebody else's.
"""

from __future__ import annotations

from gpudoctor.logs.pattern import row
from gpudoctor.logs.told import BEGINNINGS, REST, told_by_person

FACT = "fact"
NUMBER = r"\d{1,3}(?:\.\d{1,4}){1,3}"
TENSORFLOW = r"\d{1,2}\.\d{1,2}(?:\.\d{1,2})?(?:[-.]?(?:rc|dev|a|b)\d{1,8})?"
PYTHONS = r"(?:python|py|pip|conda|uv|jupyter)\b"
MODES = "On|Off|N/A|WDDM|TCC"


def windows_python(values: dict[str, str]) -> dict[str, str]:
    """Return "310" of a folder's name as "3.10"."""
    digits = values.pop("digits")
    return {**values, "python": f"{digits[0]}.{digits[1:]}", "os": "windows"}


def platform_of_banner(values: dict[str, str]) -> dict[str, str]:
    """Return the fields with the system that Python's first line names."""
    platform = values.pop("platform", "")
    return {**values, "os": "windows" if platform == "win32" else platform} if platform else values


def windows_mode(values: dict[str, str]) -> dict[str, str]:
    """Return the fields with the system that has such a driver model: WDDM and TCC are Windows' (nvidia-smi's manual)."""
    mode = values.pop("mode", "")
    return {**values, "os": "windows"} if mode in {"WDDM", "TCC"} else values


def table_of_driver(values: dict[str, str]) -> dict[str, str]:
    """Return the fields with their source where both numbers stand in a line, as in nvidia-smi's table alone."""
    return {**values, "source": "nvidia-smi"} if values.get("driver_cuda") else values


ROWS = (
    *(row(FACT, begins, rf"\b{begins}{REST}", refine=told_by_person) for begins in BEGINNINGS),
    row(
        FACT,
        "Driver Version: ",
        rf"Driver Version: (?P<driver>{NUMBER})(?:\s{{1,20}}CUDA Version: (?P<driver_cuda>{NUMBER}))?",
        refine=table_of_driver,
    ),
    row(
        FACT,
        "was detected and compat",
        rf"version (?P<driver>{NUMBER}) was detected and compatibility mode",
        container="docker",
        image="ngc",
    ),
    row("driver_cuda_unknown", "CUDA Version: ERR", r"CUDA Version: ERR!"),
    *(
        row(
            FACT,
            f"GPU {index}: ",
            rf"GPU {index}: (?P<gpu>[A-Z][\w ./\-]{{2,50}}?)\s*(?:\(UUID|\(UUIDs|#|$)",
            source="nvidia-smi",
        )
        for index in range(8)
    ),
    # the column of the bus is wider from driver R550 on
    *(
        row(
            FACT,
            bus,
            rf"\|\s{{1,4}}(?P<index>\d{{1,3}})\s{{1,4}}(?P<gpu>[A-Z][^|\n]{{2,50}}?)\s{{1,20}}(?P<mode>{MODES})\s{{0,4}}\{bus}",
            source="nvidia-smi",
            refine=windows_mode,
        )
        for bus in ("| 0000", "|   0000")
    ),
    row(
        "gpu_process",
        "MiB |",
        r"\|\s{1,6}\d{1,3}\s{1,6}(?:N/A\s{1,4}N/A\s{1,16})?(?P<pid>\d{1,8})\s{1,8}(?P<type>C\+G|C|M\+C)\s{1,6}(?P<name>[^|\n]{1,60}?)"
        r"\s{1,60}(?P<used_mib>\d{1,7})MiB \|",
    ),
    row(FACT, "E. Thread", r"\bE\. Thread \|", compute_mode="exclusive_thread"),
    row(FACT, "E. Process", r"\bE\. Process \|", compute_mode="exclusive_process"),
    row(FACT, "Prohibited |", r"\bProhibited \|", compute_mode="prohibited"),
    row(FACT, "MiB / ", r"(?P<used_mib>\d{1,7})MiB /\s{1,8}(?P<total_mib>\d{1,7})MiB", source="nvidia-smi"),
    row(
        FACT,
        "NVRM version: ",
        rf"NVRM version: NVIDIA UNIX (?:Open )?\w{{1,10}} Kernel Module(?: for \w{{1,12}})?\s{{1,4}}(?P<module>{NUMBER})",
    ),
    *(
        row(FACT, anchor, rf"{anchor}[^\d\n<>~]{{0,40}}(?P<tf>{TENSORFLOW})")
        for anchor in (
            "TF Version",
            "TF version",
            "TensorFlow version",
            "Tensorflow version",
            "TensorFlow Version",
            "Tensorflow Version",
        )
    ),
    row(FACT, "v2.", rf"v2\.\d{{1,2}}\.\d{{1,2}}(?:-rc\d)?-\d{{1,6}}-g[0-9a-f]{{6,12}},? (?P<tf>{TENSORFLOW})"),
    row(FACT, "v1.", rf"v1\.\d{{1,2}}\.\d{{1,2}}(?:-rc\d)?-\d{{1,6}}-g[0-9a-f]{{6,12}},? (?P<tf>{TENSORFLOW})"),
    row(FACT, "Successfully installed", rf"Successfully installed [^\n]{{0,900}}?\btensorflow-(?P<tf>{TENSORFLOW})"),
    row(FACT, "Python version", r"Python version[^\d\n]{0,20}(?P<python>\d\.\d{1,2}(?:\.\d{1,2})?)"),
    row(
        FACT,
        "Python 3.",
        r"Python (?P<python>3\.\d{1,2}(?:\.\d{1,2})?)(?:[^\n]{1,160}\] on (?P<platform>win32|darwin|linux)\b)?",
        refine=platform_of_banner,
    ),
    row(
        FACT, "w-intel", r"(?<![\w\-])tensorflow-intel(?:\s{1,40}|==|-)\d{1,2}\.\d{1,2}\b", os="windows"
    ),  # no other wheels
    row(FACT, "ython3.", r"lib(?:64)?/python(?P<python>3\.\d{1,2})/"),
    row(FACT, "\\Python3", r"\\Python(?P<digits>3\d{1,2})\\", refine=windows_python),
    # a shell of Windows that starts Python itself, and the folders of such a Python; Docker and WSL are started there, too
    row(FACT, "PS C:\\", rf"PS C:\\[^>\n]{{0,120}}>\s?{PYTHONS}", os="windows"),
    row(FACT, "\\Users\\", rf"[A-Z]:\\Users\\[^>\n]{{0,120}}>\s?{PYTHONS}", os="windows"),
    row(FACT, "\\site-packages\\", r"[A-Z]:\\[^\"'\n]{1,160}\\site-packages\\", os="windows"),
    # what platform.platform() answers
    row(FACT, "Windows-1", r"\bWindows-1[01]-10\.0\.\d{4,6}", os="windows"),
    row(FACT, "OS-1", r"\bmacOS-\d{2}\.\d{1,2}[\d.]{0,6}-(?:arm64|x86_64)", os="darwin"),
    row(FACT, "#SBATCH", r"#SBATCH\b", scheduler="slurm"),
    row(FACT, "SLURM_", r"\bSLURM_(?:JOB|STEP|GPUS|NODE|CPUS|PROCID|LOCALID)\w{0,30}", scheduler="slurm"),
    row(FACT, "Slurm ", r"\bSlurm (?:job|cluster|node|script)\b", scheduler="slurm"),
    row(FACT, "PBS_JOBID", r"\bPBS_JOBID\b", scheduler="pbs"),
    row(FACT, "OS Platform", r"OS Platform and Distribution[^\n:]{0,60}: {0,3}(?P<os>[^\n]{3,60})"),
    row(FACT, "GPU model", r"GPU [Mm]odel[^\n:]{0,20}: {0,3}(?P<gpu>[^\n]{3,60})"),
    row(
        FACT,
        "CUDA/cuDNN",
        r"CUDA/cuDNN [Vv]ersion[^\d\n]{0,20}(?P<cuda>\d{1,2}(?:\.\d{1,2})?)(?:[^\d\n]{1,20}(?P<cudnn>\d{1,2}(?:\.\d{1,3}){0,3}))?",
    ),
    # Docker names a host after the first twelve digits of the container's id; the name itself is not taken
    row(
        FACT,
        "CUDA diagnostic information for host",
        r"CUDA diagnostic information for host: (?=[0-9a-f]{12}(?:\s|$))",
        container="docker",
    ),
    row(FACT, "WSL2", r"\bWSL2\b", wsl="yes"),
    row(FACT, "wsl/lib", r"/usr/lib/wsl", wsl="yes"),
    row(FACT, "TensorFlow ==", r"== TensorFlow ==", container="docker", image="ngc"),
    row(FACT, "Keras version", rf"Keras version[^\d\n]{{0,20}}(?P<keras>{NUMBER})"),
    row(FACT, "NumPy version", rf"NumPy version[^\d\n]{{0,20}}(?P<numpy>{NUMBER})"),
    row("visible_gpus", "Num GPUs", r"Num GPUs(?: Available)?[^\d\n]{1,6}(?P<count>\d{1,3})"),
    row("visible_gpus", "GPU Available: ", r"GPU Available: (?:\[\]|False)", count="0"),
    row(
        "visible_gpus",
        "[PhysicalDevice(name=",
        r"\[PhysicalDevice\(name='/physical_device:CPU:0', device_type='CPU'\)\]",
        count="0",
    ),
    row(
        "variable",
        "CUDA_VISIBLE_DEVICES=",
        r"CUDA_VISIBLE_DEVICES=['\"]?(?P<value>[^\s'\";]{0,80})",
        name="CUDA_VISIBLE_DEVICES",
    ),
    row("variable", "xla_gpu_cuda_data_dir=", r"(?P<value>--xla_gpu_cuda_data_dir=[^\s'\"]{1,120})", name="XLA_FLAGS"),
    row("variable", "LD_LIBRARY_PATH=", r"LD_LIBRARY_PATH=['\"]?(?P<value>[^\s'\"]{1,190})", name="LD_LIBRARY_PATH"),
)
