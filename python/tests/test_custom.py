# SPDX-License-Identifier: Apache-2.0
"""Custom biases: the oracle against methods that it knows, kernels in float32, and what is refused."""
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import plumbline
from formulas import attention
from plumbline.formula import exp, floor, log1p, maximum, minimum, sqrt, tanh, where

HEAD = plumbline.per_head(0.1, 2)


def drawn(shape, seed, least=0.1, most=2):
    return np.random.default_rng(seed).uniform(least, most, shape)


def qkv(heads=3, queries=7, keys=11, head_dim=8, batch=2, seed=5):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((batch, heads, n, head_dim)) for n in (queries, keys, keys)]


# A method that the oracle knows, and the same as a formula: (the method, the formula's bias).
def of_kerple():
    r, a = drawn(3, 1), drawn(3, 2)
    custom = plumbline.Custom(lambda i, j, p: -p.r * log1p(p.a * abs(i - j)), r=HEAD, a=HEAD)
    return plumbline.KerpleLog(p=r, a=a), custom(r=r, a=a), {"p": "r", "a": "a"}


def of_kerple_power():
    r, a = drawn(3, 1), drawn(3, 2)
    custom = plumbline.Custom("-a * abs(i - j) ** r", r=HEAD, a=HEAD)
    return plumbline.KerplePower(p=r, a=a), custom(r=r, a=a), {"p": "r", "a": "a"}


def of_ggd():
    alpha, beta, mu = drawn(3, 1, -1, 1), drawn(3, 2, -1, 1.5), drawn(3, 3, -0.2, 0.2)
    custom = plumbline.Custom(
        lambda i, j, p: -exp(p.alpha) * (abs(j - i - (exp(p.mu) - exp(-p.mu))) + 1e-5) ** p.beta,
        alpha=plumbline.per_head(normal=1), beta=plumbline.per_head(-1, 1.5), mu=plumbline.per_head(-0.2, 0.2))
    return (plumbline.Ggd(alpha, beta, mu), custom(alpha=alpha, beta=beta, mu=mu),
            {"theta_alpha": "alpha", "theta_beta": "beta", "theta_mu": "mu"})


def of_cable():
    x, g = drawn((2, 3, 11), 1, 0), drawn((2, 3, 7), 2)
    custom = plumbline.Custom(lambda i, j, p: -p.g[i] * abs(p.x), x=plumbline.prefix_sum(0, 1), g=plumbline.per_query(0.1, 2))
    return plumbline.Cable(x, g), custom(x=x, g=g), {"increments": "x", "gain": "g"}


def of_k_cable():
    x, g = drawn((2, 3, 11), 1, 0), drawn((2, 3, 7), 2)
    custom = plumbline.Custom("-log1p((g[i] * x) ** 2)", x=plumbline.prefix_sum(0, 1), g=plumbline.per_query(0.1, 2))
    return plumbline.KCablePaper(x, g), custom(x=x, g=g), {"increments": "x", "gain": "g"}


def of_fire_of_one_unit():
    """FIRE with a hidden layer of one unit that never is at its kink."""
    w, b, v, v0 = drawn(1, 1), drawn(1, 2), drawn(3, 3), drawn(3, 4)
    c, L = np.array([0.25]), np.array([0.01])
    fire = plumbline.Fire(w, b, v[:, None], v0, c, L, hidden=1, L0=64.0, epsilon=1e-6)
    custom = plumbline.Custom(
        lambda i, j, p: p.v0 + p.out * maximum(0, p.b + p.w * (
            log1p(abs(p.c) * abs(i - j)) / (log1p(abs(p.c) * maximum(i, abs(p.L * 64))) + 1e-6))),
        w=plumbline.shared(0.1, 2), b=plumbline.shared(0.1, 2), out=HEAD, v0=HEAD, c=plumbline.shared(0.1, 1),
        L=plumbline.shared(0.001, 0.02))
    return fire, custom(w=w, b=b, out=v, v0=v0, c=c, L=L), {
        "hidden_weight": "w", "hidden_bias": "b", "output_weight": "out", "output_bias": "v0", "c": "c", "L": "L"}


