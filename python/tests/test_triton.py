# SPDX-License-Identifier: Apache-2.0
"""plumbline.triton: arguments of all kinds, and what it refuses."""

import numpy as np
import plumbline
import pytest

triton = pytest.importorskip("triton", reason="Triton is not installed (PyPI's triton; it needs no GPU)")
import triton.language as tl  # noqa: E402


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
    for target in ("cuda", 80, None):
        with pytest.raises(ValueError, match=f"target is {target!r}; expected sm_80, sm_90"):
            plumbline.triton(affine_kernel, grid=(1,), target=target)
    with pytest.raises(TypeError, match="'BLOCK', which is no argument"):
        plumbline.triton(affine_kernel, grid=(1,), constants={"BLOCK": 16})
    x = np.zeros(16, np.float32)
    with pytest.raises(TypeError, match="y is a str of no dtype"):
        plumbline.triton(affine_kernel, grid=(1,))(x, "y", None, 1, 16, 16, 1.0, False)
    with pytest.raises(TypeError, match="complex64"):
        plumbline.triton(affine_kernel, grid=(1,))(x, x.astype(np.complex64), None, 1, 16, 16, 1.0, False)
    given = x, x.copy(), None, 1, 16, 16, 1.0, False
    for grid in (None, "x", (1.5,), lambda a: None):
        with pytest.raises(TypeError, match="grid is .*; expected a whole number"):
            plumbline.triton(affine_kernel, grid=grid)(*given)
    with pytest.raises(ValueError, match="grid has 4 axes; expected 1 to 3"):
        plumbline.triton(affine_kernel, grid=(1, 1, 1, 2))(*given)
    with pytest.raises(TypeError, match="num_warp is 8; expected an option of Triton's"):
        plumbline.triton(affine_kernel, grid=(1,), num_warp=8)(*given)
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    with pytest.raises(ValueError, match="x has its signs in a bit beside its numbers; expected what its resolve_neg"):
        plumbline.triton(affine_kernel, grid=(1,))(torch._neg_view(torch.ones(16)), *given[1:])
