# SPDX-License-Identifier: Apache-2.0
"""Fused attention with ALiBi, written in Triton: it passes on the software device, broken twins do not."""

import numpy as np
import plumbline
import pytest

triton = pytest.importorskip("triton", reason="Triton is not installed (PyPI's triton; it needs no GPU)")
import triton.language as tl  # noqa: E402

LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit(do_not_specialize=["heads", "tokens"])
def forward_kernel(
    q, k, v, slopes, o, lse, scale, heads, tokens,
    D: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, FAULT: tl.constexpr,
):
    """o and lse of ROWS queries of one head. Scores are kept in units of log 2."""
    head = tl.program_id(1)
    slope_of = head % heads
    if FAULT == "slope of the next head":
        slope_of = (head + 1) % heads
    slope = tl.load(slopes + slope_of) * LOG2_E
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    d = tl.arange(0, D)
    of_head = head.to(tl.int64) * tokens * D
    rows = of_head + i[:, None] * D + d[None, :]
    if FAULT == "rows not masked":
        queries = tl.load(q + rows)
    else:
        queries = tl.load(q + rows, mask=i[:, None] < tokens, other=0.0)
    largest = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    sums = tl.zeros([ROWS, D], tl.float32)
    for first in range(0, tl.minimum((tl.program_id(0) + 1) * ROWS, tokens), COLUMNS):
        j = first + tl.arange(0, COLUMNS)
        columns = of_head + j[:, None] * D + d[None, :]
        there = j[:, None] < tokens
        keys = tl.load(k + columns, mask=there, other=0.0)
        scores = tl.dot(queries, tl.trans(keys))
        if FAULT != "no scale":
            scores *= scale * LOG2_E
        else:
            scores *= LOG2_E
        scores -= slope * (i[:, None] - j[None, :]).to(tl.float32)
        if FAULT == "mask one late":
            visible = (j[None, :] <= i[:, None] + 1) & (j[None, :] < tokens)
        else:
            visible = (j[None, :] <= i[:, None]) & (j[None, :] < tokens)
        scores = tl.where(visible, scores, float("-inf"))
        larger = tl.maximum(largest, tl.max(scores, 1))
        shrink = tl.exp2(largest - larger)
        p = tl.exp2(scores - larger[:, None])
        total = total * shrink + tl.sum(p, 1)
        values = tl.load(v + columns, mask=there, other=0.0)
        sums = tl.dot(p.to(values.dtype), values, sums * shrink[:, None])
        largest = larger
    tl.store(o + rows, (sums / total[:, None]).to(o.dtype.element_ty), mask=i[:, None] < tokens)
    tl.store(lse + head * tokens + i, (largest + tl.log2(total)) / LOG2_E, mask=i < tokens)


@triton.jit
def scores_gradient(queries, keys, values, grads, lse, delta, slope, scale, i, j, tokens):
    """P and dS of a block of queries and keys."""
    scores = tl.dot(queries, tl.trans(keys)) * (scale * LOG2_E)
    scores -= slope * LOG2_E * (i[:, None] - j[None, :]).to(tl.float32)
    visible = (j[None, :] <= i[:, None]) & (i[:, None] < tokens)
    p = tl.where(visible, tl.exp2(scores - lse[:, None] * LOG2_E), 0.0)
    return p, p * (tl.dot(grads, tl.trans(values)) - delta[:, None])


