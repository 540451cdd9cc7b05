# SPDX-License-Identifier: Apache-2.0
"""The position methods, with their parameters. i is the query's position, j the key's, h the head."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Optional

import numpy as np
from numpy.typing import NDArray

from . import _native

_OPTION = {"option": True}


def option(default: Any = dataclasses.MISSING) -> Any:
    """A field that is one of the method's options."""
    return dataclasses.field(default=default, metadata=_OPTION)


def alibi_slopes(heads: int, *, geometric: bool = False) -> NDArray[Any]:
    """The slopes of ALiBi, float64 [heads].

    With P the largest power of two up to heads: m_k = 2^(-8 (k+1) / P) for k < P, then those of 2P,
    every second one from the first on. Source: Press, Smith, Lewis, "Train Short, Test Long",
    section 3, and its code. `geometric`: 2^(-8 (k+1) / heads) for every number of heads instead.

    A kernel in float32 reads these numbers rounded; give the oracle the same ones.

    Raises ValueError unless heads >= 1.
    """
    return np.array(_native.alibi_slopes(heads, geometric))


class Bias:
    """A position method with its parameters: what its subclasses name.

    Those are dataclasses that are compared by identity: arrays have no truth value.
    """

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


@dataclasses.dataclass(frozen=True, eq=False)
class Nope(Bias):
    """b = 0."""

    method = "nope"


@dataclasses.dataclass(frozen=True, eq=False)
class Alibi(Bias):
    """b_ij = -slopes[h] |i - j|. Source: ALiBi, section 3 (|i - j| for encoders).

    slopes [heads]; without: alibi_slopes(heads). They are constants: no gradient is given of them.
    """

    method = "alibi"
    slopes: Optional[Any] = None

    def parameters(self, heads: int) -> dict[str, Any]:
        return {"slopes": alibi_slopes(heads) if self.slopes is None else self.slopes}


@dataclasses.dataclass(frozen=True, eq=False)
class AlibiGeometric(Bias):
    """ALiBi with the slopes 2^(-8 (h+1) / heads) of the article for every number of heads."""

    method = "alibi_geometric"


@dataclasses.dataclass(frozen=True, eq=False)
class Cable(Bias):
    """b_ij = -gain_i |S_i - S_j|, S the inclusive prefix sum of increments.

    Source: CABLE, equations 2-7, with the sign of its published code; the absolute value is for
    encoders. increments [batch, heads, keys] >= 0 (ReLU), gain [batch, heads, queries] >= 0 (softplus).
    """

    method = "cable"
    increments: Any
    gain: Any


@dataclasses.dataclass(frozen=True, eq=False)
class CableNw(Bias):
    """b_ij = -|S_i - S_j|: CABLE without weights. increments [batch, heads, keys] >= 0."""

    method = "cable_nw"
    increments: Any


@dataclasses.dataclass(frozen=True, eq=False)
class KCable(Bias):
    """b_ij = -gain_i ln(1 + (S_i - S_j)^2): CABLE's kernel form, the weight outside as in its code.

    increments [batch, heads, keys] >= 0, gain [batch, heads, queries] >= 0.
    """

    method = "k_cable"
    increments: Any
    gain: Any


@dataclasses.dataclass(frozen=True, eq=False)
class KCableNw(Bias):
    """b_ij = -ln(1 + (S_i - S_j)^2). increments [batch, heads, keys] >= 0."""

    method = "k_cable_nw"
    increments: Any


@dataclasses.dataclass(frozen=True, eq=False)
class CablePaper(Bias):
    """b_ij = +gain_i (S_i - S_j): CABLE's equations 2-7 as printed, which reward distance.

    increments [batch, heads, keys] >= 0, gain [batch, heads, queries] >= 0.
    """

    method = "cable_paper"
    increments: Any
    gain: Any


@dataclasses.dataclass(frozen=True, eq=False)
class CableNwPaper(Bias):
    """b_ij = +(S_i - S_j), as printed. increments [batch, heads, keys] >= 0."""

    method = "cable_nw_paper"
    increments: Any


@dataclasses.dataclass(frozen=True, eq=False)
class KCablePaper(Bias):
    """b_ij = -ln(1 + (gain_i (S_i - S_j))^2): the weight inside, as printed.

    increments [batch, heads, keys] >= 0, gain [batch, heads, queries] >= 0.
    """

    method = "k_cable_paper"
    increments: Any
    gain: Any


@dataclasses.dataclass(frozen=True, eq=False)
class Ggd(Bias):
    """b_ij = -exp(theta_alpha) (|j - i - mu| + epsilon)^theta_beta, mu = exp(theta_mu) - exp(-theta_mu).

    Source: BAM, section 3 and appendix C: the generalised Gaussian prior. All parameters [heads].
    """

    method = "ggd"
    theta_alpha: Any
    theta_beta: Any
    theta_mu: Any
    epsilon: float = option(1e-5)


@dataclasses.dataclass(frozen=True, eq=False)
class KerpleLog(Bias):
    """b_ij = -p ln(1 + a |i - j|). Source: KERPLE, its logarithmic form. p, a [heads] >= 0.01."""

    method = "kerple_log"
    p: Any
    a: Any


@dataclasses.dataclass(frozen=True, eq=False)
class KerplePower(Bias):
    """b_ij = -a |i - j|^p. Source: KERPLE, its power form. p in [0.01, 2], a >= 0.01, both [heads]."""

    method = "kerple_power"
    p: Any
    a: Any


@dataclasses.dataclass(frozen=True, eq=False)
class T5(Bias):
    """b_ij = table[h, bucket(max(i - j, 0))]. Source: T5, relative_position_bucket for decoders.

    E = buckets // 2; n < E has bucket n, others min(buckets - 1, E + trunc(ln(n/E) / ln(max_distance/E)
    (buckets - E))). table [heads, buckets]. T5 itself has scale 1.
    """

    method = "t5"
    table: Any
    buckets: int = option(32)
    max_distance: int = option(128)


@dataclasses.dataclass(frozen=True, eq=False)
class T5Bidirectional(Bias):
    """T5 for encoders: half of the buckets for |i - j|, the other half where j > i.

    table [heads, buckets].
    """

    method = "t5_bidirectional"
    table: Any
    buckets: int = option(32)
    max_distance: int = option(128)


@dataclasses.dataclass(frozen=True, eq=False)
class T5Clipped(Bias):
    """b_ij = table[h, min(max(i - j, 0), largest)], as CABLE's article has T5.

    table [heads, largest + 1].
    """

    method = "t5_clipped"
    table: Any
    largest: int = option(256)


@dataclasses.dataclass(frozen=True, eq=False)
class T5ClippedOffset(Bias):
    """b_ij = table[h, largest + clamp(i - j, -largest, largest)], as CABLE's code has T5.

    table [heads, 2 largest + 1].
    """

    method = "t5_clipped_offset"
    table: Any
    largest: int = option(256)


@dataclasses.dataclass(frozen=True, eq=False)
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
    hidden: int = option(32)
    L0: float = option(512)
    epsilon: float = option(1e-6)


@dataclasses.dataclass(frozen=True, eq=False)
class Fox(Bias):
    """b_ij = F_i - F_j, F the inclusive prefix sum of log_forget; under a causal mask only.

    Source: Forgetting Transformer, equation 5. log_forget [batch, heads, keys] <= 0: the logarithms of
    the gates.
    """

    method = "fox"
    log_forget: Any
