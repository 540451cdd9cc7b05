# SPDX-License-Identifier: Apache-2.0
"""The position methods, with their parameters. i is the query's position, j the key's, h the head."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Optional

import numpy as np

from . import _native

_OPTION = {"option": True}


def _option(default: Any = dataclasses.MISSING) -> Any:
    return dataclasses.field(default=default, metadata=_OPTION)


def alibi_slopes(heads: int, *, geometric: bool = False) -> np.ndarray:
    """The slopes of ALiBi, float64 [heads].

    With P the largest power of two up to heads: m_k = 2^(-8 (k+1) / P) for k < P, then those of 2P,
    every second one from the first on. Source: Press, Smith, Lewis, "Train Short, Test Long",
    section 3, and its code. `geometric`: 2^(-8 (k+1) / heads) for every number of heads instead.

    A kernel in float32 reads these numbers rounded; give the oracle the same ones.

    Raises ValueError unless heads >= 1.
    """
    return np.array(_native.alibi_slopes(heads, geometric))


class Bias:
    """A position method with its parameters: what its subclasses name."""

    method: ClassVar[str]
    """Its name in every command, file and table of Plumbline."""

    def parameters(self, heads: int) -> dict[str, Any]:
        """The arrays by name, as given."""
        return {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if not field.metadata.get("option")
        }

    def options(self) -> dict[str, Any]:
        """What the method fixes besides, by name."""
        return {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if field.metadata.get("option")
        }


def _bias(cls: type) -> type:
    """A dataclass that is compared by identity: arrays have no truth value."""
    return dataclasses.dataclass(frozen=True, eq=False)(cls)


@_bias
class Nope(Bias):
    """b = 0."""

    method = "nope"


@_bias
class Alibi(Bias):
    """b_ij = -slopes[h] |i - j|. Source: ALiBi, section 3 (|i - j| for encoders).

    slopes [heads]; without: alibi_slopes(heads). They are constants: no gradient is given of them.
    """

    method = "alibi"
    slopes: Optional[Any] = None

    def parameters(self, heads: int) -> dict[str, Any]:
        return {"slopes": alibi_slopes(heads) if self.slopes is None else self.slopes}


@_bias
class AlibiGeometric(Bias):
    """ALiBi with the slopes 2^(-8 (h+1) / heads) of the article for every number of heads."""

    method = "alibi_geometric"


@_bias
class Cable(Bias):
    """b_ij = -gain_i |S_i - S_j|, S the inclusive prefix sum of increments.

    Source: CABLE, equations 2-7, with the sign of its published code; the absolute value is for
    encoders. increments [batch, heads, keys] >= 0 (ReLU), gain [batch, heads, queries] >= 0 (softplus).
    """

    method = "cable"
    increments: Any
    gain: Any


@_bias
class CableNw(Bias):
    """b_ij = -|S_i - S_j|: CABLE without weights. increments [batch, heads, keys] >= 0."""

    method = "cable_nw"
    increments: Any


@_bias
class KCable(Bias):
    """b_ij = -gain_i ln(1 + (S_i - S_j)^2): CABLE's kernel form, the weight outside as in its code.

    increments [batch, heads, keys] >= 0, gain [batch, heads, queries] >= 0.
    """

    method = "k_cable"
    increments: Any
    gain: Any


@_bias
class KCableNw(Bias):
    """b_ij = -ln(1 + (S_i - S_j)^2). increments [batch, heads, keys] >= 0."""

    method = "k_cable_nw"
    increments: Any


@_bias
class CablePaper(Bias):
    """b_ij = +gain_i (S_i - S_j): CABLE's equations 2-7 as printed, which reward distance.

    increments [batch, heads, keys] >= 0, gain [batch, heads, queries] >= 0.
    """

    method = "cable_paper"
    increments: Any
    gain: Any


@_bias
class CableNwPaper(Bias):
    """b_ij = +(S_i - S_j), as printed. increments [batch, heads, keys] >= 0."""

    method = "cable_nw_paper"
    increments: Any


@_bias
class KCablePaper(Bias):
    """b_ij = -ln(1 + (gain_i (S_i - S_j))^2): the weight inside, as printed.

    increments [batch, heads, keys] >= 0, gain [batch, heads, queries] >= 0.
    """

    method = "k_cable_paper"
    increments: Any
    gain: Any


@_bias
class Ggd(Bias):
    """b_ij = -exp(theta_alpha) (|j - i - mu| + epsilon)^theta_beta, mu = exp(theta_mu) - exp(-theta_mu).

    Source: BAM, section 3 and appendix C: the generalised Gaussian prior. All parameters [heads].
    """

    method = "ggd"
    theta_alpha: Any
    theta_beta: Any
    theta_mu: Any
    epsilon: float = _option(1e-5)


@_bias
class KerpleLog(Bias):
    """b_ij = -p ln(1 + a |i - j|). Source: KERPLE, its logarithmic form. p, a [heads] >= 0.01."""

    method = "kerple_log"
    p: Any
    a: Any


@_bias
class KerplePower(Bias):
    """b_ij = -a |i - j|^p. Source: KERPLE, its power form. p in [0.01, 2], a >= 0.01, both [heads]."""

    method = "kerple_power"
    p: Any
    a: Any


@_bias
class T5(Bias):
    """b_ij = table[h, bucket(max(i - j, 0))]. Source: T5, relative_position_bucket for decoders.

    E = buckets // 2; n < E has bucket n, others min(buckets - 1, E + trunc(ln(n/E) / ln(max_distance/E)
    (buckets - E))). table [heads, buckets]. T5 itself has scale 1.
    """

    method = "t5"
    table: Any
    buckets: int = _option(32)
    max_distance: int = _option(128)


@_bias
class T5Bidirectional(Bias):
    """T5 for encoders: half of the buckets for |i - j|, the other half where j > i.

    table [heads, buckets].
    """

    method = "t5_bidirectional"
    table: Any
    buckets: int = _option(32)
    max_distance: int = _option(128)


@_bias
class T5Clipped(Bias):
    """b_ij = table[h, min(max(i - j, 0), largest)], as CABLE's article has T5.

    table [heads, largest + 1].
    """

    method = "t5_clipped"
    table: Any
    largest: int = _option(256)


@_bias
class T5ClippedOffset(Bias):
    """b_ij = table[h, largest + clamp(i - j, -largest, largest)], as CABLE's code has T5.

    table [heads, 2 largest + 1].
    """

    method = "t5_clipped_offset"
    table: Any
    largest: int = _option(256)


@_bias
class Fire(Bias):
    """b_ij = output_bias[h] + sum_w output_weight[h, w] max(0, hidden_weight[w] y + hidden_bias[w]),
    y = ln(1 + |c (i - j)|) / (ln(1 + |c| max(i, |L L0|)) + epsilon).

    Source: FIRE, equation 8, with the constants of its code. hidden_weight, hidden_bias [hidden],
    output_weight [heads, hidden], output_bias [heads], c and L [1].
    """

    method = "fire"
    hidden_weight: Any
    hidden_bias: Any
    output_weight: Any
    output_bias: Any
    c: Any
    L: Any
    hidden: int = _option(32)
    L0: float = _option(512)
    epsilon: float = _option(1e-6)


@_bias
class Fox(Bias):
    """b_ij = F_i - F_j, F the inclusive prefix sum of log_forget; under a causal mask only.

    Source: Forgetting Transformer, equation 5. log_forget [batch, heads, keys] <= 0: the logarithms of
    the gates.
    """

    method = "fox"
    log_forget: Any


@_bias
class RopeInterleaved(Bias):
    """Queries and keys turned before the product: components (2k, 2k+1) by position base^(-2k/head_dim).

    Source: RoFormer, equation 15. head_dim is even.
    """

    method = "rope_interleaved"
    base: float = _option(10000)


@_bias
class RopeHalfSplit(Bias):
    """RoPE of the components (k, k + head_dim/2), as GPT-NeoX and LLaMA's code have it."""

    method = "rope_half_split"
    base: float = _option(10000)


