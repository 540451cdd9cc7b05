# SPDX-License-Identifier: Apache-2.0
"""PyTorch attention under mask tensors, with values of another width, and with a gradient through lse: a
right one passes, each broken twin fails as what it is."""
import numpy as np
import pytest

import plumbline

torch = pytest.importorskip("torch")

SHORT = {"cases": 30, "longest": 30, "head_dims": [8, 16], "dtype": torch.float32}


def attended(s, v):
    """A row of nothing but -inf has o = 0, lse = -inf, and no gradient."""
    top = s.amax(-1, keepdim=True).detach()
    weight = torch.exp(s - torch.where(torch.isneginf(top), 0, top))
    total = weight.sum(-1, keepdim=True)
    seen = total > 0
    total = torch.where(seen, total, 1)
    lse = torch.where(seen, top + torch.log(total), float("-inf"))
    return (weight / total) @ v, lse[..., 0]


def masked(q, k, v, slopes, mask=None, read=lambda mask: mask):
    i, j = torch.arange(q.shape[2])[:, None], torch.arange(k.shape[2])
    s = q @ k.mT / q.shape[-1] ** 0.5 - slopes[:, None, None] * (i - j).abs()
    hidden = j > i
    if mask is not None:
        hidden = hidden | ~read(mask)
    return attended(s.masked_fill(hidden, float("-inf")), v)


def failure(fn, **settings):
    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(fn, plumbline.Alibi, **{**SHORT, **settings})
    return failed.value


def test_mask_tensors_of_all_forms_pass():
    given = set()

    def noting(q, k, v, slopes, mask):
        shape = None if mask is None else (mask.shape[0] < q.shape[0], mask.shape[1] < q.shape[1])
        given.add(shape)
        assert mask is None or mask.dtype == torch.bool and mask.shape[2:] == (q.shape[2], k.shape[2])
        return masked(q, k, v, slopes, mask)

    plumbline.check(noting, plumbline.Alibi, mask=True, batch=[2], heads=[3], **{**SHORT, "cases": 150})
    assert given == {None, (False, False), (False, True), (True, False), (True, True)}


def test_gradients_under_a_mask_tensor_pass():
    plumbline.check(masked, plumbline.Alibi, mask=True, backward=True, **{**SHORT, "cases": 60})


@pytest.mark.parametrize("form", ["prefix", "chunks", "blocks", "tree", "scattered", "sink_tokens"])
def test_gradients_under_each_form_of_mask_tensor_pass(form):
    def seen_alone(q, k, v, mask):
        return attended((q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~mask, float("-inf")), v)

    line = ("pass=backward,bias=nope,batch=2,heads=3,kv_heads=3,queries=32,keys=32,head_dim=8,causal=0,"
            f"mask={form},mask_per_batch=1,mask_per_head=1,seed=3")
    plumbline.check(seen_alone, causal=False, mask=True, backward=True, dtype=torch.float32, case=line)
    with pytest.raises(plumbline.CheckFailed, match="does not read the mask tensor"):
        plumbline.check(lambda q, k, v, mask: seen_alone(q, k, v, mask | True), causal=False, mask=True,
                        backward=True, dtype=torch.float32, case=line)


@pytest.mark.parametrize("read, named", [
    (lambda mask: torch.ones_like(mask), "does not read the mask tensor"),
    (lambda mask: ~mask, "hides the keys whose number in the mask tensor is 1"),
    (lambda mask: mask[:, :1], "takes the mask tensor of the first head for all heads"),
    (lambda mask: mask[:1], "takes the mask tensor of the first sequence for all sequences"),
    (lambda mask: mask.mT if mask.shape[2] == mask.shape[3] else mask, "reads the mask tensor as [keys, queries]"),
])
def test_a_mask_tensor_that_is_read_wrongly_is_named(read, named):
    def wrong(q, k, v, slopes, mask):
        return masked(q, k, v, slopes, mask, read)

    assert named in failure(wrong, mask=True, cases=100).explanation


def test_a_mask_tensor_that_the_backward_pass_ignores_fails_in_the_gradients_alone():
    def backward(grad_o, q, k, v, o, lse, slopes, mask):
        leaves = [x.detach().requires_grad_() for x in (q, k, v)]
        with torch.enable_grad():
            o, _ = masked(*leaves, slopes)
            return torch.autograd.grad(o, leaves, grad_o)

    words = failure(masked, mask=True, backward=backward, cases=60).explanation
    assert "grad_" in words and "  o: " not in words


