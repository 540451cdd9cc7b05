# SPDX-License-Identifier: Apache-2.0
"""The examples of README.md run as they stand."""
import importlib.util
import pathlib
import re

import pytest


def test_the_examples_of_the_readme_run(capsys):
    page = pathlib.Path(__file__).parent.parent / "README.md"
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 4
    scope = {}
    for block in blocks:
        if "import torch" in block and importlib.util.find_spec("torch") is None:
            pytest.skip("PyTorch is not installed (Debian's python3-torch)")
        exec(block, scope)
    said = capsys.readouterr().out
    assert "mine alibi fp32: pass, 50 cases" in said
    assert "<lambda> alibi fp32: FAIL" in said and "repeat: plumbline.check(" in said
