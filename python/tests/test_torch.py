# SPDX-License-Identifier: Apache-2.0
"""PyTorch's attention on the CPU passes in float32 and bfloat16, with gradients; its broken twin fails."""
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (Debian's python3-torch)")

import plumbline  # noqa: E402

SHORT = {"cases": 10, "longest": 24, "head_dims": [8, 16]}
BF16 = plumbline.Contract(probability_format="bf16")


def alibi_table(slopes, q, k):
    i, j = torch.arange(q.shape[2])[:, None], torch.arange(k.shape[2])[None, :]
    return (-slopes[:, None, None] * (i - j).abs()).masked_fill(j > i, float("-inf"))


def fused(q, k, v, slopes):
    """PyTorch's own kernel, which returns no lse."""
    mask = alibi_table(slopes, q, k)
    if hasattr(torch.nn.functional, "scaled_dot_product_attention"):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return torch.nn.functional._scaled_dot_product_attention(q, k, v, attn_mask=mask)[0]


def composed(q, k, v, slopes):
    """Scores and softmax in float32, P in the format of V: what a mixed-precision kernel does."""
    s = q.float() @ k.float().transpose(-1, -2) / q.shape[-1] ** 0.5 + alibi_table(slopes, q, k)
    p = (s - s.amax(-1, keepdim=True)).exp()
    o = p.to(v.dtype).float() @ v.float() / p.sum(-1, keepdim=True)
    return o.to(q.dtype), torch.logsumexp(s, -1)


def cable(q, k, v, increments, gain):
    s = increments.double().cumsum(-1)
    bias = -gain[..., None] * (s[..., :, None] - s[..., None, :]).float()
    hidden = torch.ones(q.shape[2], k.shape[2]).triu(1).bool()
    s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 + bias.masked_fill(hidden, float("-inf"))
    return torch.softmax(s, -1) @ v, torch.logsumexp(s, -1)


def test_pytorchs_attention_passes_in_float32():
    usual = {"dtype": torch.float32, "cases": 10, "longest": 40, "head_dims": [32, 64]}
    assert set(plumbline.check(fused, plumbline.Alibi, **usual).outputs) == {"o"}
    assert "lse" in plumbline.check(composed, plumbline.Alibi, backward=True, **usual).outputs


def test_attention_in_bfloat16_passes_with_its_contract():
    report = plumbline.check(composed, plumbline.Alibi, dtype=torch.bfloat16, contract=BF16, **SHORT)
    assert 0.3 < report.outputs["o"].worst <= 1  # the last rounding alone comes close to the bound


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    "broken",
    [
        lambda q, k, v, slopes: composed(q, k, v, 1.001 * slopes),  # slope
        lambda q, k, v, slopes: composed(q * q.shape[-1] ** 0.5, k, v, slopes),  # scale
        lambda q, k, v, slopes: composed(q, k.roll(1, 2), v, slopes),  # a key off by one
        lambda q, k, v, slopes: composed(q, k, v, slopes.flip(0) * 2),  # head order
    ],
)
def test_a_broken_twin_fails(broken, dtype):
    contract = BF16 if dtype == torch.bfloat16 else None
    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(broken, plumbline.Alibi, dtype=dtype, contract=contract, **SHORT)
    assert failed.value.kind == "outside_bound"


def test_scores_rounded_to_bfloat16_are_told():
    """All of it in bfloat16, as PyTorch's plain operations do: no contract allows that."""

    def plain(q, k, v):
        s = (q @ k.transpose(-1, -2)) / q.shape[-1] ** 0.5
        s = s.masked_fill(torch.ones(s.shape[-2:]).triu(1).bool(), float("-inf"))
        return torch.softmax(s, -1) @ v, torch.logsumexp(s.float(), -1)

    with pytest.raises(plumbline.CheckFailed, match="lse: .* elements fail"):
        plumbline.check(plain, dtype=torch.bfloat16, contract=BF16, **SHORT)


