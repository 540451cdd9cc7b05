# SPDX-License-Identifier: Apache-2.0
"""Options and reports of pytest for plumbline.kernel_test; pytest finds it where plumbline is installed.

Without installation: pytest -p plumbline.pytest_plugin.
"""

from __future__ import annotations

import shlex
from typing import Any, Callable

import pytest

from ._report import CheckFailed


def _number(type_: type, least: float) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        try:
            value = type_(text)
        except ValueError:
            value = None
        if value is None or not value >= least or value == float("inf"):
            raise pytest.UsageError(f"a number is {text!r}; expected {type_.__name__} of at least {least}")
        return value

    return parse


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("plumbline", "attention kernels (plumbline.kernel_test)")
    group.addoption("--plumbline-cases", metavar="N", type=_number(int, 1),
                    help="cases of each test of a kernel")
    group.addoption("--plumbline-seed", metavar="N", type=_number(int, 0), help="of their random cases")
    group.addoption("--plumbline-time-limit", metavar="SECONDS", type=_number(float, 1e-3),
                    help="begin no case of a test after it, but for the first five")
    group.addoption("--plumbline-case", metavar="LINE",
                    help="run this one case, as a failing test prints it")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """A kernel's failure is told by its own words, without a traceback of the judge."""
    outcome = yield
    error = call.excinfo.value if call.excinfo is not None else None
    if not isinstance(error, CheckFailed) or not hasattr(getattr(item, "function", None), "kernel"):
        return
    report = outcome.get_result()
    words = str(error).rpartition("  repeat: ")[0].rstrip()
    if error.__cause__ is not None:
        words += f"\n  the function raised {type(error.__cause__).__name__}: {error.__cause__}"
    command = f"pytest {shlex.quote(item.nodeid)} --plumbline-case {shlex.quote(error.case)}"
    report.longrepr = f"{words}\n  repeat: {command}"
    item.user_properties.append(("plumbline_case", error.case))
    item.user_properties.append(("plumbline_kind", error.kind))
    if error.matches:
        item.user_properties.append(("plumbline_matches", " ".join(error.matches)))
