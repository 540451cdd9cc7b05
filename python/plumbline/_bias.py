# SPDX-License-Identifier: Apache-2.0
"""What a position method is in Python, and those that the C interface has no name for."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from . import _native

_OPTION = {"option": True}
BROADCAST = ("per_batch", "per_head", "per_query")
"""Options of a bias tensor: whether its first axes have their full size. Its shape says so."""
NOT_TOLD = (*BROADCAST, "in_format_of_o", "slopes_per_batch")
"""Options that a function under `check` does not get: the bias tensor and the slopes show them."""


def option(default: Any = dataclasses.MISSING) -> Any:
    """A field that is one of the method's options."""
    return dataclasses.field(default=default, metadata=_OPTION)


def alibi_slopes(heads: int, *, geometric: bool = False) -> NDArray[Any]:
    """The slopes of ALiBi, float64 [heads].

    With P the largest power of two up to heads: m_k = 2^(-8 (k+1) / P) for k < P, then those of 2P,
    every second one from the first on. Source: Press, Smith, Lewis, "Train Short, Test Long",
    section 3, and its code. `geometric`: 2^(-8 (k+1) / heads) for every number of heads instead.

    A kernel in float32 reads these numbers rounded; give the oracle the same rounded numbers.

    Raises ValueError unless heads >= 1.
    """
    return np.array(_native.alibi_slopes(heads, geometric))


class Bias:
    """A position method with its parameters; each subclass is one method.

    The subclasses are dataclasses that are compared by identity, because arrays have no truth value.
    """

    method: ClassVar[str]
    """Its name in every command, file and table of Plumbline."""

    def parameters(self, heads: int) -> dict[str, Any]:
        """The arrays by name, as given; ALiBi's slopes are alibi_slopes(heads) where none are."""
        arrays = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if not field.metadata.get("option")
        }
        if "slopes" in arrays and arrays["slopes"] is None:
            arrays["slopes"] = alibi_slopes(heads)
        return arrays

    def options(self) -> dict[str, Any]:
        """The method's options, by name; those of a bias tensor are its shape's."""
        named = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if field.metadata.get("option")
        }
        if self.method == "bias_tensor":
            shape = np.shape(self.tensor)  # type: ignore[attr-defined]
            if len(shape) != 4:
                raise ValueError(f"tensor has shape {tuple(shape)}; expected [batch or 1, heads or 1, "
                                 "queries or 1, keys]")
            named.update((name, int(size != 1)) for name, size in zip(BROADCAST, shape))
        return named


@dataclasses.dataclass(frozen=True, eq=False)
class AlibiGeometric(Bias):
    """ALiBi with the slopes 2^(-8 (h+1) / heads) of the article for every number of heads."""

    method = "alibi_geometric"


@dataclasses.dataclass(frozen=True, eq=False)
class LocalRope(Bias):
    """BAM's baseline: interleaved RoPE, causal, keys with i - j <= sliding_window. For `attention`.

    The method has its own mask: `causal` and `window` are ignored.
    """

    method = "local_rope"
    sliding_window: int = option()
    base: float = option(500000)


@dataclasses.dataclass(frozen=True, eq=False)
class LocalRopeKeys(Bias):
    """The same with sliding_window keys, including the query's own. For `attention`."""

    method = "local_rope_keys"
    sliding_window: int = option()
    base: float = option(500000)
