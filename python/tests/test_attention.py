# SPDX-License-Identifier: Apache-2.0
"""The oracle against formulas written by hand, finite differences, and what it refuses.

Two evaluations in double of sums of at most 16 terms differ by rounding alone. Each entry of `near`
allows 2^-40 of the largest value: 2^13 units of double's 2^-53, which a hundred operations with a
growth of 80 would take to use up.
"""
import importlib.util

import formulas
import numpy as np
import pytest

import plumbline

B, H, KV, Q, K, D = 2, 4, 2, 5, 9, 6


def near(a, b):
    return np.abs(a - b).max() <= 2.0**-40 * max(1.0, np.abs(b).max())


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def qkv(rng):
    return rng.normal(size=(B, H, Q, D)), rng.normal(size=(B, KV, K, D)), rng.normal(size=(B, KV, K, D))


def biases(rng):
    slopes = [2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8]
    increments, gain = np.maximum(rng.normal(size=(B, H, K)), 0), rng.uniform(0.5, 2, (B, H, Q))
    alpha, beta, mu = rng.normal(size=(3, H)) * 0.3
    p, a = rng.uniform(0.1, 2, (2, H))
    table = rng.normal(size=(H, 4))
    i, j = formulas.positions(Q, K)
    distance = formulas.prefix_distance(increments, Q)
    log_forget = -rng.uniform(0, 1, (B, H, K))
    return {
        "alibi": (plumbline.Alibi(), formulas.alibi(slopes, Q, K)),
        "cable": (plumbline.Cable(increments, gain), formulas.cable(increments, gain)),
        "cable_nw": (plumbline.CableNw(increments), -np.abs(distance)),
        "k_cable": (
            plumbline.KCable(increments, gain),
            -gain[..., None] * np.log(1 + distance**2),
        ),
        "cable_paper": (plumbline.CablePaper(increments, gain), gain[..., None] * distance),
        "k_cable_paper": (
            plumbline.KCablePaper(increments, gain),
            -np.log(1 + (gain[..., None] * distance) ** 2),
        ),
        "ggd": (
            plumbline.Ggd(alpha, beta, mu, epsilon=1e-3),
            formulas.ggd(alpha, beta, mu, 1e-3, Q, K),
        ),
        "kerple_log": (plumbline.KerpleLog(p, a), formulas.kerple_log(p, a, Q, K)),
        "t5_clipped": (
            plumbline.T5Clipped(table, largest=3),
            table[:, np.clip(i - j, 0, 3)][None],
        ),
        "fox": (plumbline.Fox(log_forget), formulas.prefix_distance(log_forget, Q)),
    }


@pytest.mark.parametrize("name", sorted(biases(np.random.default_rng(0))))
def test_an_additive_method_is_its_formula(name, qkv, rng):
    bias, table = biases(rng)[name]
    o, lse = formulas.attention(*qkv, table)
    got = plumbline.attention(*qkv, bias)
    assert near(got.o, o) and near(got.lse, lse)
    assert got.o.dtype == got.lse.dtype == np.float64


def test_slopes_of_each_sequence(qkv, rng):
    slopes = rng.uniform(0.1, 1, (B, H))
    got = plumbline.attention(*qkv, plumbline.Alibi(slopes))
    gradients = got.backward(np.ones_like(got.o))
    assert list(gradients.parameters) == []
    for b in range(B):
        alone = plumbline.attention(*(x[b : b + 1] for x in qkv), plumbline.Alibi(slopes[b]))
        assert near(got.o[b], alone.o[0]) and near(got.lse[b], alone.lse[0])
        assert near(gradients.k[b], alone.backward(np.ones_like(alone.o)).k[0])
    with pytest.raises(ValueError, match=r"slopes has shape \(1, 4\); expected \(2, 4\)"):
        plumbline.attention(*qkv, plumbline.Alibi(slopes[:1]))


def test_rope_rotates_queries_and_keys(qkv):
    q, k, v = qkv
    rotated = formulas.rope_half_split(q, K - Q, 100.0), formulas.rope_half_split(k, 0, 100.0)
    o, lse = formulas.attention(*rotated, v)
    got = plumbline.attention(q, k, v, plumbline.RopeHalfSplit(base=100.0))
    assert near(got.o, o) and near(got.lse, lse)


