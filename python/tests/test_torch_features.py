# SPDX-License-Identifier: Apache-2.0
"""PyTorch attention with what recent models add to it, forward and by autograd: a right one passes,
each broken twin fails as what it is. test_models.py has the attention of whole models."""
import pathlib
import re

import pytest

import plumbline
from test_custom import TISA

torch = pytest.importorskip("torch")

SHORT = {"cases": 20, "longest": 30, "head_dims": [8, 16], "dtype": torch.float32, "backward": True}


def positions(q, k):
    return torch.arange(q.shape[2])[:, None], torch.arange(k.shape[2])


def scores(q, k):
    return q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5


def biased(s, i, j, slopes):
    return s - slopes[:, None, None] * (i - j)


def attended(s, v):
    return torch.softmax(s, -1) @ v, torch.logsumexp(s, -1)


def capped(s, cap):
    return cap * torch.tanh(s / cap)


def softcapped(q, k, v, slopes):
    """A cap of 50 with ALiBi, as FlashAttention composes them."""
    i, j = positions(q, k)
    s = biased(capped(scores(q, k), 50.0), i, j, slopes)
    return attended(s.masked_fill(j > i, float("-inf")), v)


def test_a_softcap_that_is_given_may_be_none():
    given = set()

    def general(q, k, v, slopes, softcap):
        given.add(softcap is None)
        i, j = positions(q, k)
        s = scores(q, k)
        s = biased(s if softcap is None else capped(s, softcap), i, j, slopes)
        return attended(s.masked_fill(j > i, float("-inf")), v)

    plumbline.check(general, plumbline.Alibi, softcap=True, **{**SHORT, "cases": 40})
    assert given == {True, False}


def failure(fn, **settings):
    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(fn, plumbline.Alibi, **{**SHORT, **settings})
    return failed.value


def test_a_softcap_of_the_bias_as_well_is_named():
    def of_biased_scores(q, k, v, slopes):
        i, j = positions(q, k)
        s = capped(biased(scores(q, k), i, j, slopes), 2.0)
        return attended(s.masked_fill(j > i, float("-inf")), v)

    failed = failure(of_biased_scores, softcap=2.0, backward=None)
    assert "softcap is of scale q.k and the bias together" in failed.explanation


def test_a_softcap_after_the_mask_fails():
    def after_the_mask(q, k, v, slopes):  # what is hidden has the score -cap
        i, j = positions(q, k)
        s = scores(q, k).masked_fill(j > i, float("-inf"))
        return attended(biased(capped(s, 5.0), i, j, slopes), v)

    assert "o: " in failure(after_the_mask, softcap=5.0).explanation


def test_a_softcap_without_its_derivative_fails_in_the_gradients_alone():
    def straight_through(q, k, v, slopes):
        i, j = positions(q, k)
        s = scores(q, k)
        s = biased(s + (capped(s, 2.0) - s).detach(), i, j, slopes)
        return attended(s.masked_fill(j > i, float("-inf")), v)

    failed = failure(straight_through, softcap=2.0)
    assert "grad_q: " in failed.explanation and "grad_k: " in failed.explanation
    assert "  o: " not in failed.explanation and "lse: " not in failed.explanation


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_in_16_bits_with_scores_in_float(dtype):
    def mixed(q, k, v, slopes):
        o, lse = softcapped(q.float(), k.float(), v.float(), slopes)
        return o.to(q.dtype), lse

    settings = {**SHORT, "dtype": getattr(torch, dtype)}
    plumbline.check(mixed, plumbline.Alibi, softcap=50.0, **settings)


@pytest.mark.parametrize("softcap, error", [("50", TypeError), (float("nan"), ValueError)])
def test_a_softcap_that_is_no_number_is_named(softcap, error):
    with pytest.raises(error, match="softcap is "):
        plumbline.check(softcapped, plumbline.Alibi, softcap=softcap, **SHORT)


