# SPDX-License-Identifier: Apache-2.0
"""The attention of models as PyTorch code, judged forward and, but for decoding, by autograd: Gemma 2, gpt-oss, DeepSeek's
MLA and T5. Each passes, and with mistakes that are easily made in it fails as what they are."""
import math

import pytest

import plumbline

torch = pytest.importorskip("torch", reason="PyTorch is not installed (Debian's python3-torch)")


def turned(low, high, base):
    """Both components of each pair, rotated. The angles are in double: in float32 their errors grow with the position, which
    the judge allows no table."""
    frequencies = base ** (-torch.arange(low.shape[-1], dtype=torch.float64) / low.shape[-1])
    angles = torch.arange(low.shape[2])[:, None] * frequencies
    cos, sin = angles.cos().to(low.dtype), angles.sin().to(low.dtype)
    return low * cos - high * sin, high * cos + low * sin


def rope_half_split(x, base=10000.0):
    return torch.cat(turned(*x.chunk(2, -1), base), -1)


def rope_interleaved(x, base=10000.0):
    return torch.stack(turned(x[..., ::2], x[..., 1::2], base), -1).flatten(-2)


def repeated(q, *of_key_heads):
    return [x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in of_key_heads]


def seen_alone(s, window=None):
    """A causal layer's scores, or those of one that sees sliding_window = window + 1 tokens, its own among them."""
    i, j = torch.arange(s.shape[-2])[:, None], torch.arange(s.shape[-1])
    hidden = j > i
    if window is not None:
        hidden = hidden | (i - j >= window + 1)
    return s.masked_fill(hidden, float("-inf"))


def attended(s, v):
    return torch.softmax(s, -1) @ v, torch.logsumexp(s, -1)


def fails(fn, bias, words, **settings):
    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(fn, bias, **settings)
    assert failed.value.kind in ("outside_bound", "zeros") and words in failed.value.explanation, failed.value.explanation
    return failed.value.explanation


# Gemma 2: scores within 50 by tanh, a window in every other layer (4,096 tokens; the judge draws smaller ones, and none),
# and the scale query_pre_attn_scalar^-0.5, which in the largest model is not 1/sqrt(head_dim). The judge draws that, too.
GEMMA_2 = {"dtype": torch.float32, "softcap": 50.0, "window": True, "grouped_heads": True, "options": {"base": 10000},
           "cases": 30, "longest": 30, "head_dims": [8, 16], "backward": True}


def gemma_2(q, k, v, *, window, scale, base=10000.0, cap=50.0):
    q, k = rope_half_split(q, base), rope_half_split(k, base)
    k, v = repeated(q, k, v)
    s = q @ k.mT * scale
    if cap:
        s = cap * torch.tanh(s / cap)
    return attended(seen_alone(s, window), v)


def test_gemma_2():
    windows, groups, scales = set(), set(), set()

    def noting(q, k, v, *, window, scale):
        windows.add(window is not None and window + 1 < q.shape[2])
        groups.add(q.shape[1] > k.shape[1])
        scales.add(scale == q.shape[-1] ** -0.5)
        return gemma_2(q, k, v, window=window, scale=scale)

    report = plumbline.check(noting, plumbline.RopeHalfSplit, **GEMMA_2)
    assert set(report.outputs) == {"o", "lse", "grad_q", "grad_k", "grad_v"}
    assert windows == groups == scales == {True, False}


def without_the_softcap(q, k, v, *, window, scale):
    return gemma_2(q, k, v, window=window, scale=scale, cap=None)


def a_token_more(q, k, v, *, window, scale):
    return gemma_2(q, k, v, window=None if window is None else window + 1, scale=scale)


def scale_of_the_head_dim(q, k, v, *, window, scale):
    return gemma_2(q, k, v, window=window, scale=q.shape[-1] ** -0.5)


def base_of_llama_3(q, k, v, *, window, scale):
    return gemma_2(q, k, v, window=window, scale=scale, base=500000.0)


