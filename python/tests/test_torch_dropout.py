# SPDX-License-Identifier: Apache-2.0
"""PyTorch attention with dropout of P, with RoPE of a part of the components, and with NaN in keys that no query
sees: a right one passes, each broken twin fails."""
import inspect
import re

import numpy as np
import pytest

import plumbline

torch = pytest.importorskip("torch")

SHORT = {"cases": 40, "longest": 30, "head_dims": [8, 16], "dtype": torch.float32}
AT_LENGTH = {"cases": 60, "longest": 60, "head_dims": [32, 64]}


def positions(q, k, query_offset=0):
    return torch.arange(q.shape[2])[:, None] + query_offset, torch.arange(k.shape[2])


def scores(q, k, slopes):
    i, j = positions(q, k)
    s = q.float() @ k.float().mT / q.shape[-1] ** 0.5 - slopes[:, None, None] * (i - j)
    return s.masked_fill(j > i, float("-inf"))


def weighted(p, dropout_p, keep):
    return p * keep / (1 - dropout_p)


def dropped(q, k, v, slopes, dropout_p=0.0, keep=None, weighted=weighted):
    s = scores(q, k, slopes)
    p = torch.softmax(s, -1)
    p = p if keep is None else weighted(p, dropout_p, keep)
    return (p @ v.float()).to(v.dtype), torch.logsumexp(s, -1)


def failure(fn, bias=plumbline.Alibi, **settings):
    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(fn, bias, **{**SHORT, **settings})
    return failed.value


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_dropout_passes_with_its_gradients(dtype):
    given = set()

    def noting(q, k, v, **keywords):
        assert set(keywords) == {"slopes", "dropout_p", "keep"}
        dropout_p, keep = keywords["dropout_p"], keywords["keep"]
        assert 0 <= dropout_p < 1 and (keep is None) == (dropout_p == 0)
        assert keep is None or keep.dtype == torch.bool and keep.shape == (*q.shape[:3], k.shape[2])
        given.add(keep is None)
        return dropped(q, k, v, **keywords)

    report = plumbline.check(noting, plumbline.Alibi, dropout=True, backward=True, **{**SHORT, "dtype": dtype})
    assert given == {True, False} and {"o", "lse", "grad_q", "grad_k", "grad_v"} == set(report.outputs)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("wrong", [
    lambda p, dropout_p, keep: p * keep,
    lambda p, dropout_p, keep: p / (1 - dropout_p),
    lambda p, dropout_p, keep: p * keep.flip(1) / (1 - dropout_p),
    lambda p, dropout_p, keep: p * keep[:, :1] / (1 - dropout_p),
    lambda p, dropout_p, keep: p * keep[:1] / (1 - dropout_p),
    lambda p, dropout_p, keep: p * keep.mT / (1 - dropout_p),
    lambda p, dropout_p, keep: p * keep / (p * keep).sum(-1, keepdim=True).clamp_min(1e-30),
], ids=["no_factor", "none_dropped", "other_heads", "first_head", "first_sequence", "transposed", "denominator"])
def test_wrong_dropout_fails(wrong, dtype):
    def broken(q, k, v, slopes, dropout_p, keep):
        return dropped(q, k, v, slopes, dropout_p, keep, wrong)

    failed = failure(broken, dropout=True, dtype=dtype, batch=[2], heads=[3])
    assert failed.kind == "outside_bound" and "o: " in failed.explanation and ",dropout=" in failed.case


@pytest.mark.at_length
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_p_its_factor_and_their_product_may_be_rounded_each(dtype):
    def eager(q, k, v, slopes, dropout_p, keep):
        p = torch.softmax(scores(q, k, slopes), -1).to(dtype)
        if keep is not None:
            p = p * (keep.to(dtype) / torch.tensor(1 - dropout_p).to(dtype))
        return (p.float() @ v.float()).to(dtype)

    settings = {**AT_LENGTH, "dtype": dtype, "cases": 200, "contract": "jax", "dropout": True}
    plumbline.check(eager, plumbline.Alibi, backward=True, **settings)
    with pytest.raises(plumbline.CheckFailed, match="not divided by 1 - dropout"):
        plumbline.check(lambda q, k, v, slopes, dropout_p, keep: eager(q, k, v, slopes, 0.0, keep),
                        plumbline.Alibi, **settings)


def of_hand(dp_is_dropped=True, p_is_dropped=True):
    def backward(grad_o, q, k, v, o, lse, slopes, dropout_p, keep):
        p = torch.exp(scores(q, k, slopes) - lse[..., None])
        m = 1 if keep is None else keep / (1 - dropout_p)
        grad_p = (m if dp_is_dropped else 1) * (grad_o @ v.mT)
        grad_s = p * (grad_p - (grad_o * o).sum(-1, keepdim=True)) / q.shape[-1] ** 0.5
        return grad_s @ k, grad_s.mT @ q, ((m if p_is_dropped else 1) * p).mT @ grad_o

    return backward