@_bias
class LocalRope(Bias):
    """BAM's baseline: interleaved RoPE, causal, keys with i - j <= sliding_window. For `attention`.

    The mask is the method's own: `causal` and `window` are not looked at.
    """

    method = "local_rope"
    sliding_window: int = _option()
    base: float = _option(500000)


@_bias
class LocalRopeKeys(Bias):
    """The same with sliding_window keys, the query's own among them. For `attention`."""

    method = "local_rope_keys"
    sliding_window: int = _option()
    base: float = _option(500000)


@_bias
class Cope(Bias):
    """b_ij = (1 - w) z_n + w z_{n+1}, z_n = q_i . position_embedding[h, n], n + w = min(sum of
    sigmoid(scale q_i . k_m) over the visible keys m >= j, positions - 1), 0 <= w < 1.

    Source: CoPE, equations 3-5. position_embedding [heads, positions, head_dim].
    """

    method = "cope"
    position_embedding: Any
    positions: int = _option(64)


@_bias
class DapeV1Alibi(Bias):
    """b = B + f([A; B]), A = scale q.k and B the Alibi of all heads: f is a linear map of the 2 heads
    channels of a key to `hidden` ones, LeakyReLU (max(x, x/100)), and a linear map to heads.

    Source: DAPE, equation 2. slopes [heads], hidden_weight [hidden, 2 heads, 1], hidden_bias [hidden],
    output_weight [heads, hidden, 1], output_bias [heads]. `hidden` must be the network's width.
    """

    method = "dape_v1_alibi"
    slopes: Any
    hidden_weight: Any
    hidden_bias: Any
    output_weight: Any
    output_bias: Any
    hidden: int = _option(32)


