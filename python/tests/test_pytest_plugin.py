# SPDX-License-Identifier: Apache-2.0
"""plumbline.kernel_test and the plug-in of pytest, in runs of their own."""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree

import numpy as np
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

@plumbline.kernel_test(["alibi", plumbline.Nope], dtype=["float32", "tf32"], cases=6, longest=24, head_dims=[8])
def test_right(q, k, v, slopes=np.zeros(1, np.float32)):
    return attention(q, k, v, np.broadcast_to(slopes, q.shape[1]))

@plumbline.kernel_test(plumbline.Alibi, cases=20, longest=24, head_dims=[8])
def test_wrong(q, k, v, slopes):
    return attention(q, k, v, np.float32(1.001) * slopes)

def broken():
    raise RuntimeError("out of order")

@plumbline.kernel_test("alibi", cases=6, longest=24, head_dims=[8])
def test_raises(q, k, v, slopes):
    broken()
"""

MORE = """
import pytest
from test_mine import attention
import plumbline

@pytest.fixture
def factor():
    return 1.0

@pytest.mark.parametrize("times", [1.0, 1.001])
@plumbline.kernel_test("alibi", cases=20, longest=24, head_dims=[8])
def test_tuned(q, k, v, slopes, times, factor):
    return attention(q, k, v, slopes.dtype.type(times * factor) * slopes)

class TestKernel:
    scale = 1.0

    @staticmethod
    @plumbline.kernel_test("alibi", cases=6, longest=24, head_dims=[8])
    def test_static(q, k, v, slopes):
        return attention(q, k, v, slopes)

    @plumbline.kernel_test("alibi", cases=3, longest=24, head_dims=[8])
    def test_method(self, q, k, v, slopes):
        return attention(q, k, v, slopes.dtype.type(self.scale) * slopes)

@plumbline.kernel_test("alibi")
@pytest.mark.skip(reason="below")
def test_skipped(q, k, v, slopes):
    return None

@plumbline.kernel_test("alibi", cases=-3)
def test_argument(q, k, v, slopes):
    return attention(q, k, v, slopes)

