# SPDX-License-Identifier: Apache-2.0
"""The position methods, one class each: what is added to the score of the query at position i and the
key at position j. h is the head, x = |i - j|, g the gain; S_i and F_i are the sums of increments[0..i]
and log_forget[0..i].

Written from kernel_abi/methods.hpp by PLUMBLINE_RENEW=1 ./plumbline test -R python_package.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Optional

from ._bias import Bias, option

__all__ = [
    "Nope", "Alibi", "Cable", "CableNw", "KCable", "KCableNw", "Ggd", "KerpleLog", "KerplePower",
    "T5", "T5Bidirectional", "T5Clipped", "T5ClippedOffset", "Fire", "Fox", "CablePaper",
    "CableNwPaper", "KCablePaper", "Cope", "Sandwich", "BiasTensor", "RopeInterleaved",
    "RopeHalfSplit", "DapeV1Alibi", "DapeV1Cable", "DapeV1KerpleLog", "DapeV2Alibi", "DapeV2Cable",
    "DapeV2KerpleLog",
]


@dataclasses.dataclass(frozen=True, eq=False)
class Nope(Bias):
    """b_ij = 0."""

    method = "nope"


@dataclasses.dataclass(frozen=True, eq=False)
class Alibi(Bias):
    """b_ij = -slopes[h] x.

    Source: ALiBi, section 3; x for encoders too. slopes [heads].
    """

    method = "alibi"
    slopes: Optional[Any] = None


@dataclasses.dataclass(frozen=True, eq=False)
class Cable(Bias):
    """b_ij = -g_i |S_i - S_j|.

    Source: CABLE, equations 2-7, with the sign of its code. increments [batch, heads, keys] >=
    0, gain [batch, heads, queries] >= 0.
    """

    method = "cable"
    increments: Any
    gain: Any


@dataclasses.dataclass(frozen=True, eq=False)
class CableNw(Bias):
    """b_ij = -|S_i - S_j|.

    Source: CABLE without weights. increments [batch, heads, keys] >= 0.
    """

    method = "cable_nw"
    increments: Any


@dataclasses.dataclass(frozen=True, eq=False)
class KCable(Bias):
    """b_ij = -g_i ln(1 + (S_i - S_j)^2).

    Source: CABLE's kernel form, the weight outside as in its code. increments [batch, heads,
    keys] >= 0, gain [batch, heads, queries] >= 0.
    """

    method = "k_cable"
    increments: Any
    gain: Any


@dataclasses.dataclass(frozen=True, eq=False)
class KCableNw(Bias):
    """b_ij = -ln(1 + (S_i - S_j)^2).

    Source: CABLE's kernel form without weights. increments [batch, heads, keys] >= 0.
    """

    method = "k_cable_nw"
    increments: Any


@dataclasses.dataclass(frozen=True, eq=False)
class Ggd(Bias):
    """b_ij = -exp(theta_alpha) (|j - i - mu| + epsilon)^theta_beta, mu = exp(theta_mu) -
    exp(-theta_mu).

    Source: BAM, section 3 and appendix C: the generalised Gaussian prior. theta_alpha [heads],
    theta_beta [heads], theta_mu [heads].
    """

    method = "ggd"
    theta_alpha: Any
    theta_beta: Any
    theta_mu: Any
    epsilon: float = option(1e-05)


@dataclasses.dataclass(frozen=True, eq=False)
class KerpleLog(Bias):
    """b_ij = -p ln(1 + a x).

    Source: KERPLE, its logarithmic form. p [heads] >= 0.01, a [heads] >= 0.01.
    """

    method = "kerple_log"
    p: Any
    a: Any


@dataclasses.dataclass(frozen=True, eq=False)
class KerplePower(Bias):
    """b_ij = -a x^p, 0 for x = 0.

    Source: KERPLE, its power form. p [heads] >= 0.01, <= 2, a [heads] >= 0.01.
    """

    method = "kerple_power"
    p: Any
    a: Any


@dataclasses.dataclass(frozen=True, eq=False)
class T5(Bias):
    """b_ij = table[h, bucket(max(i - j, 0))], n in bucket n below E = floor(buckets / 2), else in
    min(buckets - 1, E + floor(ln(n / E) / ln(max_distance / E) (buckets - E))), evaluated
    exactly.

    Source: T5, relative_position_bucket for decoders; T5 itself has scale 1. table [heads,
    buckets].
    """

    method = "t5"
    table: Any
    buckets: int = option(32)
    max_distance: int = option(128)


@dataclasses.dataclass(frozen=True, eq=False)
class T5Bidirectional(Bias):
    """b_ij = t5 with buckets / 2 for x, and the other half of the table where j > i.

    Source: T5, relative_position_bucket for encoders. table [heads, buckets].
    """

    method = "t5_bidirectional"
    table: Any
    buckets: int = option(32)
    max_distance: int = option(128)


@dataclasses.dataclass(frozen=True, eq=False)
class T5Clipped(Bias):
    """b_ij = table[h, min(max(i - j, 0), largest)].

    Source: T5 as CABLE's article has it. table [heads, largest + 1].
    """

    method = "t5_clipped"
    table: Any
    largest: int = option(256)


@dataclasses.dataclass(frozen=True, eq=False)
class T5ClippedOffset(Bias):
    """b_ij = table[h, largest + clamp(i - j, -largest, largest)].

    Source: T5 as CABLE's code has it. table [heads, 2 largest + 1].
    """

    method = "t5_clipped_offset"
    table: Any
    largest: int = option(256)


@dataclasses.dataclass(frozen=True, eq=False)
class Fire(Bias):
    """b_ij = output_bias[h] + sum_w output_weight[h, w] max(0, hidden_weight[w] y +
    hidden_bias[w]), y = ln(1 + |c| x) / (ln(1 + |c| max(i, |L L0|)) + epsilon).

    Source: FIRE, equation 8, with the constants of its code. hidden_weight [hidden],
    hidden_bias [hidden], output_weight [heads, hidden], output_bias [heads], c [1], not 0, L
    [1], not 0.
    """

    method = "fire"
    hidden_weight: Any
    hidden_bias: Any
    output_weight: Any
    output_bias: Any
    c: Any
    L: Any
    hidden: int = option(32)
    L0: float = option(512)
    epsilon: float = option(1e-06)


@dataclasses.dataclass(frozen=True, eq=False)
class Fox(Bias):
    """b_ij = F_i - F_j, under a causal mask only.

    Source: Forgetting Transformer, equation 5; log_forget is the logarithm of the gates.
    log_forget [batch, heads, keys] <= 0.
    """

    method = "fox"
    log_forget: Any


@dataclasses.dataclass(frozen=True, eq=False)
class CablePaper(Bias):
    """b_ij = +g_i (S_i - S_j), below 0 for j > i.

    Source: CABLE, equations 2-7 as printed, which reward distance. increments [batch, heads,
    keys] >= 0, gain [batch, heads, queries] >= 0.
    """

    method = "cable_paper"
    increments: Any
    gain: Any


@dataclasses.dataclass(frozen=True, eq=False)
class CableNwPaper(Bias):
    """b_ij = +(S_i - S_j), below 0 for j > i.

    Source: CABLE without weights, as printed. increments [batch, heads, keys] >= 0.
    """

    method = "cable_nw_paper"
    increments: Any


@dataclasses.dataclass(frozen=True, eq=False)
class KCablePaper(Bias):
    """b_ij = -ln(1 + (g_i (S_i - S_j))^2).

    Source: CABLE's kernel form as printed, the weight inside. increments [batch, heads, keys]
    >= 0, gain [batch, heads, queries] >= 0.
    """

    method = "k_cable_paper"
    increments: Any
    gain: Any


@dataclasses.dataclass(frozen=True, eq=False)
class Cope(Bias):
    """b_ij = (1 - w) z_n + w z_(n+1), z_n = q_i . position_embedding[h, n], n + w = min(sum of 1 /
    (1 + exp(-scale q_i . k_m)) over the visible keys m >= j, positions - 1), 0 <= w < 1.

    Source: CoPE, equations 3-5. position_embedding [heads, positions, head_dim].
    """

    method = "cope"
    position_embedding: Any
    positions: int = option(64)


@dataclasses.dataclass(frozen=True, eq=False)
class Sandwich(Bias):
    """b_ij = (sum over k = 1 .. 64 of cos(x 10000^(-k / 64)) - 64) / compression[h].

    Source: Sandwich (Chi et al., ACL 2023), with 128 numbers an embedding, and 64 taken away as
    in its code. compression [heads] >= 0, not 0.
    """

    method = "sandwich"
    compression: Any


@dataclasses.dataclass(frozen=True, eq=False)
class BiasTensor(Bias):
    """b_ij = tensor[b, h, r, j] of query row r; an axis of size 1 has the same number for all.

    Source: the attention mask of floats that PyTorch, JAX and others add to the scaled scores.
    tensor [batch or 1, heads or 1, queries or 1, keys].
    """

    method = "bias_tensor"
    tensor: Any


@dataclasses.dataclass(frozen=True, eq=False)
class RopeInterleaved(Bias):
    """b_ij = 0; q and k are rotated: components (2k, 2k + 1) by position base^(-2k / rotary_dim).

    Source: RoFormer, equation 15; head_dim is even.
    """

    method = "rope_interleaved"
    base: float = option(10000)


@dataclasses.dataclass(frozen=True, eq=False)
class RopeHalfSplit(Bias):
    """b_ij = 0; q and k are rotated: components (k, k + rotary_dim / 2) by position base^(-2k /
    rotary_dim).

    Source: RoFormer, as GPT-NeoX and LLaMA's code have it; head_dim is even.
    """

    method = "rope_half_split"
    base: float = option(10000)


@dataclasses.dataclass(frozen=True, eq=False)
class DapeV1Alibi(Bias):
    """b_ij = B + f([A; B]), A = scale q.k and B = -slopes[h] x of all heads and keys; f is a
    convolution along the keys from 2 heads to hidden channels, LeakyReLU (max(x, x / 100)), and
    one to heads, both 1 wide.

    Source: DAPE, equation 2. slopes [heads], hidden_weight [hidden, 2 heads, width of the
    convolution], hidden_bias [hidden], output_weight [heads, hidden, width of the convolution],
    output_bias [heads].
    """

    method = "dape_v1_alibi"
    slopes: Any
    hidden_weight: Any
    hidden_bias: Any
    output_weight: Any
    output_bias: Any
    hidden: int = option(32)


@dataclasses.dataclass(frozen=True, eq=False)
class DapeV1Cable(Bias):
    """b_ij = B + f([A; B]), A = scale q.k and B = -g_i |S_i - S_j| of all heads and keys; f is a
    convolution along the keys from 2 heads to hidden channels, LeakyReLU (max(x, x / 100)), and
    one to heads, both 1 wide.

    Source: DAPE, equation 2. increments [batch, heads, keys] >= 0, gain [batch, heads, queries]
    >= 0, hidden_weight [hidden, 2 heads, width of the convolution], hidden_bias [hidden],
    output_weight [heads, hidden, width of the convolution], output_bias [heads].
    """

    method = "dape_v1_cable"
    increments: Any
    gain: Any
    hidden_weight: Any
    hidden_bias: Any
    output_weight: Any
    output_bias: Any
    hidden: int = option(32)


@dataclasses.dataclass(frozen=True, eq=False)
class DapeV1KerpleLog(Bias):
    """b_ij = B + f([A; B]), A = scale q.k and B = -p ln(1 + a x) of all heads and keys; f is a
    convolution along the keys from 2 heads to hidden channels, LeakyReLU (max(x, x / 100)), and
    one to heads, both 1 wide.

    Source: DAPE, equation 2. p [heads] >= 0.01, a [heads] >= 0.01, hidden_weight [hidden, 2
    heads, width of the convolution], hidden_bias [hidden], output_weight [heads, hidden, width
    of the convolution], output_bias [heads].
    """

    method = "dape_v1_kerple_log"
    p: Any
    a: Any
    hidden_weight: Any
    hidden_bias: Any
    output_weight: Any
    output_bias: Any
    hidden: int = option(32)


@dataclasses.dataclass(frozen=True, eq=False)
class DapeV2Alibi(Bias):
    """b_ij = B + f([A; B]), A = scale q.k and B = -slopes[h] x of all heads and keys; f is a
    convolution along the keys from 2 heads to hidden channels, LeakyReLU (max(x, x / 100)), and
    one to heads, both 3 wide (element d meets key j + d - 1), with A and B 0 in f for keys
    after the query.

    Source: DAPE V2, with its code. slopes [heads], hidden_weight [hidden, 2 heads, width of the
    convolution], hidden_bias [hidden], output_weight [heads, hidden, width of the convolution],
    output_bias [heads].
    """

    method = "dape_v2_alibi"
    slopes: Any
    hidden_weight: Any
    hidden_bias: Any
    output_weight: Any
    output_bias: Any
    hidden: int = option(32)


@dataclasses.dataclass(frozen=True, eq=False)
class DapeV2Cable(Bias):
    """b_ij = B + f([A; B]), A = scale q.k and B = -g_i |S_i - S_j| of all heads and keys; f is a
    convolution along the keys from 2 heads to hidden channels, LeakyReLU (max(x, x / 100)), and
    one to heads, both 3 wide (element d meets key j + d - 1), with A and B 0 in f for keys
    after the query.

    Source: DAPE V2, with its code. increments [batch, heads, keys] >= 0, gain [batch, heads,
    queries] >= 0, hidden_weight [hidden, 2 heads, width of the convolution], hidden_bias
    [hidden], output_weight [heads, hidden, width of the convolution], output_bias [heads].
    """

    method = "dape_v2_cable"
    increments: Any
    gain: Any
    hidden_weight: Any
    hidden_bias: Any
    output_weight: Any
    output_bias: Any
    hidden: int = option(32)


@dataclasses.dataclass(frozen=True, eq=False)
class DapeV2KerpleLog(Bias):
    """b_ij = B + f([A; B]), A = scale q.k and B = -p ln(1 + a x) of all heads and keys; f is a
    convolution along the keys from 2 heads to hidden channels, LeakyReLU (max(x, x / 100)), and
    one to heads, both 3 wide (element d meets key j + d - 1), with A and B 0 in f for keys
    after the query.

    Source: DAPE V2, with its code. p [heads] >= 0.01, a [heads] >= 0.01, hidden_weight [hidden,
    2 heads, width of the convolution], hidden_bias [hidden], output_weight [heads, hidden,
    width of the convolution], output_bias [heads].
    """

    method = "dape_v2_kerple_log"
    p: Any
    a: Any
    hidden_weight: Any
    hidden_bias: Any
    output_weight: Any
    output_bias: Any
    hidden: int = option(32)
