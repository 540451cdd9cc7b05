# SPDX-License-Identifier: Apache-2.0
"""FlexAttention: a right score_mod passes, a wrong one fails, and those that the package writes are right."""
import inspect
import pathlib
import re

import pytest

import plumbline
from plumbline import _flex

torch = pytest.importorskip("torch", reason="PyTorch is not installed (Debian's python3-torch)")
flex = pytest.importorskip("torch.nn.attention.flex_attention",
                           reason=f"PyTorch {torch.__version__} has no FlexAttention, which came with 2.5")


def differentiates_on_this_cpu():
    q = torch.ones(1, 1, 2, 16, requires_grad=True)
    try:
        flex.flex_attention(q, q, q).sum().backward()
    except NotImplementedError:
        return False
    return True


BACKWARD = True if differentiates_on_this_cpu() else None
SHORT = {"cases": 12, "longest": 40, "head_dims": [32], "dtype": torch.float32}


def alibi(score, b, h, q_idx, kv_idx, slopes):
    return score - slopes[h] * (q_idx - kv_idx).abs()


def cable(increments, gain):
    sums = increments.double().cumsum(-1)
    return lambda score, b, h, i, j: score - gain[b, h, i] * (sums[b, h, i] - sums[b, h, j]).abs().float()


def failure(fn, *bias, **settings):
    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(fn, *bias, shrink=False, **{**SHORT, **settings})
    return failed.value


@pytest.mark.parametrize("mod, bias, parameters", [
    (lambda score, b, h, q_idx, kv_idx: score, None, set()),
    (lambda: None, None, set()),  # as flex_attention has it: no score_mod
    (alibi, plumbline.Alibi, set()),
    (cable, plumbline.Cable, {"grad_increments", "grad_gain"}),
    (lambda **p: alibi_of(**p), plumbline.Alibi, set()),
])
def test_a_right_score_mod_passes(mod, bias, parameters):
    report = plumbline.check(plumbline.flex_attention(mod), bias, backward=BACKWARD, **SHORT)
    gradients = {"grad_q", "grad_k", "grad_v", *parameters} if BACKWARD else set()
    assert set(report.outputs) == {"o", "lse", *gradients}


def alibi_of(slopes):
    return lambda *given: alibi(*given, slopes=slopes)


def test_a_wrong_score_mod_fails_and_is_named():
    def towards(score, b, h, q_idx, kv_idx, slopes):
        return score + slopes[h] * (q_idx - kv_idx)

    def steep(score, b, h, q_idx, kv_idx, slopes):
        return score - 1.0001 * slopes[h] * (q_idx - kv_idx)

    failed = failure(plumbline.flex_attention(towards), plumbline.Alibi)
    assert failed.kind == "outside_bound" and "bias_sign" in failed.matches
    assert str(failed).startswith("towards alibi fp32: FAIL")
    assert failure(plumbline.flex_attention(steep), plumbline.Alibi).kind == "outside_bound"

    def of_keys(increments, gain):
        sums = increments.cumsum(-1) - increments  # exclusive
        return lambda score, b, h, i, j: score - gain[b, h, i] * (sums[b, h, i] - sums[b, h, j]).abs()

    assert failure(plumbline.flex_attention(of_keys), plumbline.Cable).kind == "outside_bound"


MASKS = {"window": True, "lengths": True, "documents": True, "mask": True, "query_offset": True}


@pytest.mark.parametrize("settings", [
    {"causal": None, "grouped_heads": True, **MASKS}, {"causal": False}, {"window": "left_right", "causal": None}])
def test_masks_grouped_heads_and_scales_reach_flex_attention(settings):
    seen = set()

    def noting(q, *others, block_mask, scale, enable_gqa, **rest):
        seen.update([("masked", block_mask is not None), ("gqa", enable_gqa), ("scale", scale == q.shape[3] ** -0.5)])
        return flex.flex_attention(q, *others, block_mask=block_mask, scale=scale, enable_gqa=enable_gqa, **rest)

    def of_positions(score, b, h, q_idx, kv_idx, slopes, query_offset=0):
        return alibi(score, b, h, q_idx + query_offset, kv_idx, slopes)

    fn = plumbline.flex_attention(of_positions, attention=noting)
    plumbline.check(fn, plumbline.Alibi, **{**SHORT, "cases": 60, **settings})
    assert ("scale", False) in seen
    assert {masked for what, masked in seen if what == "masked"} == {False} | ({True} - {settings["causal"] is False})
    assert (("gqa", True) in seen) == ("grouped_heads" in settings)


