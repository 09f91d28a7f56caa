"""The example of `checks/README.md` is a check that works and keeps its own rules."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from gpudoctor.model.gpu import Memory
from gpudoctor.model.report import Outcome
from gpudoctor.sdk import Check
from gpudoctor.testing import judge
from tests.checks.machines import changed, healthy_h100, make_gpu, without

README = Path(__file__).parents[2] / "checks" / "README.md"


def test_the_example_is_a_working_check() -> None:
    code = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[0]
    module = ModuleType("example_of_the_readme")
    sys.modules[module.__name__] = module  # a check finds its page through its module
    try:
        exec(compile(code, str(README), "exec"), module.__dict__)  # noqa: S102  # our own text
        (check,) = (value for value in vars(module).values() if isinstance(value, Check))
        small = replace(make_gpu(), memory=Memory(total_bytes=512 << 20))
        assert judge(check, changed(healthy_h100(), gpus=(small,))).status is Outcome.FOUND
        assert judge(check, healthy_h100()).status is Outcome.PASSED
        assert judge(check, without(healthy_h100(), "gpus")).status is Outcome.SKIPPED
        assert check.page.startswith("GD199: ")
    finally:
        del sys.modules[module.__name__]


def test_every_module_in_the_root_of_the_package_is_in_the_table() -> None:
    table = set(re.findall(r"^\| `(\w+)\.py` \|", README.read_text(encoding="utf-8"), re.MULTILINE))
    root = {path.stem for path in (README.parent / "gpudoctor_checks").glob("*.py")} - {"__init__"}
    assert table == root
