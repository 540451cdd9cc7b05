# SPDX-License-Identifier: Apache-2.0
"""Runs the step of action.yml as a composite action's is run, on a right kernel and on a wrong one.

usage: github_action.py ROOT PROGRAM COMPILER"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

root, program = (pathlib.Path(x).resolve() for x in sys.argv[1:3])
compiler = sys.argv[3]
action = (root / "action.yml").read_text()
inputs = dict(re.findall(r'^  (\w+):\n    description: .*\n    default: (.*)$', action, re.M))
script = re.search(r"^      run: \|\n((?:        .*\n)+)", action, re.M).group(1)
script = "".join(line[8:] + "\n" for line in script.splitlines())
of_step = dict(re.findall(r"^        (\w+): (\$\{\{ .*)$", action, re.M))
assert inputs and script, "action.yml is not read as it was written"


def step(folder, **given):
    """The step's status, in a folder. GitHub runs `shell: bash` with these options."""
    values = {name: default.strip('"') for name, default in inputs.items()}
    assert set(given) <= set(values), given
    values.update(given)
    environment = {}
    for name, expression in of_step.items():
        of = re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", expression)
        if of is None:
            assert expression == "${{ github.action_path }}/plumbline", expression
        environment[name] = values.pop(of.group(1)) if of else str(program)
    assert not values, f"inputs that the step does not read: {values}"
    return subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], cwd=folder,
                          env={**os.environ, **environment}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)


def built(folder, name, wrong=""):
    source = (root / "docs/examples/attention.c").read_text()
    (folder / "kernel.c").write_text(source)
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", *wrong.split(), "-I", root / "kernel_abi",
                    "kernel.c", "-o", name, "-lm"], cwd=folder, check=True)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    few = "--pass forward --bias alibi --dtype fp32 --cases 20"
    built(folder, "right.so")
    right = step(folder, kernel="./right.so", device="gpu", arguments=few)
    assert right.returncode == 0, right.stdout
    assert json.loads((folder / "plumbline-report/report.json").read_text())["outcome"] == "pass"
    built(folder, "wrong.so", "-Dexpf=exp2f")
    wrong = step(folder, kernel="./wrong.so", device="gpu", arguments=few, report="elsewhere")
    assert wrong.returncode == 1, wrong.stdout
    for report in ("json", "xml", "sarif"):
        assert (folder / "elsewhere" / f"report.{report}").stat().st_size > 0
    bad = step(folder, kernel="./none.so")
    assert bad.returncode == 2 and "none.so" in bad.stdout, bad.stdout