@pytest.mark.parametrize("wrong, words", [
    (without_the_softcap, "a kernel without the softcap"),
    (a_token_more, "a kernel whose window is one key wider"),
    (scale_of_the_head_dim, "a kernel whose scale is 1/sqrt(head_dim), whatever is given"),
    (base_of_llama_3, "a kernel whose base is 500000"),
])
def test_what_may_be_wrong_with_gemma_2(wrong, words):
    fails(wrong, plumbline.RopeHalfSplit, words, **{**GEMMA_2, "backward": None})


# gpt-oss: a learned sink of each head, a logit beside those of the keys, and a window in every other layer (128 tokens; the
# judge draws smaller ones, and none). Its RoPE has base 150,000 and YaRN's frequencies, which the judge does not draw.
GPT_OSS = {"dtype": torch.float32, "sinks": True, "window": True, "grouped_heads": True, "options": {"base": 10000},
           "cases": 40, "longest": 30, "head_dims": [16], "backward": True}


def gpt_oss(q, k, v, *, window, sinks, of_sinks=lambda x: x):
    q, k = rope_half_split(q), rope_half_split(k)
    k, v = repeated(q, k, v)
    s = seen_alone(q @ k.mT * q.shape[-1] ** -0.5, window)
    if sinks is None:
        return attended(s, v)
    s = torch.cat([s, of_sinks(sinks)[:, None, None].expand(*s.shape[:3], 1)], -1)
    return torch.softmax(s, -1)[..., :-1] @ v, torch.logsumexp(s, -1)


def test_gpt_oss():
    drawn = set()

    def noting(q, k, v, *, window, sinks):
        drawn.add((sinks is not None, window is not None and window + 1 < q.shape[2]))
        return gpt_oss(q, k, v, window=window, sinks=sinks)

    report = plumbline.check(noting, plumbline.RopeHalfSplit, **GPT_OSS)
    assert set(report.outputs) == {"o", "lse", "grad_q", "grad_k", "grad_v", "grad_sinks"}
    assert (True, True) in drawn and report.outputs["grad_sinks"].nonzero > 0


def without_its_sinks(q, k, v, *, window, sinks):
    return gpt_oss(q, k, v, window=window, sinks=None)


def scaled_sinks(q, k, v, *, window, sinks):
    return gpt_oss(q, k, v, window=window, sinks=sinks, of_sinks=lambda x: x / q.shape[-1] ** 0.5)


def pairs_side_by_side(q, k, v, *, window, sinks):
    q, k = (x.unflatten(-1, (-1, 2)).mT.flatten(-2) for x in (q, k))
    return gpt_oss(q, k, v, window=window, sinks=sinks)


@pytest.mark.parametrize("wrong, words", [
    (without_its_sinks, "a kernel without the attention sinks"),
    (scaled_sinks, "a kernel whose attention sinks are scaled as the products are"),
    (pairs_side_by_side, "o: where it fails: query 1"),  # position 0 is not rotated
])
def test_what_may_be_wrong_with_gpt_oss(wrong, words):
    fails(wrong, plumbline.RopeHalfSplit, words, **{**GPT_OSS, "backward": None})


def test_sinks_of_gpt_oss_without_a_gradient():
    def constant(q, k, v, *, window, sinks):
        return gpt_oss(q, k, v, window=window, sinks=sinks, of_sinks=lambda x: x.detach() + 0 * x)

    said = fails(constant, plumbline.RopeHalfSplit, "grad_sinks: every element is 0", **GPT_OSS)
    assert "  o: " not in said and "lse: " not in said and "grad_q: " not in said


# MLA as DeepSeek's models decode (FlashMLA): all query heads read one row of 576 numbers of each token, 512 of the latent
# vector, which are also its value, and 64 that RoPE has rotated before they went to the cache. So the kernel rotates nothing
# and is judged without RoPE; that of `check` would turn the first numbers of a row. The scale is that of heads of 192.
MLA = {"dtype": torch.bfloat16, "decode": True, "paged": [64], "values_in_keys": True, "grouped_heads": True, "cases": 16,
       "contract": plumbline.Contract(probability_format="bf16"),
       "shapes": [{"batch": 2, "heads": 16, "kv_heads": 1, "queries": n, "keys": 150, "head_dim": 576, "value_dim": 512}
                  for n in (1, 2)]}


