# SPDX-License-Identifier: Apache-2.0
"""python/plumbline/_biases.py is what the table of methods, kernel_abi/methods.hpp, says."""
import json
import os
import pathlib
import textwrap

from plumbline import _native
from plumbline._bias import NOT_TOLD

FILE = pathlib.Path(__file__).parent.parent / "plumbline/_biases.py"
HEAD = '''# SPDX-License-Identifier: Apache-2.0
"""The position methods, one class each: what is added to the score of the query at position i and the
key at position j. h is the head, x = |i - j|, g the gain; S_i and F_i are the sums of increments[0..i]
and log_forget[0..i].

Written from kernel_abi/methods.hpp by PLUMBLINE_RENEW=1 ./plumbline test -R python_package.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Optional

from ._bias import Bias, option
'''


def class_name(method):
    return "".join(word[:1].upper() + word[1:] for word in method.split("_"))


def wrapped(text):
    return textwrap.fill(text, 96, initial_indent="    ", subsequent_indent="    ").strip()


def class_of(method):
    inputs = ", ".join(f"{name} {shape}" for name, shape in method["shapes"].items())
    source = f"Source: {method['source']}. " if method["source"] else ""
    notes = (source + (inputs + "." if inputs else "")).strip()
    lines = ["@dataclasses.dataclass(frozen=True, eq=False)", f"class {class_name(method['name'])}(Bias):",
             f'    """{wrapped("b_ij = " + method["formula"] + ".")}']
    if notes:
        lines += ["", "    " + wrapped(notes), '    """']
    else:
        lines[-1] += '"""'
    lines += ["", f'    method = "{method["name"]}"']
    for name in method["parameters"]:
        constant = method["parameters"] == ["slopes"]  # alibi_slopes(heads) by default
        lines.append(f"    {name}: Optional[Any] = None" if constant else f"    {name}: Any")
    for name, default in method["options"].items():
        if name in NOT_TOLD:
            continue
        kind, value = ("int", int(default)) if method["whole"][name] else ("float", default)
        lines.append(f"    {name}: {kind} = option({value:g})" if kind == "float" else
                     f"    {name}: {kind} = option({value})")
    return "\n".join(lines) + "\n"


def text():
    methods = [method for method in json.loads(_native.methods()) if "+" not in method["name"]]
    names = ", ".join(f'"{class_name(method["name"])}"' for method in methods)
    exported = "__all__ = [\n" + textwrap.fill(names, 100, initial_indent="    ",
                                               subsequent_indent="    ") + ",\n]\n"
    return "\n\n".join([HEAD + "\n" + exported] + [class_of(method) for method in methods])


def test_the_classes_are_those_of_the_table():
    expected = text()
    if os.environ.get("PLUMBLINE_RENEW"):
        FILE.write_text(expected)
    assert FILE.read_text() == expected, "run PLUMBLINE_RENEW=1 ./plumbline test -R python_package"
