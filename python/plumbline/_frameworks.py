# SPDX-License-Identifier: Apache-2.0
"""NumPy, CuPy, PyTorch and JAX: the bits of a case as their arrays, and back. Each is imported on demand.

A format is one of fp32, fp16, bf16, e4m3, e5m2, int8, fp64, int32 and bool; its bits are a NumPy array: float32,
uint16, uint8, float64 or int32.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _dlpack

BITS = {
    "fp32": np.float32,
    "fp16": np.uint16,
    "bf16": np.uint16,
    "e4m3": np.uint8,
    "e5m2": np.uint8,
    "int8": np.uint8,
    "fp64": np.float64,
    "int32": np.int32,
    "bool": np.uint8,
}
_NAMES = {
    "fp32": "float32",
    "fp16": "float16",
    "bf16": "bfloat16",
    "e4m3": "float8_e4m3fn",
    "e5m2": "float8_e5m2",
    "int8": "int8",
    "fp64": "float64",
    "int32": "int32",
    "bool": "bool",
}
EIGHT_BITS = ("e4m3", "e5m2")
CACHES = ("int8", *EIGHT_BITS)
"""Kinds of caches of 8 bits."""


class Refusal(Exception):
    """An output that cannot be judged; the message says what it is and what was expected."""


class NumPy:
    name = "numpy"
    module: Any = np

    def __init__(self, dtype: str, device: Optional[str]) -> None:
        if device is not None:
            raise ValueError(f"device is {device!r}; expected None: NumPy has no devices; framework='cupy' has CuPy's")
        self._dtypes = {n: np.dtype(_NAMES[n]) for n in ("fp32", "fp16", "int8", "fp64", "int32", "bool")}
        try:
            import ml_dtypes
        except ImportError:
            if dtype == "bf16" or dtype in EIGHT_BITS:
                raise ValueError(
                    f"dtype is {_NAMES[dtype]}; expected float32 or float16: NumPy has no {_NAMES[dtype]} "
                    "without the package ml_dtypes"
                ) from None
        else:
            for n in ("bf16", *EIGHT_BITS):
                self._dtypes[n] = np.dtype(getattr(ml_dtypes, _NAMES[n]))

    def _dtype(self, format: str) -> np.dtype[Any]:
        return self._dtypes[format]

    def give(self, bits: NDArray[Any], format: str) -> Any:
        """An array that shares the memory."""
        return bits.view(self._dtype(format))

    def read_back(self, array: Any, bits: NDArray[Any]) -> None:
        """Copies what a given array now has, with what lies between its rows, to the memory of its bits; nothing where
        they share it, or where no function can write to it."""

    def take(self, name: str, array: Any, shape: tuple[int, ...], format: str) -> NDArray[Any]:
        """The bits, also of another framework's array in host memory or on a CUDA device. Raises Refusal."""
        dtype = self._dtype(format)
        if not isinstance(array, (np.ndarray, np.generic)) and hasattr(array, "__dlpack__"):
            try:
                bits, given = _dlpack.read(array)
            except (TypeError, ValueError, BufferError, RuntimeError) as error:
                raise Refusal(f"{name} is a {type(array).__name__}: {error}; expected {shape}, {dtype}") from None
            if bits.shape != shape or given != format:
                raise Refusal(f"{name} has shape {bits.shape} and dtype {_NAMES.get(given, given)}; "
                              f"expected {shape}, {dtype}")
            return bits.view(BITS[format])
        if not isinstance(array, (np.ndarray, np.generic)):
            raise Refusal(f"{name} is a {type(array).__name__}; expected an array of NumPy's or one with __dlpack__")
        if array.shape != shape or array.dtype != dtype:
            raise Refusal(
                f"{name} has shape {array.shape} and dtype {array.dtype}; expected {shape}, {dtype}"
            )
        return np.ascontiguousarray(array).view(BITS[format])

    def in_float(self, array: Any) -> Any:
        return array.astype(np.float32)

    def gradients(
        self, function: Callable[..., Any], inputs: Sequence[Any], grad_o: Any, grad_lse: Any
    ) -> Sequence[Any]:
        raise NotImplementedError