def test_encoders_and_ssmax(qkv):
    scale = np.array([0.3, 0.5, 0.7, 1.0])
    for causal in (False, True):
        o, lse = formulas.attention(*qkv, causal=causal, ssmax_scale=scale)
        got = plumbline.attention(*qkv, causal=causal, ssmax_scale=scale)
        assert near(got.o, o) and near(got.lse, lse)


def test_rows_without_a_key_are_zero_with_an_lse_of_minus_infinity(qkv):
    got = plumbline.attention(*qkv, lengths=[0, K])
    assert (got.o[0] == 0).all() and (got.lse[0] == -np.inf).all() and (got.lse[1] > -np.inf).all()


def test_documents_and_window_hide_keys(qkv):
    q, k, v = qkv
    documents = np.repeat([[0] * 6 + [1] * 3], B, 0)
    got = plumbline.attention(q, k, v, documents=documents, window=1)
    # The last query sees the last two keys, which are of its document.
    o, lse = formulas.attention(q[:, :, -1:], k[:, :, -2:], v[:, :, -2:])
    assert near(got.o[:, :, -1:], o) and near(got.lse[:, :, -1:], lse)


def test_a_window_may_have_sides_of_different_width(qkv):
    q, k, v = qkv
    # The last query of five sees its own key, 8, and three before it; the first one keys 3 to 5.
    got = plumbline.attention(q, k, v, causal=False, window=(3, 1))
    for row, keys in ((-1, slice(5, 9)), (0, slice(1, 6))):
        o, lse = formulas.attention(q[:, :, row:][:, :, :1], k[:, :, keys], v[:, :, keys], causal=False)
        assert near(got.o[:, :, row:][:, :, :1], o) and near(got.lse[:, :, row:][:, :, :1], lse)
    assert near(plumbline.attention(q, k, v, causal=False, window=(None, 0)).o, plumbline.attention(q, k, v).o)


def test_queries_at_the_end_of_each_sequence_are_as_in_sequences_of_their_own(qkv):
    q, k, v = qkv
    lengths = np.array([K, 3])
    alibi = plumbline.Alibi(slopes := np.array([0.5, 0.25, 0.125, 1.0]))
    got = plumbline.attention(q, k, v, alibi, lengths=lengths, query_offset=lengths - Q)
    for b, length in enumerate(lengths):
        rows = min(Q, length)
        alone = plumbline.attention(*(x[b : b + 1] for x in (q[:, :, -rows:], k[:, :, :length], v[:, :, :length])),
                                    plumbline.Alibi(slopes))  # fmt: skip
        assert near(got.o[b : b + 1, :, -rows:], alone.o) and near(got.lse[b : b + 1, :, -rows:], alone.lse)
    assert (got.o[1, :, : Q - 3] == 0).all() and (got.lse[1, :, : Q - 3] == -np.inf).all()


def test_more_queries_than_keys(qkv):
    q, k, v = qkv
    k, v = k[:, :, :3], v[:, :, :3]
    top, bottom = plumbline.attention(q, k, v), plumbline.attention(q, k, v, query_offset=3 - Q)
    o, lse = formulas.attention(q[:, :, -3:], k, v)
    assert near(bottom.o[:, :, -3:], o) and near(bottom.lse[:, :, -3:], lse)
    assert (bottom.o[:, :, : Q - 3] == 0).all()
    # Rows beyond the keys see them all.
    o, lse = formulas.attention(q[:, :, 3:], k, v, causal=False)
    assert near(top.o[:, :, 3:], o) and near(top.lse[:, :, 3:], lse)