@plumbline.kernel_test("alibi", cases=400, longest=24, head_dims=[8], time_limit=0.001)
def test_short(q, k, v, slopes):
    return attention(q, k, v, slopes)
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "test_mine.py").write_text(MODULE)
    (tmp_path / "below").mkdir()

    def pytest_with(*arguments, cwd=tmp_path):
        return subprocess.run(
            [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-p",
             "plumbline.pytest_plugin", *arguments],
            cwd=cwd, capture_output=True, text=True, timeout=300,
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
    # Of another bias or dtype the case is not: those tests are skipped.
    others = run("--plumbline-case", shlex.split(command)[-1])
    assert "2 failed, 1 passed, 3 skipped" in others.stdout and "Traceback" not in others.stdout, others.stdout
    again = run(*shlex.split(command)[2:])
    assert again.returncode == 1 and "1 failed" in again.stdout, again.stdout
    assert "after 1 case; the case:" in again.stdout
    report = xml.etree.ElementTree.parse(run.folder / "report.xml")
    said = {one.get("name"): one.get("value") for one in report.iter("property")}
    assert said["plumbline_kind"] == "outside_bound"
    assert said["plumbline_case"] in command


def test_what_a_kernel_raises_is_told(run):
    ran = run("-k", "raises")
    assert ran.returncode == 1 and "threw an exception: RuntimeError: out of order" in ran.stdout
    line = MODULE[: MODULE.index("raise Runtime")].count("\n") + 1
    assert f'test_mine.py", line {line}, in broken' in ran.stdout and "_runner.py" not in ran.stdout


def test_fixtures_parameters_methods_and_marks_are_pytests(run):
    (run.folder / "test_more.py").write_text(MORE)
    ran = run("-v", "-rs", "test_more.py")
    for words in ("test_tuned[alibi-fp32-1.0] PASSED", "test_tuned[alibi-fp32-1.001] FAILED",
                  "TestKernel::test_method[alibi-fp32] PASSED", "test_skipped[alibi-fp32] SKIPPED",
                  "ValueError: cases is -3; expected a number from 1 to 100000000",
                  "test_short[alibi-fp32] PASSED", "pass, 5 cases of 400 within the time limit"):
        assert words in ran.stdout, (words, ran.stdout)
    assert "_check.py" not in ran.stdout and "1 warning" in ran.stdout
    assert "During handling" not in ran.stdout and "hidden" not in ran.stdout, ran.stdout


def test_decoding_is_a_pass_of_its_own(run):
    (run.folder / "test_cache.py").write_text("""
import plumbline

@plumbline.kernel_test("alibi", decode=True, paged=True, cases=6, longest=24, head_dims=[8])
def test_decodes(q, k, v, slopes, page_table, lengths):
    raise RuntimeError(f"{q.shape[2]} of {len(lengths)} from {page_table.shape}")

@plumbline.kernel_test(dtype="float32", cases=6)
def test_attends(q, k, v):
    raise RuntimeError("forward")
""")
    ran = run("test_cache.py")
    assert "2 failed" in ran.stdout and "RuntimeError: 1 of 1 from (1, 1)" in ran.stdout, ran.stdout
    command = re.search(r"repeat: pytest (.*decode.*)", ran.stdout).group(1)
    again = run("test_cache.py", "-rs", "--plumbline-case", shlex.split(command)[-1])
    assert "1 failed, 1 skipped" in again.stdout, again.stdout


def test_what_check_passes_is_no_fixture(run):
    (run.folder / "test_packed.py").write_text("""
import numpy as np, plumbline

@plumbline.kernel_test("alibi", packed=True, cases=3, longest=40)
def test_packed(q, k, v, slopes, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k):
    raise RuntimeError(f"{max_seqlen_q} of {cu_seqlens_q}")
""")
    ran = run("test_packed.py")
    assert "1 failed" in ran.stdout and "RuntimeError: 1 of [0 1]" in ran.stdout, ran.stdout

    def takes_all(q, k, v, causal, window, lengths, documents, mask, query_offset, queries_at_end, scale, softcap,
                  rotary_dim, dropout_p, keep, dropout_seed, dropout_offset, ssmax_scale, sinks, q_scale, k_scale,
                  v_scale, page_table, prefix_sums, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, base, mine):
        pass

    signature = plumbline.kernel_test("rope_half_split")(takes_all).__signature__
    assert [*signature.parameters] == ["plumbline_bias", "plumbline_dtype", "request", "mine"]


@pytest.mark.parametrize("bias, code, words", [
    ("alibbi", pytest.ExitCode.USAGE_ERROR, "--plumbline-case: bias is 'alibbi'; expected a method's or that of a"),
    ("cable", pytest.ExitCode.OK, "4 skipped"),
])
def test_a_case_of_no_test(run, bias, code, words):
    ran = run("-k", "right", "--plumbline-case", f"bias={bias},dtype=fp32")
    assert ran.returncode == code and words in ran.stdout + ran.stderr, ran.stdout + ran.stderr


def test_the_command_repeats_from_the_folder_where_pytest_was_called(run):
    (run.folder / "pytest.ini").write_text("[pytest]\n")
    ran = run("../test_mine.py", "-k", "wrong", cwd=run.folder / "below")
    command = re.search(r"repeat: pytest (.*)", ran.stdout).group(1)
    assert " ../test_mine.py::" in command.replace("'", "")
    again = run(*shlex.split(command)[2:], cwd=run.folder / "below")
    assert "1 failed" in again.stdout, again.stdout + again.stderr


@pytest.mark.at_length
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


WRONG_OPTIONS = [("--plumbline-cases", "0"), ("--plumbline-cases", "many"), ("--plumbline-time-limit", "-1"),
                 ("--plumbline-time-limit", "inf"), ("--plumbline-case", ""), ("--plumbline-case", "dtype=fp64")]


@pytest.fixture(scope="module")
def said_of_wrong_options(tmp_path_factory):
    """Of each of them (the exit status, what went to stderr), of one process."""
    program = f"""
import contextlib, io, json, pytest
ends = []
for wrong in {WRONG_OPTIONS}:
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()):
        status = pytest.main(["-p", "no:cacheprovider", "-p", "plumbline.pytest_plugin", *wrong])
    ends.append((int(status), said.getvalue()))
print(json.dumps(ends))
"""
    ran = subprocess.run([sys.executable, "-B", "-c", program], cwd=tmp_path_factory.mktemp("wrong"),
                         capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    return dict(zip(WRONG_OPTIONS, json.loads(ran.stdout)))


@pytest.mark.parametrize("wrong", WRONG_OPTIONS)
def test_a_wrong_option_is_an_error_of_usage(said_of_wrong_options, wrong):
    status, said = said_of_wrong_options[wrong]
    assert status == pytest.ExitCode.USAGE_ERROR
    assert wrong[0] in said and "expected" in said, said
    assert wrong[0] == "--plumbline-case" or f"{wrong[0]} is '{wrong[1]}'; expected a " in said


def test_wrong_arguments_are_named_where_the_test_is_made():
    for wrong, words in [({"dtype": "float31"}, "float31"),
                         ({"bias": []}, "bias"), ({"cases_": 3}, "cases_"), ({"case": "x"}, "case"),
                         ({"fn": len}, "fn"),
                         ({"contract": {"float16": "jax"}}, "float16"), ({"bias": 3}, "3")]:
        with pytest.raises((TypeError, ValueError), match=words):
            plumbline.kernel_test(**wrong)
    with pytest.raises(TypeError, match="expected a function"):
        plumbline.kernel_test("alibi")(3)
    with pytest.raises(TypeError, match="expected a function: write @staticmethod above @plumbline.kernel_test"):
        plumbline.kernel_test("alibi")(staticmethod(len))
    # A contract is that of its dtype, however that is written.
    plumbline.kernel_test("alibi", dtype=[np.dtype("float32")], contract={"float32": "jax"})
    assert plumbline.kernel_test("alibi")(len).kernel is len


def test_the_package_tells_pytest_of_the_plugin():
    project = (pathlib.Path(__file__).parent.parent / "pyproject.toml").read_text()
    assert '\n"plumbline.pytest_plugin" = "plumbline.pytest_plugin"\n' in project