def test_the_oracle_caps_as_pytorch_does():
    torch.manual_seed(1)
    q, k, v = (torch.randn(2, 3, 7, 8, dtype=torch.float64) for _ in range(3))
    q = (4 * q).requires_grad_()
    o, lse = attended(capped(scores(q, k), 1.5), v)
    grad_o = torch.randn_like(o)
    (grad_q,) = torch.autograd.grad((o * grad_o).sum(), [q])
    oracle = plumbline.attention(q.detach(), k, v, causal=False, softcap=1.5)
    # Each of some hundred operations in double is within 2^-53 of numbers below 50.
    assert abs(torch.from_numpy(oracle.o) - o).max() < 1e-12
    assert abs(torch.from_numpy(oracle.lse) - lse).max() < 1e-12
    assert abs(torch.from_numpy(oracle.backward(grad_o).q) - grad_q).max() < 1e-12
    for wrong in (0.0, -1.0):
        with pytest.raises(ValueError, match="softcap is "):
            plumbline.attention(q.detach(), k, v, softcap=wrong)
    with pytest.raises(ValueError, match="softcap"):
        plumbline.attention(q.detach(), k, v, plumbline.Cope(torch.zeros(3, 64, 8)), softcap=1.5)


def with_tensor(q, k, v, tensor):
    """T5, AlphaFold, Swin: a tensor of biases, of which any axis but the last may have size 1."""
    i, j = positions(q, k)
    return attended((scores(q, k) + tensor).masked_fill(j > i, float("-inf")), v)


def test_a_bias_tensor_and_its_gradient_pass():
    report = plumbline.check(with_tensor, plumbline.BiasTensor, **SHORT)
    assert report.outputs["grad_tensor"].worst > 0


@pytest.mark.skipif(
    not hasattr(torch.nn.functional, "scaled_dot_product_attention"), reason="it came with PyTorch 2.0"
)
def test_pytorch_attention_with_a_mask_of_floats_passes():
    def sdpa(q, k, v, tensor):
        mask = tensor.expand(q.shape[0], q.shape[1], q.shape[2], k.shape[2])
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, mask)

    plumbline.check(sdpa, plumbline.BiasTensor, causal=False, **SHORT)


@pytest.mark.at_length
def test_a_bias_tensor_in_half_precision_passes_where_its_numbers_are_those_of_o():
    def in_16_bits(q, k, v, tensor):
        return with_tensor(q.float(), k.float(), v.float(), tensor.to(q.dtype).float())[0].to(q.dtype)

    short = {**SHORT, "longest": 60, "head_dims": [32, 64], "dtype": torch.bfloat16, "backward": True}
    plumbline.check(in_16_bits, plumbline.BiasTensor, options={"in_format_of_o": 1}, **short)
    with pytest.raises(plumbline.CheckFailed):
        plumbline.check(in_16_bits, plumbline.BiasTensor, options={"in_format_of_o": 0}, **short)


@pytest.mark.parametrize("axis, words", [(0, "first sequence"), (1, "first head")])
def test_a_bias_tensor_of_the_first_sequence_or_head_is_named(axis, words):
    def first(q, k, v, tensor):
        return with_tensor(q, k, v, tensor.narrow(axis, 0, 1))

    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(first, plumbline.BiasTensor, batch=[2], heads=[2],
                        **{**SHORT, "backward": None})
    assert f"reads the bias tensor of the {words}" in failed.value.explanation


def test_the_gradient_of_a_bias_tensor_that_misses_a_sequence_fails():
    class Last(torch.autograd.Function):
        @staticmethod
        def forward(ctx, tensor, batch):
            return tensor.expand(batch, -1, -1, -1).contiguous()

        @staticmethod
        def backward(ctx, grad):
            return grad[-1:], None

    def broken(q, k, v, tensor):
        return with_tensor(q, k, v, Last.apply(tensor, q.shape[0]))

    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(broken, plumbline.BiasTensor, batch=[2], options={"per_batch": 0}, **SHORT)
    assert "grad_tensor" in failed.value.explanation