@pytest.mark.parametrize("setting", ["causal", *MASKS])
def test_each_mask_is_needed(setting, monkeypatch):
    """What mask_mod is not told, it does not hide."""
    right = _flex._mask_mod
    place = ("causal", "window", "lengths", "documents", "mask", "query_offset").index(setting)

    def without(*given):
        nothing = False if setting == "causal" else 0 if setting == "query_offset" else None
        return right(*given[:place], nothing, *given[place + 1 :])

    monkeypatch.setattr(_flex, "_mask_mod", without)
    fn = plumbline.flex_attention(lambda query_offset=0: None)
    settings = {} if setting == "causal" else {setting: True}
    assert failure(fn, cases=60, **settings).kind == "outside_bound"


def test_a_softcap_and_ssmax_are_the_score_mods():
    def capped(softcap, ssmax_scale):
        def mod(score, b, h, i, j):
            score = score if softcap is None else softcap * torch.tanh(score / softcap)
            return score if ssmax_scale is None else score * ssmax_scale[h] * (i + 1.0).log()

        return mod

    settings = {"softcap": True, "ssmax": True, **SHORT, "cases": 40}
    plumbline.check(plumbline.flex_attention(capped), **settings)
    capless = failure(plumbline.flex_attention(lambda softcap: None), softcap=True, cases=40)
    assert capless.kind == "outside_bound"


def test_a_compiled_flex_attention_is_judged():
    compiled = torch.compile(flex.flex_attention, backend="aot_eager")
    settings = {**SHORT, "cases": 4, "shapes": [{"heads": 2, "keys": 128, "head_dim": 32}], "shrink": False}
    del settings["head_dims"], settings["longest"]
    plumbline.check(plumbline.flex_attention(alibi, attention=compiled), plumbline.Alibi, **settings)

    def wrong(score, b, h, q_idx, kv_idx, slopes):
        return alibi(score, b, 0 * h, q_idx, kv_idx, slopes)

    with pytest.raises(plumbline.CheckFailed, match="lse: .* elements fail"):
        plumbline.check(plumbline.flex_attention(wrong, attention=compiled), plumbline.Alibi, **settings)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_in_16_bits_it_is_pytorchs_math(dtype):
    settings = {"dtype": dtype, "contract": "pytorch_math_16_bits", "cases": 20}
    report = plumbline.check(plumbline.flex_attention(alibi), plumbline.Alibi, **{**SHORT, **settings})
    assert report.outputs["o"].worst > 0.3

    def of_the_next_key(score, b, h, q_idx, kv_idx, slopes):
        return alibi(score, b, h, q_idx, kv_idx + 1, slopes) + slopes[h] * (kv_idx == q_idx)

    assert failure(plumbline.flex_attention(of_the_next_key), plumbline.Alibi, **settings).kind == "outside_bound"


def test_lse_may_be_left_out():
    report = plumbline.check(plumbline.flex_attention(alibi, lse=False), plumbline.Alibi, **SHORT)
    assert set(report.outputs) == {"o"}


