# SPDX-License-Identifier: Apache-2.0
"""The oracle: attention with a position method, in double."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from typing import Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._arguments import floats, integers, number, truth, whole
from ._bias import Bias
from ._biases import Nope
from ._custom import Custom, CustomValues


@dataclasses.dataclass(frozen=True, eq=False)
class Gradients:
    """Gradients of sum(grad_o * o) + sum(grad_lse * lse), float64, each shaped like its input."""

    q: NDArray[Any]
    k: NDArray[Any]
    v: NDArray[Any]
    parameters: dict[str, NDArray[Any]]
    """Gradients of the bias's arrays, by name, of ssmax_scale and of sinks."""


@dataclasses.dataclass(frozen=True, eq=False)
class Attention:
    """What `attention` returns, float64."""

    o: NDArray[Any]
    """[batch, heads, queries, value_dim]; 0 in a row that sees no key."""
    lse: NDArray[Any]
    """[batch, heads, queries], the natural logarithm of the softmax's sum; -inf without a key."""
    _problem: dict[str, Any] = dataclasses.field(repr=False)

    def backward(self, grad_o: Any, grad_lse: Any = None) -> Gradients:
        """The gradients of all inputs, by the adjoint of every equation, in double.

        dV_j = sum_i m_ij p_ij dO_i, dS_ij = p_ij (m_ij dO_i . v_j - dO_i . o_i + dlse_i); from dS follow those
        of q, k and the bias's arrays, summed over everything that shares a key head or a parameter. The
        gradient of S (CABLE's prefix sum) is propagated to the increments. Rows that see no key
        contribute nothing.

        grad_o: like o. grad_lse: like lse, or None for 0.

        Raises ValueError for another shape or a number that is not finite, and where a gradient is not: for a Custom
        bias whose derivative is not, and for numbers so large that double has none for a gradient; TypeError for
        anything but an array.
        """
        tensors = dict(self._problem["tensors"])
        tensors["grad_o"] = floats("grad_o", grad_o)
        tensors["grad_lse"] = (
            np.zeros(self.lse.shape) if grad_lse is None else floats("grad_lse", grad_lse)
        )
        named = _native.attention(**{**self._problem, "tensors": tensors, "gradients": True})
        for name in tensors:
            gradient = named.get("grad_" + name, np.zeros(1))
            wrong = gradient[~np.isfinite(gradient)]
            if len(wrong):
                raise ValueError(f"gradient of {name} is {wrong[0]}; expected {_for_gradients(self._problem, name)}")
        return Gradients(
            named["grad_q"],
            named["grad_k"],
            named["grad_v"],
            {
                name: named["grad_" + name].reshape(array.shape)
                for name, array in self._problem["tensors"].items()
                if name not in ("q", "k", "v") and "grad_" + name in named
            },
        )


def _for_gradients(problem: dict[str, Any], name: str) -> str:
    """What gradients by this name need to be finite."""
    if name in [parameter["name"] for parameter in (problem["custom"] or {"parameters": []})["parameters"]]:
        return f"a formula of {problem['method']} with a finite derivative for every query and visible key"
    return "smaller numbers, whose gradients double can hold"


@functools.lru_cache(maxsize=None)
def _shapes_of(method: str) -> dict[str, str]:
    """As the class of the method says: "[batch, heads, keys] >= 0", by parameter."""
    return next((entry["shapes"] for entry in json.loads(_native.methods()) if entry["name"] == method), {})


# The bias has e^theta_alpha, e^theta_mu and e^-theta_mu. e^x is no double where x is above ln 2^1024 = 709.78.
_DOMAINS_OF_GGD = {"theta_alpha": "[heads] <= 709", "theta_mu": "[heads] >= -709, <= 709"}


def _expect_domain(name: str, array: NDArray[Any], words: str) -> None:
    """Raises ValueError for a number that the parameter may not have. words: as _shapes_of has them."""
    domain = words.partition("]")[2].lstrip(", ")
    for condition in filter(None, domain.split(", ")):
        sign, limit = condition.split()
        x = np.float32(limit)  # as the bound 0.01 of some is meant
        wrong = np.argwhere({">=": array < x, "<=": array > x, "not": array == x}[sign])
        if len(wrong):
            where = tuple(int(n) for n in wrong[0])
            raise ValueError(f"{name}{list(where)} is {array[where]}; expected a number {domain}")