def of_clipped_t5():
    """A table of three rows, taken apart by where."""
    rows = [drawn(3, seed) for seed in (1, 2, 3)]
    custom = plumbline.Custom(
        lambda i, j, p: where(i - j <= 0, p.t0, where(i - j == 1, p.t1, p.t2)), t0=HEAD, t1=HEAD, t2=HEAD)
    t5 = plumbline.T5Clipped(np.stack(rows, 1), largest=2)
    return t5, custom(t0=rows[0], t1=rows[1], t2=rows[2]), {"table": ("t0", "t1", "t2")}


@pytest.mark.parametrize("pair", [of_kerple, of_kerple_power, of_ggd, of_cable, of_k_cable, of_fire_of_one_unit,
                                  of_clipped_t5])
@pytest.mark.parametrize("causal", [True, False])
def test_the_oracle_of_a_formula_is_that_of_the_method_it_writes_out(pair, causal):
    method, custom, names = pair()
    q, k, v = qkv()
    grad_o = np.random.default_rng(9).standard_normal(q.shape)
    known = plumbline.attention(q, k, v, method, causal=causal)
    written = plumbline.attention(q, k, v, custom, causal=causal)
    np.testing.assert_allclose(written.o, known.o, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(written.lse, known.lse, rtol=1e-12)
    known, written = known.backward(grad_o), written.backward(grad_o)
    np.testing.assert_allclose(written.q, known.q, rtol=1e-10, atol=1e-12)
    for name, own in names.items():
        got = (written.parameters[own] if isinstance(own, str)
               else np.stack([written.parameters[one] for one in own], 1))
        np.testing.assert_allclose(got.ravel(), known.parameters[name].ravel(), rtol=1e-9, atol=1e-11, err_msg=own)


def test_numbers_of_keys_of_the_head_and_of_comparisons():
    """w_j - w_i, h, floor, //, min, sqrt and comparisons against the same in NumPy."""
    custom = plumbline.Custom(
        lambda i, j, p: p.w[j] - p.w[i] + 0.25 * p.h + 0.5 * floor(j / 4) - (i // 3) * (i >= j)
        + minimum(p.s, 1.5) * sqrt(1 + abs(i - j)) + tanh(p.s * (j != i)),
        w=plumbline.per_key(normal=1), s=plumbline.shared(0.1, 2))
    q, k, v = qkv()
    w = np.random.default_rng(3).standard_normal((2, 3, 11))
    i, j, h = np.arange(4, 11)[:, None], np.arange(11)[None, :], np.arange(3)[:, None, None]
    bias = (w[..., None, :] - w[..., 4:, None] + 0.25 * h + 0.5 * (j // 4) - (i // 3) * (i >= j)
            + 1.25 * np.sqrt(1 + np.abs(i - j)) + np.tanh(1.25 * (j != i)))
    o, lse = attention(q, k, v, bias)
    got = plumbline.attention(q, k, v, custom(w=w, s=[1.25]))
    np.testing.assert_allclose(got.o, o, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(got.lse, lse, rtol=1e-12)


# TISA, S = 2: Wennberg, Henter, "The Case for Translation-Invariant Self-Attention in Transformer-Based
# Language Models", ACL 2021, equation 9: f(k) = sum_s a_s exp(-|b_s| (k - c_s)^2), k = j - i.
def tisa_formula(i, j, p):
    return (p.a0 * np.exp(-abs(p.b0) * (j - i - p.c0) ** 2)
            + p.a1 * np.exp(-abs(p.b1) * (j - i - p.c1) ** 2))


TISA = plumbline.Custom(
    tisa_formula, name="tisa", a0=plumbline.per_head(normal=1), a1=plumbline.per_head(normal=1),
    b0=plumbline.per_head(0.01, 0.5), b1=plumbline.per_head(0.01, 0.5), c0=plumbline.per_head(normal=2),
    c1=plumbline.per_head(normal=2))


def tisa(q, k, v, *, causal, **p):
    return forward_of(q, k, v, tisa_bias(q, k, p), causal)


def tisa_bias(q, k, p):
    i, j = np.arange(k.shape[2] - q.shape[2], k.shape[2])[:, None], np.arange(k.shape[2])[None, :]
    p = {name: x[None, :, None, None] for name, x in p.items()}
    x0, x1 = np.float32(j - i) - p["c0"], np.float32(j - i) - p["c1"]
    return p["a0"] * np.exp(-np.abs(p["b0"]) * x0**2) + p["a1"] * np.exp(-np.abs(p["b1"]) * x1**2)


def scores_of(q, k, bias, causal):
    s = q @ k.swapaxes(-1, -2) / np.float32(np.sqrt(q.shape[-1])) + bias
    seen = np.tril(np.ones(s.shape[-2:], bool), s.shape[-1] - s.shape[-2])
    return np.where(seen | (not causal), s, np.float32(-np.inf))


def forward_of(q, k, v, bias, causal):
    s = scores_of(q, k, bias, causal)
    m = s.max(-1, keepdims=True)
    e = np.exp(s - m)
    total = e.sum(-1, keepdims=True)
    return e @ v / total, (m + np.log(total))[..., 0]


def backward_of(grad_o, q, k, v, o, lse, bias, causal):
    p = np.exp(scores_of(q, k, bias, causal) - lse[..., None])
    grad_s = p * (grad_o @ v.swapaxes(-1, -2) - (grad_o * o).sum(-1, keepdims=True))
    scale = np.float32(1 / np.sqrt(q.shape[-1]))
    return {"q": scale * grad_s @ k, "k": scale * grad_s.swapaxes(-1, -2) @ q,
            "v": p.swapaxes(-1, -2) @ grad_o}, grad_s


def tisa_backward(grad_o, q, k, v, o, lse, *, causal, sign=1, **p):
    grads, grad_s = backward_of(grad_o, q, k, v, o, lse, tisa_bias(q, k, p), causal)
    i, j = np.arange(k.shape[2] - q.shape[2], k.shape[2])[:, None], np.arange(k.shape[2])[None, :]
    for s in "01":
        a, b, c = (p[name + s][None, :, None, None] for name in "abc")
        x = np.float32(j - i) - c
        e = np.exp(-np.abs(b) * x**2)
        for name, by in (("a", e), ("b", -a * e * x**2 * np.sign(b)), ("c", 2 * a * e * np.abs(b) * x * sign)):
            grads[name + s] = (grad_s * by).sum((0, 2, 3))
    return grads


def test_a_kernel_with_a_bias_of_a_paper_that_no_list_has():
    report = plumbline.check(tisa, TISA, cases=15, longest=60, head_dims=[8], causal=None, backward=tisa_backward)
    assert max(report.outputs[name].worst for name in ("o", "lse")) >= 0.1
    assert {f"grad_{name}{s}" for name in "abc" for s in "01"} < set(report.outputs)
    assert all(x.nonzero > 0 and x.blind < x.nonzero for x in report.outputs.values())


@pytest.mark.at_length
def test_its_wrong_twins_fail():
    def decays_from_the_other_side(q, k, v, *, causal, **p):
        return tisa(q, k, v, causal=causal, **{**p, "c0": -p["c0"]})

    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(decays_from_the_other_side, TISA, cases=15, longest=200, causal=None)
    assert "bias=tisa" in failed.value.case
    # The call that the failure prints runs this one case again.
    again = re.search(r"repeat: (plumbline\.check\(.*\))", str(failed.value), re.S).group(1)
    with pytest.raises(plumbline.CheckFailed) as repeated:
        eval(again, {"plumbline": plumbline, "decays_from_the_other_side": decays_from_the_other_side})
    assert repeated.value.case == failed.value.case

    def of_the_other_sign(*given, **p):
        return tisa_backward(*given, sign=-1, **p)

    with pytest.raises(plumbline.CheckFailed, match="grad_c0"):
        plumbline.check(tisa, TISA, cases=15, longest=200, causal=None, backward=of_the_other_sign)


@pytest.mark.at_length
def test_gradients_of_numbers_of_queries_keys_and_prefix_sums():
    """b_ij = -g_i |S_i - S_j| + w_j, in float32 with sums in float64, and wrong twins of each gradient."""
    custom = plumbline.Custom(
        lambda i, j, p: -p.g[i] * abs(p.x) + p.w[j], name="gated_distance", x=plumbline.prefix_sum(0.01, 1),
        g=plumbline.per_query(0.1, 2), w=plumbline.per_key(normal=1))

    def distances(x, queries):
        s = np.cumsum(x, -1, dtype=np.float64)
        return (s[..., s.shape[-1] - queries :, None] - s[..., None, :]).astype(np.float32)

    def bias(q, x, g, w):
        return -g[..., None] * np.abs(distances(x, q.shape[2])) + w[..., None, :]

    def fn(q, k, v, *, x, g, w):
        return forward_of(q, k, v, bias(q, x, g, w), True)

    def gradients(wrong, grad_o, q, k, v, o, lse, *, x, g, w):
        grads, grad_s = backward_of(grad_o, q, k, v, o, lse, bias(q, x, g, w), True)
        d = distances(x, q.shape[2])
        by_d = (-g[..., None] * np.sign(d) * grad_s).astype(np.float64)
        by_s = -by_d.sum(-2)
        by_s[..., by_s.shape[-1] - q.shape[2] :] += by_d.sum(-1)
        by_x = np.cumsum(by_s[..., ::-1], -1)[..., ::-1].astype(np.float32)
        grads.update(x=by_x, g=-(np.abs(d) * grad_s).sum(-1), w=grad_s.sum(-2))
        if wrong == "x":
            grads["x"] = np.concatenate([by_x[..., 1:], 0 * by_x[..., :1]], -1)
        elif wrong:
            grads[wrong] = grads[wrong] * np.float32(1.001)
        return grads

    plumbline.check(fn, custom, cases=8, longest=150)
    report = plumbline.check(fn, custom, cases=8, longest=150, backward=lambda *a, **p: gradients("", *a, **p))
    assert {"grad_x", "grad_g", "grad_w"} < set(report.outputs)
    for wrong in "xgw":
        with pytest.raises(plumbline.CheckFailed, match=f"grad_{wrong}"):
            plumbline.check(fn, custom, cases=15, longest=40, backward=lambda *a, wrong=wrong, **p: gradients(wrong, *a, **p))


# Prefix-LM: a prefix that all see, and the past; chunks; blocks of a sparse pattern; each with a bias or none.
MASKS = {
    "prefix_lm": (lambda i, j, p: (j <= i) | (j < p.prefix), {"prefix": plumbline.per_sequence(whole=(0, 40))},
                  lambda i, j, n: (j <= i) | (j < n)),
    "chunked": (lambda i, j, p: (j <= i) & (i // p.chunk == j // p.chunk), {"chunk": plumbline.shared(whole=(1, 20))},
                lambda i, j, n: (j <= i) & (i // n == j // n)),
    "block_sparse": (lambda i, j, p: (i // 16 == j // 16) | (j < 16 * p.first), {"first": plumbline.shared(whole=(0, 3))},
                     lambda i, j, n: (i // 16 == j // 16) | (j < 16 * n)),
    "dilated": (lambda i, j, p: (i - j) - 2 * ((i - j) // 2) == 0, {}, lambda i, j, n: (i - j) % 2 == 0),
}

@pytest.mark.parametrize("mask", MASKS)
def test_a_condition_of_ones_own(mask):
    """The oracle against NumPy, a right kernel, and one that is off by a key."""
    visible, parameters, by_hand = MASKS[mask]
    custom = plumbline.Custom(lambda i, j, p: -p.r * abs(i - j), visible=visible, name=mask, r=HEAD, **parameters)
    (name,) = parameters or ("",)

    def fn(q, k, v, *, r, off=0, **numbers):
        n = numbers[name][:, None, None, None] if name else 0
        i, j = np.arange(q.shape[2])[:, None], np.arange(k.shape[2])[None, :]
        seen = np.broadcast_to(by_hand(i, j + off, n), (q.shape[0], 1, q.shape[2], k.shape[2]))
        bias = -r[:, None, None] * np.abs(i - j).astype(np.float32)
        s = np.where(seen, q @ k.swapaxes(-1, -2) / np.sqrt(q.dtype.type(q.shape[-1])) + bias, -np.inf)
        m = s.max(-1, keepdims=True)
        m = np.where(np.isfinite(m), m, 0)
        e = np.exp(s - m).astype(q.dtype)
        total = e.sum(-1, keepdims=True)
        with np.errstate(divide="ignore"):
            return e @ v / np.maximum(total, 1e-30), (m + np.log(total))[..., 0]

    q, k, v = qkv(queries=11, keys=11)
    r, numbers = drawn(3, 1), {name: np.array([3.0, 7.0] if mask == "prefix_lm" else [4.0])} if name else {}
    o, lse = fn(q, k, v, r=r, **numbers)
    got = plumbline.attention(q, k, v, custom(r=r, **numbers), causal=False)
    np.testing.assert_allclose(got.o, o, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(got.lse, lse, rtol=1e-12)
    report = plumbline.check(fn, custom, cases=8, longest=50, heads=[1, 3], head_dims=[8], causal=False)
    assert report.outputs["lse"].nonzero > 0
    with pytest.raises(plumbline.CheckFailed):
        plumbline.check(lambda *given, **p: fn(*given, off=1, **p), custom, cases=12, longest=32, heads=[1, 3],
                        head_dims=[8], causal=False)


@pytest.mark.at_length
def test_gradients_under_a_condition_of_ones_own():
    """The prefix's length has no gradient; a backward pass without the prefix fails."""
    visible = MASKS["prefix_lm"][0]
    custom = plumbline.Custom(lambda i, j, p: -p.r * abs(i - j), visible=visible, name="prefix_lm",
                              prefix=plumbline.per_sequence(whole=(0, 40)), r=HEAD)

    def bias(q, k, r, prefix):
        i, j = np.arange(q.shape[2])[:, None], np.arange(k.shape[2])[None, :]
        distance = np.abs(i - j).astype(np.float32)
        seen = (j <= i) | (j < prefix[:, None, None, None])
        return np.where(seen, -r[:, None, None] * distance, np.float32(-np.inf)), distance

    def fn(q, k, v, *, r, prefix):
        return forward_of(q, k, v, bias(q, k, r, prefix)[0], False)

    def gradients(grad_o, q, k, v, o, lse, *, r, prefix, forgets=False):
        b, distance = bias(q, k, r, 0 * prefix if forgets else prefix)
        grads, grad_s = backward_of(grad_o, q, k, v, o, lse, b, False)
        return {**grads, "r": -(grad_s * distance).sum((0, 2, 3))}

    report = plumbline.check(fn, custom, cases=8, longest=100, heads=[1, 3], causal=False, backward=gradients)
    assert "grad_r" in report.outputs and "grad_prefix" not in report.outputs
    with pytest.raises(plumbline.CheckFailed):
        plumbline.check(fn, custom, cases=12, longest=64, causal=False, backward=lambda *a, **p: gradients(*a, forgets=True, **p))


def test_a_bias_as_a_text_is_that_of_its_function():
    decay = plumbline.Custom(lambda i, j, p: -p.r * np.log1p(p.a * np.abs(i - j)), name="log_decay", r=HEAD, a=HEAD)
    assert decay.formula == "-r * log1p(a * abs(i - j))"
    assert repr(decay) == ("plumbline.Custom('-r * log1p(a * abs(i - j))', name='log_decay', "
                           "r=plumbline.per_head(0.1, 2), a=plumbline.per_head(0.1, 2))")
    assert eval(repr(decay)).formula == decay.formula
    written = {
        "(i - j) ** 2": lambda i, j, p: (i - j) ** 2,
        "2**(i - j)": lambda i, j, p: 2 ** (i - j),
        "i - (j - 1)": lambda i, j, p: i - (j - 1),
        "i / (j * 2)": lambda i, j, p: i / (j * 2),
        "-(i + j)": lambda i, j, p: -(i + j),
        "(-i)**2": lambda i, j, p: (-i) ** 2,
        "1 - i": lambda i, j, p: 1 - i,
        "where(i == j, 0, log(abs(i - j)))": lambda i, j, p: np.where(i == j, 0, np.log(abs(i - j))),
        "max(i, j)": lambda i, j, p: np.maximum(i, j),
        "h * j": lambda i, j, p: p.h * j,
    }
    for text, formula in written.items():
        assert plumbline.Custom(formula).formula.replace(" ", "") == text.replace(" ", "")


@pytest.mark.at_length
def test_the_example_of_the_page_runs(capsys):
    page = pathlib.Path(__file__).parent.parent.parent / "docs" / "custom_bias.md"
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 5  # those between, which need PyTorch, test_torch_features.py runs
    scope = {}
    exec(blocks[0], scope)
    exec(blocks[-1], scope)
    assert scope["prefix_lm"].visible == "max(j <= i, j < prefix)"
    assert "mine log_decay fp32: pass, 100 cases" in capsys.readouterr().out
    (declaration,) = re.findall(r"^```json\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    file = page.parent.parent / "tests" / "verdict" / "log_decay.json"
    assert declaration == file.read_text("utf-8")


@pytest.mark.parametrize("formula, parameters, words", [
    ("r * (i", {"r": HEAD}, "formula is \"r * (i\", character 7, its end; expected \")\""),
    ("r * i j", {"r": HEAD}, "character 7 (\"j\"); expected an operation, or the end"),
    ("s * i", {"r": HEAD}, "character 1 (\"s * i\"); expected i, j, h or one of the parameters r"),
    ("gamma(i)", {}, "character 1 (\"gamma(i)\"); expected one of the functions abs, cos, "),
    ("where(r < 1, i, j)", {"r": HEAD}, "only i, j, h and constants in a comparison"),
    ("floor(r)", {"r": HEAD}, "only i, j, h and constants"),
    ("w", {"w": plumbline.per_key(0, 1)}, "expected \"[i]\" or \"[j]\""),
    ("w[j]", {"w": plumbline.per_query(0, 1)}, "expected i: it has a number for each query"),
    ("w[j]", {"w": HEAD}, "expected no index"),
    ("1e400", {}, "expected a number that float32 holds"),
    ("1e-46", {}, "expected a number that float32 holds"),
    ("i", {"r": HEAD}, "expected a parameter that the formula reads"),
    ("scale * i", {"scale": HEAD}, "not a name that formulas, files or calls have already"),
    ("x * y", {"x1": HEAD}, "expected i, j, h or one of the parameters x1"),
    ("s", {"s": plumbline.prefix_sum(-1, 1)}, "with least at least 0"),
    ("r", {"r": plumbline.per_head(1, 1)}, "with least below most"),
    ("r", {"r": plumbline.per_head(normal=0)}, "expected a number above 0"),
    ("", {}, "character 1, its end; expected a number, i, j, h, a parameter, a function"),
    ("(" * 200 + "i" + ")" * 200, {}, "at most 100 operations within each other"),
    ("+".join(["i"] * 1000), {}, "at most 1000 operations"),
])
def test_what_is_wrong_with_a_declaration(formula, parameters, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        plumbline.Custom(formula, **parameters)


@pytest.mark.parametrize("wrong, words", [
    (lambda: plumbline.Custom("i", name="alibi"), "not the name of a method"),
    (lambda: plumbline.Custom("i", name="My bias"), "small letters"),
    (lambda: plumbline.Custom("i", error_factor=0.5), "expected a number from 1 to 2^20"),
    (lambda: plumbline.per_head(1), "does not say in one way how its numbers are drawn"),
    (lambda: plumbline.per_head(), "does not say in one way"),
    (lambda: plumbline.per_head(1, 2, normal=1), "does not say in one way"),
    (lambda: plumbline.per_head(whole=(0.5, 2)), "whole is (0.5, 2); expected (least, most), two whole numbers"),
    (lambda: plumbline.shared(whole=(1, 2, 3)), "whole is (1, 2, 3); expected (least, most), two whole numbers"),
    (lambda: plumbline.shared(whole=3), "whole is 3; expected (least, most), two whole numbers"),
    (lambda: plumbline.shared(whole=(0, float("inf"))), "whole is inf; expected a finite number"),
    (lambda: plumbline.Custom("0", visible="j <= h"), "visible is \"j <= h\", character 6 (\"h\"); expected no head"),
    (lambda: plumbline.Custom("0", visible="j <= r", r=HEAD), "one for all or for each sequence"),
    (lambda: plumbline.Custom(lambda i, j, p: float("inf") * i), "expected finite numbers"),
    (lambda: plumbline.Custom("*".join(f"p{n}" for n in range(7)), **{f"p{n}": HEAD for n in range(7)}),
     "at most 6 beside a prefix sum"),
])
def test_other_wrong_values(wrong, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        wrong()


@pytest.mark.parametrize("wrong, words", [
    (lambda i, j, p: i if i < j else j, "expected plumbline.formula.where"),
    (lambda i, j, p: __import__("math").log1p(i), "expected functions of plumbline.formula"),
    (lambda i, j, p: np.arctan(i), "the formula calls arctan"),
    (lambda i, j, p: p.r * i + p.w, "w has a number for each position; expected w[i] or w[j]"),
    (lambda i, j, p: p.r * i + p.w[0], "w[0] has index 0; expected i or j"),
    (lambda i, j, p: p.r[i], "expected no index"),
    (lambda i, j, p: "i" * i, "the formula has 'i'"),
    (lambda i, j, p: None, "the formula has None"),
    (lambda i, j: i - j, "formula takes (i, j); expected a function of i, j and p"),
])
def test_functions_that_write_no_formula(wrong, words):
    with pytest.raises(TypeError, match=re.escape(words)):
        plumbline.Custom(wrong, r=HEAD, w=plumbline.per_key(0, 1))


def test_other_wrong_types():
    with pytest.raises(AttributeError, match="p.s; expected one of h, r"):
        plumbline.Custom(lambda i, j, p: p.s, r=HEAD)
    with pytest.raises(TypeError, match="r is 2; expected plumbline.shared"):
        plumbline.Custom("r", r=2)
    with pytest.raises(TypeError, match=re.escape("visible takes (i, j); expected a function of i")):
        plumbline.Custom("0", visible=lambda i, j: j <= i)
    decay = plumbline.Custom("-r * abs(i - j)", r=HEAD)
    with pytest.raises(TypeError, match="custom got s; expected r"):
        decay(s=[1.0])
    q, k, v = qkv()
    with pytest.raises(ValueError, match=re.escape("r has shape (2,); expected (3,)")):
        plumbline.attention(q, k, v, decay(r=[1.0, 2.0]))


@pytest.mark.parametrize("formula, parameters", [
    ("log(abs(i - j))", {}),
    ("abs(i - j) ** -1", {}),
    ("(i - j - 1) ** 1.5", {}),
    ("-abs(x) ** r", {"x": plumbline.prefix_sum(0.1, 1), "r": HEAD}),
    ("floor(abs(i - j) * 0.29 * 100)", {}),
    ("floor(log(abs(i - j) + 1) / log(3))", {}),
])
def test_a_formula_without_a_bound_ends_the_check(formula, parameters):
    """No kernel may pass by a bound that does not exist, nor fail by what float32 rounds to the other side."""
    custom = plumbline.Custom(formula, **parameters)
    with pytest.raises(ValueError, match=re.escape("where(i == j, ..., ...) takes a pair out")):
        plumbline.check(lambda q, k, v, **p: forward_of(q, k, v, np.float32(0), True), custom, cases=12)


@pytest.mark.parametrize("formula, r, words", [
    ("1 / (i - j)", None, "b_ij of custom at batch 0, head 0, i = 4, j = 4 is not finite; expected a finite number"),
    ("1 / (i - 6) + 0 * j", None, "b_ij of custom at batch 0, head 0, i = 6, j = 0 is not finite"),
    ("log(r) + 0 * i", [1, 2, -1], "b_ij of custom at batch 0, head 2, i = 4, j = 0 is not finite"),
    ("exp(r * j)", [0, 1, 300], "b_ij of custom at batch 0, head 2, i = 4, j = 3 is not finite"),
])
def test_a_formula_without_a_value_has_no_attention(formula, r, words):
    r = {} if r is None else {"r": r}
    custom = plumbline.Custom(formula, **dict.fromkeys(r, HEAD))(**r)
    q, k, v = qkv()
    with pytest.raises(ValueError, match=re.escape(words)):
        plumbline.attention(q, k, v, custom)


def test_a_formula_without_a_value_at_hidden_keys_has_one():
    q, k, v = qkv()
    custom, mask = plumbline.Custom("1 / (i - j)")(), ~np.eye(7, 11, 4, bool)[None, None]
    got = plumbline.attention(q, k, v, custom, mask=mask, lengths=[0, 11])
    assert np.isfinite(got.o).all() and np.isinf(got.lse[0]).all() and np.isfinite(got.lse[1]).all()


def test_a_derivative_without_a_value_has_no_gradients():
    q, k, v = qkv()
    got = plumbline.attention(q, k, v, plumbline.Custom("sqrt(r * abs(i - j))", r=HEAD)(r=np.ones(3)))
    with pytest.raises(ValueError, match="gradient of r is nan; expected a formula of custom with a finite derivative"):
        got.backward(np.ones_like(q))


def test_a_derivative_that_does_not_exist_ends_the_check():
    custom = plumbline.Custom("-sqrt(x * x)", x=plumbline.prefix_sum(0.1, 1))
    with pytest.raises(ValueError, match="derivative of custom by "):
        plumbline.check(lambda q, k, v, *, x: forward_of(q, k, v, np.float32(0), True), custom, cases=5,
                        backward=lambda grad_o, q, k, v, o, lse, *, x: {"q": q, "k": k, "v": v, "x": x})


def test_quotients_and_decisions_of_whole_numbers():
    """A whole quotient by a reciprocal, and floor of quotients of whole numbers, pass."""
    custom = plumbline.Custom("-64 * abs((i - j) / 7 - 3) - floor((i - j) / 7) - 0.25 * ((i - j) // 3)")

    def fn(q, k, v):
        d = np.arange(q.shape[2])[:, None] - np.arange(k.shape[2])
        x = d.astype(np.float32)
        return forward_of(q, k, v, -64 * np.abs(x * np.float32(1 / 7) - 3)
                          - np.float32(d // 7) - np.float32(0.25) * np.float32(d // 3), True)

    plumbline.check(fn, custom, cases=12, longest=100, head_dims=[8])


def test_the_last_one_of_a_name_is_meant_but_each_check_is_of_its_own():
    one = plumbline.Custom("1 * abs(i - j)", name="twice")
    two = plumbline.Custom("2 * abs(i - j)", name="twice")
    q, k, v = (x.astype(np.float32) for x in qkv(queries=5, keys=5))
    distance = np.abs(np.arange(5)[:, None] - np.arange(5))
    for custom, factor in ((one, 1), (two, 2), (one, 1)):
        expected = attention(q.astype(float), k.astype(float), v.astype(float), factor * distance)[0]
        np.testing.assert_allclose(plumbline.attention(q, k, v, custom()).o, expected, rtol=1e-12)
        def fn(q, k, v, factor=factor):
            t = np.abs(np.arange(q.shape[2])[:, None] - np.arange(k.shape[2]))
            return forward_of(q, k, v, np.float32(factor) * t.astype(np.float32), True)
        plumbline.check(fn, custom, cases=5, longest=40, head_dims=[8])


def test_gradients_are_those_of_the_same_formula():
    """Another bias of the same name in between changes nothing."""
    q, k, v = qkv()
    grad_o = np.random.default_rng(9).standard_normal(q.shape)
    r = drawn(3, 1)
    one = plumbline.attention(q, k, v, plumbline.Custom("-r * abs(i - j)", r=HEAD)(r=r))
    expected = plumbline.attention(q, k, v, plumbline.Alibi(r)).backward(grad_o)
    plumbline.Custom("-z * (i - j) ** 2", z=HEAD)
    np.testing.assert_allclose(one.backward(grad_o).q, expected.q, rtol=1e-12)


def test_a_failing_pytest_is_repeated_by_its_case(tmp_path):
    (tmp_path / "test_mine.py").write_text("""
import numpy as np, plumbline
decay = plumbline.Custom("-r * abs(i - j)", name="only_here", r=plumbline.per_head(0.1, 2))

@plumbline.kernel_test(decay, cases=5, longest=24, head_dims=[8])
def test_wrong(q, k, v, r):
    return np.zeros_like(q)
""")

    def pytest_says(*options):
        command = [sys.executable, "-B", "-m", "pytest", "-p", "plumbline.pytest_plugin", "-p", "no:cacheprovider"]
        return subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True).stdout

    case = re.search(r"--plumbline-case\W+(pass=\S+?)'?$", pytest_says(), re.M).group(1)
    assert "bias=only_here" in case
    again = pytest_says("--plumbline-case", case)
    assert "1 failed" in again and "only_here fp32: FAIL" in again