@pytest.mark.parametrize("name", ["alibi", "cable", "k_cable", "ggd", "fox"])
def test_gradients_are_differences_of_the_forward_pass(name, qkv, rng):
    bias, _ = biases(rng)[name]
    grad_o, grad_lse = rng.normal(size=(B, H, Q, D)), rng.normal(size=(B, H, Q))
    inputs = dict(zip("qkv", qkv), **bias.parameters(H))
    options = bias.options()

    def value(**changed):
        x = {**inputs, **changed}
        q, k, v = (x.pop(n) for n in "qkv")
        got = plumbline.attention(q, k, v, type(bias)(**x, **options))
        return (got.o * grad_o).sum() + (got.lse * grad_lse).sum()

    gradients = plumbline.attention(*qkv, bias).backward(grad_o, grad_lse)
    named = {"q": gradients.q, "k": gradients.k, "v": gradients.v, **gradients.parameters}
    assert set(named) == set(inputs) - {"slopes"}  # which are constants
    for of, gradient in named.items():
        assert gradient.shape == np.shape(inputs[of])
        # A central difference over h errs by h^2/6 |f'''| and 2^-52 |f| / h, here about 1e-9 each;
        # directions are positive where the domain ends at 0 and away from kinks.
        direction = np.where(np.asarray(inputs[of]) == 0, 0.0, rng.uniform(0.5, 1, gradient.shape))
        h = 2.0**-17
        ahead = value(**{of: np.asarray(inputs[of]) + h * direction})
        behind = value(**{of: np.asarray(inputs[of]) - h * direction})
        assert abs((ahead - behind) / (2 * h) - (gradient * direction).sum()) <= 1e-6


def test_float32_and_lists_are_widened_exactly(qkv):
    narrow = [x.astype(np.float32) for x in qkv]
    got, wide = plumbline.attention(*narrow), plumbline.attention(*(x.astype(float) for x in narrow))
    assert (got.o == wide.o).all()
    assert (plumbline.attention(*(x.tolist() for x in narrow)).o == wide.o).all()


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_tensors_of_pytorch_are_read_exactly(qkv):
    import torch

    for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.float16):
        tensors = [torch.from_numpy(x).to(dtype) for x in qkv]
        tensors[0].requires_grad_()
        tensors[1] = tensors[1].transpose(2, 3).contiguous().transpose(2, 3)  # strides
        wide = plumbline.attention(*(x.detach().double().numpy() for x in tensors))
        assert (plumbline.attention(*tensors).o == wide.o).all()


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")
def test_arrays_of_jax_are_read_exactly(qkv):
    import jax.numpy as jnp

    for dtype in (jnp.float32, jnp.bfloat16, jnp.float16):
        arrays = [jnp.asarray(x, dtype) for x in qkv]
        wide = plumbline.attention(*(np.asarray(x, np.float64) for x in arrays))
        assert (plumbline.attention(*arrays).o == wide.o).all()