@triton.jit(do_not_specialize=["heads", "tokens"])
def backward_keys_kernel(
    q, k, v, grad_o, lse, delta, slopes, grad_k, grad_v, scale, heads, tokens,
    D: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, FAULT: tl.constexpr,
):
    """The gradients of COLUMNS keys and values of one head."""
    head = tl.program_id(1)
    slope = tl.load(slopes + head % heads)
    j = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    d = tl.arange(0, D)
    of_head = head.to(tl.int64) * tokens * D
    columns = of_head + j[:, None] * D + d[None, :]
    there = j[:, None] < tokens
    keys = tl.load(k + columns, mask=there, other=0.0)
    values = tl.load(v + columns, mask=there, other=0.0)
    dk = tl.zeros([COLUMNS, D], tl.float32)
    dv = tl.zeros([COLUMNS, D], tl.float32)
    for first in range(tl.program_id(0) * COLUMNS // ROWS * ROWS, tokens, ROWS):
        i = first + tl.arange(0, ROWS)
        rows = of_head + i[:, None] * D + d[None, :]
        queries = tl.load(q + rows, mask=i[:, None] < tokens, other=0.0)
        grads = tl.load(grad_o + rows, mask=i[:, None] < tokens, other=0.0)
        row_lse = tl.load(lse + head * tokens + i, mask=i < tokens, other=0.0)
        row_delta = tl.load(delta + head * tokens + i, mask=i < tokens, other=0.0)
        p, ds = scores_gradient(queries, keys, values, grads, row_lse, row_delta, slope, scale, i, j, tokens)
        dv = tl.dot(tl.trans(p.to(grads.dtype)), grads, dv)
        if FAULT == "dK of dS without P":
            ds = tl.where(p > 0, ds / p, 0.0)
        dk = tl.dot(tl.trans(ds.to(queries.dtype)), queries, dk)
    tl.store(grad_k + columns, (dk * scale).to(grad_k.dtype.element_ty), mask=there)
    tl.store(grad_v + columns, dv.to(grad_v.dtype.element_ty), mask=there)


@triton.jit(do_not_specialize=["heads", "tokens"])
def backward_queries_kernel(
    q, k, v, grad_o, lse, delta, slopes, grad_q, grad_slopes, scale, heads, tokens,
    D: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):
    """The gradients of ROWS queries of one head, and what they add to that of its slope."""
    head = tl.program_id(1)
    slope = tl.load(slopes + head % heads)
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    d = tl.arange(0, D)
    of_head = head.to(tl.int64) * tokens * D
    rows = of_head + i[:, None] * D + d[None, :]
    there = i[:, None] < tokens
    queries = tl.load(q + rows, mask=there, other=0.0)
    grads = tl.load(grad_o + rows, mask=there, other=0.0)
    row_lse = tl.load(lse + head * tokens + i, mask=i < tokens, other=0.0)
    row_delta = tl.load(delta + head * tokens + i, mask=i < tokens, other=0.0)
    dq = tl.zeros([ROWS, D], tl.float32)
    of_slope = tl.zeros([ROWS], tl.float32)
    for first in range(0, tl.minimum((tl.program_id(0) + 1) * ROWS, tokens), COLUMNS):
        j = first + tl.arange(0, COLUMNS)
        columns = of_head + j[:, None] * D + d[None, :]
        keys = tl.load(k + columns, mask=j[:, None] < tokens, other=0.0)
        values = tl.load(v + columns, mask=j[:, None] < tokens, other=0.0)
        _, ds = scores_gradient(queries, keys, values, grads, row_lse, row_delta, slope, scale, i, j, tokens)
        dq = tl.dot(ds.to(keys.dtype), keys, dq)
        of_slope -= tl.sum(ds * (i[:, None] - j[None, :]).to(tl.float32), 1)
    tl.store(grad_q + rows, (dq * scale).to(grad_q.dtype.element_ty), mask=there)
    tl.atomic_add(grad_slopes + head % heads, tl.sum(of_slope, 0))


class Attention:
    """The kernels as functions that plumbline.check takes, on arrays of NumPy's or PyTorch's."""

    def __init__(self, target="sm_80", rows=64, num_warps=4, fault="", device=None):
        def blocks(of):
            return lambda a: (triton.cdiv(a["tokens"], a[of]), a["q"].shape[0] * a["q"].shape[1])

        def compiled(kernel, of, **constants):
            return plumbline.triton(
                kernel, grid=blocks(of), constants={"ROWS": rows, "COLUMNS": rows, **constants}, target=target,
                num_warps=num_warps, num_stages=2, device=device, enable_fp_fusion=True)

        self.forward = compiled(forward_kernel, "ROWS", FAULT=fault)
        self.keys = compiled(backward_keys_kernel, "COLUMNS", FAULT=fault)
        self.queries = compiled(backward_queries_kernel, "ROWS")

    def __call__(self, q, k, v, slopes):
        o, lse = like(q, q.shape), like(slopes, q.shape[:3])
        _, heads, tokens, d = q.shape
        self.forward(q, k, v, slopes, o, lse, d**-0.5, heads, tokens, d)
        return o, lse

    def backward(self, grad_o, q, k, v, o, lse, slopes):
        return self.gradients(grad_o, q, k, v, o, lse, slopes)[:3]

    def gradients(self, grad_o, q, k, v, o, lse, slopes):
        grads = [like(q, q.shape) for _ in range(3)] + [0 * slopes]
        _, heads, tokens, d = q.shape
        delta = (single(o) * single(grad_o)).sum(-1)
        inputs, sizes = (q, k, v, grad_o, lse, delta, slopes), (d**-0.5, heads, tokens, d)
        self.keys(*inputs, grads[1], grads[2], *sizes)
        self.queries(*inputs, grads[0], grads[3], *sizes)
        return grads


def like(array, shape):
    """An array of that dtype, of NaN: what a kernel does not write is seen."""
    if isinstance(array, np.ndarray):
        return np.full(shape, np.nan, array.dtype)
    return array.new_full(shape, float("nan"))


def single(array):
    return array.astype(np.float32) if isinstance(array, np.ndarray) else array.float()


SHORT = {"cases": 15, "head_dims": [32], "longest": 100, "batch": [1, 2], "heads": [1, 3]}
SM_90 = {"target": "sm_90", "rows": 32, "num_warps": 2}  # for smaller tiles Triton emits mma, not wgmma


def rounds_p_to(format):
    """The strictest contract of a fused kernel on tensor cores."""
    return plumbline.Contract(probability_format=format)


@pytest.fixture(autouse=True)
def compiled_here(tmp_path_factory, monkeypatch):
    """Triton keeps what it has compiled, for all tests, in the tests' own folder."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "triton"))


@pytest.mark.parametrize("target", [{}, SM_90], ids=["sm_80", "sm_90"])
def test_attention_in_float16_passes_forward_and_backward(target):
    attention = Attention(**target)
    assert "mma.sync" in ptx_of(attention) and "wgmma" not in ptx_of(attention)
    report = plumbline.check(attention, plumbline.Alibi, dtype="float16", contract=rounds_p_to("fp16"),
                             backward=attention.backward, **SHORT)
    assert set(report.outputs) == {"o", "lse", "grad_q", "grad_k", "grad_v"}


def test_attention_in_bfloat16_passes_forward_and_backward():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (Debian's python3-torch)")
    attention = Attention()
    plumbline.check(attention, plumbline.Alibi, dtype=torch.bfloat16, contract=rounds_p_to("bf16"),
                    backward=attention.backward, **SHORT)


def test_it_passes_however_the_hardware_rounds_and_in_whatever_order():
    device = plumbline.device.Device(
        "8.0", approximate="either", sums="ampere", order_seed=7)
    attention = Attention(device=device)
    contract = plumbline.Contract(
        probability_format="fp16", unit_roundoff=2**-23, flushes_subnormals=True)
    plumbline.check(attention, plumbline.Alibi, dtype="float16", contract=contract,
                    backward=attention.backward, **SHORT)


def test_the_gradient_of_the_slopes_is_that_of_the_formula():
    rng = np.random.default_rng(3)
    q, k, v, grad_o = rng.standard_normal((4, 2, 3, 75, 32)).astype(np.float16)
    slopes = np.array([0.5, 0.03, 0.002], np.float32)
    attention = Attention()
    o, lse = attention(q, k, v, slopes)
    grad_slopes = attention.gradients(grad_o, q, k, v, o, lse, slopes)[3]
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


@pytest.mark.parametrize("fault, seen", [
    ("slope of the next head", "lse: where it fails"),
    ("no scale", "without the scale"),
    ("mask one late", "lse: where it fails: query 0"),
])
def test_a_broken_forward_fails(fault, seen):
    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(Attention(fault=fault), plumbline.Alibi, dtype="float16",
                        contract=rounds_p_to("fp16"), **SHORT)
    assert failed.value.kind == "outside_bound" and seen in failed.value.explanation
    if fault == "slope of the next head":  # which one head does not show
        assert plumbline.case_arrays(failed.value.case)["slopes"].size == 3


def test_a_broken_backward_fails_in_the_gradient_that_is_wrong():
    broken = Attention(fault="dK of dS without P")
    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(broken, plumbline.Alibi, dtype="float16", contract=rounds_p_to("fp16"),
                        backward=broken.backward, **SHORT)
    assert "grad_k:" in failed.value.explanation and "grad_v:" not in failed.value.explanation


def test_a_load_without_its_mask_is_named_with_its_line():
    broken = Attention(fault="rows not masked")
    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(broken, plumbline.Alibi, dtype="float16", contract=rounds_p_to("fp16"), **SHORT)
    fault = failed.value.__cause__
    assert isinstance(fault, plumbline.device.Fault) and fault.kind == "out_of_bounds"
    assert fault.kernel == "forward_kernel" and fault.instruction.startswith("ld.global")
    file, line = fault.source.rsplit(":", 1)
    assert open(file).read().splitlines()[int(line) - 1].strip() == "queries = tl.load(q + rows)"
    assert "ld.global" in ptx_of(broken).splitlines()[fault.ptx_line - 1]


def test_wgmma():
    attention = Attention(target="sm_90")
    assert "wgmma.mma_async" in ptx_of(attention)
    try:
        plumbline.check(attention, plumbline.Alibi, dtype="float16", contract=rounds_p_to("fp16"),
                        backward=attention.backward, **SHORT)
    except plumbline.CheckFailed as failed:
        refused = failed.__cause__
        if not isinstance(refused, plumbline.device.Refused) or refused.reason != "not_supported":
            raise
        pytest.skip(f"the software device refuses it: {refused}")


@triton.jit
def affine_kernel(x, y, shift, rows, x_stride, y_stride, factor, negate, COLUMNS: tl.constexpr = 16):
    """y = factor x + shift, or its negative; a row of each program."""
    j = tl.arange(0, COLUMNS)
    numbers = factor * tl.load(x + tl.program_id(0) * x_stride + j)
    if shift is not None:
        numbers += tl.load(shift + j)
    tl.store(y + tl.program_id(0) * y_stride + j, tl.where(negate, -numbers, numbers))


def test_arguments_of_all_kinds_and_views_with_gaps():
    affine = plumbline.triton(affine_kernel, grid=lambda a: (a["rows"],), enable_fp_fusion=True, num_warps=1)
    table = np.arange(200, dtype=np.float32).reshape(5, 40)
    x, y, shift = table[:, :16], np.zeros((5, 24), np.float32), np.full(16, 0.25, np.float32)
    counts = affine(x, y[:, 8:], shift, 5, 40, 24, factor=0.5, negate=True)
    assert counts.warp_instructions > 0
    assert (y[:, 8:] == -(0.5 * x + 0.25)).all() and (y[:, :8] == 0).all()
    affine(x[1:2], y, None, np.int64(1), 40, np.int16(24), np.float64(2), np.bool_(False))
    assert (y[0, :16] == 2 * x[1]).all()
    affine(x, y, None, rows=5, x_stride=40, y_stride=24, factor=1.0, negate=False, COLUMNS=8)
    assert (y[:, :8] == x[:, :8]).all() and (y[1:, 8:] == -(0.5 * x + 0.25)[1:]).all()
    with_one_more = np.arange(129, dtype=np.float32)
    for at, wide in [(0, True), (1, False)]:  # whether 16 divides its address
        y = np.zeros(128, np.float32)
        given = with_one_more[at:at + 128], y, None, 1, 16, 24, 1.0, False
        affine(*given, COLUMNS=128)
        assert (y == with_one_more[at:at + 128]).all()
        assert ("ld.global.v4" in affine.ptx(*given, COLUMNS=128)) == wide
    with pytest.raises(plumbline.device.Fault, match="an allocation of 64 bytes") as raised:
        affine(shift, y, None, 1, 16, 24, 1.0, False, COLUMNS=32)
    assert raised.value.kind == "out_of_bounds"


def test_what_is_no_kernel_or_no_argument_is_refused():
    with pytest.raises(TypeError, match="decorated by @triton.jit alone"):
        plumbline.triton(np.sum, grid=(1,))
    tuned = triton.autotune([triton.Config({"COLUMNS": 16})], key=["rows"])(affine_kernel)
    with pytest.raises(TypeError, match="decorated by @triton.jit alone"):
        plumbline.triton(tuned, grid=(1,))
    with pytest.raises(ValueError, match="target is 'cuda'"):
        plumbline.triton(affine_kernel, grid=(1,), target="cuda")
    with pytest.raises(TypeError, match="'BLOCK', which is no argument"):
        plumbline.triton(affine_kernel, grid=(1,), constants={"BLOCK": 16})
    x = np.zeros(16, np.float32)
    with pytest.raises(TypeError, match="y is a str of no dtype"):
        plumbline.triton(affine_kernel, grid=(1,))(x, "y", None, 1, 16, 16, 1.0, False)
    with pytest.raises(TypeError, match="complex64"):
        plumbline.triton(affine_kernel, grid=(1,))(x, x.astype(np.complex64), None, 1, 16, 16, 1.0, False)


def ptx_of(attention):
    x, row = np.zeros((1, 1, 3, 32), np.float16), np.zeros((1, 1, 3), np.float32)
    return attention.forward.ptx(x, x, x, row[0, 0, :1], x, row, 1.0, 1, 3, 32)