def test_gradients_by_autograd_pass_and_a_wrong_one_fails():
    report = plumbline.check(cable, plumbline.Cable, dtype=torch.float32, backward=True, **SHORT)
    assert {"grad_q", "grad_k", "grad_v", "grad_increments", "grad_gain"} < set(report.outputs)

    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad * 1.01

    def wrong(q, k, v, increments, gain):
        return cable(q, k, v, increments, Doubled.apply(gain))

    with pytest.raises(plumbline.CheckFailed, match="grad_gain: .* elements fail"):
        plumbline.check(wrong, plumbline.Cable, dtype=torch.float32, backward=True, **SHORT)

    def detached(q, k, v, increments, gain):
        return cable(q, k, v, increments, gain.detach())

    with pytest.raises(plumbline.CheckFailed, match="grad_gain is a NoneType") as failed:
        plumbline.check(detached, plumbline.Cable, dtype=torch.float32, backward=True, **SHORT)
    assert failed.value.kind == "returned_error"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_strides_reach_pytorch_and_its_gradients(dtype):
    seen = set()

    def strided(q, k, v, slopes):
        seen.update({q.is_contiguous(), (q.stride(1) < q.stride(2)) and q.shape[1] > 1, q.stride(3) == 1})
        return composed(q, k, v, slopes)

    contract = plumbline.Contract() if dtype == torch.float32 else BF16
    plumbline.check(strided, plumbline.Alibi, dtype=dtype, strides=True, contract=contract, **SHORT)
    plumbline.check(strided, plumbline.Alibi, strides=True, backward=True, dtype=torch.float32, **SHORT)
    assert seen == {True, False}

    def of_memory(q, k, v, slopes):  # k as if it had no strides
        k = torch.as_strided(k, k.shape, [k.shape[1] * k.shape[2] * k.shape[3], k.shape[2] * k.shape[3], k.shape[3], 1])
        return composed(q, k, v, slopes)

    with pytest.raises(plumbline.CheckFailed, match="passes where all arrays are contiguous"):
        plumbline.check(of_memory, plumbline.Alibi, dtype=dtype, strides=True, contract=contract,
                        **{**SHORT, "cases": 30})


@pytest.mark.parametrize("layout", ["tokens_first", "spaced", "packed_qkv"])
def test_each_kind_of_strides_passes_with_its_gradients(layout):
    strides = set()

    def strided(q, k, v, slopes):
        strides.add((q.stride(1), q.stride(2)))
        return composed(q, k, v, slopes)

    line = ("pass=backward,bias=alibi,batch=2,heads=2,kv_heads=2,queries=20,keys=20,head_dim=32,seed=3,"
            f"layout={layout}")
    plumbline.check(strided, plumbline.Alibi, strides=True, backward=True, dtype=torch.float32, case=line)
    assert strides == {{"tokens_first": (32, 64), "spaced": (40 * 32, 64), "packed_qkv": (32, 192)}[layout]}