@pytest.mark.parametrize(
    "changed, error, words",
    [
        ({"q": np.zeros((1, 2, 3))}, ValueError, r"q has shape \(1, 2, 3\); expected \[batch, heads"),
        ({"k": np.zeros((B, KV, K, D + 1))}, ValueError, r"k has shape .*; expected \(2, 2, 9, 6\)"),
        ({"v": np.full((B, KV, K, D), np.nan)}, ValueError, r"v\[0, 0, 0, 0\] is nan; expected a finite"),
        ({"q": "text"}, TypeError, "q .*expected an array"),
        ({"bias": plumbline.Alibi}, TypeError, "bias is .*expected an instance"),
        ({"bias": plumbline.Alibi([1.0])}, ValueError, r"slopes has shape \(1,\); expected \(4,\)"),
        ({"bias": plumbline.Cable(np.ones((B, H, K)), None)}, TypeError, "gain .*expected an array"),
        ({"bias": plumbline.T5Clipped(np.zeros((H, 4)))}, ValueError, r"table .*expected \(4, 257\)"),
        ({"bias": plumbline.T5Clipped(np.zeros((H, 4)), largest=3.5)}, ValueError, "largest is 3.5"),
        ({"bias": plumbline.Cable(-np.ones((B, H, K)), np.ones((B, H, Q)))}, ValueError,
         r"increments\[0, 0, 0\] is -1.0; expected a number >= 0"),
        ({"bias": plumbline.KCable(np.ones((B, H, K)), -np.ones((B, H, Q)))}, ValueError,
         r"gain\[0, 0, 0\] is -1.0; expected a number >= 0"),
        ({"bias": plumbline.Fox(np.broadcast_to(np.eye(1, K, 3), (B, H, K)))}, ValueError,
         r"log_forget\[0, 0, 3\] is 1.0; expected a number <= 0"),
        ({"bias": plumbline.KerpleLog([1, 1, 1, -1], np.ones(H))}, ValueError,
         r"p\[3\] is -1.0; expected a number >= 0.01"),
        ({"bias": plumbline.Sandwich([1, 1, 0, 1])}, ValueError,
         r"compression\[2\] is 0.0; expected a number >= 0, not 0"),
        ({"bias": plumbline.Fire(*np.ones((2, 32)), np.ones((H, 32)), np.ones(H), [0], [1])}, ValueError,
         r"c\[0\] is 0.0; expected a number not 0"),
        ({"bias": plumbline.Custom("-s", s=plumbline.prefix_sum(0, 1))(s=-np.ones((B, H, K)))}, ValueError,
         r"s\[0, 0, 0\] is -1.0; expected a number >= 0"),
        ({"bias": plumbline.Fox(np.zeros((B, H, K))), "causal": False}, ValueError, "causal is False"),
        ({"causal": 1}, TypeError, "causal is 1; expected True or False"),
        ({"window": -1}, ValueError, "window is -1; expected"),
        ({"window": 1.5}, TypeError, "window is 1.5; expected a whole number"),
        ({"lengths": [1, 2, 3]}, ValueError, r"lengths has shape \(3,\); expected \(2,\)"),
        ({"lengths": [1, 99]}, ValueError, "lengths is 99; expected a number from 0 to 9"),
        ({"window": (1, 2, 3)}, ValueError, r"window is \(1, 2, 3\); expected a number, two or None"),
        ({"window": (1, -2)}, ValueError, "window is -2; expected"),
        ({"query_offset": 5, "bias": plumbline.CableNw(np.ones((B, H, K)))}, ValueError, "i is 9; expected a position"),
        ({"query_offset": 5, "documents": np.zeros((B, K))}, ValueError, "position is 9; expected below keys"),
        ({"query_offset": [1, 2, 3]}, ValueError, r"query_offset has shape \(3,\); expected \(2,\)"),
        ({"bias": plumbline.T5(np.zeros((H, 7)), buckets=7.5)}, ValueError, "buckets is 7.5; expected a whole number"),
        ({"bias": plumbline.T5Bidirectional(np.zeros((H, 7)), buckets=7)}, ValueError, "buckets is 7; expected even"),
        ({"bias": plumbline.LocalRope(1.5)}, ValueError, "sliding_window is 1.5; expected a whole number"),
        ({"bias": plumbline.LocalRopeKeys(0)}, ValueError, "sliding_window is 0; expected a whole number from 1"),
        ({"bias": plumbline.Cope(np.zeros((H, 4, D)), positions=0)}, ValueError,
         "positions is 0; expected a whole number from 1"),
        ({"bias": plumbline.Ggd([0, 1000, 0, 0], [0] * H, [0] * H)}, ValueError,
         r"theta_alpha\[1\] is 1000.0; expected a number <= 709"),
        ({"bias": plumbline.Ggd([0] * H, [0] * H, [0, 0, 0, -800])}, ValueError,
         r"theta_mu\[3\] is -800.0; expected a number >= -709, <= 709"),
        ({"bias": plumbline.Ggd([0] * H, [1, 1, -100, 1], [0] * H), "window": 0}, ValueError,
         "b_ij of ggd at batch 0, head 2, i = 4, j = 4 is not finite; expected a finite number for every query and "
         "visible key$"),
        ({"q": np.full((B, H, Q, D), 1e300), "k": np.full((B, KV, K, D), 1e300)}, ValueError,
         "o or lse of batch 0, head 0, query 0 is not finite; expected smaller numbers"),
        ({"mask": [[1], [1, 2]]}, TypeError, "mask is of type list: .*; expected an array of bool"),
        ({"scale": "1"}, TypeError, "scale is '1'; expected a number"),
        ({"ssmax_scale": np.zeros(3)}, ValueError, r"ssmax_scale has shape \(3,\); expected \(4,\)"),
    ],
)
def test_bad_input_is_named(changed, error, words, qkv):
    with pytest.raises(error, match=words):
        plumbline.attention(**{**dict(zip("qkv", qkv)), **changed})


def test_a_gradient_that_double_cannot_hold_is_refused(qkv):
    with pytest.raises(ValueError, match="gradient of q is .*; expected smaller numbers, whose gradients double can"):
        plumbline.attention(*qkv).backward(np.full((B, H, Q, D), 1e308))


def test_a_gradient_of_another_shape_is_refused(qkv):
    with pytest.raises(ValueError, match=r"grad_o has shape \(2,\); expected \(2, 4, 5, 6\)"):
        plumbline.attention(*qkv).backward(np.zeros(2))