def test_the_oracle_takes_the_axes_of_size_one_from_the_tensor():
    generator = torch.Generator().manual_seed(5)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    q, k, v = draw(2, 3, 4, 8), draw(2, 3, 4, 8), draw(2, 3, 4, 8)
    for shape in [(1, 1, 1, 4), (2, 1, 4, 4), (1, 3, 1, 4), (2, 3, 4, 4)]:
        tensor = draw(*shape).requires_grad_()
        o, _ = with_tensor(q, k, v, tensor)
        grad_o = draw(*o.shape)
        (expected,) = torch.autograd.grad(o, tensor, grad_o)
        found = plumbline.attention(q, k, v, plumbline.BiasTensor(tensor.detach()))
        assert abs(found.o - o.detach().numpy()).max() < 1e-14
        gradient = found.backward(grad_o).parameters["tensor"]
        assert gradient.shape == shape and abs(gradient - expected.numpy()).max() < 1e-14
    with pytest.raises(ValueError, match="tensor has shape"):
        plumbline.attention(q, k, v, plumbline.BiasTensor(draw(4, 4)))
    with pytest.raises(ValueError, match="tensor has shape"):
        plumbline.attention(q, k, v, plumbline.BiasTensor(draw(2, 2, 4, 4)))


def test_the_oracle_has_sinks_and_their_gradient():
    generator = torch.Generator().manual_seed(6)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    q, k, v, slopes = draw(2, 3, 4, 8), draw(2, 3, 4, 8), draw(2, 3, 4, 8), draw(3)
    sinks = draw(3).requires_grad_()
    i, j = positions(q, k)
    s = biased(scores(q, k), i, j, slopes).masked_fill(j > i, float("-inf"))
    s = torch.cat([s, sinks[:, None, None].expand(2, 3, 4, 1)], -1)  # a logit beside those of the keys
    o, lse = torch.softmax(s, -1)[..., :-1] @ v, torch.logsumexp(s, -1)
    grad_o, grad_lse = draw(*o.shape), draw(*lse.shape)
    (expected,) = torch.autograd.grad((o * grad_o).sum() + (lse * grad_lse).sum(), sinks)
    found = plumbline.attention(q, k, v, plumbline.Alibi(slopes), sinks=sinks.detach())
    assert abs(found.o - o.detach().numpy()).max() < 1e-14
    assert abs(found.lse - lse.detach().numpy()).max() < 1e-14
    gradient = found.backward(grad_o, grad_lse).parameters["sinks"]
    assert abs(gradient - expected.numpy()).max() < 1e-14
    with pytest.raises(ValueError, match="sinks has shape"):
        plumbline.attention(q, k, v, plumbline.Alibi(slopes), sinks=draw(2))


def fused_tisa(q, k, v, *, causal, sign=1, **p):
    """TISA (test_custom.py) as a tensor of biases of scaled_dot_product_attention, where PyTorch has it."""
    i, j = positions(q, k)
    p = {name: x[None, :, None, None] for name, x in p.items()}
    bias = sum(p["a" + s] * torch.exp(-p["b" + s].abs() * (j - i - sign * p["c" + s]) ** 2) for s in "01")
    bias = bias.expand(q.shape[0], -1, -1, -1)
    if causal:
        bias = bias.masked_fill(j > i, float("-inf"))
    o, lse = attended(scores(q, k) + bias, v)
    if fused := getattr(torch.nn.functional, "scaled_dot_product_attention", None):
        o = fused(q, k, v, attn_mask=bias)
    return o, lse


def test_a_bias_of_ones_own_by_its_formula():
    report = plumbline.check(fused_tisa, TISA, causal=None, **SHORT)
    assert {f"grad_{name}" for name in TISA.parameter_names} < set(report.outputs)
    assert max(report.outputs[name].worst for name in ("o", "lse")) >= 0.1

    def mirrored(q, k, v, **keywords):
        return fused_tisa(q, k, v, sign=-1, **keywords)

    with pytest.raises(plumbline.CheckFailed):
        plumbline.check(mirrored, TISA, causal=None, **{**SHORT, "backward": None})

    def constant(q, k, v, *, c0, **keywords):
        return fused_tisa(q, k, v, c0=c0.detach() + 0 * c0, **keywords)

    with pytest.raises(plumbline.CheckFailed, match="grad_c0"):
        plumbline.check(constant, TISA, causal=None, **SHORT)


