# SPDX-License-Identifier: Apache-2.0
"""The papers' formulas once more, in NumPy and by hand: what the tests compare with."""
import numpy as np


def positions(queries, keys):
    """i and j of every pair, the last query at the last key."""
    return np.arange(keys - queries, keys)[:, None], np.arange(keys)[None, :]


def alibi(slopes, queries, keys):
    """-m |i - j|: ALiBi, section 3."""
    i, j = positions(queries, keys)
    return -np.asarray(slopes)[None, :, None, None] * np.abs(i - j)


def prefix_distance(increments, queries):
    """S_i - S_j of every pair, S the inclusive sum."""
    s = np.cumsum(increments, axis=-1)
    return s[..., s.shape[-1] - queries :, None] - s[..., None, :]


def cable(increments, gain):
    """-g_i |S_i - S_j|: CABLE, equations 2-7, with the sign of its code."""
    return -gain[..., None] * np.abs(prefix_distance(increments, gain.shape[-1]))


def ggd(alpha, beta, mu, epsilon, queries, keys):
    """-e^alpha (|j - i - mu| + epsilon)^beta, mu = e^mu - e^-mu: BAM, appendix C."""
    i, j = positions(queries, keys)
    alpha, beta, mu = (np.asarray(x)[None, :, None, None] for x in (alpha, beta, mu))
    return -np.exp(alpha) * (np.abs(j - i - (np.exp(mu) - np.exp(-mu))) + epsilon) ** beta


def kerple_log(p, a, queries, keys):
    """-p ln(1 + a |i - j|): KERPLE."""
    i, j = positions(queries, keys)
    p, a = (np.asarray(x)[None, :, None, None] for x in (p, a))
    return -p * np.log(1 + a * np.abs(i - j))


def rope_half_split(x, first, base):
    """Components (k, k + D/2) rotated by position base^(-2k/D): RoFormer, equation 15."""
    half = x.shape[-1] // 2
    angle = (first + np.arange(x.shape[-2]))[:, None] * base ** (-np.arange(half) / half)
    low, high = x[..., :half], x[..., half:]
    return np.concatenate(
        [low * np.cos(angle) - high * np.sin(angle), low * np.sin(angle) + high * np.cos(angle)], -1
    )


def attention(q, k, v, bias=0.0, causal=True, ssmax_scale=None):
    """softmax(q k^T / sqrt(D) + b) v and its logarithmic sum."""
    i, j = positions(q.shape[2], k.shape[2])
    groups = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, groups, 1), np.repeat(v, groups, 1)
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.dtype.type(q.shape[-1])) + bias
    if ssmax_scale is not None:
        seen = (j <= i).sum(-1) if causal else np.full(q.shape[2], k.shape[2])
        s = s * (np.asarray(ssmax_scale)[:, None, None] * np.log(seen)[:, None])
    if causal:
        s = np.where(j <= i, s, -np.inf)
    m = s.max(-1, keepdims=True)
    p = np.exp(s - m)
    total = p.sum(-1, keepdims=True)
    return p @ v / total, (m + np.log(total))[..., 0]