def _without_value(named: dict[str, NDArray[Any]]) -> NDArray[Any]:
    """Whether a row has no value; one that sees no key has."""
    return ~np.isfinite(named["o"]).all(-1) | np.isnan(named["lse"]) | np.isposinf(named["lse"])


def _expect_finite(problem: dict[str, Any]) -> None:
    """Raises ValueError for a bias that leaves a row of the problem without a value, and names a pair."""
    queries, keys = problem["tensors"]["q"].shape[2], problem["tensors"]["k"].shape[2]
    mask = np.ones((1, 1, queries, keys), np.uint8) if problem["mask"] is None else problem["mask"]
    of_bias = {name: x for name, x in problem["tensors"].items() if name not in ("ssmax_scale", "sinks", "dropout")}
    of_bias["q"] = np.zeros_like(of_bias["q"])

    def wrong(first: int, end: int) -> NDArray[Any]:
        """Rows that have no value where only these keys are seen."""
        seen = np.zeros_like(mask)
        seen[..., first:end] = mask[..., first:end]
        return _without_value(_native.attention(**{**problem, "tensors": of_bias, "mask": seen}))

    if not wrong(0, keys).any():
        return  # not because of the bias
    least, most = 0, keys  # with the keys below `least` all rows have a value, with those below `most` not
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if wrong(0, middle).any() else (middle, most)
    b, h, row = (int(n) for n in np.argwhere(wrong(most - 1, most))[0])
    raise ValueError(f"b_ij of {problem['method']} at batch {b}, head {h}, i = {row + problem['query_offsets'][b]}, "
                     f"j = {most - 1} is not finite; expected a finite number for every query and visible key"
                     f"{': where(i == j, ..., ...) takes a pair out' * (problem['custom'] is not None)}")


def _sides(window: Union[int, Sequence[Optional[int]], None]) -> list[int]:
    """A window as [left, right], -1 for no limit."""
    sides = window if isinstance(window, (tuple, list)) else (window, window)
    if len(sides) != 2:
        raise ValueError(f"window is {window!r}; expected a number, two or None")
    least = -1 if isinstance(window, (tuple, list)) else 0
    return [-1 if side is None else whole("window", side, least) for side in sides]


def _booleans(name: str, given: Any, bias: Bias, meaning: str) -> NDArray[Any]:
    if bias.method == "cope" or bias.method.startswith("dape"):
        raise ValueError(f"{name} is given with {type(bias).__name__}; expected None")
    if hasattr(given, "detach"):
        given = given.detach().cpu()
    try:
        array = np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{name} is of type {type(given).__name__}: {error}; expected an array of bool") from None
    if array.dtype != np.bool_:
        raise TypeError(f"{name} has dtype {array.dtype}; expected bool: True where {meaning}")
    return array


def _mask_tensor(given: Any, bias: Bias, sizes: tuple[int, int, int, int]) -> NDArray[Any]:
    """As bytes, 0 or 1."""
    mask = _booleans("mask", given, bias, "a query may see a key")
    batch, heads, queries, keys = sizes
    if mask.ndim != 4 or mask.shape[2:] != (queries, keys) or mask.shape[0] not in (1, batch) \
            or mask.shape[1] not in (1, heads):
        raise ValueError(f"mask has shape {mask.shape}; expected ({batch} or 1, {heads} or 1, {queries}, {keys})")
    return np.ascontiguousarray(mask).view(np.uint8)


def _dropout(dropout_p: float, keep: Any, bias: Bias, sizes: tuple[int, int, int, int]) -> NDArray[Any]:
    """The factors m_ij."""
    if not 0 < dropout_p < 1:
        raise ValueError(f"dropout_p is {dropout_p}; expected a number above 0 and below 1 with keep")
    kept = _booleans("keep", keep, bias, "p_ij is kept")
    if kept.shape != sizes:
        raise ValueError(f"keep has shape {kept.shape}; expected {sizes}")
    return kept / (1.0 - dropout_p)


