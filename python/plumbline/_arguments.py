# SPDX-License-Identifier: Apache-2.0
"""Checks a caller's arguments and converts them to arrays of doubles; errors name the argument."""

from __future__ import annotations

import numbers
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from . import _dlpack


def floats(name: str, given: Any) -> NDArray[Any]:
    """The exact numbers of any array, as a float64 NumPy array.

    Raises TypeError for anything else or an array that is neither in host memory nor on a CUDA device, and
    ValueError for a number that is not finite.
    """
    array = _widened(name, given)
    if not np.isfinite(array).all():
        where = tuple(int(n) for n in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name}{list(where)} is {array[where]}; expected a finite number")
    return array


def _widened(name: str, given: Any) -> NDArray[Any]:
    expected = "expected an array of float64, float32, float16, bfloat16 or integers"
    if hasattr(given, "detach"):  # a tensor of PyTorch's that may be part of a graph
        given = given.detach()
    numpy_knows = isinstance(given, (np.ndarray, np.generic, numbers.Real, list, tuple))
    try:
        if not numpy_knows and hasattr(given, "__dlpack__"):
            return _dlpack.widened(given)
        array = np.asarray(given)
        if array.dtype.kind in "fiu" or array.dtype.name == "bfloat16":
            return np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError, BufferError, RuntimeError) as error:
        raise TypeError(f"{name} is of type {type(given).__name__}: {_first_line(error)}; {expected}"
                        " in this machine's or a CUDA device's memory") from None
    raise TypeError(f"{name} has dtype {array.dtype}; {expected}")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]


def integers(name: str, given: Any, shape: tuple[int, ...]) -> list[int]:
    """Whole numbers, row-major. Raises TypeError or ValueError for another type or shape."""
    array = _widened(name, given)
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}; expected {shape}")
    if not (array == np.trunc(array)).all() or not (np.abs(array) < 2**31).all():
        raise ValueError(f"{name} has {array.flat[0]}, ...; expected whole numbers of 32 bits")
    return [int(x) for x in array.ravel()]


def number(name: str, given: Any) -> float:
    """Raises TypeError for anything but a number, ValueError for one that is not finite."""
    if isinstance(given, bool) or not isinstance(given, (numbers.Real, np.number)):
        raise TypeError(f"{name} is {given!r}; expected a number")
    value = float(given)
    if not np.isfinite(value):
        raise ValueError(f"{name} is {value}; expected a finite number")
    return value


def whole(name: str, given: Any, least: int, most: Optional[int] = 2**24) -> int:
    """Raises TypeError for anything but a whole number, ValueError outside [least, most]."""
    if isinstance(given, bool) or not isinstance(given, (numbers.Integral, np.integer)):
        raise TypeError(f"{name} is {given!r}; expected a whole number")
    value = int(given)
    if value < least or (most is not None and value > most):
        limits = f"at least {least}" if most is None else f"a number from {least} to {most}"
        raise ValueError(f"{name} is {value}; expected {limits}")
    return value


def truth(name: str, given: Any) -> bool:
    """Raises TypeError for anything but True and False."""
    if not isinstance(given, (bool, np.bool_)):
        raise TypeError(f"{name} is {given!r}; expected True or False")
    return bool(given)
