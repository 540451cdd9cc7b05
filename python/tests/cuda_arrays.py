# SPDX-License-Identifier: Apache-2.0
"""Arrays in a CUDA device's memory, by DLPack. test_cuda_arrays.py runs them with the software device's driver."""
import ctypes

import numpy as np
import pytest

import formulas
import plumbline
from plumbline import _arguments
from plumbline._dlpack import _DLTensor, _Versioned

HOST, CUDA, CUDA_HOST, ROCM, MANAGED = 1, 2, 3, 10, 13
_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi))
_CODES = {"i": 0, "f": 2}


class Driver:
    """CUDA's driver, with its primary context current."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self("cuInit", 0)
        self.context = ctypes.c_void_p()
        self("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), 0)

    def __call__(self, function, *arguments):
        assert getattr(self.library, function)(*arguments) == 0, function

    def within(self, function, *arguments):
        self("cuCtxPushCurrent_v2", self.context)
        self(function, *arguments)
        self("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))


@pytest.fixture(scope="module")
def driver():
    return Driver()


class OnDevice:
    """What a framework gives by DLPack: a copy of all memory of an array, and the view of it that the array is."""

    def __init__(self, driver, view, device=CUDA, versioned=False, bfloat16=False):
        whole = view if view.base is None else view.base
        self.pointer = ctypes.c_uint64()
        size = ctypes.c_size_t(max(1, whole.nbytes))
        if device == CUDA_HOST:
            driver.within("cuMemHostAlloc", ctypes.byref(self.pointer), size, 0)
        elif device == MANAGED:
            driver.within("cuMemAllocManaged", ctypes.byref(self.pointer), size, 1)
        else:
            driver.within("cuMemAlloc_v2", ctypes.byref(self.pointer), size)
        if device == CUDA_HOST:
            ctypes.memmove(self.pointer.value, whole.ctypes.data, whole.nbytes)
        elif whole.nbytes:
            driver.within("cuMemcpyHtoD_v2", self.pointer, whole.ctypes.data_as(ctypes.c_void_p),
                          ctypes.c_size_t(whole.nbytes))
        self.versioned, item = versioned, view.dtype.itemsize
        self.shape = (ctypes.c_int64 * view.ndim)(*view.shape)
        self.strides = (ctypes.c_int64 * view.ndim)(*(n // item for n in view.strides))
        self.tensor = _DLTensor(
            self.pointer.value, device, 0, view.ndim, 4 if bfloat16 else _CODES[view.dtype.kind], 8 * item, 1,
            self.shape, self.strides, view.ctypes.data - whole.ctypes.data if view.size else 0)
        self.managed = _Versioned(1, 0, None, None, 0, self.tensor)

    def __dlpack_device__(self):
        return (self.tensor.device_type, 0)

    def __dlpack__(self, **asked):
        if not self.versioned:
            if asked:
                raise TypeError("__dlpack__() got an unexpected keyword argument")
            return _capsule(ctypes.addressof(self.tensor), b"dltensor", None)
        assert asked == {"max_version": (1, 0)}
        return _capsule(ctypes.addressof(self.managed), b"dltensor_versioned", None)


@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize("device", [CUDA, CUDA_HOST, MANAGED])
def test_numbers_of_all_types_and_strides_are_read(driver, device, versioned):
    for dtype in ("float64", "float32", "float16", "int32", "int64"):
        x = np.arange(60).reshape(3, 4, 5).astype(dtype)
        for view in (x, x[::2, 1:, ::3], x.T, x[::-1, :, ::-2], np.broadcast_to(x[:1], (2, 4, 5)), x[1:2, 2, 3],
                     x[:, :0]):
            read = _arguments.floats("x", OnDevice(driver, view, device, versioned))
            np.testing.assert_array_equal(read, view.astype(np.float64))
    dense = OnDevice(driver, x, device, versioned)
    dense.tensor.strides = dense.managed.tensor.strides = None  # row-major
    np.testing.assert_array_equal(_arguments.floats("x", dense), x.astype(np.float64))


def test_bfloat16_is_exact(driver):
    bits = np.array([[0x3F80, 0xC049], [0x0001, 0x7F7F]], np.uint16)
    exact = (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    read = _arguments.floats("x", OnDevice(driver, bits.view(np.int16), bfloat16=True))
    np.testing.assert_array_equal(read, exact)


def test_the_device_is_waited_for_and_no_context_stays_current(driver, monkeypatch):
    called = []

    class Noting(ctypes.CDLL):
        def __getattr__(self, name):
            called.append(name)
            return super().__getattr__(name)

    monkeypatch.setattr(ctypes, "CDLL", Noting)
    _arguments.floats("x", OnDevice(driver, np.ones(3)))
    assert called.index("cuCtxSynchronize") < called.index("cuMemcpyDtoH_v2")
    called.clear()
    _arguments.floats("x", OnDevice(driver, np.ones(3), CUDA_HOST))
    assert "cuCtxSynchronize" in called and "cuMemcpyDtoH_v2" not in called
    current = ctypes.c_void_p(1)
    driver("cuCtxGetCurrent", ctypes.byref(current))
    assert current.value is None


def test_the_oracle_takes_them(driver):
    rng = np.random.default_rng(3)
    q, k, v = rng.normal(size=(3, 1, 2, 6, 8))
    slopes = rng.random(2)
    here = plumbline.attention(q, k, v, plumbline.Alibi(slopes))
    there = plumbline.attention(*(OnDevice(driver, x.copy()) for x in (q, k, v)),
                                plumbline.Alibi(OnDevice(driver, slopes)))
    assert (there.o == here.o).all() and (there.lse == here.lse).all()
    grad_o = rng.normal(size=q.shape)
    assert (there.backward(OnDevice(driver, grad_o)).q == here.backward(grad_o).q).all()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_outputs_are_judged(driver, dtype):
    def scaled(by):
        def attention(q, k, v, slopes):
            wide = [x.astype(np.float32) for x in (q, k, v)]
            o, lse = formulas.attention(*wide, formulas.alibi(slopes, q.shape[2], k.shape[2]).astype(np.float32))
            return OnDevice(driver, (by * o).astype(dtype)), OnDevice(driver, lse.astype(np.float32))

        return attention

    settings = {"dtype": dtype, "cases": 20, "longest": 24, "head_dims": [8], "batch": [1], "heads": [2]}
    report = plumbline.check(scaled(1), plumbline.Alibi, **settings)
    assert report.outputs["o"].worst > 0.01 and report.outputs["lse"].worst > 0.01
    with pytest.raises(plumbline.CheckFailed, match="o: .* elements fail") as failed:
        plumbline.check(scaled(1.01), plumbline.Alibi, **settings)
    assert failed.value.kind == "outside_bound"


def refused(output):
    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(output, cases=1, batch=[1], heads=[2], queries=[3], keys=[3], head_dims=[4], shrink=False)
    assert failed.value.kind == "returned_error"
    return failed.value.explanation


def test_what_cannot_be_read_is_told(driver):
    half = refused(lambda q, k, v: OnDevice(driver, q.astype(np.float16)))
    assert "o has shape (1, 2, 3, 4) and dtype float16; expected (1, 2, 3, 4), float32" in half
    assert "o has shape (2, 3, 4) and dtype float32" in refused(lambda q, k, v: OnDevice(driver, q[0].copy()))
    elsewhere = refused(lambda q, k, v: OnDevice(driver, q, ROCM))
    assert "o is a OnDevice: it is on a device of DLPack's type 10, neither host nor CUDA; expected" in elsewhere

    def freed(q, k, v):
        o = OnDevice(driver, q)
        driver.within("cuMemFree_v2", o.pointer)
        return o

    assert "o is a OnDevice: cuMemcpyDtoH_v2 of CUDA's driver returned CUDA_ERROR_INVALID_VALUE (1)" in refused(freed)
    with pytest.raises(TypeError, match="k is of type OnDevice: it is on a device of DLPack's type 10"):
        plumbline.attention(np.ones((1, 1, 1, 1)), OnDevice(driver, np.ones((1, 1, 1, 1)), ROCM), None)
    newer = OnDevice(driver, np.ones(1), versioned=True)
    newer.managed.major = 2
    with pytest.raises(TypeError, match="x is of type OnDevice: it is of DLPack 2.0, not 1"):
        _arguments.floats("x", newer)


def test_without_a_driver_the_array_is_told(driver, monkeypatch):
    array = OnDevice(driver, np.ones(3))

    def missing(name):
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", missing)
    with pytest.raises(TypeError, match="x is of type OnDevice: it is on a CUDA device, and CUDA's driver cannot be "
                                        "loaded: libcuda.so.1: cannot open"):
        _arguments.floats("x", array)
