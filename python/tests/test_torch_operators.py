# SPDX-License-Identifier: Apache-2.0
"""Attention as kernels come into PyTorch's graphs: a torch.autograd.Function, an operator of torch.library, a function
that torch.compile compiled. Each is judged forward and backward; each wrong twin fails where it is wrong."""
import importlib.util
import shutil

import pytest

import plumbline

torch = pytest.importorskip("torch", reason="PyTorch is not installed (Debian's python3-torch)")

SHORT = {"cases": 10, "longest": 24, "head_dims": [8, 16], "dtype": torch.float32, "backward": True}
GRADIENTS = {"grad_q", "grad_k", "grad_v"}


def forward(q, k, v, slopes):
    i, j = torch.arange(q.shape[2])[:, None], torch.arange(k.shape[2])
    s = q @ k.mT / q.shape[3] ** 0.5 - slopes[:, None, None] * (i - j)
    s = s.masked_fill(j > i, float("-inf"))
    return torch.softmax(s, -1) @ v, torch.logsumexp(s, -1)


def backward(grad_o, grad_lse, q, k, v, slopes, o, lse, *, with_delta=True):
    """dV = P^T dO, dS = P (dO V^T - D), D = dO . o - dlse."""
    i, j = torch.arange(q.shape[2])[:, None], torch.arange(k.shape[2])
    s = q @ k.mT / q.shape[3] ** 0.5 - slopes[:, None, None] * (i - j)
    p = torch.exp(s - lse[..., None]).masked_fill(j > i, 0)
    delta = (grad_o * o).sum(-1) - grad_lse if with_delta else torch.zeros_like(lse)
    grad_s = p * (grad_o @ v.mT - delta[..., None]) / q.shape[3] ** 0.5
    return grad_s @ k, grad_s.mT @ q, p.mT @ grad_o


def function(**settings):
    class Attention(torch.autograd.Function):
        @staticmethod
        def forward(ctx, q, k, v, slopes):
            o, lse = forward(q, k, v, slopes)
            ctx.save_for_backward(q, k, v, slopes, o, lse)
            return o, lse

        @staticmethod
        def backward(ctx, grad_o, grad_lse):
            return (*backward(grad_o, grad_lse, *ctx.saved_tensors, **settings), None)

    return lambda q, k, v, slopes: Attention.apply(q, k, v, slopes)  # which takes no keywords


def operator(name, **settings):
    @torch.library.custom_op(f"plumbline_tests::{name}", mutates_args=())
    def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor,
                  slopes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return forward(q, k, v, slopes)

    @attention.register_fake
    def _(q, k, v, slopes):
        return torch.empty_like(q), q.new_empty(q.shape[:3])

    def keep(ctx, inputs, output):
        ctx.save_for_backward(*inputs, *output)

    attention.register_autograd(
        lambda ctx, *given: (*backward(*given, *ctx.saved_tensors, **settings), None), setup_context=keep)
    return lambda q, k, v, slopes: attention(q, k, v, slopes)


def explained(fn, **settings):
    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(fn, plumbline.Alibi, **{**SHORT, **settings})
    return failed.value.explanation


def test_an_autograd_function_is_judged_by_its_own_backward_pass():
    report = plumbline.check(function(), plumbline.Alibi, lse_gradient=True, **SHORT)
    assert set(report.outputs) == {"o", "lse"} | GRADIENTS
    words = explained(function(with_delta=False))
    assert "grad_q: " in words and "grad_k: " in words and "grad_v: " not in words and "  o: " not in words


@pytest.mark.skipif(not hasattr(torch.library, "custom_op"),
                    reason=f"PyTorch {torch.__version__} has no torch.library.custom_op, which came with 2.4")
def test_an_operator_of_torch_library_is_judged_by_its_registered_backward_pass():
    report = plumbline.check(operator("right"), plumbline.Alibi, lse_gradient=True, **SHORT)
    assert set(report.outputs) == {"o", "lse"} | GRADIENTS
    words = explained(operator("wrong", with_delta=False))
    assert "grad_q: " in words and "grad_k: " in words and "grad_v: " not in words and "  o: " not in words


@pytest.mark.skipif(not hasattr(torch, "compile"),
                    reason=f"PyTorch {torch.__version__} has no torch.compile, which came with 2.0")
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_a_compiled_function_is_judged_forward_and_backward(backend):
    if backend == "inductor" and not shutil.which("g++"):
        pytest.skip("there is no g++, with which inductor compiles for a CPU")
    settings = {**SHORT, "shapes": [{"batch": 2, "heads": 2, "keys": 40, "head_dim": 32}],
                "shrink": False}  # to other shapes, for each of which PyTorch compiles
    del settings["head_dims"], settings["longest"]
    report = plumbline.check(torch.compile(forward, backend=backend), plumbline.Alibi, lse_gradient=True, **settings)
    assert set(report.outputs) == {"o", "lse"} | GRADIENTS

    def steep(q, k, v, slopes):
        return forward(q, k, v + 0.01 * (v - v.detach()), slopes)  # the same o, a gradient 1 % too large

    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(torch.compile(steep, backend=backend), plumbline.Alibi, **settings)
    assert "grad_v: " in failed.value.explanation and "  o: " not in failed.value.explanation


@pytest.mark.skipif(importlib.util.find_spec("torch.nn.attention") is not None, reason="this PyTorch has FlexAttention")
def test_a_pytorch_without_flex_attention_is_named():
    with pytest.raises(ImportError, match="expected PyTorch 2.5 or newer, which has FlexAttention"):
        plumbline.flex_attention(lambda score, b, h, q_idx, kv_idx: score)