def test_the_examples_of_the_page_run(capsys):
    page = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
    section = page.read_text("utf-8").partition("## FlexAttention")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```python\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 3
    scope = {}
    for block in blocks:
        exec(block, scope)
    assert "alibi alibi fp32: pass, 100 cases" in capsys.readouterr().out
    attended = plumbline.attention(scope["q"], scope["k"], scope["v"],
                                   plumbline.Cable(scope["increments"], scope["gain"]), causal=False)
    # Some hundred operations in float32 on numbers below 10.
    assert abs(scope["o"].double() - torch.from_numpy(attended.o)).max() < 1e-5


BIASES = [cls for cls in vars(plumbline).values()
          if inspect.isclass(cls) and issubclass(cls, plumbline.Bias) and cls is not plumbline.Bias]
WITH_SCORE_MOD = [cls for cls in BIASES if cls.method in _flex._ADDED]


def written(cls, change=lambda x: x):
    """The package's score_mod, with the first array changed."""
    def make(query_offset=0, **arrays):
        first = next((name for name, x in arrays.items() if isinstance(x, torch.Tensor)), None)
        if first:
            arrays[first] = change(arrays[first])
        return plumbline.score_mod(cls(**arrays), query_offset=query_offset)

    return plumbline.flex_attention(make)


@pytest.mark.parametrize("cls", WITH_SCORE_MOD, ids=lambda cls: cls.method)
def test_the_score_mod_of_a_bias_is_right(cls):
    causal = True if cls is plumbline.Fox else None
    settings = {**SHORT, "longest": 200, "causal": causal}
    report = plumbline.check(written(cls), cls, query_offset=True, **settings)
    assert set(report.outputs) == {"o", "lse"} and report.outputs["lse"].worst > 0.01
    if cls is not plumbline.Nope:
        assert failure(written(cls, lambda x: 1.01 * x), cls, **settings).kind == "outside_bound"
    if BACKWARD:
        report = plumbline.check(written(cls), cls, backward=True, **SHORT)
        differentiated = {"grad_q", "grad_k", "grad_v"} < set(report.outputs)
        assert differentiated or cls in (plumbline.Nope, plumbline.Alibi, plumbline.Sandwich)


CUSTOM = {
    "log_decay": plumbline.Custom("-r * log1p(a * abs(i - j))", r=plumbline.per_head(0.1, 2), a=plumbline.per_head(0.1, 2)),
    "of_tokens": plumbline.Custom("w[i] * u[j] - min(0.5, abs(u[i])) + s * max(h, 1)", w=plumbline.per_key(-1, 1),
                                  u=plumbline.per_key(-1, 1), s=plumbline.shared(0.1, 1)),
    "of_queries": plumbline.Custom("-g[i] * x**2 + where(i - j < 3, c, -c)", g=plumbline.per_query(0.1, 1),
                                   c=plumbline.per_head(0.1, 1), x=plumbline.prefix_sum(0, 0.1)),
    "of_offsets": plumbline.Custom("a * cos(i / 7) - b * floor((i - j) / 4) + sqrt(1 + abs(i - j)) * (i // 8 == j // 8)",
                                   a=plumbline.per_head(0.1, 1), b=plumbline.per_sequence(0.1, 1)),
    "apart": plumbline.Custom("where(i == j, 0, -r * log(abs(i - j)))", r=plumbline.per_head(0.1, 1)),
    "others": plumbline.Custom("a * sin(j) * exp(-abs(i - j)) + erf(a * (i - j)) - log(1 + a) * tanh(i - j)",
                               a=plumbline.per_head(0.1, 1)),
}


@pytest.mark.parametrize("name", CUSTOM)
def test_the_score_mod_of_a_custom_bias_is_right(name):
    def of(change):
        def make(query_offset=0, **arrays):
            first = next(iter(arrays))
            return plumbline.score_mod(CUSTOM[name](**{**arrays, first: change(arrays[first])}), query_offset=query_offset)

        return plumbline.flex_attention(make)

    settings = {**SHORT, "longest": 200, "causal": None}
    report = plumbline.check(of(lambda x: x), CUSTOM[name], query_offset=True, **settings)
    assert report.outputs["lse"].worst > 0.01
    assert failure(of(lambda x: 1.01 * x), CUSTOM[name], **settings).kind == "outside_bound"
    if BACKWARD:
        report = plumbline.check(of(lambda x: x), CUSTOM[name], backward=True, **SHORT)
        assert {"grad_q", "grad_k", "grad_v", f"grad_{next(iter(CUSTOM[name].parameter_names))}"} <= set(report.outputs)


def test_slopes_of_each_sequence():
    settings = {**SHORT, "options": {"slopes_per_batch": 1}, "batch": [2]}
    plumbline.check(written(plumbline.Alibi), plumbline.Alibi, **settings)
    assert failure(written(plumbline.Alibi, lambda x: x[0]), plumbline.Alibi, **settings).kind == "outside_bound"


@pytest.mark.parametrize("buckets, max_distance", [(10, 160), (32, 128), (2, 3)])
def test_buckets_of_t5_are_the_oracles(buckets, max_distance):
    """10 buckets to 160: the distances 10, 20, 40 and 80 are borders, which double rounds down."""
    tokens = 200
    table = torch.arange(float(buckets))[None]
    q = torch.zeros(1, 1, tokens, 1)
    oracle = plumbline.attention(q, q, q, plumbline.T5(table, buckets, max_distance))
    mod = plumbline.score_mod(plumbline.T5(table, buckets, max_distance))
    i, j = torch.arange(tokens)[:, None], torch.arange(tokens)
    bias = mod(torch.zeros(()), torch.tensor(0), torch.tensor(0), i, j).masked_fill(j > i, float("-inf"))
    # lse of 200 numbers below 32 in double: within 1e-12.
    assert abs(torch.logsumexp(bias.double(), -1) - torch.from_numpy(oracle.lse[0, 0])).max() < 1e-12


@pytest.mark.parametrize("call, error, words", [
    (lambda: plumbline.flex_attention(alibi, lse=1), TypeError, "lse is 1; expected True or False"),
    (lambda: plumbline.flex_attention(3), TypeError, "score_mod is 3; expected a function of score, b, h"),
    (lambda: plumbline.score_mod("alibi"), TypeError, "bias is 'alibi'; expected an instance"),
    (lambda: plumbline.score_mod(plumbline.Alibi(torch.ones(2)), query_offset="x"), TypeError,
     "query_offset is 'x'; expected a whole number"),
    (lambda: plumbline.score_mod(plumbline.Alibi), TypeError, "bias is <class .*; expected an instance"),
    (lambda: plumbline.score_mod(plumbline.Alibi()), ValueError, "slopes is None; expected 1 or 2 axes"),
    (lambda: plumbline.score_mod(plumbline.Cable(torch.ones(1, 2, 3), torch.ones(2))), ValueError,
     r"gain is of shape \(2,\); expected 3 axes"),
    (lambda: plumbline.score_mod(plumbline.T5(torch.ones(1, 8), 8, 4)), ValueError, "max_distance is 4; expected"),
    (lambda: plumbline.score_mod(plumbline.RopeHalfSplit()), ValueError, "RopeHalfSplit, .*: it rotates q and k"),
    (lambda: plumbline.score_mod(plumbline.Cope(torch.ones(1, 2, 4))), ValueError, "Cope, .* scores of other keys"),
    (lambda: plumbline.score_mod(plumbline.DapeV1Alibi(*[None] * 5)), ValueError, "DapeV1Alibi, .* of other heads"),
    (lambda: plumbline.score_mod(plumbline.Custom("0", visible="i // 4 == j // 4")()), ValueError,
     "bias is custom, which has visible; expected none"),
    (lambda: plumbline.score_mod(plumbline.Custom("r", r=plumbline.per_head(0, 1))(r=torch.ones(1, 2))), ValueError,
     r"r is of shape \(1, 2\); expected 1 axis"),
])
def test_bad_input_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_every_bias_has_a_score_mod_or_a_reason_why_not():
    without = {cls.method for cls in BIASES} - set(_flex._ADDED)
    assert all(any(method.startswith(start) for start in _flex._NO_SCORE_MOD) for method in without)
    assert WITH_SCORE_MOD and without


@pytest.mark.parametrize("setting", ["sinks", "dropout"])
def test_what_flex_attention_lacks_is_said(setting):
    failed = failure(plumbline.flex_attention(alibi), plumbline.Alibi, **{setting: True})
    assert f"TypeError: {setting} is True; expected False: FlexAttention has no {setting}" in str(failed)


def test_a_score_mod_that_takes_other_keywords_is_told_which():
    def other(score, b, h, q_idx, kv_idx, slope):
        return score

    failed = failure(plumbline.flex_attention(other), plumbline.Alibi)
    assert failed.kind == "exception"
    assert "score_mod takes (score, b, h, q_idx, kv_idx, slope); expected (score, b, h, q_idx, kv_idx, slopes)" in str(
        failed)