def test_a_backward_pass_by_hand_passes_and_one_that_forgets_dropout_fails_in_the_gradients_alone():
    plumbline.check(dropped, plumbline.Alibi, dropout=True, backward=of_hand(), **SHORT)
    for wrong, outputs in ((of_hand(dp_is_dropped=False), "grad_[qk]: "), (of_hand(p_is_dropped=False), "grad_v: ")):
        failed = failure(dropped, dropout=True, backward=wrong)
        assert failed.kind == "outside_bound" and ",dropout=" in failed.case
        assert re.search(outputs, failed.explanation) and "  o: " not in failed.explanation


def philox(counter, key):
    """The first word of Philox4x32-10: Salmon et al., SC11, section 3.3."""
    low = 2**32 - 1
    c = [counter & np.uint64(low), counter >> np.uint64(32), np.zeros_like(counter), np.zeros_like(counter)]
    keys = [key & low, key >> 32]
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> np.uint64(32)) ^ c[1] ^ np.uint64(keys[0]), b & np.uint64(low),
             (a >> np.uint64(32)) ^ c[3] ^ np.uint64(keys[1]), a & np.uint64(low)]
        keys = [(keys[0] + 0x9E3779B9) & low, (keys[1] + 0xBB67AE85) & low]
    return c[0]


def kept(shape, dropout_p, seed, offset):
    """As kernel_abi/plumbline_kernel.h states it."""
    x = philox(np.arange(np.prod(shape), dtype=np.uint64).reshape(shape) + np.uint64(offset), seed)
    x = np.where(x < 2**31, x, np.uint64(2**32 - 1) - x)
    return torch.from_numpy(np.float32(4.6566127342e-10) * x.astype(np.float32) > np.float32(dropout_p))


def test_keep_is_made_of_its_seed_and_offset():
    assert philox(np.zeros(1, np.uint64), 0) == [0x6627E8D5]  # of the known answers of the authors' Random123
    pairs = set()

    def making(q, k, v, slopes, dropout_p, keep, dropout_seed, dropout_offset):
        if keep is not None:
            pairs.add((dropout_seed, dropout_offset))
            made = kept(keep.shape, dropout_p, dropout_seed, dropout_offset)
            assert torch.equal(made, keep)
            keep = made
        return dropped(q, k, v, slopes, dropout_p, keep)

    plumbline.check(making, plumbline.Alibi, dropout=True, backward=True, **SHORT)
    seeds, offsets = zip(*pairs)
    assert max(seeds) >= 2**32 and len(set(seeds)) > 1 and len(set(offsets)) > 1


@pytest.mark.parametrize("read", [lambda seed, offset: (seed, 0), lambda seed, offset: (seed % 2**32, offset),
                                  lambda seed, offset: (seed, offset + 1)])
def test_a_wrong_seed_or_offset_fails(read):
    def wrong(q, k, v, slopes, dropout_p, keep, dropout_seed, dropout_offset):
        if keep is not None:
            keep = kept(keep.shape, dropout_p, *read(dropout_seed, dropout_offset))
        return dropped(q, k, v, slopes, dropout_p, keep)

    assert failure(wrong, dropout=True).kind == "outside_bound"


def test_the_case_of_dropout_is_repeated_bit_by_bit():
    seen = []

    def wrong(q, k, v, slopes, dropout_p, keep):
        seen.append(None if keep is None else keep.numpy().tobytes())
        return dropped(q, k, v, slopes, dropout_p, keep, lambda p, dropout_p, keep: p * keep)

    failed = failure(wrong, dropout=True)
    assert "dropout=True" in failed.repeat
    keep = plumbline.case_arrays(failed.case)["keep"]
    assert keep.dtype == np.uint8 and keep.ndim == 4 and keep.max() <= 1
    seen.clear()
    failure(wrong, dropout=True, case=failed.case)
    assert keep.tobytes() in seen
    with pytest.raises(ValueError, match="one without dropout, which"):
        plumbline.check(dropped, plumbline.Alibi, dtype=torch.float32, case=failed.case)


