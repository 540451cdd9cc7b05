#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Executes docs/pytorch.md and checks that the verdicts are those that the page promises.

Usage: pytorch_page.py PAGE PLUMBLINE. Ends with status 77 where PyTorch is missing."""
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile

page, plumbline = map(os.path.abspath, sys.argv[1:])
if importlib.util.find_spec("torch") is None:
    print("skipped: PyTorch is not installed (Debian's package python3-torch)")
    sys.exit(77)
with open(page, encoding="utf-8") as file:
    blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.DOTALL | re.MULTILINE)
assert len(blocks) == 1, "the page has another number of Python blocks"


def judge(case, outputs):
    command = [plumbline, "judge", f"{case}.safetensors", f"{outputs}.safetensors", "--json", "-"]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    print(run.stdout.decode())
    return run.returncode, json.loads(run.stdout)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([sys.executable, "-c", blocks[0]], check=True)
    for bias in ("alibi", "cable"):
        status, report = judge(f"{bias}-case", f"{bias}-outputs")
        assert status == 0 and report["outcome"] == "pass", bias
        assert report["rows"] == 12 * 1024
        assert report["ill_conditioned_rows"] == 0
    status, report = judge("alibi-case", "alibi-wrong-outputs")
    assert status == 1 and report["outcome"] == "FAIL"
    for output in ("o", "lse"):
        failing = [head for head, count in enumerate(report[output]["failed_by_head"]) if count]
        assert failing == [5], (output, failing)
    os.chdir("/")
