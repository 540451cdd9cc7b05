# SPDX-License-Identifier: Apache-2.0
"""PyTorch's FlexAttention: a score_mod as a function that check() judges, and the score_mod of a bias."""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any, Callable, Optional

from ._arguments import truth, whole
from ._bias import Bias
from ._custom import CustomValues
from ._formula_in_torch import custom_in_torch

_MOD = ("score", "b", "h", "q_idx", "kv_idx")


def flex_attention(score_mod: Callable[..., Any], *, attention: Optional[Callable[..., Any]] = None,
                   lse: bool = True) -> Callable[..., Any]:
    """Attention by PyTorch's FlexAttention with a score_mod, as a function that `check` judges.

        def alibi(score, b, h, q_idx, kv_idx, slopes):
            return score - slopes[h] * (q_idx - kv_idx)

        plumbline.check(plumbline.flex_attention(alibi), plumbline.Alibi, dtype=torch.float32)

    score_mod: takes what FlexAttention gives it, (score, b, h, q_idx, kv_idx), and as keywords the bias's arrays and
        options and what else the check passes (softcap, ssmax_scale, query_offset), numbers that are not whole as
        tensors without axes; or a function of these keywords alone, called once for each case, that returns the
        score_mod:

            def cable(increments, gain):
                sums = increments.double().cumsum(-1)
                return lambda score, b, h, i, j: score - gain[b, h, i] * (sums[b, h, i] - sums[b, h, j]).abs().float()

    attention: None: torch.nn.attention.flex_attention.flex_attention; or what is called in its place, such as
        torch.compile(flex_attention).
    lse: False: FlexAttention is not asked for lse, which it cannot return where it is compiled for a CPU.

    The check's causality, window, lengths, documents and mask become the mask_mod of a BlockMask, its scale `scale`;
    enable_gqa is set where there are fewer key heads. With query_offset=True the score_mod takes `query_offset`, too:
    q_idx + query_offset is the position of the query.

    Raises TypeError for anything but a function, and in the check for one that cannot be called with its keywords;
    ImportError where PyTorch has no FlexAttention, which came with 2.5.
    """
    if not callable(score_mod):
        raise TypeError(f"score_mod is {score_mod!r}; expected a function of score, b, h, q_idx and kv_idx, or one "
                        "that returns it")
    import torch

    try:
        from torch.nn.attention import flex_attention as flex
    except ImportError as error:
        raise ImportError(f"{error}; expected PyTorch 2.5 or newer, which has FlexAttention") from None
    run = flex.flex_attention if attention is None else attention
    asks: dict[str, Any] = {}
    if truth("lse", lse):
        asks = {"return_aux": flex.AuxRequest(lse=True)} if hasattr(flex, "AuxRequest") else {"return_lse": True}

    def attend(q: Any, k: Any, v: Any, *, scale: Optional[float] = None, causal: bool = True, window: Any = None,
               lengths: Any = None, documents: Any = None, mask: Any = None, **keywords: Any) -> Any:
        for setting, name in (("sinks", "sinks"), ("dropout", "dropout_p")):
            if name in keywords:
                raise TypeError(f"{setting} is True; expected False: FlexAttention has no {setting}")
        batch, heads, queries = q.shape[:3]
        keys = k.shape[2]
        mask = None if mask is None else mask.expand(batch, heads, queries, keys)
        for name, x in keywords.items():
            if isinstance(x, float):  # PyTorch takes no score_mod with floats that change from call to call
                keywords[name] = torch.tensor(x, dtype=torch.float32, device=q.device)
        sees = _mask_mod(causal, window, lengths, documents, mask, keywords.get("query_offset", 0))
        blocks = None if sees is None else flex.create_block_mask(sees, batch, heads, queries, keys, device=q.device)
        returned = run(q, k, v, score_mod=_with(score_mod, keywords), block_mask=blocks, scale=scale,
                       enable_gqa=k.shape[1] != heads, **asks)
        return (returned[0], returned[1].lse) if "return_aux" in asks else returned

    attend.__name__ = getattr(score_mod, "__name__", type(score_mod).__name__)
    return attend


def _with(score_mod: Callable[..., Any], keywords: dict[str, Any]) -> Callable[..., Any]:
    """The score_mod itself. Raises TypeError."""
    signature = inspect.signature(score_mod)

    def takes(*given: Any) -> bool:
        try:
            signature.bind(*given, **keywords)
        except TypeError:
            return False
        return True

    if takes(*_MOD):
        return lambda score, b, h, q_idx, kv_idx: score_mod(score, b, h, q_idx, kv_idx, **keywords)
    if takes():
        return score_mod(**keywords)  # type: ignore[no-any-return]
    named = "".join(f", {name}" for name in keywords)
    raise TypeError(f"score_mod takes {signature}; expected ({', '.join(_MOD)}{named}), or ({named[2:]}) of one that "
                    "returns a score_mod")