def test_gradients_of_packed_sequences_by_autograd_and_by_hand():
    def packed(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, slopes):
        parts, lse = [], []
        for b in range(len(cu_seqlens_q) - 1):
            rows, keys = slice(*cu_seqlens_q[b : b + 2]), slice(*cu_seqlens_k[b : b + 2])
            if rows.start == rows.stop:
                continue
            of_b = [x.swapaxes(0, 1)[None] for x in (q[rows], k[keys], v[keys])]
            shift = of_b[1].shape[2] - of_b[0].shape[2]
            i, j = torch.arange(of_b[0].shape[2])[:, None] + shift, torch.arange(of_b[1].shape[2])
            table = (-slopes[:, None, None] * (i - j).abs()).masked_fill(j > i, float("-inf"))
            s = of_b[0] @ of_b[1].swapaxes(-1, -2) / q.shape[-1] ** 0.5 + table
            parts.append((torch.softmax(s, -1) @ of_b[2])[0].swapaxes(0, 1))
            lse.append(torch.logsumexp(s, -1)[0])
        return torch.cat(parts), torch.cat(lse, -1)

    def by_hand(grad_o, q, k, v, o, lse, **keywords):
        leaves = [x.detach().requires_grad_() for x in (q, k, v)]
        with torch.enable_grad():
            return torch.autograd.grad(packed(*leaves, **keywords)[0], leaves, grad_o)

    settings = {"dtype": torch.float32, "packed": True, "cases": 30, "longest": 24, "head_dims": [8]}
    for backward in (None, True, by_hand):
        plumbline.check(packed, plumbline.Alibi, backward=backward, **settings)
    plumbline.check(packed, plumbline.Alibi, backward=True, lse_gradient=True, **settings)

    def of_last_sequence(grad_o, q, k, v, o, lse, **keywords):
        grads = list(by_hand(grad_o, q, k, v, o, lse, **keywords))
        grads[2] = grads[2] * (torch.arange(len(v)) >= keywords["cu_seqlens_k"][-2])[:, None, None]
        return grads

    with pytest.raises(plumbline.CheckFailed, match="grad_v"):
        plumbline.check(packed, plumbline.Alibi, backward=of_last_sequence, **settings)


def test_another_framework_than_the_dtypes_is_refused_as_an_output():
    def numpy(q, k, v):
        return q.numpy()

    with pytest.raises(plumbline.CheckFailed, match="o is a ndarray; expected a tensor of PyTorch's"):
        plumbline.check(numpy, dtype=torch.float32, **SHORT)


def plain(q, k, v):
    """Every tensor in the inputs' format, as eager PyTorch computes."""
    s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    hidden = torch.ones(q.shape[2], k.shape[2]).triu(1).bool()
    return torch.softmax(s.masked_fill(hidden, float("-inf")), -1) @ v


def sums_in_fp32(dtype):
    """Whether products are summed in fp32. PyTorch 1.13 has sums in bfloat16 where the processor has no
    AVX-512: there 256 + 1 is 256."""
    return (torch.ones(1, 512, dtype=dtype) @ torch.ones(512, 1, dtype=dtype)).item() == 512


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("backward", [False, True])
def test_attention_in_16_bits_throughout_passes_by_the_contract_of_pytorchs_math(dtype, backward):
    if dtype is torch.float16 and torch.__version__ < "2.1":
        pytest.skip("this PyTorch has no products of float16 on a CPU")
    if not sums_in_fp32(dtype):
        pytest.skip("this PyTorch keeps sums of products in 16 bits on this processor")
    settings = {"dtype": dtype, "backward": backward, "cases": 10, "longest": 40, "head_dims": [32, 64]}
    with pytest.raises(plumbline.CheckFailed):
        plumbline.check(plain, **settings)
    report = plumbline.check(plain, contract="pytorch_math_16_bits", **settings)
    assert "lse" not in report.outputs
    with pytest.raises(plumbline.CheckFailed):
        plumbline.check(
            lambda q, k, v: plain(q, k, 1.25 * v), contract="pytorch_math_16_bits", **settings
        )


def test_an_lse_in_bfloat16_is_judged_as_one():
    def rounds_lse(q, k, v, slopes):
        o, lse = composed(q, k, v, slopes)
        return o, lse.bfloat16()

    contract = plumbline.Contract(probability_format="bf16", lse_format="bf16")
    settings = {"dtype": torch.bfloat16, **SHORT}
    report = plumbline.check(rounds_lse, plumbline.Alibi, contract=contract, **settings)
    assert 0.3 < report.outputs["lse"].worst <= 1
    with pytest.raises(plumbline.CheckFailed, match="bfloat16"):
        plumbline.check(rounds_lse, plumbline.Alibi, contract=BF16, **settings)


