# SPDX-License-Identifier: Apache-2.0
"""Arrays in a CUDA device's memory are read: in processes whose driver is the software device's, which the loader
must find before anything else."""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

import cuda_arrays
import plumbline

HERE = pathlib.Path(__file__).parent
DRIVER = pathlib.Path(plumbline.__file__).parents[2] / "lib" / "software-device"

pytestmark = pytest.mark.skipif(not (DRIVER / "libcuda.so.1").exists(),
                                reason="no software device is beside the package, as in a build of the project")


def with_driver(*arguments, **environment):
    folders = [str(DRIVER), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    ran = subprocess.run([sys.executable, "-B", *arguments], capture_output=True, text=True, cwd=HERE,
                         env={**os.environ, "LD_LIBRARY_PATH": ":".join(folders), **environment})
    return ran


@pytest.fixture(scope="module")
def of_arrays():
    """What pytest says of cuda_arrays.py."""
    ran = with_driver("-m", "pytest", "-v", "-p", "no:cacheprovider", "cuda_arrays.py")
    return ran.stdout + ran.stderr


@pytest.mark.parametrize("test", [name for name in vars(cuda_arrays) if name.startswith("test_")])
def test_cuda(test, of_arrays):
    ends = re.findall(rf"^cuda_arrays\.py::{test}(?:\[.*?\])? (\w+)", of_arrays, re.MULTILINE)
    assert ends and set(ends) == {"PASSED"}, of_arrays


CUPY = """
import numpy, plumbline, cupy, formulas
seen = []

def attention(q, k, v, slopes, by=1):
    assert all(isinstance(x, cupy.ndarray) for x in (q, k, v, slopes)) and q.dtype == dtype
    seen.append(q.flags.c_contiguous)
    arrays = [x.get().astype(numpy.float32) for x in (q, k, v)]
    bias = formulas.alibi(slopes.get(), q.shape[2], k.shape[2]).astype(numpy.float32)
    o, lse = formulas.attention(*arrays, bias)
    return cupy.asarray((by * o).astype(dtype)), cupy.asarray(lse)

for dtype in (cupy.float32, cupy.float16):
    settings = {"dtype": dtype, "framework": "cupy", "cases": 10, "longest": 40, "head_dims": [32], "batch": [1],
                "heads": [2], "strides": True}
    print(plumbline.check(attention, plumbline.Alibi, **settings))
    try:
        plumbline.check(lambda *x, **y: attention(*x, by=1.01, **y), plumbline.Alibi, **settings)
    except plumbline.CheckFailed as failed:
        assert failed.kind == "outside_bound", failed
    else:
        raise AssertionError("a wrong o passes")
assert set(seen) == {True, False}
"""


@pytest.mark.skipif(importlib.util.find_spec("cupy") is None, reason="CuPy is not installed (docs/python.md)")
def test_cupys_arrays_are_given_and_taken():
    ran = with_driver("-c", CUPY, CUPY_COMPILE_WITH_PTX="1")
    assert ran.returncode == 0 and ran.stdout.count(": pass") == 2, ran.stdout + ran.stderr
