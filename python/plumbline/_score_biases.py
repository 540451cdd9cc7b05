# SPDX-License-Identifier: Apache-2.0
"""The methods whose bias depends on the scores themselves: CoPE and DAPE."""

from __future__ import annotations

import dataclasses
from typing import Any

from ._biases import Bias, option


@dataclasses.dataclass(frozen=True, eq=False)
class Cope(Bias):
    """b_ij = (1 - w) z_n + w z_{n+1}, z_n = q_i . position_embedding[h, n], n + w = min(sum of
    sigmoid(scale q_i . k_m) over the visible keys m >= j, positions - 1), 0 <= w < 1.

    Source: CoPE, equations 3-5. position_embedding [heads, positions, head_dim].
    """

    method = "cope"
    position_embedding: Any
    positions: int = option(64)


@dataclasses.dataclass(frozen=True, eq=False)
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
    hidden: int = option(32)


@dataclasses.dataclass(frozen=True, eq=False)
class DapeV1KerpleLog(Bias):
    """DapeV1Alibi over KerpleLog: p, a [heads] in the place of slopes."""

    method = "dape_v1_kerple_log"
    p: Any
    a: Any
    hidden_weight: Any
    hidden_bias: Any
    output_weight: Any
    output_bias: Any
    hidden: int = option(32)


@dataclasses.dataclass(frozen=True, eq=False)
class DapeV1Cable(Bias):
    """DapeV1Alibi over Cable: increments [batch, heads, keys] and gain [batch, heads, queries]."""

    method = "dape_v1_cable"
    increments: Any
    gain: Any
    hidden_weight: Any
    hidden_bias: Any
    output_weight: Any
    output_bias: Any
    hidden: int = option(32)


@dataclasses.dataclass(frozen=True, eq=False)
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
    hidden: int = option(32)


@dataclasses.dataclass(frozen=True, eq=False)
class DapeV2KerpleLog(Bias):
    """DapeV2Alibi over KerpleLog: p, a [heads] in the place of slopes."""

    method = "dape_v2_kerple_log"
    p: Any
    a: Any
    hidden_weight: Any
    hidden_bias: Any
    output_weight: Any
    output_bias: Any
    hidden: int = option(32)


@dataclasses.dataclass(frozen=True, eq=False)
class DapeV2Cable(Bias):
    """DapeV2Alibi over Cable: increments [batch, heads, keys] and gain [batch, heads, queries]."""

    method = "dape_v2_cable"
    increments: Any
    gain: Any
    hidden_weight: Any
    hidden_bias: Any
    output_weight: Any
    output_bias: Any
    hidden: int = option(32)
