# SPDX-License-Identifier: Apache-2.0
"""The command `plumbline`: the program that came with the package."""

from __future__ import annotations

import os
import pathlib
import sys

_OF_A_CHECKOUT = ("bench", "claims", "evaluate", "generate", "golden", "methods", "profile", "sanitize", "test",
                  "tokenize", "train")


def main() -> None:
    arguments = sys.argv[1:]
    command = arguments[0] if arguments else ""
    if command in _OF_A_CHECKOUT:
        _refuse(f"{command} does not come with the Python package")
    if "--device=software" in arguments or ("--device", "software") in zip(arguments, arguments[1:]):
        _refuse("--device software does not come with the Python package")
    program = pathlib.Path(__file__).with_name("bin") / "plumbline"
    os.execv(program, ["plumbline", *arguments])


def _refuse(words: str) -> None:
    print(f"plumbline: {words}; ./plumbline in a checkout of the repository has it", file=sys.stderr)
    sys.exit(2)
