# SPDX-License-Identifier: Apache-2.0
"""Fused attention in Triton, forward and backward, with several biases: what test_triton_attention.py judges.

Arrays are [batch, heads, tokens, D], [batch, heads, tokens] and [heads]; a program works on the block of
ROWS queries, or COLUMNS keys, and the head that its ids say. What a, b and c are depends on BIAS:

    nope    None
    alibi   a = slopes
    cable   a = S, the sums of the increments, in float64; b = gain
    ggd     a, b, c = theta_alpha, theta_beta, theta_mu

and da, db, dc are the sums of the gradients of their queries (cable) or of all (alibi, ggd).
"""

import numpy as np
import plumbline
import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def rows_of(x, head, tokens, D: tl.constexpr, COUNT: tl.constexpr, TMA: tl.constexpr):
    """A head's matrix, of which load() and store() take COUNT rows."""
    first = x + head.to(tl.int64) * tokens * D
    if TMA:
        first = tl.make_tensor_descriptor(first, shape=[tokens, D], strides=[D, 1], block_shape=[COUNT, D])
    return first


@triton.jit
def load(rows, first, tokens, D: tl.constexpr, COUNT: tl.constexpr, TMA: tl.constexpr):
    """COUNT rows of a matrix; 0 beyond its last."""
    if TMA:
        block = rows.load([first, 0])
    else:
        n = first + tl.arange(0, COUNT)[:, None]
        block = tl.load(rows + n * D + tl.arange(0, D)[None, :], mask=n < tokens, other=0.0)
    return block


@triton.jit
def store(rows, block, first, tokens, D: tl.constexpr, COUNT: tl.constexpr, TMA: tl.constexpr):
    if TMA:
        rows.store([first, 0], block)
    else:
        n = first + tl.arange(0, COUNT)[:, None]
        tl.store(rows + n * D + tl.arange(0, D)[None, :], block, mask=n < tokens)


@triton.jit
def of_tokens(x, head, i, tokens):
    """Elements i of a head's row of x; 0 beyond its last."""
    return tl.load(x + head * tokens + i, mask=i < tokens, other=0.0)


@triton.jit
def sums_apart(a, head, i, j, tokens):
    """|S_i - S_j|."""
    return tl.abs(of_tokens(a, head, i, tokens)[:, None] - of_tokens(a, head, j, tokens)[None, :]).to(tl.float32)


@triton.jit
def off_centre(c, h, i, j):
    """j - i - mu."""
    theta = tl.load(c + h) * LOG2_E
    return (j[None, :] - i[:, None]).to(tl.float32) - (tl.exp2(theta) - tl.exp2(-theta))


@triton.jit
def bias_of(a, b, c, epsilon, head, heads, i, j, tokens, BIAS: tl.constexpr):
    """What is added to the scores of queries i and keys j."""
    h = head % heads
    if BIAS == "alibi":
        bias = -tl.load(a + h) * tl.abs(i[:, None] - j[None, :]).to(tl.float32)
    elif BIAS == "cable":
        bias = -of_tokens(b, head, i, tokens)[:, None] * sums_apart(a, head, i, j, tokens)
    elif BIAS == "ggd":
        x = tl.abs(off_centre(c, h, i, j)) + epsilon
        bias = -tl.exp2(tl.load(a + h) * LOG2_E) * tl.exp2(tl.load(b + h) * tl.log2(x))
    else:
        bias = tl.zeros([i.shape[0], j.shape[0]], tl.float32)
    return bias


@triton.jit
def visible_of(i, j, tokens, CAUSAL: tl.constexpr):
    visible = (i[:, None] < tokens) & (j[None, :] < tokens)
    if CAUSAL:
        visible = visible & (j[None, :] <= i[:, None])
    return visible


