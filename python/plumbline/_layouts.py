# SPDX-License-Identifier: Apache-2.0
"""How q, k, v and grad_o may lie in memory: as models hand them to a kernel, with strides."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

LAYOUTS = (
    "contiguous",
    "views of [batch, tokens, heads, head_dim]",
    "every other row of head_dim numbers",
    "parts of a packed [batch, tokens, heads, 3, head_dim]",
)
STRIDED = ("q", "k", "v", "grad_o")
# A NaN in each of the formats of that many bytes.
_BETWEEN = {4: 0x7FC00000, 2: 0x7FFF, 1: 0x7F}


def layout_of(q: NDArray[Any]) -> int:
    """Which of LAYOUTS a case has, from the bytes of its q: the same in every run of the case."""
    return zlib.crc32(q.tobytes()) % len(LAYOUTS)


def laid_out(bits: NDArray[Any], layout: int, place: int) -> NDArray[Any]:
    """A copy of bits, [batch, heads, tokens, head_dim], that lies so. What is between its rows is NaN.

    place: 0, 1 or 2 of a packed array.
    """
    if layout == 0:
        return bits.copy()
    batch, heads, tokens, dim = bits.shape
    if layout == 1:
        return bits.transpose(0, 2, 1, 3).copy().transpose(0, 2, 1, 3)
    shape = (batch, heads, tokens, 2, dim) if layout == 2 else (batch, tokens, heads, 3, dim)
    whole = np.empty(shape, np.dtype(f"u{bits.itemsize}"))
    whole[...] = _BETWEEN[bits.itemsize]
    rows = whole[..., 0, :] if layout == 2 else whole[..., place, :].transpose(0, 2, 1, 3)
    view = rows.view(bits.dtype)
    view[...] = bits
    return view
