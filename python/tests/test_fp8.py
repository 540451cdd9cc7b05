# SPDX-License-Identifier: Apache-2.0
"""Inputs of 8 bits with their scales: NumPy's with ml_dtypes, and what is said where there are none."""

import numpy as np
import plumbline
import pytest

FORMATS = ["float8_e4m3fn", "float8_e5m2"]
SHORT = dict(cases=8, head_dims=[32], longest=40, grouped_heads=True)
ROUNDS_P = plumbline.Contract(probability_format="bf16")


def wide(x, scale):
    """The numbers that the equations have, in double."""
    return x.astype(np.float64) * np.repeat(scale, x.shape[1] // scale.shape[1], axis=1)[..., None, None]


def weights(q, k, v, slopes, q_scale, k_scale, v_scale):
    """q, k and v of the equations, the latter two of each query head, and the scores."""
    q, k, v = wide(q, q_scale), wide(k, k_scale), wide(v, v_scale)
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], axis=1) for x in (k, v))
    i = np.arange(q.shape[2])
    scores = q @ k.swapaxes(2, 3) / q.shape[3] ** 0.5
    scores -= slopes[:, None, None].astype(np.float64) * np.abs(i[:, None] - i)
    return q, k, v, np.where(i <= i[:, None], scores, -np.inf)


def attend(q, k, v, slopes, **scales):
    import ml_dtypes

    _, _, v, scores = weights(q, k, v, slopes, **scales)
    largest = scores.max(-1, keepdims=True)
    p = np.exp(scores - largest)
    total = p.sum(-1, keepdims=True)
    return (p @ v / total).astype(ml_dtypes.bfloat16), (largest + np.log(total))[..., 0].astype(np.float32)


def gradients(grad_o, q, k, v, o, lse, slopes, **scales):
    import ml_dtypes

    groups = k.shape[1]
    q, k, v, scores = weights(q, k, v, slopes, **scales)
    grad_o, o = grad_o.astype(np.float64), o.astype(np.float64)
    p = np.exp(scores - lse[..., None])
    ds = p * (grad_o @ v.swapaxes(2, 3) - (grad_o * o).sum(-1, keepdims=True)) / q.shape[3] ** 0.5

    def of_group(x):
        return x.reshape(x.shape[0], groups, -1, *x.shape[2:]).sum(2)

    all_of = ds @ k, of_group(ds.swapaxes(2, 3) @ q), of_group(p.swapaxes(2, 3) @ grad_o)
    return [x.astype(ml_dtypes.bfloat16) for x in all_of]


@pytest.mark.parametrize("dtype", FORMATS)
def test_a_function_gets_its_scales_and_passes(dtype):
    pytest.importorskip("ml_dtypes")
    report = plumbline.check(attend, "alibi", dtype=dtype, contract=ROUNDS_P, **SHORT)
    assert report.dtype == {"float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}[dtype]
    report = plumbline.check(
        attend, "alibi", dtype=dtype, contract=ROUNDS_P, backward=gradients, **SHORT
    )
    assert set(report.outputs) == {"o", "lse", "grad_q", "grad_k", "grad_v"}
    without_lse = plumbline.check(lambda *a, **k: attend(*a, **k)[0], "alibi", dtype=dtype, **SHORT)
    assert "lse" not in without_lse.outputs


@pytest.mark.parametrize("dtype", FORMATS)
def test_packed_sequences_have_the_scales_of_their_place(dtype):
    ml_dtypes = pytest.importorskip("ml_dtypes")

    def packed(q, k, v, q_scale, k_scale, v_scale, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, slopes):
        o, lse = np.zeros((*q.shape[:2], v.shape[2]), ml_dtypes.bfloat16), np.zeros(q.shape[1::-1], np.float32)
        for b in range(len(q_scale)):
            keys = range(*cu_seqlens_k[b : b + 2])
            # Rows that are not there, before the first: as many queries as keys.
            rows = np.zeros((len(keys), *q.shape[1:]), q.dtype)
            first, end = cu_seqlens_q[b : b + 2]
            if first == end:
                continue
            rows[len(keys) - (end - first) :] = q[first:end]
            of_b = [x.swapaxes(0, 1)[None] for x in (rows, k[keys], v[keys])]
            scales = {name: x[b : b + 1] for name, x in (("q_scale", q_scale), ("k_scale", k_scale), ("v_scale", v_scale))}
            o_b, lse_b = attend(*of_b, slopes, **scales)
            o[first:end] = o_b[0].swapaxes(0, 1)[len(keys) - (end - first) :]
            lse[:, first:end] = lse_b[0][:, len(keys) - (end - first) :]
        return o, lse

    settings = {**SHORT, "packed": True, "cases": 20}
    plumbline.check(packed, plumbline.Alibi, dtype=dtype, contract=ROUNDS_P, **settings)

    def of_first_sequence(q, k, v, q_scale, k_scale, v_scale, **keywords):
        return packed(q, k, v, q_scale, np.repeat(k_scale[:1], len(k_scale), 0), v_scale, **keywords)

    with pytest.raises(plumbline.CheckFailed):
        plumbline.check(of_first_sequence, plumbline.Alibi, dtype=dtype, contract=ROUNDS_P, **settings)


def test_a_scale_that_is_forgotten_fails_and_its_case_has_all_numbers():
    ml_dtypes = pytest.importorskip("ml_dtypes")

    def forgets(q, k, v, slopes, q_scale, k_scale, v_scale):
        return attend(q, k, v, slopes, q_scale=q_scale, k_scale=k_scale * 0 + 1, v_scale=v_scale)

    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(forgets, "alibi", dtype="e4m3", **SHORT)
    arrays = plumbline.case_arrays(failed.value.case)
    assert arrays["k_scale"].shape == arrays["k"].shape[:2]
    assert (arrays["k"].astype(ml_dtypes.float8_e4m3fn).astype(np.float32) == arrays["k"]).all()


def test_what_is_not_there_is_refused():
    with pytest.raises(ValueError, match="float8_e4m3fn, float8_e5m2"):
        plumbline.check(attend, "alibi", dtype="float8")
    try:
        import ml_dtypes  # noqa: F401
    except ImportError:
        with pytest.raises(ValueError, match="NumPy has no float8_e4m3fn without the package ml_dtypes"):
            plumbline.check(attend, "alibi", dtype="e4m3")
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="nothing differentiates|float8_e5m2"):
        plumbline.check(attend, "alibi", dtype="e5m2", framework="torch", backward=True)
    if not hasattr(torch, "float8_e5m2"):
        with pytest.raises(ValueError, match="float8_e5m2, which PyTorch .* does not have"):
            plumbline.check(attend, "alibi", dtype="e5m2", framework="torch")