@triton.jit(do_not_specialize=["heads", "tokens"])
def forward_kernel(
    q, k, v, o, lse, a, b, c, scale, epsilon, heads, tokens, D: tl.constexpr, ROWS: tl.constexpr,
    COLUMNS: tl.constexpr, BIAS: tl.constexpr, CAUSAL: tl.constexpr, TMA: tl.constexpr,
):
    """o and lse of a block of queries. Scores are kept in units of log 2."""
    head = tl.program_id(1)
    first_row = tl.program_id(0) * ROWS
    i = first_row + tl.arange(0, ROWS)
    queries = load(rows_of(q, head, tokens, D, ROWS, TMA), first_row, tokens, D, ROWS, TMA)
    k_rows = rows_of(k, head, tokens, D, COLUMNS, TMA)
    v_rows = rows_of(v, head, tokens, D, COLUMNS, TMA)
    largest = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    sums = tl.zeros([ROWS, D], tl.float32)
    end = tokens
    if CAUSAL:
        end = tl.minimum(first_row + ROWS, tokens)
    for first in range(0, end, COLUMNS):
        j = first + tl.arange(0, COLUMNS)
        keys = load(k_rows, first, tokens, D, COLUMNS, TMA)
        scores = tl.dot(queries, tl.trans(keys)) * (scale * LOG2_E)
        scores += bias_of(a, b, c, epsilon, head, heads, i, j, tokens, BIAS) * LOG2_E
        # Rows beyond the last one see what the last one sees: none is without a key.
        scores = tl.where(visible_of(tl.minimum(i, tokens - 1), j, tokens, CAUSAL), scores, float("-inf"))
        larger = tl.maximum(largest, tl.max(scores, 1))
        shrink = tl.exp2(largest - larger)
        p = tl.exp2(scores - larger[:, None])
        total = total * shrink + tl.sum(p, 1)
        values = load(v_rows, first, tokens, D, COLUMNS, TMA)
        sums = tl.dot(p.to(values.dtype), values, sums * shrink[:, None])
        largest = larger
    rows = rows_of(o, head, tokens, D, ROWS, TMA)
    store(rows, (sums / total[:, None]).to(o.dtype.element_ty), first_row, tokens, D, ROWS, TMA)
    tl.store(lse + head * tokens + i, (largest + tl.log2(total)) / LOG2_E, mask=i < tokens)


@triton.jit
def scores_gradient(
    queries, keys, values, grads, lse, delta, a, b, c, scale, epsilon, head, heads, i, j, tokens,
    BIAS: tl.constexpr, CAUSAL: tl.constexpr,
):
    """P and dS of a block of queries and keys."""
    scores = tl.dot(queries, tl.trans(keys)) * (scale * LOG2_E)
    scores += bias_of(a, b, c, epsilon, head, heads, i, j, tokens, BIAS) * LOG2_E
    scores -= of_tokens(lse, head, i, tokens)[:, None] * LOG2_E
    p = tl.where(visible_of(i, j, tokens, CAUSAL), tl.exp2(scores), 0.0)
    return p, p * (tl.dot(grads, tl.trans(values)) - of_tokens(delta, head, i, tokens)[:, None])


@triton.jit
def order_of(i, j):
    """1 where the query is after the key, -1 where it is before it."""
    return (i[:, None] > j[None, :]).to(tl.float32) - (i[:, None] < j[None, :]).to(tl.float32)


@triton.jit(do_not_specialize=["heads", "tokens"])
def backward_keys_kernel(
    q, k, v, grad_o, lse, delta, grad_k, grad_v, a, b, c, of_keys, scale, epsilon, heads, tokens,
    D: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, BIAS: tl.constexpr, CAUSAL: tl.constexpr,
    TMA: tl.constexpr,
):
    """The gradients of a block of keys and values, and of their S (of_keys)."""
    head = tl.program_id(1)
    first_column = tl.program_id(0) * COLUMNS
    j = first_column + tl.arange(0, COLUMNS)
    keys = load(rows_of(k, head, tokens, D, COLUMNS, TMA), first_column, tokens, D, COLUMNS, TMA)
    values = load(rows_of(v, head, tokens, D, COLUMNS, TMA), first_column, tokens, D, COLUMNS, TMA)
    q_rows = rows_of(q, head, tokens, D, ROWS, TMA)
    grad_rows = rows_of(grad_o, head, tokens, D, ROWS, TMA)
    dk = tl.zeros([COLUMNS, D], tl.float32)
    dv = tl.zeros([COLUMNS, D], tl.float32)
    of_sums = tl.zeros([COLUMNS], tl.float32)
    begin = 0
    if CAUSAL:
        begin = first_column // ROWS * ROWS
    for first in range(begin, tokens, ROWS):
        i = first + tl.arange(0, ROWS)
        queries = load(q_rows, first, tokens, D, ROWS, TMA)
        grads = load(grad_rows, first, tokens, D, ROWS, TMA)
        p, ds = scores_gradient(queries, keys, values, grads, lse, delta, a, b, c, scale, epsilon, head, heads,
                                i, j, tokens, BIAS, CAUSAL)
        dv = tl.dot(tl.trans(p.to(grads.dtype)), grads, dv)
        dk = tl.dot(tl.trans(ds.to(queries.dtype)), queries, dk)
        if BIAS == "cable":
            of_sums += tl.sum(of_tokens(b, head, i, tokens)[:, None] * ds * order_of(i, j), 0)
    rows = rows_of(grad_k, head, tokens, D, COLUMNS, TMA)
    store(rows, (dk * scale).to(grad_k.dtype.element_ty), first_column, tokens, D, COLUMNS, TMA)
    rows = rows_of(grad_v, head, tokens, D, COLUMNS, TMA)
    store(rows, dv.to(grad_v.dtype.element_ty), first_column, tokens, D, COLUMNS, TMA)
    if BIAS == "cable":
        tl.store(of_keys + head * tokens + j, of_sums, mask=j < tokens)