@pytest.mark.parametrize("device", ["gpu", "meta", "cuda:x", 2.5])
def test_a_device_that_pytorch_lacks_is_refused(device):
    with pytest.raises(ValueError, match=f"device is {device!r}; expected one that PyTorch has here: "):
        plumbline.check(fused, plumbline.Alibi, dtype=torch.float32, device=device, **SHORT)


class WritesInBackward(torch.autograd.Function):
    """Right gradients by a backward pass that doubles q."""

    @staticmethod
    def forward(ctx, q, k, v, slopes):
        ctx.save_for_backward(q, k, v, slopes)
        return composed(q, k, v, slopes)[0]

    @staticmethod
    def backward(ctx, grad_o):
        *inputs, slopes = ctx.saved_tensors
        leaves = [x.detach().clone().requires_grad_() for x in inputs]
        with torch.enable_grad():
            gradients = torch.autograd.grad(composed(*leaves, slopes)[0], leaves, grad_o)
        inputs[0].data.mul_(2)
        return (*gradients, None)


def test_a_backward_pass_that_writes_to_its_inputs_is_found():
    with pytest.raises(plumbline.CheckFailed, match="changed its input q") as failed:
        plumbline.check(lambda q, k, v, slopes: WritesInBackward.apply(q, k, v, slopes), plumbline.Alibi,
                        dtype=torch.float32, backward=True, **SHORT)
    assert failed.value.kind == "changed_input" and "pass=backward" in failed.value.case


@pytest.mark.parametrize("strides", [False, True])
def test_inputs_on_a_device_are_looked_at_after_the_call(strides, monkeypatch):
    def doubles_k(q, k, v, slopes):
        result = composed(q, k, v, slopes)
        k.mul_(2)
        return result

    settings = {"dtype": torch.float32, "device": "cpu", "strides": strides, **SHORT}
    monkeypatch.setattr(torch.Tensor, "to", lambda tensor, device: tensor.clone())  # memory of its own, as on a GPU
    plumbline.check(composed, plumbline.Alibi, **settings)
    with pytest.raises(plumbline.CheckFailed, match="changed its input k") as failed:
        plumbline.check(doubles_k, plumbline.Alibi, **settings)
    assert failed.value.kind == "changed_input"


def test_a_tensor_with_its_sign_in_a_bit_is_read_with_its_sign():
    negated = torch._neg_view
    q, k, v = torch.randn(3, 1, 2, 4, 8)
    assert (plumbline.attention(negated(q), k, v).o == plumbline.attention(-q, k, v).o).all()
    for dtype, contract in ((torch.float32, None), (torch.bfloat16, BF16)):
        plumbline.check(lambda *x, **y: [negated(-out) for out in composed(*x, **y)], plumbline.Alibi, dtype=dtype,
                        contract=contract, **SHORT)


def test_integers_of_any_size_are_read():
    x = torch.arange(64).reshape(1, 2, 4, 8) % 5
    wide = plumbline.attention(*[x.double()] * 3)
    for dtype in (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64):
        assert (plumbline.attention(*[x.to(dtype)] * 3).o == wide.o).all()


@pytest.mark.parametrize("change, words", [
    (lambda o: o.to_sparse(), "o is a tensor of layout torch.sparse_coo on cpu; expected one of torch.strided"),
    (lambda o: o.to("meta"), "o is a tensor of layout torch.strided on meta; expected one of torch.strided with"),
])
def test_an_output_without_numbers_is_named(change, words):
    with pytest.raises(plumbline.CheckFailed, match=words) as failed:
        plumbline.check(lambda *x, **y: change(composed(*x, **y)[0]), plumbline.Alibi, dtype=torch.float32, **SHORT)
    assert failed.value.kind == "returned_error"


def test_an_output_without_a_gradient_is_named():
    with pytest.raises(plumbline.CheckFailed, match="o has no gradient; expected one, which backward=True") as failed:
        plumbline.check(lambda *x, **y: composed(*x, **y)[0].detach(), plumbline.Alibi, dtype=torch.float32,
                        backward=True, **SHORT)
    assert failed.value.kind == "returned_error"
