# SPDX-License-Identifier: Apache-2.0
"""RoPE: queries and keys are turned by their positions, and nothing is added to their products."""

from __future__ import annotations

import dataclasses

from ._biases import Bias, option


@dataclasses.dataclass(frozen=True, eq=False)
class RopeInterleaved(Bias):
    """Queries and keys turned before the product: components (2k, 2k+1) by position base^(-2k/head_dim).

    Source: RoFormer, equation 15. head_dim is even.
    """

    method = "rope_interleaved"
    base: float = option(10000)


@dataclasses.dataclass(frozen=True, eq=False)
class RopeHalfSplit(Bias):
    """RoPE of the components (k, k + head_dim/2), as GPT-NeoX and LLaMA's code have it."""

    method = "rope_half_split"
    base: float = option(10000)


@dataclasses.dataclass(frozen=True, eq=False)
class LocalRope(Bias):
    """BAM's baseline: interleaved RoPE, causal, keys with i - j <= sliding_window. For `attention`.

    The mask is the method's own: `causal` and `window` are not looked at.
    """

    method = "local_rope"
    sliding_window: int = option()
    base: float = option(500000)


@dataclasses.dataclass(frozen=True, eq=False)
class LocalRopeKeys(Bias):
    """The same with sliding_window keys, the query's own among them. For `attention`."""

    method = "local_rope_keys"
    sliding_window: int = option()
    base: float = option(500000)