@_bias
class DapeV1KerpleLog(Bias):
    """DapeV1Alibi over KerpleLog: p, a [heads] in the place of slopes."""

    method = "dape_v1_kerple_log"
    p: Any
    a: Any
    hidden_weight: Any
    hidden_bias: Any
    output_weight: Any
    output_bias: Any
    hidden: int = _option(32)


@_bias
class DapeV1Cable(Bias):
    """DapeV1Alibi over Cable: increments [batch, heads, keys] and gain [batch, heads, queries]."""

    method = "dape_v1_cable"
    increments: Any
    gain: Any
    hidden_weight: Any
    hidden_bias: Any
    output_weight: Any
    output_bias: Any
    hidden: int = _option(32)


@_bias
class DapeV2Alibi(Bias):
    """DapeV1Alibi with convolutions of width 3 along the keys (weights [..., 3], element d meets key
    j + d - 1), A and B being 0 in f for keys after the query. Source: DAPE V2, with its code.
    """

    method = "dape_v2_alibi"
    slopes: Any
    hidden_weight: Any
    hidden_bias: Any
    output_weight: Any
    output_bias: Any
    hidden: int = _option(32)


@_bias
class DapeV2KerpleLog(Bias):
    """DapeV2Alibi over KerpleLog: p, a [heads] in the place of slopes."""

    method = "dape_v2_kerple_log"
    p: Any
    a: Any
    hidden_weight: Any
    hidden_bias: Any
    output_weight: Any
    output_bias: Any
    hidden: int = _option(32)


@_bias
class DapeV2Cable(Bias):
    """DapeV2Alibi over Cable: increments [batch, heads, keys] and gain [batch, heads, queries]."""

    method = "dape_v2_cable"
    increments: Any
    gain: Any
    hidden_weight: Any
    hidden_bias: Any
    output_weight: Any
    output_bias: Any
    hidden: int = _option(32)