def mixed_tisa(q, k, v, **p):
    """Scores in float32, P as an operand, and so by autograd its gradient, in the format of v."""
    i, j = positions(q, k)
    p = {name: x[:, None, None] for name, x in p.items()}
    bias = sum(p["a" + s] * torch.exp(-p["b" + s].abs() * (j - i - p["c" + s]) ** 2) for s in "01")
    s = scores(q.float(), k.float()) + bias
    e = torch.exp(s - s.amax(-1, keepdim=True).detach())
    o = e.to(v.dtype).float() @ v.float() / e.sum(-1, keepdim=True)
    return o.to(q.dtype), torch.logsumexp(s, -1)


@pytest.mark.parametrize("least, settings", [
    # Errors of few terms do not cancel.
    (0.1, {"dtype": torch.float32, "cases": 100, "longest": 4, "head_dims": [1, 2, 4]}),
    # The roundings that the contract tells of: without them the numbers are below 0.2.
    (0.45, {"dtype": torch.bfloat16, "cases": 20, "longest": 30, "head_dims": [8, 16],
            "contract": plumbline.Contract(probability_format="bf16", grad_probability_format="bf16")}),
], ids=["fp32", "bf16"])
def test_gradients_of_a_bias_of_ones_own_come_near_their_bounds(least, settings):
    report = plumbline.check(mixed_tisa, TISA, backward=True, causal=False, **settings)
    near = {name: report.outputs["grad_" + name].worst for name in TISA.parameter_names}
    assert min(near.values()) >= least and report.outputs["o"].worst >= 0.1, report


@pytest.mark.at_length
def test_the_pages_example_of_tisa_runs(capsys):
    page = (pathlib.Path(__file__).parent.parent.parent / "docs" / "custom_bias.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)[1:4]
    scope = {}
    for block in blocks:
        exec(block, scope)
    said = capsys.readouterr().out
    forward, backward = re.findall(r"^mine tisa fp32: pass, 20 cases.*: (.*)$", said, re.MULTILINE)
    assert "grad_a0" not in forward and all(f"grad_{name} " in backward for name in TISA.parameter_names)

    def without_figures(text):
        return re.sub(r"-?\d+\.\d+(e-\d+)?", "#", text)

    (shown,) = re.findall(r"^```\n(mirrored tisa fp32: FAIL.*?) …\n```", page, re.DOTALL | re.MULTILINE)
    assert without_figures(shown) in without_figures(said)
    near = scope["near"].outputs
    assert max(near["o"].worst, near["lse"].worst) >= 0.1
    assert all(near["grad_" + name].worst >= 0.1 for name in TISA.parameter_names), scope["near"]


@pytest.mark.parametrize("seed, tokens, dim", [(4132908265, 4, 2)])
def test_gradients_that_underflow_on_the_way_are_no_fault(seed, tokens, dim, monkeypatch):
    """Of 5 * 10^-44, with factors above 1 after the products that underflow."""
    page = (pathlib.Path(__file__).parent.parent.parent / "docs" / "custom_bias.md").read_text("utf-8")
    scope = {}
    with monkeypatch.context() as patch:  # test_the_pages_example_of_tisa_runs has the checks of the page
        patch.setattr(plumbline, "check", lambda *given, **settings: None)
        exec(re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)[1], scope)
    case = (f"pass=backward,bias=tisa,dtype=fp32,ssmax=0,batch=1,heads=3,kv_heads=3,queries={tokens},keys={tokens},"
            f"head_dim={dim},query_offset=0,page_size=0,causal=0,window=none,ragged=0,documents=0,family=subnormal,"
            f"seed={seed}")
    plumbline.check(scope["mine"], scope["tisa"], causal=False, backward=True, dtype=torch.float32, case=case)


def test_a_formula_of_pytorchs_functions():
    written = plumbline.Custom(lambda i, j, p: -p.r * torch.log1p(torch.abs(i - j)) + torch.where(i == j, p.r, 0),
                               r=plumbline.per_head(0.1, 2))
    assert written.formula == "-r * log1p(abs(i - j)) + where(i == j, r, 0)"