def mla(q, k, v, *, page_table, lengths, scale, values=slice(512), products=slice(576)):
    """v, the same rows once more, is not read."""
    o, lse = torch.zeros_like(q[..., :512]), torch.full(q.shape[:3], float("-inf"))
    for b, length in enumerate(lengths.tolist()):
        if length == 0:
            continue
        rows = k[page_table[b].long(), 0].flatten(0, 1)[:length].float()
        i, j = torch.arange(length - q.shape[2], length)[:, None], torch.arange(length)
        s = q[b, ..., products].float() @ rows[:, products].mT * scale
        s = s.masked_fill(j > i, float("-inf"))
        top = s.amax(-1, keepdim=True).clamp(min=torch.finfo(s.dtype).min)  # a row may see no key
        p = torch.exp(s - top)
        total = p.sum(-1, keepdim=True)
        o[b] = (p.bfloat16().float() @ rows[:, values] / total.clamp(min=0.5)).bfloat16()
        lse[b] = (top + torch.log(total))[..., 0]
    return o, lse


def test_mla_decoding():
    drawn = set()

    def noting(q, k, v, *, page_table, lengths, scale):
        drawn.add((q.shape[2], len(set(lengths.tolist())) > 1))
        assert q.shape[1:] == (16, q.shape[2], 576) and k.shape[1:] == (1, 64, 576)
        return mla(q, k, v, page_table=page_table, lengths=lengths, scale=scale)

    report = plumbline.check(noting, plumbline.Nope, **MLA)
    assert set(report.outputs) == {"o", "lse"} and drawn == {(1, True), (1, False), (2, True), (2, False)}
    assert report.outputs["o"].worst >= 0.3  # the last rounding alone comes close to the bound


def values_at_the_end(q, k, v, *, page_table, lengths, scale):
    return mla(q, k, v, page_table=page_table, lengths=lengths, scale=scale, values=slice(64, 576))


def without_the_rotated_part(q, k, v, *, page_table, lengths, scale):
    return mla(q, k, v, page_table=page_table, lengths=lengths, scale=scale, products=slice(512))


def scale_of_the_row(q, k, v, *, page_table, lengths, scale):
    return mla(q, k, v, page_table=page_table, lengths=lengths, scale=576**-0.5)


@pytest.mark.at_length
@pytest.mark.parametrize("wrong, words", [
    (values_at_the_end, "o: "),
    (without_the_rotated_part, "lse: "),
    (scale_of_the_row, "lse: "),
])
def test_what_may_be_wrong_with_mla_decoding(wrong, words):
    said = fails(wrong, plumbline.Nope, words, **MLA)
    assert ("lse: " in said) == (wrong is not values_at_the_end)


# MLA as it is trained: heads of 192, of which RoPE rotates the last 64, in pairs side by side, and values of 128. `check` has
# RoPE of the first components: the same but for their order, of which products of q and k do not depend.
MLA_TRAINING = {"dtype": torch.float32, "rotary_dim": [64], "options": {"base": 10000}, "cases": 15, "backward": True,
                "shapes": [{"heads": 2, "keys": n, "head_dim": 192, "value_dim": 128} for n in (5, 40)]}


def mla_training(q, k, v, scale):
    q, k = (torch.cat([x[..., :128], rope_interleaved(x[..., 128:])], -1) for x in (q, k))
    return attended(seen_alone(q @ k.mT * scale), v)


def test_mla_training():
    def rotated_part_last(q, k, v, *, rotary_dim, scale):
        return mla_training(q.roll(-rotary_dim, -1), k.roll(-rotary_dim, -1), v, scale)

    def rotated_part_first(q, k, v, *, rotary_dim, scale):
        return mla_training(q, k, v, scale)

    report = plumbline.check(rotated_part_last, plumbline.RopeInterleaved, **MLA_TRAINING)
    assert set(report.outputs) == {"o", "lse", "grad_q", "grad_k", "grad_v"}
    said = fails(rotated_part_first, plumbline.RopeInterleaved, "lse: where it fails: quer", **MLA_TRAINING)
    assert "grad_q: " in said and "grad_k: " in said


