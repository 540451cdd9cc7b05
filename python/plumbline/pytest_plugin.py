# SPDX-License-Identifier: Apache-2.0
"""Options and reports of pytest for plumbline.kernel_test; pytest finds it where plumbline is installed.

Without installation: pytest -p plumbline.pytest_plugin.
"""

from __future__ import annotations

import json
import os
import pathlib
import shlex
import traceback
from typing import Any, Callable, Optional

import pytest

from . import _native
from ._check import case_arrays, method_name
from ._report import CheckFailed


def _number(option: str, type_: type, least: float, most: float) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        try:
            value = type_(text)
        except ValueError:
            value = None
        if value is None or not least <= value <= most:
            kind = "a whole number" if type_ is int else "a number"
            raise pytest.UsageError(f"{option} is {text!r}; expected {kind} from {least} to {most}")
        return value

    return parse


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("plumbline", "attention kernels (plumbline.kernel_test)")

    def add(option: str, metavar: str, type_: type, least: float, most: float, help_: str) -> None:
        group.addoption(option, metavar=metavar, type=_number(option, type_, least, most), help=help_)

    add("--plumbline-cases", "N", int, 1, 10**8, "cases of each test of a kernel")
    add("--plumbline-seed", "N", int, 0, 2**64 - 1, "of their random cases")
    add("--plumbline-time-limit", "SECONDS", float, 1e-3, 1e6,
        "begin no case of a test after it, but for the first five")
    group.addoption("--plumbline-case", metavar="LINE",
                    help="run this one case, as a failing test prints it")


def pytest_configure(config: pytest.Config) -> None:
    case = config.getoption("plumbline_case")
    if case is None:
        return
    if not case:
        raise pytest.UsageError("--plumbline-case is ''; expected a case's line")
    if (bias := _unknown_bias(case)) is not None:
        case = case.replace(f"bias={bias}", "bias=nope")
    try:
        case_arrays(case)
    except ValueError as error:
        raise pytest.UsageError(f"--plumbline-case: {error}") from None


def _unknown_bias(case: str) -> Optional[str]:
    """The bias of the case, if it is no method: a custom one is known only once its test's module is."""
    bias = dict(pair.partition("=")[::2] for pair in case.split(",")).get("bias", "nope")
    return None if bias in [method["name"] for method in json.loads(_native.methods())] else bias


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A case of a bias that nothing has would skip every test."""
    bias = _unknown_bias(config.getoption("plumbline_case") or "bias=nope")
    parameters = [item.callspec.params for item in items if hasattr(item, "callspec")]
    own = {method_name(of["plumbline_bias"]) for of in parameters if "plumbline_bias" in of}
    if bias is not None and bias not in own:
        raise pytest.UsageError(f"--plumbline-case: bias is {bias!r}; expected a method's or that of a test here")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """A kernel's failure is told by its own words, without a traceback of the judge."""
    outcome = yield
    error = call.excinfo.value if call.excinfo is not None else None
    if not isinstance(error, CheckFailed) or not hasattr(getattr(item, "function", None), "kernel"):
        return
    words = str(error).rpartition("  repeat: ")[0].rstrip()
    if error.__cause__ is not None:
        words += "\n" + "".join(_places(error.__cause__))
    outcome.get_result().longrepr = f"{words.rstrip()}\n  repeat: {_command(item, error.case)}"
    item.user_properties.append(("plumbline_case", error.case))
    item.user_properties.append(("plumbline_kind", error.kind))
    if error.matches:
        item.user_properties.append(("plumbline_matches", " ".join(error.matches)))


def _places(error: BaseException) -> list[str]:
    """Where the kernel raised it: the traceback without the frames of this package."""
    package = str(pathlib.Path(__file__).resolve().parent)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if not str(pathlib.Path(frame.filename).resolve()).startswith(package)]
    return traceback.format_list(frames)


def _command(item: pytest.Item, case: str) -> str:
    """Runs the test with this case, in the folder where pytest was called."""
    asked = item.config.invocation_params
    name = item.nodeid.partition("::")[2]
    words = ["pytest", f"{os.path.relpath(item.path, asked.dir)}::{name}", "--plumbline-case", case]
    if "plumbline.pytest_plugin" in asked.args:
        words[1:1] = ["-p", "plumbline.pytest_plugin"]
    return shlex.join(words)