@triton.jit(do_not_specialize=["heads", "tokens"])
def backward_queries_kernel(
    q, k, v, grad_o, lse, delta, grad_q, a, b, c, da, db, dc, scale, epsilon, heads, tokens,
    D: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, BIAS: tl.constexpr, CAUSAL: tl.constexpr,
    TMA: tl.constexpr,
):
    """The gradients of a block of queries, and what they add to those of the bias."""
    head = tl.program_id(1)
    h = head % heads
    first_row = tl.program_id(0) * ROWS
    i = first_row + tl.arange(0, ROWS)
    queries = load(rows_of(q, head, tokens, D, ROWS, TMA), first_row, tokens, D, ROWS, TMA)
    grads = load(rows_of(grad_o, head, tokens, D, ROWS, TMA), first_row, tokens, D, ROWS, TMA)
    k_rows = rows_of(k, head, tokens, D, COLUMNS, TMA)
    v_rows = rows_of(v, head, tokens, D, COLUMNS, TMA)
    dq = tl.zeros([ROWS, D], tl.float32)
    of_a = tl.zeros([ROWS], tl.float32)
    of_b = tl.zeros([ROWS], tl.float32)
    of_c = tl.zeros([ROWS], tl.float32)
    end = tokens
    if CAUSAL:
        end = tl.minimum(first_row + ROWS, tokens)
    for first in range(0, end, COLUMNS):
        j = first + tl.arange(0, COLUMNS)
        keys = load(k_rows, first, tokens, D, COLUMNS, TMA)
        values = load(v_rows, first, tokens, D, COLUMNS, TMA)
        _, ds = scores_gradient(queries, keys, values, grads, lse, delta, a, b, c, scale, epsilon, head, heads,
                                i, j, tokens, BIAS, CAUSAL)
        dq = tl.dot(ds.to(keys.dtype), keys, dq)
        if BIAS == "alibi":
            of_a -= tl.sum(ds * tl.abs(i[:, None] - j[None, :]).to(tl.float32), 1)
        if BIAS == "cable":
            of_a -= of_tokens(b, head, i, tokens) * tl.sum(ds * order_of(i, j), 1)
            of_b -= tl.sum(ds * sums_apart(a, head, i, j, tokens), 1)
        if BIAS == "ggd":
            centred = off_centre(c, h, i, j)
            x = tl.abs(centred) + epsilon
            changes = ds * bias_of(a, b, c, epsilon, head, heads, i, j, tokens, BIAS)
            of_a += tl.sum(changes, 1)
            of_b += tl.sum(changes * tl.log2(x) / LOG2_E, 1)
            of_c -= tl.sum(changes / x * tl.where(centred > 0, 1.0, tl.where(centred < 0, -1.0, 0.0)), 1)
    rows = rows_of(grad_q, head, tokens, D, ROWS, TMA)
    store(rows, (dq * scale).to(grad_q.dtype.element_ty), first_row, tokens, D, ROWS, TMA)
    if BIAS == "alibi":
        tl.atomic_add(da + h, tl.sum(of_a, 0))
    if BIAS == "cable":
        tl.store(da + head * tokens + i, of_a, mask=i < tokens)
        tl.store(db + head * tokens + i, of_b, mask=i < tokens)
    if BIAS == "ggd":
        tl.atomic_add(da + h, tl.sum(of_a, 0))
        tl.atomic_add(db + h, tl.sum(of_b, 0))
        theta = tl.load(c + h) * LOG2_E
        tl.atomic_add(dc + h, tl.sum(of_c, 0) * tl.load(b + h) * (tl.exp2(theta) + tl.exp2(-theta)))