# T5 adds a bias of the distance's bucket, in all layers that of the first one's table, and does not scale: its weights of q are
# initialised with 1/sqrt(64) instead, an exact factor, which stands here before the call.
T5 = {"dtype": torch.float32, "head_dims": [64], "cases": 20, "backward": True}
BUCKETS = {"buckets": 32, "max_distance": 128}


def t5(q, k, v, position_bias, causal):
    s = q @ k.mT + position_bias
    return attended(seen_alone(s) if causal else s, v)


@pytest.mark.at_length
def test_t5_with_its_bias_as_a_tensor():
    settings = {**T5, "causal": None, "longest": 80, "options": {"per_batch": 0, "per_head": 1, "per_query": 1}}

    def layer(q, k, v, *, tensor, causal):
        return t5(q / 8, k, v, tensor, causal)

    def scaled_with_the_scores(q, k, v, *, tensor, causal):
        return t5(q / 8, k, v, tensor / 8, causal)

    report = plumbline.check(layer, plumbline.BiasTensor, **settings)
    assert report.outputs["grad_tensor"].nonzero > 0
    fails(scaled_with_the_scores, plumbline.BiasTensor, "lse: ", **settings)


def bucket_of(offset, bidirectional):
    """T5's relative_position_bucket of key minus query, its logarithm in float32."""
    buckets, first = BUCKETS["buckets"], 0
    if bidirectional:
        buckets //= 2
        first, distance = (offset > 0) * buckets, offset.abs()
    else:
        distance = (-offset).clamp(min=0)
    exact = buckets // 2
    far = torch.log(distance.float() / exact) / math.log(BUCKETS["max_distance"] / exact) * (buckets - exact)
    return first + torch.where(distance < exact, distance, (exact + far.long()).clamp(max=buckets - 1))


def t5_layer(q, k, v, table, bidirectional, lookup=lambda table, bucket: table[:, bucket], sign=1):
    offset = torch.arange(k.shape[2]) - torch.arange(q.shape[2])[:, None]
    return t5(q / 8, k, v, lookup(table, bucket_of(sign * offset, bidirectional)), not bidirectional)


@pytest.mark.parametrize("method, bidirectional", [(plumbline.T5, False), (plumbline.T5Bidirectional, True)])
def test_t5_with_its_table(method, bidirectional):
    settings = {**T5, "causal": not bidirectional, "options": BUCKETS, "cases": 12, "longest": 160, "batch": [1], "heads": [2]}

    def layer(q, k, v, *, table):
        return t5_layer(q, k, v, table, bidirectional)

    def query_minus_key(q, k, v, *, table):
        return t5_layer(q, k, v, table, bidirectional, sign=-1)

    report = plumbline.check(layer, method, **settings)
    assert report.outputs["grad_table"].nonzero > 0
    words = "a kernel whose table is read by j - i" if bidirectional else "lse: "
    fails(query_minus_key, method, words, **{**settings, "backward": None})


@pytest.mark.at_length
def test_a_gradient_of_t5s_table_of_one_pair_of_each_bucket():
    class Lookup(torch.autograd.Function):
        @staticmethod
        def forward(ctx, table, bucket):
            ctx.save_for_backward(table, bucket)
            return table[:, bucket]

        @staticmethod
        def backward(ctx, grad):
            table, bucket = ctx.saved_tensors
            result = torch.zeros_like(table)
            result[:, bucket] = grad  # where a bucket's pairs are to be added up
            return result, None

    def overwrites(q, k, v, *, table):
        return t5_layer(q, k, v, table, False, Lookup.apply)

    said = fails(overwrites, plumbline.T5, "grad_table: ", **T5, longest=60, options=BUCKETS)
    assert "  o: " not in said and "lse: " not in said and "grad_q: " not in said
