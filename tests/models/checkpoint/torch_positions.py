# SPDX-License-Identifier: Apache-2.0
"""Position methods in an attention layer, in PyTorch, from the formulas of the papers.

A method has
  parameters(name, heads)       as a model's (torch_models.py);
  bias(x, p, name, heads)       [heads, T, T], what is added to the scaled scores of the queries
                                (rows) and keys (columns); x [T, C] is the layer's input;
  rotated(q)                     what becomes of queries and keys [heads, T, D];
  visible(i, j)                 which keys a query may see besides the causal mask."""
import math

import torch


class Nope:
    """No bias."""

    def parameters(self, name, heads):
        return iter(())

    def bias(self, x, p, name, heads):
        return torch.zeros(())

    def rotated(self, q):
        return q

    def visible(self, i, j):
        return (i == i) & (j == j)


def differences(x):
    T = x.shape[0]
    return torch.arange(T)[:, None], torch.arange(T)[None, :]


class Alibi(Nope):
    """-m_h |i - j|; official slopes, for numbers of heads that are no power of two as well."""

    def slopes(self, heads):
        def powers(n):
            return [2.0 ** (-8 * (k + 1) / n) for k in range(n)]

        p = 2 ** int(math.log2(heads))
        return torch.tensor(powers(p) + powers(2 * p)[0::2][:heads - p], dtype=torch.float64)

    def bias(self, x, p, name, heads):
        i, j = differences(x)
        return -self.slopes(heads)[:, None, None] * (i - j).abs()


class Context(Nope):
    """Prefix sums S of increments, a linear map of x each: CABLE and its forms, FoX."""
    increment = "increment"

    def __init__(self, weighted, kernel):
        self.weighted, self.kernel = weighted, kernel

    def parameters(self, name, heads):
        for part in [self.increment] + ["gain"] * self.weighted:
            yield f"{name}.{part}.weight", (heads, "C"), "weight"
            yield f"{name}.{part}.bias", (heads,), "bias"

    def linear(self, x, p, name):
        return (x @ p[name + ".weight"].T + p[name + ".bias"]).T

    def steps(self, z):
        return z.relu()

    def bias(self, x, p, name, heads):
        S = torch.cumsum(self.steps(self.linear(x, p, f"{name}.{self.increment}")), 1)
        result = self.kernel(S[:, :, None] - S[:, None, :])
        if self.weighted:
            g = torch.nn.functional.softplus(self.linear(x, p, f"{name}.gain"), threshold=1000)
            result = g[:, :, None] * result
        return result


class Fox(Context):
    """c_i - c_j, c the prefix sums of log forget gates."""
    increment = "forget_gate"

    def __init__(self):
        super().__init__(False, lambda difference: difference)

    def steps(self, z):
        return torch.nn.functional.logsigmoid(z)


class Ggd(Nope):
    """-e^alpha (|(j - i) - mu| + 1e-5)^beta, mu = e^m - e^-m."""

    def parameters(self, name, heads):
        for part in ("theta_alpha", "theta_beta", "theta_mu"):
            yield f"{name}.{part}", (heads,), "bias"

    def bias(self, x, p, name, heads):
        i, j = differences(x)
        alpha, beta, m = (p[f"{name}.{part}"][:, None, None]
                          for part in ("theta_alpha", "theta_beta", "theta_mu"))
        mu = torch.exp(m) - torch.exp(-m)
        return -torch.exp(alpha) * ((j - i) - mu).abs().add(1e-5).pow(beta)


class Kerple(Nope):
    def __init__(self, kind):
        self.kind = kind

    def parameters(self, name, heads):
        yield f"{name}.p", (heads,), "positive"
        yield f"{name}.a", (heads,), "positive"

    def bias(self, x, p, name, heads):
        i, j = differences(x)
        power, a = p[f"{name}.p"][:, None, None], p[f"{name}.a"][:, None, None]
        n = (i - j).abs().double()
        return -power * torch.log1p(a * n) if self.kind == "log" else -a * n.pow(power)


class T5(Nope):
    """A table [heads, 32] by bucket of the distance; causal, or both directions."""

    def __init__(self, bidirectional):
        self.bidirectional = bidirectional

    def parameters(self, name, heads):
        yield f"{name}.table", (heads, 32), "weight"

    def bias(self, x, p, name, heads):
        i, j = differences(x)
        buckets = 16 if self.bidirectional else 32
        n = (i - j).abs() if self.bidirectional else (i - j).clamp(min=0)
        exact = buckets // 2
        steps = torch.log(n.double().clamp(min=1) / exact) / math.log(128 / exact)
        large = (exact + (steps * (buckets - exact)).long()).clamp(max=buckets - 1)
        bucket = torch.where(n < exact, n, large)
        if self.bidirectional:
            bucket = bucket + 16 * (j > i).long()
        return p[f"{name}.table"][:, bucket]


class Fire(Nope):
    """An MLP of ln(|c (i-j)| + 1) / (ln(|c max(i, |L L0|)| + 1) + 1e-6), L0 = 512."""

    def parameters(self, name, heads):
        yield f"{name}.hidden.weight", (32,), "weight"
        yield f"{name}.hidden.bias", (32,), "bias"
        yield f"{name}.output.weight", (heads, 32), "weight"
        yield f"{name}.output.bias", (heads,), "bias"
        yield f"{name}.c", (1,), "positive"
        yield f"{name}.L", (1,), "positive"

    def bias(self, x, p, name, heads):
        i, j = differences(x)
        c, L = p[f"{name}.c"], p[f"{name}.L"]
        reach = torch.maximum(i.double(), (L * 512.0).abs())
        ratio = torch.log1p((c * (i - j)).abs()) / (torch.log1p((c * reach).abs()) + 1e-6)
        hidden = (ratio[..., None] * p[f"{name}.hidden.weight"] + p[f"{name}.hidden.bias"]).relu()
        return (hidden @ p[f"{name}.output.weight"].T + p[f"{name}.output.bias"]).permute(2, 0, 1)


class Rope(Nope):
    """Pairs rotated by the angle t base^(-2k/D); a window hides keys with |i - j| > window."""

    def __init__(self, half_split=False, base=10000.0, window=None):
        self.half_split, self.base, self.window = half_split, base, window

    def rotated(self, q):
        T, D = q.shape[1:]
        angle = torch.arange(T).double()[:, None] * self.base ** (
            -torch.arange(0, D, 2).double() / D)
        cos, sin = angle.cos(), angle.sin()
        a, b = q[..., ::2], q[..., 1::2]
        if self.half_split:
            a, b = q[..., :D // 2], q[..., D // 2:]
        rotated = (a * cos - b * sin, a * sin + b * cos)
        if self.half_split:
            return torch.cat(rotated, -1)
        return torch.stack(rotated, -1).flatten(-2)

    def visible(self, i, j):
        return (i - j).abs() <= (10 ** 9 if self.window is None else self.window)


def negative_distance(difference):
    return -difference.abs()


def k_cable(difference):
    return -torch.log1p(difference ** 2)


POSITIONS = {
    "nope": Nope(), "alibi": Alibi(), "ggd": Ggd(), "fire": Fire(), "fox": Fox(),
    "cable": Context(True, negative_distance), "cable_nw": Context(False, negative_distance),
    "k_cable": Context(True, k_cable), "k_cable_nw": Context(False, k_cable),
    "kerple_log": Kerple("log"), "kerple_power": Kerple("power"),
    "t5": T5(False), "t5_bidirectional": T5(True),
    "rope": Rope(), "rope_half_split": Rope(True), "rope_local": Rope(base=500000.0, window=3)}