@triton.jit(do_not_specialize=["tokens"])
def running_sums_kernel(x, y, sums, tokens, BLOCK: tl.constexpr, FROM_THE_END: tl.constexpr):
    """Running sums of x + y, or of x, over the tokens of a head, in double."""
    head = tl.program_id(0)
    total = tl.full([], 0.0, tl.float64)
    for first in range(0, tokens, BLOCK):
        n = first + tl.arange(0, BLOCK)
        at = n
        if FROM_THE_END:
            at = tokens - 1 - n
        terms = tl.load(x + head * tokens + at, mask=n < tokens, other=0.0).to(tl.float64)
        if y is not None:
            terms += tl.load(y + head * tokens + at, mask=n < tokens, other=0.0)
        running = total + tl.cumsum(terms, 0)
        tl.store(sums + head * tokens + at, running.to(sums.dtype.element_ty), mask=n < tokens)
        total += tl.sum(terms, 0)


class Attention:
    """The kernels as functions that plumbline.check takes, on arrays of NumPy's or PyTorch's.

    bias: that of the table above. target: of Triton, for which it compiles; tma: loads and stores go through
    tensor descriptors. rows: of a block, and its columns.
    """

    def __init__(self, bias, target="sm_80", tma=False, rows=64, num_warps=4, device=None):
        def compiled(kernel, grid, **constants):
            return plumbline.triton(kernel, grid=grid, constants=constants, target=target, num_warps=num_warps,
                                    num_stages=2, device=device, enable_fp_fusion=True)

        def blocks(a):
            return triton.cdiv(a["tokens"], rows), a["q"].shape[0] * a["q"].shape[1]

        of_all = {"ROWS": rows, "COLUMNS": rows, "BIAS": bias, "TMA": tma}
        self.bias = bias
        self.forward = compiled(forward_kernel, blocks, **of_all)
        self.keys = compiled(backward_keys_kernel, blocks, **of_all)
        self.queries = compiled(backward_queries_kernel, blocks, **of_all)
        self.running_sums = compiled(
            running_sums_kernel, lambda a: (a["x"].shape[0] * a["x"].shape[1],), BLOCK=64)

    def __call__(self, q, k, v, causal=True, epsilon=0.0, **parameters):
        o, lse = like(q, q.shape), like(single(q), q.shape[:3])
        _, heads, tokens, d = q.shape
        self.forward(q, k, v, o, lse, *self.arrays(parameters), d**-0.5, epsilon, heads, tokens, d, CAUSAL=causal)
        return o, lse

    def backward(self, grad_o, q, k, v, o, lse, causal=True, epsilon=0.0, **parameters):
        """The gradients by name, of slopes too."""
        arrays = self.arrays(parameters)
        dq, dk, dv = (like(q, q.shape) for _ in range(3))
        grads = [None if x is None else 0 * single(x) for x in arrays]
        of_keys = None if self.bias != "cable" else like(lse, lse.shape)
        delta = (single(o) * single(grad_o)).sum(-1)
        _, heads, tokens, d = q.shape
        given, sizes = (q, k, v, grad_o, lse, delta), (d**-0.5, epsilon, heads, tokens, d)
        self.keys(*given, dk, dv, *arrays, of_keys, *sizes, CAUSAL=causal)
        self.queries(*given, dq, *arrays, *grads, *sizes, CAUSAL=causal)
        if self.bias == "cable":
            of_queries, grads[0] = grads[0], like(lse, lse.shape)
            self.running_sums(of_queries, of_keys, grads[0], tokens, FROM_THE_END=True)
        return {"q": dq, "k": dk, "v": dv, **dict(zip(parameters, grads))}

    def arrays(self, parameters):
        """a, b and c."""
        arrays = list(parameters.values())
        if self.bias == "cable":
            increments = arrays[0]
            arrays[0] = like(increments, increments.shape, "float64")
            self.running_sums(increments, None, arrays[0], increments.shape[2], FROM_THE_END=False)
        return arrays + [None] * (3 - len(arrays))


def like(array, shape, dtype=None):
    """An array of NaN: what a kernel does not write is seen."""
    if isinstance(array, np.ndarray):
        return np.full(shape, np.nan, dtype or array.dtype)
    import torch
    return array.new_full(shape, float("nan"), dtype=dtype and getattr(torch, dtype))


def single(array):
    return array.astype(np.float32) if isinstance(array, np.ndarray) else array.float()