def _rotary_dim(given: Any, bias: Bias, head_dim: int) -> int:
    if isinstance(bias, CustomValues) or "rope" not in bias.method:
        raise ValueError(f"rotary_dim is {given!r} with {type(bias).__name__}; expected None without RoPE")
    if whole("rotary_dim", given, 2, head_dim) % 2 != 0:
        raise ValueError(f"rotary_dim is {given}; expected an even number")
    return int(given)


def attention(
    q: Any,
    k: Any,
    v: Any,
    bias: Optional[Bias] = None,
    *,
    causal: bool = True,
    window: Union[int, Sequence[Optional[int]], None] = None,
    lengths: Any = None,
    documents: Any = None,
    mask: Any = None,
    query_offset: Any = None,
    scale: Optional[float] = None,
    softcap: Optional[float] = None,
    ssmax_scale: Any = None,
    sinks: Any = None,
    dropout_p: float = 0.0,
    keep: Any = None,
    rotary_dim: Optional[int] = None,
) -> Attention:
    """Attention in double, the oracle that kernels are judged by.

        s_ij = c_i (scale q_i . k_j + b_ij),  lse_i = ln sum_j exp(s_ij),
        p_ij = exp(s_ij - lse_i),  o_i = sum_j m_ij p_ij v_j

    over the visible keys j, with one term exp(sinks[h]) more in the sum where there are sinks, and
    softcap tanh(scale q_i . k_j / softcap) in place of scale q_i . k_j where there is a softcap;
    c_i = ssmax_scale[h] ln(number of visible keys), or 1; m_ij = keep_ij / (1 - dropout_p), or 1 without dropout.
    Sources: BAM, definition 1 and section 2.4 (SSMax); CABLE, section 3 (bias on the scaled logits); Gemma 2,
    arXiv:2408.00118, section 2 (softcap); gpt-oss, arXiv:2508.10925, section 2.2 (sinks). Query row r is at
    position i = r + query_offset; query head h reads key head h // (heads / kv_heads).

    Inputs are used exactly, whatever their type: NumPy arrays, and anything that supports DLPack in host
    memory or on a CUDA device (PyTorch tensors, JAX and CuPy arrays; bfloat16 too). Outputs are float64 NumPy
    arrays. Their rounding error is a few hundred units of 2^-53 at usual sizes. Memory: about 24 bytes per pair of
    query and key of all heads.

    q: [batch, heads, queries, head_dim]. k: [batch, kv_heads, keys, head_dim]. v: [batch, kv_heads, keys,
        value_dim].
    bias: an instance of a subclass of Bias, such as Cable(increments, gain); None: no bias. Of Alibi the slopes may
        also be [batch, heads].
    causal: key j is visible to position i only if j <= i.
    window: only if |i - j| <= window; or (left, right), only if i - j <= left and j - i <= right, where
        None or -1 is no limit.
    lengths: [batch]; only if i and j are below the sequence's length.
    documents: [batch, keys]; only if both positions have the same document id.
    mask: [batch or 1, heads or 1, queries, keys] of booleans; only where it is True. Not with Cope and the Dape
        biases.
    query_offset: position of query row 0, or [batch] of them: lengths - queries for the end of each
        sequence. A row at a position below 0 sees no key; one beyond the keys is a query that is no key,
        which biases with a number for each key do not have. None: keys - queries, the last query at the
        last key, or 0 where there are more queries.
    scale: multiplies q . k; None: 1/sqrt(head_dim).
    softcap: cap of the scaled products, above 0, before the bias is added and keys are masked; None:
        no softcap. Not with Cope and the Dape biases.
    ssmax_scale: [heads], for SSMax; None: no SSMax.
    sinks: [heads], a logit of each head that no value belongs to; None: none. Not with Cope and the Dape
        biases. A row that sees no key then has lse = sinks[h].
    keep: [batch, heads, queries, keys] of booleans, with dropout_p, the probability with which p_ij is dropped:
        where it is False. None: no dropout. Not with Cope and the Dape biases.
    rotary_dim: RoPE rotates the first rotary_dim components of q and k by angles i base^(-2k / rotary_dim); even.
        None: all of head_dim.

    Raises ValueError (with the argument's name, its value and what was expected) for shapes that do not
    match, numbers that are not finite or outside a method's domain, and a bias or numbers by which a row has no finite
    o and lse; TypeError for anything that is not an array, number or Bias.
    """
    tensors = {"q": floats("q", q), "k": floats("k", k), "v": floats("v", v)}
    for name, array in tensors.items():
        if array.ndim != 4 or 0 in array.shape:
            axes = "heads, queries" if name == "q" else "kv_heads, keys"
            width = "value_dim" if name == "v" else "head_dim"
            raise ValueError(
                f"{name} has shape {array.shape}; expected [batch, {axes}, {width}], none of them 0"
            )
    batch, heads, queries, head_dim = tensors["q"].shape
    keys = tensors["k"].shape[2]
    bias = Nope() if bias is None else bias
    if isinstance(bias, Custom):
        raise TypeError(f"bias is {bias!r} without its numbers; expected it called with "
                        f"{', '.join(f'{name}=...' for name in bias.parameter_names) or 'nothing'}")
    if not isinstance(bias, Bias):
        raise TypeError(f"bias is {bias!r}; expected an instance of a subclass of plumbline.Bias")
    shapes = bias.custom.shapes if isinstance(bias, CustomValues) else _shapes_of(bias.method)
    shapes = {**shapes, **(_DOMAINS_OF_GGD if bias.method == "ggd" else {})}
    for name, given in bias.parameters(heads).items():
        tensors[name] = floats(name, given)
        _expect_domain(name, tensors[name], shapes.get(name, ""))
    if ssmax_scale is not None:
        tensors["ssmax_scale"] = floats("ssmax_scale", ssmax_scale)
    if sinks is not None:
        tensors["sinks"] = floats("sinks", sinks)
    if query_offset is None:
        query_offset = max(0, keys - queries)
    if np.ndim(query_offset) == 0:
        query_offset = [query_offset] * batch
    query_offsets = [whole("query_offset", first, -(2**24), 2**24)
                     for first in integers("query_offset", query_offset, (batch,))]
    sizes = (batch, heads, queries, keys)
    if keep is not None:
        tensors["dropout"] = _dropout(number("dropout_p", dropout_p), keep, bias, sizes)
    elif number("dropout_p", dropout_p) != 0:
        raise ValueError(f"dropout_p is {dropout_p}; expected 0 without keep")
    options = {name: number(name, x) for name, x in bias.options().items()}
    for name in ("hidden", "positions", "sliding_window")[: 3 if bias.method == "local_rope_keys" else 2]:
        if options.get(name, 1) < 1:
            raise ValueError(f"{name} is {options[name]:g}; expected a whole number from 1")
    if rotary_dim is not None:
        options["rotary_dim"] = _rotary_dim(rotary_dim, bias, head_dim)
    causal = truth("causal", causal)
    if bias.method == "fox" and not causal:
        raise ValueError("causal is False with Fox; expected True: it has no meaning for later keys")
    if lengths is not None:
        lengths = integers("lengths", lengths, (batch,))
        for length in lengths:
            whole("lengths", length, 0, keys)
    problem = {
        "method": bias.method,
        "tensors": tensors,
        "options": options,
        "scale": 1.0 / math.sqrt(head_dim) if scale is None else number("scale", scale),
        "softcap": None if softcap is None else number("softcap", softcap),
        "causal": causal,
        "window": _sides(window),
        "lengths": [] if lengths is None else lengths,
        "documents": [] if documents is None else integers("documents", documents, (batch, keys)),
        "query_offsets": query_offsets,
        "mask": None if mask is None else _mask_tensor(mask, bias, sizes),
        "gradients": False,
        "custom": bias.custom.declaration if isinstance(bias, CustomValues) else None,
    }
    if bias.method == "alibi" and tensors["slopes"].ndim == 2:
        problem["method"] = "alibi_of_sequences"
    named = _native.attention(**problem)
    if (rows := np.argwhere(_without_value(named))).size:
        if not (bias.method == "cope" or bias.method.startswith("dape")):  # which take no mask
            _expect_finite(problem)
        b, h, row = rows[0]
        raise ValueError(f"o or lse of batch {b}, head {h}, query {row} is not finite; expected smaller numbers, whose "
                         "scores and sums double can hold")
    return Attention(named["o"], named["lse"], problem)