def rotated(x, rotary_dim, base, interleaved=False, first=0, of=None):
    """In double: the first rotary_dim components, by the frequencies of `of`."""
    half = rotary_dim // 2
    frequencies = base ** (-2 * torch.arange(half, dtype=torch.float64) / (of or rotary_dim))
    angle = (first + torch.arange(x.shape[2], dtype=torch.float64))[:, None] * frequencies
    x = x.double()
    part, rest = x[..., :rotary_dim], x[..., rotary_dim:]
    a, b = (part[..., 0::2], part[..., 1::2]) if interleaved else (part[..., :half], part[..., half:])
    turned = a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()
    turned = torch.stack(turned, -1).flatten(-2) if interleaved else torch.cat(turned, -1)
    return torch.cat([turned, rest], -1)


def partial(q, k, v, base, rotary_dim, **how):
    q, k = (rotated(x, rotary_dim, base, **how).float() for x in (q, k))
    return dropped(q, k, v, torch.zeros(q.shape[1]))


@pytest.mark.at_length
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("bias, interleaved", [("rope_half_split", False), ("rope_interleaved", True)])
def test_rope_of_a_part_passes(bias, interleaved, dtype):
    given = set()

    def noting(q, k, v, base, rotary_dim):
        given.add((q.shape[-1], rotary_dim))
        return partial(q, k, v, base, rotary_dim, interleaved=interleaved)

    plumbline.check(noting, bias, rotary_dim=True, backward=True, dtype=dtype, **AT_LENGTH)
    assert any(rotary_dim < head_dim for head_dim, rotary_dim in given)


def test_the_sizes_of_the_part_that_are_asked_for():
    given = set()

    def noting(q, k, v, base, rotary_dim):
        given.add(rotary_dim)
        return partial(q, k, v, base, rotary_dim)

    plumbline.check(noting, plumbline.RopeHalfSplit, rotary_dim=[4, 8], **SHORT)
    assert given == {4, 8}
    given.clear()
    plumbline.check(noting, plumbline.RopeHalfSplit, rotary_dim=8, **SHORT)
    assert given == {8}


def test_rope_of_a_part_goes_with_a_bias():
    def biased(q, k, v, slopes, base, rotary_dim):
        return dropped(*(rotated(x, rotary_dim, base).float() for x in (q, k)), v, slopes)

    plumbline.check(biased, "alibi+rope_half_split", rotary_dim=True, **SHORT)


@pytest.mark.parametrize("wrong", [
    lambda q, k, v, base, rotary_dim: partial(q, k, v, base, rotary_dim, of=q.shape[-1]),
    lambda q, k, v, base, rotary_dim: partial(q, k, v, base, q.shape[-1]),
    lambda q, k, v, base, rotary_dim: partial(q.roll(rotary_dim, -1), k.roll(rotary_dim, -1), v, base, rotary_dim),
], ids=["frequencies_of_head_dim", "all", "the_last"])
def test_rope_of_a_part_that_is_wrong_fails(wrong):
    failed = failure(wrong, plumbline.RopeHalfSplit, rotary_dim=True)
    assert failed.kind == "outside_bound" and ",rotary_dim=" in failed.case


def visible(q, k, query_offset, window):
    i, j = positions(q, k, query_offset)
    return (j <= i) & (i - j <= (k.shape[2] if window is None else window))


def unseen_cleared(q, k, v, slopes, query_offset, window, clear_k=True, clear_v=True):
    seen = visible(q, k, query_offset, window)
    i, j = positions(q, k, query_offset)
    k = torch.where(seen.any(0)[:, None], k, 0) if clear_k else k
    v = torch.where(seen.any(0)[:, None], v, 0) if clear_v else v
    s = q @ k.mT / q.shape[-1] ** 0.5 - slopes[:, None, None] * (i - j)
    s = s.masked_fill(~seen, float("-inf"))
    return torch.softmax(s, -1) @ v, torch.logsumexp(s, -1)


def multiplied(q, k, v, slopes, query_offset, window):
    return unseen_cleared(q, k, v, slopes, query_offset, window, clear_k=False, clear_v=False)


def test_a_function_that_reads_no_hidden_keys_passes_with_nan_in_them():
    given = set()

    def noting(q, k, v, slopes, query_offset, window):
        seen = visible(q, k, query_offset, window).any(0)
        for x in (k, v):
            assert not x[:, :, seen].isnan().any() and x[:, :, ~seen].isnan().all()
        given.add(bool(seen.all()))
        return unseen_cleared(q, k, v, slopes, query_offset, window)

    settings = {"window": True, **SHORT}
    plumbline.check(noting, plumbline.Alibi, nan_in_hidden_keys=True, backward=True, **settings)
    assert given == {True, False}
    plumbline.check(multiplied, plumbline.Alibi, **settings)