def _mask_mod(causal: bool, window: Any, lengths: Any, documents: Any, mask: Any, first: int) -> Any:
    """Whether a query at position q_idx + first sees a key; None: it sees all."""
    sides = window if isinstance(window, tuple) else (window, window)
    left, right = (None if side is None or side < 0 else side for side in sides)
    if not causal and first >= 0 and all(x is None for x in (left, right, lengths, documents, mask)):
        return None

    def mask_mod(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        i, j = q_idx + first, kv_idx
        seen = i >= 0
        if causal:
            seen = seen & (j <= i)
        if left is not None:
            seen = seen & (i - j <= left)
        if right is not None:
            seen = seen & (j - i <= right)
        if lengths is not None:
            seen = seen & (i < lengths[b]) & (j < lengths[b])
        if documents is not None:
            seen = seen & (documents[b, i] == documents[b, j])
        if mask is not None:
            seen = seen & mask[b, h, q_idx, j]
        return seen

    return mask_mod


def score_mod(bias: Bias, *, query_offset: int = 0) -> Callable[..., Any]:
    """The score_mod that adds a bias in PyTorch's FlexAttention: (score, b, h, q_idx, kv_idx) -> score + b_ij.

        flex_attention(q, k, v, score_mod=plumbline.score_mod(plumbline.Cable(increments, gain)), block_mask=...)

    bias: an instance of a subclass of Bias, whose docstring has b_ij, with its arrays as tensors on the device of q;
        gradients reach them. i = q_idx + query_offset, j = kv_idx. Sums of increments and log_forget are taken in
        double, their differences then in the tensor's dtype.

    What is not the score plus a function of i, j and arrays has no score_mod: rotations (RoPE), CoPE, which reads
    other keys' scores, and DAPE, which reads other heads'. A Custom bias with `visible` has none, either: which keys a
    query sees is said by a mask_mod.

    Raises TypeError for anything but such an instance and a whole query_offset, ValueError for a bias that has no
    score_mod and for arrays of another rank, ImportError without PyTorch.
    """
    import torch

    if not isinstance(bias, Bias):
        raise TypeError(f"bias is {bias!r}; expected an instance of a subclass of plumbline.Bias")
    query_offset = whole("query_offset", query_offset, -(2**24))
    if isinstance(bias, CustomValues):
        if bias.custom.visible is not None:
            raise ValueError(f"bias is {bias.method}, which has visible; expected none: a mask_mod says what a query "
                             "sees")
        of_custom = custom_in_torch(bias)
        return lambda score, b, h, q_idx, kv_idx: (
            score + of_custom(b, h, q_idx, q_idx + query_offset, kv_idx)).to(score.dtype)
    if bias.method not in _ADDED:
        reason = next((why for start, why in _NO_SCORE_MOD.items() if bias.method.startswith(start)),
                      "its formula is not one of PyTorch's")
        raise ValueError(f"bias is {type(bias).__name__}, which has no score_mod: {reason}; expected one of "
                         f"{', '.join(_ADDED)}")
    p = types.SimpleNamespace(**bias.options())
    for field in vars(bias).keys() - vars(p).keys():
        given = getattr(bias, field)
        array = torch.empty(()) if given is None else torch.as_tensor(given)
        if array.ndim not in _RANKS[field]:
            raise ValueError(f"{field} is {'None' if given is None else f'of shape {tuple(array.shape)}'}; expected "
                             f"{' or '.join(map(str, _RANKS[field]))} axes")
        setattr(p, field, array)
        if field in ("increments", "log_forget"):
            p.sums, p.dtype = array.double().cumsum(-1), array.dtype
    if bias.method in ("t5", "t5_bidirectional"):
        one_side = int(p.buckets) // (1 + (bias.method != "t5"))
        p.bucket = torch.tensor(_t5_buckets(one_side, int(p.max_distance)), device=p.table.device)
    added = _ADDED[bias.method]

    def mod(score: Any, b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        return (score + added(p, b, h, q_idx, q_idx + query_offset, kv_idx)).to(score.dtype)

    return mod


_RANKS = {
    "slopes": (1, 2), "increments": (3,), "gain": (3,), "log_forget": (3,), "theta_alpha": (1,), "theta_beta": (1,),
    "theta_mu": (1,), "p": (1,), "a": (1,), "table": (2,), "hidden_weight": (1,), "hidden_bias": (1,),
    "output_weight": (2,), "output_bias": (1,), "c": (1,), "L": (1,), "compression": (1,), "tensor": (4,),
}
_NO_SCORE_MOD = {
    "rope": "it rotates q and k, before flex_attention",
    "local_rope": "it rotates q and k, before flex_attention",
    "cope": "it reads the scores of other keys",
    "dape": "it reads the scores of other heads",
    "alibi_geometric": "its slopes need the number of heads: give them to Alibi",
}


def _t5_buckets(buckets: int, max_distance: int) -> list[int]:
    """The buckets of distances 0 to max_distance, in whole numbers: T5 has the formula. Raises ValueError."""
    exact = buckets // 2
    if buckets < 2 or max_distance <= exact:
        raise ValueError(f"buckets for a direction are {buckets} and max_distance is {max_distance}; expected at least "
                         "2, and above half of them")
    steps = buckets - exact
    least = [(max_distance**m * exact**steps, exact**m) for m in range(1, steps)]
    return [n if n < exact else exact + sum(n**steps * factor >= border for border, factor in least)
            for n in range(max_distance + 1)]


def _distance(p: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
    """S_i - S_j."""
    return (p.sums[b, h, i] - p.sums[b, h, j]).to(p.dtype)


def _exp_less_exp(x: Any) -> Any:
    return x.exp() - (-x).exp()


def _fire(p: Any, h: Any, i: Any, x: Any) -> Any:
    first = 0 * h  # a tensor: of an index that is a number, PyTorch 2.6 asks the value
    c, longest = p.c[first].abs(), (p.L[first] * p.L0).abs()
    y = (c * x).log1p() / ((c * longest.maximum(i)).log1p() + p.epsilon)
    units = ((p.hidden_weight[w] * y + p.hidden_bias[w]).relu() * p.output_weight[h, w]
             for w in (first + n for n in range(p.hidden)))
    return functools.reduce(lambda left, right: left + right, units, p.output_bias[h])


# b_ij of head h of sequence b, for row r of the queries at position i, with the arrays and options p.
_ADDED: dict[str, Callable[..., Any]] = {
    "nope": lambda p, b, h, r, i, j: 0,
    "alibi": lambda p, b, h, r, i, j: -(p.slopes[b, h] if p.slopes.ndim == 2 else p.slopes[h]) * (i - j).abs(),
    "cable": lambda p, b, h, r, i, j: -p.gain[b, h, r] * _distance(p, b, h, i, j).abs(),
    "cable_nw": lambda p, b, h, r, i, j: -_distance(p, b, h, i, j).abs(),
    "k_cable": lambda p, b, h, r, i, j: -p.gain[b, h, r] * (_distance(p, b, h, i, j) ** 2).log1p(),
    "k_cable_nw": lambda p, b, h, r, i, j: -(_distance(p, b, h, i, j) ** 2).log1p(),
    "ggd": lambda p, b, h, r, i, j: -p.theta_alpha[h].exp() * (
        (j - i - _exp_less_exp(p.theta_mu[h])).abs() + p.epsilon) ** p.theta_beta[h],
    "kerple_log": lambda p, b, h, r, i, j: -p.p[h] * (p.a[h] * (i - j).abs()).log1p(),
    "kerple_power": lambda p, b, h, r, i, j: -p.a[h] * (i - j).abs() ** p.p[h],
    "t5": lambda p, b, h, r, i, j: p.table[h, p.bucket[(i - j).clamp(0, len(p.bucket) - 1)]],
    "t5_bidirectional": lambda p, b, h, r, i, j: p.table[
        h, p.bucket[(i - j).abs().clamp(0, len(p.bucket) - 1)] + (j > i) * (p.table.shape[1] // 2)],
    "t5_clipped": lambda p, b, h, r, i, j: p.table[h, (i - j).clamp(0, p.table.shape[1] - 1)],
    "t5_clipped_offset": lambda p, b, h, r, i, j: p.table[
        h, p.table.shape[1] // 2 + (i - j).clamp(-(p.table.shape[1] // 2), p.table.shape[1] // 2)],
    "fire": lambda p, b, h, r, i, j: _fire(p, h, i, (i - j).abs()),
    "fox": lambda p, b, h, r, i, j: _distance(p, b, h, i, j),
    "cable_paper": lambda p, b, h, r, i, j: p.gain[b, h, r] * _distance(p, b, h, i, j),
    "cable_nw_paper": lambda p, b, h, r, i, j: _distance(p, b, h, i, j),
    "k_cable_paper": lambda p, b, h, r, i, j: -((p.gain[b, h, r] * _distance(p, b, h, i, j)) ** 2).log1p(),
    "sandwich": lambda p, b, h, r, i, j: (
        sum(((i - j).abs() * 10000 ** (-n / 64)).cos() for n in range(1, 65)) - 64) / p.compression[h],
    "bias_tensor": lambda p, b, h, r, i, j: p.tensor[tuple(
        n * (size > 1) for n, size in zip((b, h, r), p.tensor.shape)) + (j,)],
}
