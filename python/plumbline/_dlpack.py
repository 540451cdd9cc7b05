# SPDX-License-Identifier: Apache-2.0
"""Arrays of any framework by DLPack (https://dmlc.github.io/dlpack), in host memory or in a CUDA device's."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HOST, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64)]  # fmt: skip


class _Versioned(ctypes.Structure):  # DLManagedTensorVersioned; DLManagedTensor begins with its DLTensor
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _DLTensor)]  # fmt: skip


_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))
# By DLPack's code of a kind of numbers, and bits: as NumPy reads them, which has no bfloat16, and the format.
_NUMBERS = {**{(0, bits): (f"<i{bits // 8}", f"int{bits}") for bits in (8, 16, 32, 64)},
            **{(1, bits): (f"<u{bits // 8}", f"uint{bits}") for bits in (8, 16, 32, 64)},
            (2, 16): ("<f2", "fp16"), (2, 32): ("<f4", "fp32"), (2, 64): ("<f8", "fp64"), (4, 16): ("<u2", "bf16")}


def read(array: Any) -> tuple[NDArray[Any], str]:
    """The numbers of an array with `__dlpack__`, and their format; those of bf16 as their bits, uint16.

    In a CUDA device's memory (kDLCUDA, kDLCUDAManaged, kDLCUDAHost), first waits for all that the device has
    to do, and copies. Raises TypeError for other numbers or devices, RuntimeError for what CUDA's driver refuses.
    """
    if hasattr(array, "resolve_neg"):  # PyTorch's may have their signs in a bit that DLPack does not tell
        array = array.resolve_neg()
    try:
        capsule = array.__dlpack__(max_version=(1, 0))
    except TypeError:  # older than DLPack 1.0
        capsule = array.__dlpack__()
    if _is_valid(capsule, b"dltensor_versioned"):
        managed = _Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))
        if managed.major != 1:
            raise TypeError(f"it is of DLPack {managed.major}.{managed.minor}, not 1")
        tensor = managed.tensor
    else:
        tensor = _DLTensor.from_address(_pointer(capsule, b"dltensor"))
    type, format = _NUMBERS.get((tensor.code, tensor.bits), ("", ""))
    if not type or tensor.lanes != 1:
        raise TypeError("its numbers are none of float64, float32, float16, bfloat16 and integers")
    if tensor.device_type not in (_HOST, _CUDA, _CUDA_HOST, _CUDA_MANAGED):
        raise TypeError(f"it is on a device of DLPack's type {tensor.device_type}, neither host nor CUDA")
    shape = tuple(tensor.shape[: tensor.ndim])
    if 0 in shape:
        return np.empty(shape, type), format
    size = tensor.bits // 8
    if tensor.strides:
        strides = tuple(n * size for n in tensor.strides[: tensor.ndim])
    else:
        strides = tuple(size * math.prod(shape[n + 1 :]) for n in range(len(shape)))
    reach = [(length - 1) * stride for length, stride in zip(shape, strides)]
    below = -sum(min(0, n) for n in reach)
    bytes = below + sum(max(0, n) for n in reach) + size
    address = (tensor.data or 0) + tensor.byte_offset - below
    if tensor.device_type != _HOST:
        memory = _from_cuda(address, bytes, tensor.device_id, tensor.device_type != _CUDA_HOST)
    else:
        memory = (ctypes.c_char * bytes).from_address(address)
    view: NDArray[Any] = np.ndarray(shape, type, memory, below, strides)
    return view.copy(), format


def _from_cuda(address: int, bytes: int, device: int, copied: bool) -> Any:
    """A device's memory, once all its work is done; not copied where the host reads it."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise RuntimeError(f"it is on a CUDA device, and CUDA's driver cannot be loaded: {error}") from None

    def call(function: str, *arguments: Any) -> None:
        if status := getattr(driver, function)(*arguments):
            name = ctypes.c_char_p()
            driver.cuGetErrorName(status, ctypes.byref(name))
            raise RuntimeError(f"{function} of CUDA's driver returned {(name.value or b'?').decode()} ({status})")

    context = ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)  # for good: it is the process's
    call("cuCtxPushCurrent_v2", context)
    try:
        call("cuCtxSynchronize")
        if not copied:
            return (ctypes.c_char * bytes).from_address(address)
        memory = ctypes.create_string_buffer(bytes)
        call("cuMemcpyDtoH_v2", memory, ctypes.c_uint64(address), ctypes.c_size_t(bytes))
        return memory
    finally:
        driver.cuCtxPopCurrent_v2(ctypes.byref(context))


def widened(array: Any) -> NDArray[Any]:
    """The numbers of an array with `__dlpack__` as doubles. Raises as `read`."""
    numbers, format = read(array)
    if format == "bf16":
        numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
    return numbers.astype(np.float64, order="C")