class CuPy(NumPy):
    """Its dtypes are NumPy's own; arrays are on CuPy's current device."""

    name = "cupy"

    def __init__(self, dtype: str, device: Optional[str]) -> None:
        import cupy

        if device not in (None, "cuda"):
            raise ValueError(f"device is {device!r}; expected None or 'cuda': CuPy's arrays are on its current device")
        if dtype not in ("fp32", "fp16", "tf32"):
            raise ValueError(f"dtype is {_NAMES[dtype]}; expected float32, float16 or tf32 with CuPy")
        super().__init__(dtype, None)
        self.module = cupy
        try:
            cupy.empty(0)
        except RuntimeError as error:  # CuPy's own is one, also of a driver that cannot be loaded
            raise ValueError("framework is 'cupy'; expected another one: CuPy finds no CUDA device here: "
                             f"{(str(error).splitlines() or [''])[0]}") from None

    def give(self, bits: NDArray[Any], format: str) -> Any:
        """A copy with the same strides."""
        whole = bits if bits.base is None else bits.base
        there = self.module.asarray(whole)
        offset = bits.ctypes.data - whole.ctypes.data
        return self.module.ndarray(bits.shape, self._dtype(format), there.data + offset, bits.strides)

    def read_back(self, array: Any, bits: NDArray[Any]) -> None:
        whole = bits if bits.base is None else bits.base
        offset = bits.ctypes.data - whole.ctypes.data
        whole[...] = self.module.ndarray(whole.shape, whole.dtype, array.data - offset).get()