def test_a_function_that_multiplies_0_by_what_is_hidden_fails():
    failed = failure(multiplied, nan_in_hidden_keys=True, window=True)
    assert failed.kind == "nan" and "nan_in_hidden_keys=True" in failed.repeat

    def multiplied_in_the_gradient(q, k, v, slopes, query_offset, window):
        return unseen_cleared(q, k, v, slopes, query_offset, window, clear_k=False)

    settings = {"nan_in_hidden_keys": True, "window": True}
    plumbline.check(multiplied_in_the_gradient, plumbline.Alibi, **settings, **SHORT)
    assert "grad_q" in failure(multiplied_in_the_gradient, backward=True, **settings).explanation


def test_the_oracle_drops_and_rotates_as_pytorch_does():
    torch.manual_seed(2)
    q, k, v = (torch.randn(2, 3, n, 8, dtype=torch.float64, requires_grad=True) for n in (5, 7, 7))
    keep = torch.rand(2, 3, 5, 7) < 0.7
    for interleaved, bias in ((False, plumbline.RopeHalfSplit), (True, plumbline.RopeInterleaved)):
        turned = [rotated(x, 4, 50.0, interleaved, first) for x, first in ((q, 2), (k, 0))]
        p = torch.softmax(turned[0] @ turned[1].mT / 8**0.5, -1)
        o = weighted(p, 0.3, keep) @ v
        grad_o = torch.randn_like(o)
        expected = torch.autograd.grad(o, [q, k, v], grad_o)
        oracle = plumbline.attention(q, k, v, bias(base=50.0), causal=False, dropout_p=0.3, keep=keep, rotary_dim=4)
        gradients = oracle.backward(grad_o)
        # Each of some hundred operations in double is within 2^-53 of numbers below 50.
        for got, right in zip((oracle.o, gradients.q, gradients.k, gradients.v), (o, *expected)):
            assert abs(torch.from_numpy(got) - right).max() < 1e-12
    without = plumbline.attention(q, k, v, dropout_p=0.0, keep=None)
    assert (without.o == plumbline.attention(q, k, v).o).all() and without.backward(o).parameters == {}


@pytest.mark.parametrize("given, message", [
    ({"dropout_p": 0.1}, "dropout_p is 0.1; expected 0 without keep"),
    ({"dropout_p": 1.0, "keep": np.ones((1, 2, 3, 4), bool)}, "dropout_p is 1.0; expected a number above 0"),
    ({"keep": np.ones((1, 2, 3, 4), bool)}, "dropout_p is 0.0; expected a number above 0"),
    ({"dropout_p": 0.1, "keep": np.ones((1, 2, 3, 4))}, "keep has dtype float64; expected bool"),
    ({"dropout_p": 0.1, "keep": np.ones((1, 1, 3, 4), bool)}, r"keep has shape \(1, 1, 3, 4\); expected"),
    ({"rotary_dim": 4}, "rotary_dim is 4 with Nope; expected None without RoPE"),
    ({"rotary_dim": 10, "bias": plumbline.RopeHalfSplit()}, "rotary_dim is 10; expected"),
    ({"rotary_dim": 3, "bias": plumbline.RopeHalfSplit()}, "rotary_dim is 3; expected an even number"),
])
def test_bad_input_of_the_oracle_is_named(given, message):
    q, k = np.ones((1, 2, 3, 8)), np.ones((1, 2, 4, 8))
    with pytest.raises((TypeError, ValueError), match=message):
        plumbline.attention(q, k, k, **given)


@pytest.mark.parametrize("settings, message", [
    ({"dropout": 0.1}, "dropout is 0.1; expected True or False"),
    ({"nan_in_hidden_keys": 1}, "nan_in_hidden_keys is 1"),
    ({"rotary_dim": True}, "rotary_dim is True; expected False with alibi, which has no RoPE"),
    ({"rotary_dim": [3]}, "rotary_dim is 3; expected an even number"),
    ({"rotary_dim": []}, r"rotary_dim is \[\]; expected at least one"),
    ({"rotary_dim": None}, "rotary_dim is None; expected True, False or sizes"),
    ({"packed": True, "dropout": True}, "dropout is True; expected nothing of it with packed"),
])
def test_bad_settings_are_named(settings, message):
    with pytest.raises((TypeError, ValueError), match=message):
        plumbline.check(dropped, plumbline.Alibi, dtype=torch.float32, **settings)


def test_what_the_settings_pass_is_no_fixture_of_pytest():
    def mine(q, k, v, base, rotary_dim, dropout_p, keep, dropout_seed, dropout_offset, factor):
        pass

    test = plumbline.kernel_test("rope_half_split", dropout=True, rotary_dim=True)(mine)
    assert set(inspect.signature(test).parameters) == {"plumbline_bias", "plumbline_dtype", "request", "factor"}
