# SPDX-License-Identifier: Apache-2.0
"""A function of packed sequences, as FlashAttention's flash_attn_varlen_func is one, as one of padded ones."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Callable, Mapping, Optional

import numpy as np

from ._frameworks import Refusal

PACKED = ("cu_seqlens_q", "cu_seqlens_k", "max_seqlen_q", "max_seqlen_k")
"""Keywords that the function takes in place of PADDED."""
PADDED = ("lengths", "query_offset", "queries_at_end")


@dataclasses.dataclass
class Packing:
    """Which rows of a padded batch are tokens, by sequence: rows q[b, :, begin:end], keys [:, :length]."""

    framework: Any
    queries: int
    keys: int
    begin: list[int]
    end: list[int]
    length: list[int]

    @classmethod
    def of(cls, framework: Any, q: Any, k: Any, lengths: Any, query_offset: int, queries_at_end: bool) -> Packing:
        queries, keys = q.shape[2], k.shape[2]
        length = [keys] * q.shape[0] if lengths is None else [int(n) for n in lengths]
        first = [n - queries if queries_at_end else query_offset for n in length]
        begin = [max(0, -position) for position in first]
        end = [max(lo, min(queries, n - position)) for lo, n, position in zip(begin, length, first)]
        return cls(framework, queries, keys, begin, end, length)

    def keywords(self) -> dict[str, Any]:
        rows = [hi - lo for lo, hi in zip(self.begin, self.end)]
        return {
            "cu_seqlens_q": self.framework.give(np.cumsum([0, *rows], dtype=np.int32), "int32"),
            "cu_seqlens_k": self.framework.give(np.cumsum([0, *self.length], dtype=np.int32), "int32"),
            "max_seqlen_q": max(rows),
            "max_seqlen_k": max(self.length),
        }

    def is_empty(self) -> bool:
        return sum(self.length) == 0 or all(lo == hi for lo, hi in zip(self.begin, self.end))

    def rows(self, x: Any) -> Any:
        """[batch, heads, queries, ...] to [tokens, heads, ...]."""
        return self._packed(x, self.begin, self.end)

    def of_keys(self, x: Any) -> Any:
        return self._packed(x, [0] * len(self.length), self.length)

    def _packed(self, x: Any, begin: list[int], end: list[int]) -> Any:
        parts = [x[b, :, lo:hi].swapaxes(0, 1) for b, (lo, hi) in enumerate(zip(begin, end))]
        return self.framework.joined(parts, 0)

    def padded_rows(self, name: str, x: Any, fill: float = 0.0) -> Any:
        """Back; other rows are `fill`."""
        return self._padded(name, x, self.begin, self.end, self.queries, fill)

    def padded_keys(self, name: str, x: Any) -> Any:
        return self._padded(name, x, [0] * len(self.length), self.length, self.keys, 0.0)

    def _padded(self, name: str, x: Any, begin: list[int], end: list[int], size: int, fill: float) -> Any:
        tokens = sum(end) - sum(begin)
        if not hasattr(x, "shape") or len(x.shape) < 2 or x.shape[0] != tokens:
            shape = getattr(x, "shape", type(x).__name__)
            raise Refusal(f"{name} has shape {shape}; expected {tokens} tokens first, as q and k are packed")
        sequences, start = [], 0
        for lo, hi in zip(begin, end):
            part = x[start : start + hi - lo].swapaxes(0, 1)
            start += hi - lo

            def filled(count: int, part: Any = part) -> Any:
                return self.framework.filled((part.shape[0], count, *part.shape[2:]), fill, part)

            sequences.append(self.framework.joined([filled(lo), part, filled(size - hi)], 1)[None])
        return self.framework.joined(sequences, 0)


def of_padded(fn: Callable[..., Any], framework: Any, empty_lse: float) -> Callable[..., Any]:
    """fn(q [tokens, heads, head_dim], k, v [tokens, kv_heads, head_dim], cu_seqlens_q, ...), which returns o
    like q, or (o, lse [heads, tokens]), as a function of padded arrays."""

    def padded(q: Any, k: Any, v: Any, *, lengths: Any, query_offset: int, queries_at_end: bool,
               **keywords: Any) -> Any:
        packing = Packing.of(framework, q, k, lengths, query_offset, queries_at_end)
        if packing.is_empty():
            return framework.nothing(q, [k, v, *keywords.values()]), framework.filled(
                q.shape[:3], empty_lse, framework.in_float(q))
        returned = fn(packing.rows(q), packing.of_keys(k), packing.of_keys(v), **packing.keywords(), **keywords)
        if not isinstance(returned, (tuple, list)):
            return packing.padded_rows("o", returned)
        if len(returned) != 2:
            return returned  # told by who judges it
        o, lse = returned
        if lse is not None:
            by_token = lse.swapaxes(0, 1) if hasattr(lse, "swapaxes") and len(lse.shape) == 2 else lse
            lse = packing.padded_rows("lse, with its axes swapped,", by_token, empty_lse)
        return packing.padded_rows("o", o), lse

    return padded


def backward_of_padded(backward: Callable[..., Any], framework: Any) -> Callable[..., Any]:
    """The same of backward(grad_o, q, k, v, o, lse, ...), whose gradients of q, k and v are packed."""

    def padded(grad_o: Any, q: Any, k: Any, v: Any, o: Any, lse: Any, *, lengths: Any, query_offset: int,
               queries_at_end: bool, **keywords: Any) -> Any:
        packing = Packing.of(framework, q, k, lengths, query_offset, queries_at_end)
        if packing.is_empty():
            arrays = {name: x for name, x in keywords.items() if hasattr(x, "shape")}
            return {name: 0 * x for name, x in {**arrays, "q": q, "k": k, "v": v}.items()}
        lse = None if lse is None else packing.rows(lse).swapaxes(0, 1)
        returned = backward(packing.rows(grad_o), packing.rows(q), packing.of_keys(k), packing.of_keys(v),
                            packing.rows(o), lse, **packing.keywords(), **keywords)
        back: dict[Any, Optional[Callable[[str, Any], Any]]] = {
            "q": packing.padded_rows, "k": packing.padded_keys, "v": packing.padded_keys}
        if isinstance(returned, Mapping):
            return {n: back[n]("grad_" + n, x) if n in back else x for n, x in returned.items()}
        if not isinstance(returned, (tuple, list)):
            return returned  # told by who judges it
        names = ["q", "k", "v"]
        return [back[names[n]]("grad_" + names[n], x) if n < 3 else x for n, x in enumerate(returned)]

    return padded


def lse_of_empty_rows(convention: str) -> float:
    """What fills rows that are no tokens, by the contract's empty_rows. Raises ValueError."""
    values = {"zero": -math.inf, "plus_inf": math.inf, "not_mine": -math.inf}
    if convention not in values:
        raise ValueError(f"contract.empty_rows is {convention!r}; expected zero, plus_inf or not_mine with packed=True")
    return values[convention]