def _extent(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Elements from the first to the last."""
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides)) if all(shape) else 0


class Torch:
    name = "torch"

    def __init__(self, dtype: str, device: Optional[str]) -> None:
        import torch

        self._torch = torch
        if device is not None:
            try:
                self._torch.empty(0, device=device).cpu()
            except (RuntimeError, AssertionError, TypeError, ValueError) as error:
                why = (str(error).splitlines() or [""])[0]
                raise ValueError(f"device is {device!r}; expected one that PyTorch has here: {why}") from None
        self._device = device
        self._dtypes = {n: getattr(torch, name) for n, name in _NAMES.items() if hasattr(torch, name)}
        if dtype in EIGHT_BITS and dtype not in self._dtypes:
            raise ValueError(
                f"dtype is {_NAMES[dtype]}, which PyTorch {torch.__version__} does not have; expected "
                "float32, float16, bfloat16 or tf32, or a newer PyTorch"
            )

    def give(self, bits: NDArray[Any], format: str) -> Any:
        """A tensor with the same strides; without a device it shares the memory."""
        if bits.dtype == np.uint16:  # which PyTorch has not had for long
            bits = bits.view(np.int16)
        tensor = self._torch.from_numpy(bits)
        if BITS[format] in (np.uint16, np.uint8):
            tensor = tensor.view(self._dtypes[format])
        if self._device is None:
            return tensor
        # What lies between the rows goes with them.
        whole = tensor.as_strided((_extent(tensor.shape, tensor.stride()),), (1,)).to(self._device)
        return whole.as_strided(tensor.shape, tensor.stride())

    def read_back(self, array: Any, bits: NDArray[Any]) -> None:
        strides = tuple(stride // bits.itemsize for stride in bits.strides)
        if self._device is None or (tuple(array.shape), tuple(array.stride())) != (bits.shape, strides):
            return  # the function has given its tensor another form
        whole = (_extent(bits.shape, strides),)
        memory = array.detach().as_strided(whole, (1,), array.storage_offset()).cpu()
        if bits.itemsize < 4:
            memory = memory.view(self._torch.int16 if bits.itemsize == 2 else self._torch.uint8)
        np.lib.stride_tricks.as_strided(bits, whole, (bits.itemsize,))[...] = memory.numpy().view(bits.dtype)

    def take(self, name: str, array: Any, shape: tuple[int, ...], format: str) -> NDArray[Any]:
        """The bits. Raises Refusal."""
        dtype = self._dtypes[format]
        if not isinstance(array, self._torch.Tensor):
            raise Refusal(f"{name} is a {type(array).__name__}; expected a tensor of PyTorch's")
        if tuple(array.shape) != shape or array.dtype != dtype:
            raise Refusal(
                f"{name} has shape {tuple(array.shape)} and dtype {array.dtype}; expected {shape}, {dtype}"
            )
        if array.layout is not self._torch.strided or array.is_meta:
            raise Refusal(f"{name} is a tensor of layout {array.layout} on {array.device}; expected one of "
                          "torch.strided with numbers")
        tensor = array.detach().cpu().contiguous().resolve_neg()
        if format in ("fp16", "bf16"):
            tensor = tensor.view(self._torch.int16)
        bits: NDArray[Any] = tensor.numpy().view(BITS[format])
        return bits

    def in_float(self, array: Any) -> Any:
        return array.float()

    def gradients(
        self, function: Callable[..., Any], inputs: Sequence[Any], grad_o: Any, grad_lse: Any
    ) -> Sequence[Any]:
        """Gradients of o, lse = function(*inputs) by autograd, where grad_lse is None of o alone; None for an input
        that these do not depend on."""
        # In the memory that was given, so that what the function writes to it is seen.
        leaves = [x.detach().requires_grad_() for x in inputs]
        with self._torch.enable_grad():
            o, lse = function(*leaves)
            if isinstance(o, self._torch.Tensor) and not o.requires_grad:
                raise Refusal("o has no gradient; expected one, which backward=True differentiates")
            if grad_lse is not None and not lse.requires_grad:
                raise Refusal("lse has no gradient; expected one, which lse_gradient=True differentiates")
            outputs, given = ([o], [grad_o]) if grad_lse is None else ([o, lse], [grad_o, grad_lse.to(lse.dtype)])
            gradients: Sequence[Any] = self._torch.autograd.grad(outputs, leaves, given, allow_unused=True)
        return gradients


class Jax:
    name = "jax"

    def __init__(self, dtype: str, device: Optional[str]) -> None:
        import jax
        import jax.numpy

        self._jax = jax
        try:
            self._device = None if device is None else jax.devices(device)[0]
        except (RuntimeError, TypeError, AttributeError) as error:
            why = (str(error).splitlines() or [""])[0]
            raise ValueError(f"device is {device!r}; expected one that JAX has here: {why}") from None
        self._dtypes = {
            n: np.dtype(getattr(jax.numpy, name))
            for n, name in _NAMES.items()
            if n != "bool" and (n not in EIGHT_BITS or hasattr(jax.numpy, name))
        }
        self._dtypes["bool"] = np.dtype(bool)
        if dtype in EIGHT_BITS and dtype not in self._dtypes:
            raise ValueError(
                f"dtype is {_NAMES[dtype]}, which JAX {jax.__version__} does not have; expected "
                "float32, float16, bfloat16 or tf32, or a newer JAX"
            )

    def read_back(self, array: Any, bits: NDArray[Any]) -> None:
        pass  # its arrays are not written to

    def give(self, bits: NDArray[Any], format: str) -> Any:
        return self._jax.device_put(bits.view(self._dtypes[format]), self._device)

    def take(self, name: str, array: Any, shape: tuple[int, ...], format: str) -> NDArray[Any]:
        """The bits. Raises Refusal."""
        dtype = self._dtypes[format]
        if not isinstance(array, self._jax.Array):
            raise Refusal(f"{name} is a {type(array).__name__}; expected an array of JAX's")
        if array.shape != shape or array.dtype != dtype:
            raise Refusal(
                f"{name} has shape {array.shape} and dtype {array.dtype}; expected {shape}, {dtype}"
            )
        return np.ascontiguousarray(np.asarray(array)).view(BITS[format])

    def in_float(self, array: Any) -> Any:
        return array.astype(np.float32)

    def gradients(
        self, function: Callable[..., Any], inputs: Sequence[Any], grad_o: Any, grad_lse: Any
    ) -> Sequence[Any]:
        """Gradients of o, lse = function(*inputs) by jax.vjp, where grad_lse is None of o alone."""
        if grad_lse is None:
            gradients: Sequence[Any] = self._jax.vjp(lambda *x: function(*x)[0], *inputs)[1](grad_o)
            return gradients
        (_, lse), back = self._jax.vjp(lambda *x: tuple(function(*x)), *inputs)
        gradients = back((grad_o, grad_lse.astype(lse.dtype)))
        return gradients


def caches_of(asked: Any, framework: Any) -> list[str]:
    """The kinds that check's argument `cache` names. Raises ValueError for an unknown one, or one whose dtype the
    framework lacks."""
    kinds = list(CACHES) if asked is True else [] if asked is False else [asked] if isinstance(asked, str) else asked
    if not isinstance(kinds, (list, tuple)) or (asked is not False and not kinds) or set(kinds) - {*CACHES}:
        raise ValueError(f"cache is {asked!r}; expected True, False or some of {', '.join(CACHES)}")
    for kind in kinds:
        if kind not in framework._dtypes:
            raise ValueError(f"cache is {asked!r}; expected 'int8': {framework.name} has no {_NAMES[kind]} here")
    return list(kinds)


FRAMEWORKS: dict[str, Any] = {"numpy": NumPy, "cupy": CuPy, "torch": Torch, "jax": Jax}


def format_of(dtype: Any) -> tuple[str, Optional[str]]:
    """The format that a dtype names, and the framework if the dtype belongs to one.

    Raises ValueError for an unknown dtype.
    """
    formats = ("fp32", "fp16", "bf16", *EIGHT_BITS)
    known = {**{_NAMES[short]: short for short in formats}, **{short: short for short in formats}, "tf32": "tf32"}
    text = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", None) or str(dtype)
    framework = None
    if text.startswith("torch."):
        framework, text = "torch", text[len("torch."):]
    elif type(dtype).__module__.split(".")[0] == "jax":  # jnp.float32
        framework = "jax"
    if text not in known:
        raise ValueError(
            f"dtype is {dtype!r}; expected one of float32, float16, bfloat16, tf32, float8_e4m3fn, "
            "float8_e5m2"
        )
    return known[text], framework
