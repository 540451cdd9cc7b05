# SPDX-License-Identifier: Apache-2.0
"""plumbline.kernel_test and the plug-in of pytest, in runs of their own."""
import pathlib
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree

import pytest

import plumbline

MODULE = """
import numpy as np
import plumbline

def attention(q, k, v, slopes):
    i, j = np.arange(q.shape[2])[:, None], np.arange(k.shape[2])
    s = q @ k.swapaxes(2, 3) / np.float32(q.shape[3] ** 0.5)
    s = np.where(j <= i, s - slopes[:, None, None] * (i - j).astype(np.float32), -np.inf)
    m = s.max(-1, keepdims=True)
    p = np.exp(s - m)
    total = p.sum(-1, keepdims=True)
    return p @ v / total, (m + np.log(total))[..., 0]

@plumbline.kernel_test(["alibi", plumbline.Nope], dtype=["float32", "tf32"], cases=6, longest=40)
def test_right(q, k, v, slopes=np.zeros(1, np.float32)):
    return attention(q, k, v, np.broadcast_to(slopes, q.shape[1]))

@plumbline.kernel_test(plumbline.Alibi, cases=20, longest=40)
def test_wrong(q, k, v, slopes):
    return attention(q, k, v, np.float32(1.001) * slopes)

@plumbline.kernel_test("alibi", cases=6, longest=40)
def test_raises(q, k, v, slopes):
    raise RuntimeError("out of order")
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "test_mine.py").write_text(MODULE)

    def pytest_with(*arguments):
        return subprocess.run(
            [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-p",
             "plumbline.pytest_plugin", *arguments],
            cwd=tmp_path, capture_output=True, text=True, timeout=300,
        )

    pytest_with.folder = tmp_path
    return pytest_with


def test_a_kernel_is_a_test_for_each_bias_and_dtype(run):
    ran = run("-v", "-k", "right")
    assert ran.returncode == 0, ran.stdout
    for cell in ("alibi-fp32", "alibi-tf32", "nope-fp32", "nope-tf32"):
        assert f"test_mine.py::test_right[{cell}] PASSED" in ran.stdout


def test_a_failure_has_the_smallest_case_and_a_command_that_repeats_it(run):
    ran = run("-k", "wrong", "--junit-xml=report.xml")
    assert ran.returncode == 1, ran.stdout
    assert "elements fail" in ran.stdout and "the smallest failing case found" in ran.stdout
    assert "Traceback" not in ran.stdout and "_check.py" not in ran.stdout
    command = re.search(r"repeat: pytest (.*)", ran.stdout).group(1)
    again = run(*shlex.split(command))
    assert again.returncode == 1 and "1 failed" in again.stdout, again.stdout
    assert "after 1 cases" in again.stdout
    report = xml.etree.ElementTree.parse(run.folder / "report.xml")
    said = {one.get("name"): one.get("value") for one in report.iter("property")}
    assert said["plumbline_kind"] == "outside_bound"
    assert said["plumbline_case"] in command


def test_what_a_kernel_raises_is_told(run):
    ran = run("-k", "raises")
    assert ran.returncode == 1 and "the function raised RuntimeError: out of order" in ran.stdout


def test_options_take_the_place_of_settings(run):
    ran = run("-k", "right", "--plumbline-cases", "3", "--junit-xml=report.xml")
    assert ran.returncode == 0, ran.stdout
    report = xml.etree.ElementTree.parse(run.folder / "report.xml")
    said = [one.get("value") for one in report.iter("property")]
    assert len(said) == 4 and all("pass, 3 cases" in one for one in said)
    # A seed at which the first case already fails, or not: the run is another.
    seeds = {run("-k", "wrong", "--plumbline-seed", seed).stdout.split("after ")[1][:3]
             for seed in ("1", "2", "3", "4", "5", "6")}
    assert len(seeds) > 1
    ran = run("-k", "right", "--plumbline-cases", "100000", "--plumbline-time-limit", "0.01", "-rP",
              "--junit-xml=report.xml")
    report = xml.etree.ElementTree.parse(run.folder / "report.xml")
    assert ran.returncode == 0 and all(
        "pass, 5 cases of 100000 within" in one.get("value") for one in report.iter("property"))


@pytest.mark.parametrize("wrong", [("--plumbline-cases", "0"), ("--plumbline-cases", "many"),
                                   ("--plumbline-time-limit", "-1"),
                                   ("--plumbline-time-limit", "inf")])
def test_a_wrong_option_is_an_error_of_usage(run, wrong):
    ran = run(*wrong)
    assert ran.returncode == pytest.ExitCode.USAGE_ERROR
    assert wrong[1] in ran.stderr and "expected" in ran.stderr


def test_wrong_arguments_are_named_where_the_test_is_made():
    for wrong, words in [({"dtype": "float31"}, "float31"),
                         ({"bias": []}, "bias"), ({"cases_": 3}, "cases_"), ({"case": "x"}, "case"),
                         ({"contract": {"float16": "jax"}}, "float16"), ({"bias": 3}, "3")]:
        with pytest.raises((TypeError, ValueError), match=words):
            plumbline.kernel_test(**wrong)
    with pytest.raises(TypeError, match="expected a function"):
        plumbline.kernel_test("alibi")(3)
    assert plumbline.kernel_test("alibi")(len).kernel is len


def test_the_package_tells_pytest_of_the_plugin():
    project = (pathlib.Path(__file__).parent.parent / "pyproject.toml").read_text()
    assert '[project.entry-points.pytest11]\nplumbline = "plumbline.pytest_plugin"' in project