def test_the_case_of_a_mask_is_repeated_bit_by_bit():
    seen = []

    def wrong(q, k, v, slopes, mask):
        seen.append(None if mask is None else mask.numpy().tobytes())
        return masked(q, k, v, slopes, mask, lambda mask: ~mask)

    line = failure(wrong, mask=True).case
    assert ",mask=" in line
    arrays = plumbline.case_arrays(line)
    assert arrays["mask"].dtype == np.uint8 and arrays["mask"].ndim == 4
    seen.clear()
    failure(wrong, mask=True, case=line)
    assert arrays["mask"].tobytes() in seen


def test_values_of_another_width_pass():
    widths = set()

    def noting(q, k, v, slopes):
        widths.add(v.shape[-1])
        return masked(q, k, v, slopes)

    plumbline.check(noting, plumbline.Alibi, backward=True, value_dims=[1, 12, 16, 25], **SHORT)
    assert widths == {1, 12, 16, 25}
    latent = [{"heads": 4, "kv_heads": 1, "keys": 40, "head_dim": 576, "value_dim": 512},
              {"heads": 2, "keys": 40, "head_dim": 192, "value_dim": 128}]

    def grouped(q, k, v):
        k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], 1) for x in (k, v))
        return masked(q, k, v, torch.zeros(q.shape[1]))

    settings = {"dtype": torch.float32, "cases": 6, "shapes": latent, "grouped_heads": True}
    plumbline.check(grouped, plumbline.Nope, backward=True, **settings)


