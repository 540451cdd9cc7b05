#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Executes the Python blocks of docs/case-format.md and has the files read that they write.

Usage: docs_example.py PAGE READER. Ends with status 77 where NumPy is missing."""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

page, reader = map(os.path.abspath, sys.argv[1:])
if importlib.util.find_spec("numpy") is None:
    print("NumPy is not installed")
    sys.exit(77)
with open(page, encoding="utf-8") as file:
    blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.DOTALL | re.MULTILINE)
assert len(blocks) == 2, "the page has another number of Python blocks"
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([sys.executable, "-c", "\n".join(blocks)], check=True)
    subprocess.run([reader, "--", folder], check=True)
    os.chdir("/")
