# SPDX-License-Identifier: Apache-2.0
"""The examples of python/README.md, and that of the project's README.md for PyTorch, run: at length as they are, else
on cases of small sizes, and few of them."""
import importlib.util
import pathlib
import re

import pytest

import plumbline

SMALL = {"cases": 20, "longest": 24, "head_dims": [8, 16]}


@pytest.fixture(params=["small", pytest.param("as they are", marks=pytest.mark.at_length)])
def small(request, monkeypatch):
    """Whether plumbline.check draws small sizes, and 20 cases where the example does not say how many."""
    if request.param == "small":
        check = plumbline.check
        monkeypatch.setattr(plumbline, "check", lambda *given, **settings: check(*given, **(SMALL | settings)))
    return request.param == "small"


def blocks_of(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def test_the_examples_of_the_readme_run(small, capsys):
    blocks = blocks_of(pathlib.Path(__file__).parent.parent / "README.md")
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


def test_the_pytorch_example_of_the_projects_readme_runs(small, capsys):
    pytest.importorskip("torch", reason="PyTorch is not installed (Debian's python3-torch)")
    blocks = blocks_of(pathlib.Path(__file__).parent.parent.parent / "README.md")
    assert len(blocks) == 2  # the other one is Triton's, and needs a GPU
    exec(blocks[0], {})
    assert f"mine alibi fp32: pass, {20 if small else 100} cases" in capsys.readouterr().out
