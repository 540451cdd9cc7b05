# SPDX-License-Identifier: Apache-2.0
"""The examples of python/README.md, and that of the project's README.md for PyTorch, run as they are."""
import importlib.util
import pathlib
import re

import pytest

import plumbline


def test_the_examples_of_the_readme_run(capsys):
    page = pathlib.Path(__file__).parent.parent / "README.md"
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 5
    scope = {}
    for block in blocks:
        if "import torch" in block and importlib.util.find_spec("torch") is None:
            pytest.skip("PyTorch is not installed (Debian's python3-torch)")
        exec(block, scope)
    said = capsys.readouterr().out
    for dtype in ("float32", "tf32"):
        plumbline.check(scope["test_mine"].kernel, plumbline.Alibi, dtype=dtype, cases=10)
    assert "mine alibi fp32: pass, 50 cases" in said
    assert "<lambda> alibi fp32: FAIL" in said and "repeat: plumbline.check(" in said


def test_the_pytorch_example_of_the_projects_readme_runs(capsys):
    pytest.importorskip("torch", reason="PyTorch is not installed (Debian's python3-torch)")
    page = pathlib.Path(__file__).parent.parent.parent / "README.md"
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2  # the other one is Triton's, and needs a GPU
    exec(blocks[0], {})
    assert "mine alibi fp32: pass, 100 cases" in capsys.readouterr().out
