# SPDX-License-Identifier: Apache-2.0
"""Fused attention in Triton passes on the software device, forward and backward, with several biases."""

import functools

import numpy as np
import plumbline
import pytest

pytest.importorskip("triton", reason="Triton is not installed (PyPI's triton; it needs no GPU)")
from triton_attention import Attention  # noqa: E402

BIASES = {"nope": plumbline.Nope, "alibi": plumbline.Alibi, "cable": plumbline.Cable, "ggd": plumbline.Ggd}
TARGETS = {  # and what the kernels of each are made of
    "sm_80": ({}, ["mma.sync", "cp.async.cg"]),
    "sm_90a": ({"target": "sm_90a"}, ["wgmma.mma_async"]),
    "tma": ({"target": "sm_90a", "tma": True}, ["wgmma.mma_async", "cp.async.bulk.tensor", "mbarrier.try_wait"]),
}
SHORT = {"cases": 15, "head_dims": [32], "longest": 100, "batch": [1, 2], "heads": [1, 3]}


def judged(attention, bias, dtype="float16", causal=True, **how):
    """The report of forward and backward, under the strictest contract of a kernel on tensor cores."""
    how = {"contract": plumbline.Contract(probability_format="bf16" if "bf" in str(dtype) else "fp16"), **how}
    forward, backward = (functools.partial(f, causal=causal) for f in (attention, attention.backward))
    try:
        return plumbline.check(forward, BIASES[bias], dtype=dtype, causal=causal, backward=backward, **SHORT, **how)
    except plumbline.CheckFailed as failed:
        skip_what_is_refused(failed.__cause__)
        raise


def skip_what_is_refused(error):
    if isinstance(error, plumbline.device.Refused) and error.reason == "not_supported":
        pytest.skip(f"the software device refuses it: {error}")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("bias", BIASES)
def test_in_float16_it_passes_forward_and_backward(bias, target):
    options, made_of = TARGETS[target]
    attention = Attention(bias, **options)
    ptx = ptx_of(attention)
    assert all(instruction in ptx for instruction in made_of)
    report = judged(attention, bias)
    parameters = {"cable": {"increments", "gain"}, "ggd": {"theta_alpha", "theta_beta", "theta_mu"}}
    gradients = {"q", "k", "v"} | parameters.get(bias, set())
    assert set(report.outputs) == {"o", "lse"} | {"grad_" + name for name in gradients}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("bias", BIASES)
def test_in_bfloat16_it_passes_forward_and_backward(bias, target):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (Debian's python3-torch)")
    judged(Attention(bias, **TARGETS[target][0]), bias, dtype=torch.bfloat16)


@pytest.mark.parametrize("bias", ["alibi", "cable"])
def test_it_passes_without_a_causal_mask(bias):
    # For smaller tiles Triton emits mma, not wgmma.
    judged(Attention(bias, target="sm_90", rows=32, num_warps=2), bias, causal=False)


def test_it_passes_however_the_hardware_rounds_and_in_whatever_order():
    device = plumbline.device.Device("8.0", approximate="either", sums="ampere", order_seed=7)
    contract = plumbline.Contract(probability_format="fp16", unit_roundoff=2**-23, flushes_subnormals=True)
    judged(Attention("alibi", device=device), "alibi", contract=contract)


def test_the_gradient_of_the_slopes_is_that_of_the_formula():
    rng = np.random.default_rng(3)
    q, k, v, grad_o = rng.standard_normal((4, 2, 3, 75, 32)).astype(np.float16)
    slopes = np.array([0.5, 0.03, 0.002], np.float32)
    attention = Attention("alibi")
    o, lse = attention(q, k, v, slopes=slopes)
    grad_slopes = attention.backward(grad_o, q, k, v, o, lse, slopes=slopes)["slopes"]
    # -sum of dS |i - j|, dS = P (dO . v - dO . o), in double.
    q, k, v, grad_o = (x.astype(np.float64) for x in (q, k, v, grad_o))
    i = np.arange(75)
    distance = np.abs(i[:, None] - i)
    scores = q @ k.swapaxes(2, 3) / 32**0.5 - slopes[:, None, None] * distance
    p = np.exp(np.where(i <= i[:, None], scores, -np.inf))
    p /= p.sum(-1, keepdims=True)
    ds = p * (grad_o @ v.swapaxes(2, 3) - (grad_o * (p @ v)).sum(-1, keepdims=True))
    terms = -ds * distance
    # Only o is rounded to 11 bits, which moves all dS of a row by P times the error of dO . o.
    error = np.abs(p * distance * (np.abs(grad_o * (p @ v)).sum(-1, keepdims=True))).sum((0, 2, 3))
    assert (np.abs(grad_slopes - terms.sum((0, 2, 3))) <= 2.0**-11 * error).all()
    assert (np.abs(terms.sum((0, 2, 3))) > 20 * 2.0**-11 * error).any()


@pytest.mark.parametrize("target", TARGETS)
def test_a_profile_is_of_the_same_run(target):
    rng = np.random.default_rng(4)
    q, k, v = rng.standard_normal((3, 1, 2, 64, 32)).astype(np.float16)
    slopes = np.array([0.5, 0.03], np.float32)
    attention = Attention("alibi", **TARGETS[target][0])
    o, lse = attention(q, k, v, slopes=slopes)
    again, again_lse = np.empty_like(o), np.empty_like(lse)
    profile = attention.forward.profile(q, k, v, again, again_lse, slopes, None, None, 32**-0.5, 0.0, 2, 64, 32,
                                        CAUSAL=True)
    assert (again == o).all() and (again_lse == lse).all()
    # Two heads with one tile of 64 by 64 each: Q K and P V.
    assert profile.figures["pipes"]["tensor"]["flops"] == 2 * 2 * (2 * 64 * 64 * 32)
    assert "triton_attention.py:" in str(profile)
    (shape,) = profile.figures["shapes"]
    assert shape["occupancy"]["registers_from"] == "machine code" and shape["occupancy"]["registers"] <= 255


def ptx_of(attention):
    x, row = np.zeros((1, 1, 3, 32), np.float16), np.zeros((1, 1, 3), np.float32)
    abc = {"nope": (None, None, None), "alibi": (row[0, 0, :1], None, None),
           "cable": (row.astype(np.float64), row, None), "ggd": (row[0, 0, :1],) * 3}[attention.bias]
    return attention.forward.ptx(x, x, x, x, row, *abc, 1.0, 0.0, 1, 3, 32, CAUSAL=True)