def test_values_that_are_a_part_of_the_keys():
    def latent(q, k, v):
        k = k.repeat_interleave(q.shape[1] // k.shape[1], 1)
        return masked(q, k, k[..., : v.shape[-1]], torch.zeros(q.shape[1]))

    settings = {"values_in_keys": True, "grouped_heads": True, **SHORT}
    plumbline.check(latent, plumbline.Nope, value_dims=[4, 8], **settings)

    def of_another_part(q, k, v):
        return latent(q, k.roll(-2, -1), v)  # q and k rotate by the same

    wrong = failure(lambda q, k, v, slopes: of_another_part(q.roll(-2, -1), k, v), value_dims=[4],
                    **{**settings, "grouped_heads": False})
    assert ",values_in_keys=1" in wrong.case


def test_a_scale_by_the_width_of_values_is_named():
    def wrong(q, k, v):
        return masked(q * (q.shape[-1] / v.shape[-1]) ** 0.5, k, v, torch.zeros(q.shape[1]))

    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(wrong, plumbline.Nope, value_dims=[12, 32], **SHORT)
    assert "whose scale is 1/sqrt(value_dim)" in failed.value.explanation


def test_a_gradient_through_lse_passes_by_autograd_and_by_hand():
    settings = {**SHORT, "cases": 60, "lse_gradient": True}
    plumbline.check(masked, plumbline.Alibi, backward=True, **settings)
    given = set()

    def backward(grad_o, q, k, v, o, lse, slopes, mask, grad_lse):
        given.add(grad_lse is None)
        leaves = [x.detach().requires_grad_() for x in (q, k, v)]
        with torch.enable_grad():
            s = leaves[0] @ leaves[1].mT / q.shape[-1] ** 0.5
            i, j = torch.arange(q.shape[2])[:, None], torch.arange(k.shape[2])
            hidden = (j > i) if mask is None else (j > i) | ~mask
            p = torch.exp(s.detach() - slopes[:, None, None] * (i - j).abs() - lse[..., None])
            p = p.masked_fill(hidden, 0)
            delta = (grad_o * o).sum(-1) - (0 if grad_lse is None else grad_lse)
            grad_s = torch.where(p > 0, p * (grad_o @ v.mT - delta[..., None]), 0)
            grad_q, grad_k = torch.autograd.grad(s, leaves[:2], grad_s)
        return grad_q, grad_k, p.mT @ grad_o

    plumbline.check(masked, plumbline.Alibi, backward=backward, mask=True, **settings)
    assert given == {True, False}


@pytest.mark.parametrize("through, named", [
    (lambda lse: lse.detach() + 0 * lse, "whose backward pass reads no grad_lse"),
    (lambda lse: 2 * lse.detach() - lse, "whose dS is P (dP - D - grad_lse)"),
])
def test_a_gradient_through_lse_that_is_lost_is_named(through, named):
    def wrong(q, k, v, slopes):
        o, lse = masked(q, k, v, slopes)
        return o, through(lse)

    failed = failure(wrong, backward=True, lse_gradient=True, cases=60)
    assert named in failed.explanation and ",lse_gradient=1" in failed.case


def test_a_function_without_lse_is_told_that_a_gradient_goes_through_it():
    def without(q, k, v, slopes):
        return masked(q, k, v, slopes)[0]

    settings = {"backward": True, "lse_gradient": True, **SHORT}
    with pytest.raises(ValueError, match="lse_gradient is True; expected False: without returns no lse"):
        plumbline.check(without, plumbline.Alibi, **settings)
    with pytest.raises(ValueError, match="contract that has no lse"):
        plumbline.check(masked, plumbline.Alibi, contract=plumbline.Contract(no_lse=True), **settings)

    def detached(q, k, v, slopes):
        o, lse = masked(q, k, v, slopes)
        return o, lse.detach()

    assert "lse has no gradient" in failure(detached, backward=True, lse_gradient=True).explanation


def test_a_gradient_through_an_lse_in_16_bits_passes():
    """dlse comes in the format of lse."""
    def rounded(q, k, v, slopes, sinks):
        q, k, v = q.float(), k.float(), v.float()
        i, j = torch.arange(q.shape[2])[:, None], torch.arange(k.shape[2])
        s = q @ k.mT / q.shape[-1] ** 0.5 - slopes[:, None, None] * (i - j).abs()
        s = s.masked_fill(j > i, float("-inf"))
        if sinks is not None:
            s = torch.cat([s, sinks[None, :, None, None].expand(*s.shape[:3], 1)], -1)
        o = torch.softmax(s, -1)[..., : v.shape[2]] @ v
        return o.bfloat16(), torch.logsumexp(s, -1).bfloat16()

    settings = {**SHORT, "dtype": torch.bfloat16, "contract": plumbline.Contract(lse_format="bf16")}
    plumbline.check(rounded, plumbline.Alibi, backward=True, lse_gradient=True, sinks=True, **settings)


@pytest.mark.parametrize("settings, message", [
    ({"mask": 1}, "mask is 1"),
    ({"lse_gradient": True}, "lse_gradient is True; expected False without backward"),
    ({"values_in_keys": True, "backward": True}, "values_in_keys is True; expected False with backward"),
    ({"value_dims": [0]}, "value_dims is 0"),
    ({"shapes": [{"value_dim": 0}]}, r"shapes\[0\]: value_dim is 0"),
    ({"packed": True, "mask": True}, "mask is True; expected nothing of it with packed"),
])
def test_bad_settings_are_named(settings, message):
    with pytest.raises((TypeError, ValueError), match=message):
        plumbline.check(masked, plumbline.Alibi, dtype=torch.float32, **settings)


def test_the_oracle_masks_as_pytorch_does():
    torch.manual_seed(2)
    q, k = (torch.randn(2, 3, n, 8, dtype=torch.float64, requires_grad=True) for n in (5, 7))
    v = torch.randn(2, 3, 7, 4, dtype=torch.float64, requires_grad=True)
    mask = torch.rand(2, 1, 5, 7) < 0.5
    mask[0, 0, 2] = False
    s = (q @ k.mT / 8**0.5).masked_fill(~mask, float("-inf"))
    o, lse = attended(s, v)
    grad_o, grad_lse = torch.randn_like(o), torch.randn_like(lse)
    expected = torch.autograd.grad([o, lse], [q, k, v], [grad_o, grad_lse])
    oracle = plumbline.attention(q, k, v, causal=False, mask=mask)
    assert oracle.o.shape == (2, 3, 5, 4)
    gradients = oracle.backward(grad_o, grad_lse)
    # Each of some hundred operations in double is within 2^-53 of numbers below 50.
    assert np.isneginf(oracle.lse[0, :, 2]).all() and (oracle.o[0, :, 2] == 0).all()
    for got, right in zip((oracle.o, gradients.q, gradients.k, gradients.v), (o, *expected)):
        assert abs(torch.from_numpy(got) - right).max() < 1e-12
    rows = ~torch.isneginf(lse)
    assert abs(torch.from_numpy(oracle.lse)[rows] - lse[rows]).max() < 1e-12
    for wrong, error in ((mask.int(), TypeError), (mask[:, :, :3], ValueError), (mask.expand(2, 2, 5, 7), ValueError)):
        with pytest.raises(error, match="mask has "):
            plumbline.attention(q, k, v, mask=wrong)
