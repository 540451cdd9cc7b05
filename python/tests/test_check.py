# SPDX-License-Identifier: Apache-2.0
"""The check of NumPy functions: a right one passes, each broken twin fails as what it is."""
import json
import sys
import time

import formulas
import numpy as np
import pytest

import plumbline
from plumbline import _native

SMALL = {"longest": 24, "head_dims": [8, 16]}
SHORT = {"cases": 12, **SMALL}


def alibi(q, k, v, slopes):
    table = formulas.alibi(slopes, q.shape[2], k.shape[2]).astype(np.float32)
    return formulas.attention(q, k, v, table)


def cable(q, k, v, increments, gain):
    distance = formulas.prefix_distance(increments.astype(np.float64), q.shape[2])
    return formulas.attention(q, k, v, -gain[..., None] * np.abs(distance).astype(np.float32))


def test_a_numpy_function_passes_and_its_figures_are_told():
    report = plumbline.check(alibi, plumbline.Alibi, cases=12, longest=40, head_dims=[32, 64])
    assert report.cases == 12 and report.bias == "alibi" and report.dtype == "fp32"
    assert set(report.outputs) == {"o", "lse"}
    assert all(0 < figures.worst <= 1 for figures in report.outputs.values())
    assert "alibi alibi fp32: pass, 12 cases" in str(report)
    assert plumbline.check(cable, "cable", **SHORT).rows > 12


def alibi_of_each(q, k, v, slopes):
    """With slopes [batch, heads]."""
    tables = [formulas.alibi(of_sequence, q.shape[2], k.shape[2]) for of_sequence in slopes]
    return formulas.attention(q, k, v, np.concatenate(tables).astype(np.float32))


def test_slopes_of_each_sequence():
    ours = {**SHORT, "batch": [3], "options": {"slopes_per_batch": 1}}
    assert plumbline.check(alibi_of_each, plumbline.Alibi, **ours).cases == 12
    with pytest.raises(plumbline.CheckFailed, match="slopes are those of the first sequence"):
        plumbline.check(lambda q, k, v, slopes: alibi_of_each(q, k, v, slopes[[0, 0, 0]]), plumbline.Alibi, **ours)


def without_lse(q, k, v, slopes):
    return alibi(q, k, v, slopes)[0]


def test_a_function_without_lse_is_judged_by_its_output():
    report = plumbline.check(without_lse, plumbline.Alibi, **SHORT)
    assert set(report.outputs) == {"o"}
    with pytest.raises(plumbline.CheckFailed, match="o: .* elements fail"):
        plumbline.check(lambda q, k, v, slopes: without_lse(q, k, v, 1.01 * slopes), "alibi", **SHORT)


def wrong_slope(q, k, v, slopes):
    return alibi(q, k, v, np.float32(1.001) * slopes)


def no_scale(q, k, v, slopes):
    return alibi(q * np.sqrt(np.float32(q.shape[-1])), k, v, slopes)


def mask_off_by_one(q, k, v, slopes):
    table = np.where(np.tri(q.shape[2], k.shape[2], 1), 0.0, -np.inf).astype(np.float32)
    bias = table + formulas.alibi(slopes, q.shape[2], k.shape[2]).astype(np.float32)
    return formulas.attention(q, k, v, bias, causal=False)


def lse_in_base_2(q, k, v, slopes):
    o, lse = alibi(q, k, v, slopes)
    return o, lse * np.float32(np.log2(np.e))


def zeros(q, k, v, slopes):
    return np.zeros_like(q), np.zeros(q.shape[:3], np.float32)


def nans(q, k, v, slopes):
    return np.full_like(q, np.nan), alibi(q, k, v, slopes)[1]


def its_input(q, k, v, slopes):
    return q, alibi(q, k, v, slopes)[1]


def writes_to_q(q, k, v, slopes):
    result = alibi(q, k, v, slopes)
    q *= 2
    return result


def double(q, k, v, slopes):
    return tuple(x.astype(np.float64) for x in alibi(q, k, v, slopes))


def raises(q, k, v, slopes):
    raise RuntimeError("no kernel for this shape")


@pytest.mark.parametrize(
    "function, kind, words",
    [
        (wrong_slope, "outside_bound", "lse: .* elements fail"),
        (no_scale, "outside_bound", "lse: .* elements fail"),
        (mask_off_by_one, "outside_bound", "elements fail"),
        (lse_in_base_2, "outside_bound", "lse: .* elements fail"),
        (zeros, "zeros", "o: every element is 0"),
        (nans, "nan", "elements are NaN"),
        (its_input, "copies_input", "o is the input q"),
        (writes_to_q, "changed_input", "q"),
        (double, "returned_error", "o has shape .* and dtype float64; expected .* float32"),
        (raises, "exception", "RuntimeError: no kernel for this shape"),
    ],
)
def test_a_broken_twin_fails_as_what_it_is(function, kind, words):
    with pytest.raises(plumbline.CheckFailed, match=words) as failed:
        plumbline.check(function, plumbline.Alibi, **SHORT)
    error = failed.value
    assert error.kind == kind and error.outcome == "fail"
    assert isinstance(error.__cause__, RuntimeError if function is raises else type(None))
    assert error.repeat.startswith(f"plumbline.check({function.__name__}, 'alibi', ")
    # The line repeats the failure, and the right function passes on the same case.
    scope = {"plumbline": plumbline, function.__name__: function}
    with pytest.raises(plumbline.CheckFailed) as again:
        eval(error.repeat, scope)
    assert again.value.case == error.case and again.value.kind == kind
    plumbline.check(alibi, "alibi", case=error.case)


@pytest.mark.parametrize(
    "function, match",
    [
        (no_scale, "scale_missing"),
        (mask_off_by_one, "causal_one_late"),
        (lse_in_base_2, "lse_base_2"),
        (lambda q, k, v, slopes: alibi(q, k, v, -slopes), "bias_sign"),
    ],
)
def test_another_convention_is_named(function, match):
    with pytest.raises(plumbline.CheckFailed, match="of a kernel .*: ") as failed:
        plumbline.check(function, plumbline.Alibi, **SHORT)
    assert failed.value.matches == (match,)
    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(wrong_slope, plumbline.Alibi, **SHORT)
    assert failed.value.matches == ()


def test_an_undecided_case_is_no_pass(monkeypatch):
    """No case that is drawn is one: the judge's report is turned into what it would be."""
    native = _native.check

    def undecided(*arguments):
        report = json.loads(native(*arguments)[0])
        cell = report["cells"][0]
        cell["outcome"] = cell["counterexample"]["judgement"]["outcome"] = "undecided"
        del cell["counterexample"]["judgement"]["kind"]
        return json.dumps(report), "  o: 0 of 64 elements fail, 3 undecided\n", None

    monkeypatch.setattr(_native, "check", undecided)
    with pytest.raises(plumbline.CheckFailed, match="undecided after .* case.*\n.* 3 undecided") as failed:
        plumbline.check(wrong_slope, plumbline.Alibi, **SHORT)
    assert failed.value.outcome == "undecided" and failed.value.kind == ""
    assert failed.value.explanation == "  o: 0 of 64 elements fail, 3 undecided\n"
    assert failed.value.case.startswith("pass=forward,bias=alibi")


def test_the_failing_case_is_small_and_its_numbers_can_be_had():
    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(mask_off_by_one, plumbline.Alibi, **SHORT)
    case = plumbline.case_arrays(failed.value.case)
    assert case["q"].shape == (1, 1, 2, 8) == case["k"].shape  # one query cannot see a later key
    o, lse = alibi(case["q"], case["k"], case["v"], case["slopes"])
    oracle = plumbline.attention(case["q"], case["k"], case["v"], plumbline.Alibi(case["slopes"]))
    assert np.abs(o - oracle.o).max() < 1e-5 and np.abs(lse - oracle.lse).max() < 1e-5


def test_settings_reach_the_function_only_when_it_takes_them():
    seen = {"causal": set(), "window": set(), "lengths": set(), "documents": set(), "offset": set()}

    def general(q, k, v, *, slopes, causal, window, lengths, documents, query_offset, ssmax_scale):
        seen["causal"].add(causal)
        seen["window"].add(window is None)
        seen["lengths"].add(lengths is None)
        seen["documents"].add(documents is None)
        seen["offset"].add(q.shape[2] < k.shape[2])
        oracle = plumbline.attention(
            q, k, v, plumbline.Alibi(slopes), causal=causal, window=window, lengths=lengths,
            documents=documents, query_offset=query_offset, ssmax_scale=ssmax_scale,
        )  # fmt: skip
        return oracle.o.astype(np.float32), oracle.lse.astype(np.float32)

    everything = dict.fromkeys(
        ("window", "lengths", "documents", "ssmax", "grouped_heads", "query_offset"), True
    )
    plumbline.check(general, "alibi", causal=None, cases=30, **SMALL, **everything)
    assert all(values == {True, False} for values in seen.values()), seen


def test_sides_ends_and_more_queries_are_drawn_for_who_takes_them():
    seen = {"sides": set(), "at_end": set(), "more": set(), "before": set(), "beyond": set()}

    def general(q, k, v, *, window, lengths, query_offset, queries_at_end):
        queries, keys = q.shape[2], k.shape[2]
        offsets = [query_offset] * len(q) if not queries_at_end else [length - queries for length in lengths]
        seen["sides"].add(window[0] != window[1])
        seen["at_end"].add(queries_at_end)
        seen["more"].add(queries > keys)
        seen["before"].add(min(offsets) < 0)
        seen["beyond"].add(query_offset + queries > keys)
        oracle = plumbline.attention(q, k, v, window=window, lengths=lengths, query_offset=offsets, causal=False)
        return oracle.o.astype(np.float32), oracle.lse.astype(np.float32)

    takes = {"window": "left_right", "lengths": True, "more_queries": True, "queries_at_end": True}
    plumbline.check(general, causal=False, cases=100, **SMALL, **takes)
    assert all(values == {True, False} for values in seen.values()), seen


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_strides_are_given_and_a_right_function_passes(dtype):
    layouts = set()

    def function(q, k, v):
        if q.shape[1] > 1 < q.shape[2]:
            layouts.add(q.flags.c_contiguous)
            layouts.add("tokens" if q.strides[1] < q.strides[2] else "heads")
        o, lse = formulas.attention(*(x.astype(np.float32) for x in (q, k, v)))
        return o.astype(q.dtype), lse

    plumbline.check(function, dtype=dtype, strides=True, cases=40, **SMALL, kv_heads=[2, 3])
    assert layouts == {True, False, "tokens", "heads"}


def test_a_function_that_ignores_strides_is_found_and_told_so():
    def flat(q, k, v):
        def memory(x):  # from its first number on, whatever its strides
            size = x.size
            return np.lib.stride_tricks.as_strided(x, (size,), (x.itemsize,)).reshape(x.shape)

        with np.errstate(all="ignore"):
            return formulas.attention(memory(q), memory(k), memory(v))

    plumbline.check(flat, cases=20, **SMALL)
    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(flat, strides=True, cases=20, **SMALL)
    assert "passes where all arrays are contiguous" in str(failed.value)


def _aligned_attention(q, k, v, slopes, causal, offset):
    """Query row r at position r + offset, 0 where it sees no key."""
    i, j = np.arange(q.shape[2])[:, None] + offset, np.arange(k.shape[2])
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[3]) - slopes[:, None, None] * abs(i - j)
    s = np.where((i < 0) | causal & (j > i), -np.inf, s)
    top = s.max(-1, keepdims=True)
    p = np.exp(s - np.where(np.isinf(top), 0, top))
    total = p.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (top + np.log(total))[..., 0]
    return (p @ v / np.where(total == 0, 1, total)).astype(np.float32), lse.astype(np.float32)


@pytest.mark.parametrize("alignment", ["top_left", "bottom_right"])
def test_a_function_with_an_alignment_of_its_own_is_judged(alignment):
    seen = set()

    def aligned(q, k, v, slopes, causal):
        queries, keys = q.shape[2], k.shape[2]
        seen.add((queries > keys) - (queries < keys))
        return _aligned_attention(q, k, v, slopes, causal, 0 if alignment == "top_left" else keys - queries)

    settings = {"causal": None, "cases": 40, **SMALL}
    plumbline.check(aligned, plumbline.Alibi, query_offset=alignment, **settings)
    assert seen == {-1, 0}
    plumbline.check(aligned, plumbline.Alibi, query_offset=alignment, more_queries=True, **settings)
    assert seen == {-1, 0, 1}
    other = {"top_left": "bottom_right", "bottom_right": "top_left"}[alignment]
    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(aligned, plumbline.Alibi, query_offset=other, **settings)
    assert f"query_offset='{other}'" in str(failed.value)


def _packed_attention(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, causal, top_left=False):
    """One sequence after the other, by the formulas."""
    assert max_seqlen_q == np.diff(cu_seqlens_q).max() and max_seqlen_k == np.diff(cu_seqlens_k).max()
    assert q.shape[0] == cu_seqlens_q[-1] and k.shape[0] == cu_seqlens_k[-1]
    o, lse = [], []
    for begin, end, first, last in zip(cu_seqlens_q[:-1], cu_seqlens_q[1:], cu_seqlens_k[:-1], cu_seqlens_k[1:]):
        if begin == end:
            continue
        without_keys = max(0, (end - begin) - (last - first))  # rows before the first key
        o.append(np.zeros((without_keys, *q.shape[1:])))
        lse.append(np.full((q.shape[1], without_keys), -np.inf))
        begin += without_keys
        if begin == end:
            continue
        of_sequence = (x.swapaxes(0, 1)[None] for x in (q[begin:end], k[first:last], v[first:last]))
        if top_left:  # as if the first query stood at the first key
            of_sequence = (x[:, :, : end - begin] for x in of_sequence)
        o_of, lse_of = formulas.attention(*of_sequence, causal=causal)
        o.append(o_of[0].swapaxes(0, 1))
        lse.append(lse_of[0])
    return np.concatenate(o).astype(q.dtype), np.concatenate(lse, -1).astype(np.float32)


def test_a_function_of_packed_sequences_is_judged():
    seen = {"ragged": set(), "fewer": set(), "empty": set(), "full": set(), "more": set()}

    def packed(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, causal):
        rows, keys = np.diff(cu_seqlens_q), np.diff(cu_seqlens_k)
        seen["ragged"].add(len(set(keys)) > 1)
        seen["fewer"].add(bool((rows < keys).any()))
        seen["empty"].add(bool((rows == 0).any()))
        seen["full"].add(bool((rows == np.minimum(keys, max_seqlen_q)).all()))
        seen["more"].add(bool((rows > keys).any()))
        return _packed_attention(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, causal)

    settings = {"causal": None, "packed": True, "grouped_heads": True, "cases": 50, **SMALL}
    plumbline.check(packed, **settings)
    assert all(values == {True, False} for name, values in seen.items() if name != "more"), seen
    assert seen["more"] == {False}
    plumbline.check(packed, more_queries=True, **settings)
    assert seen["more"] == {True, False}


def test_a_fault_of_packed_sequences_is_found():
    def top_left(*arguments, **keywords):
        return _packed_attention(*arguments, **keywords, causal=True, top_left=True)

    with pytest.raises(plumbline.CheckFailed, match="first query of a sequence is at the sequence.s first key"):
        plumbline.check(top_left, packed=True, cases=80, **SMALL)

    def swapped(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k):
        cu_seqlens_q = np.concatenate([cu_seqlens_q[:1], cu_seqlens_q[1:-1] + 1, cu_seqlens_q[-1:]])
        return _packed_attention(q, k, v, np.minimum(cu_seqlens_q, len(q)), cu_seqlens_k, max(np.diff(
            np.minimum(cu_seqlens_q, len(q)))), max_seqlen_k, causal=False)

    with pytest.raises(plumbline.CheckFailed):
        plumbline.check(swapped, packed=True, causal=False, cases=80, **SMALL)

    def of_shape(q, k, v, cu_seqlens_q, **keywords):
        return q[:1]

    with pytest.raises(plumbline.CheckFailed, match=r"o has shape \(1, .*; expected \(\d+, \d+, \d+\), float32"):
        plumbline.check(of_shape, packed=True, cases=20, **SMALL)


def test_one_end_for_all_sequences_is_found():
    def at_common_end(q, k, v, *, lengths, query_offset, queries_at_end):
        offsets = [query_offset] * len(q)
        oracle = plumbline.attention(q, k, v, lengths=lengths, query_offset=offsets)
        return oracle.o.astype(np.float32), oracle.lse.astype(np.float32)

    with pytest.raises(plumbline.CheckFailed, match="queries_at_end"):
        plumbline.check(at_common_end, lengths=True, queries_at_end=True, cases=60, **SMALL)


def test_what_a_function_does_not_offer_is_not_drawn():
    shapes = []

    def encoder(q, k, v):
        shapes.append((q.shape, k.shape))
        return formulas.attention(q, k, v, causal=False)  # no mask: any other one would fail it

    plumbline.check(encoder, causal=False, cases=30, longest=30, head_dims=[48, 64])
    assert all(q == k and k[2] <= 30 and k[3] in (48, 64) for q, k in shapes)
    assert len({k[2:] for _, k in shapes}) > 10


def _shapes_of(**arguments):
    seen = []

    def function(q, k, v):
        seen.append((q.shape[0], q.shape[1], q.shape[2], q.shape[3]))
        return formulas.attention(q, k, v)

    plumbline.check(function, **arguments)
    return seen


@pytest.mark.at_length
def test_many_heads_and_sequences_are_drawn_where_nothing_is_said():
    batches, heads, lengths, _ = (set(sizes) for sizes in zip(*_shapes_of(cases=300, longest=200)))
    assert heads >= {3, 5, 6, 7, 12, 20, 32}
    assert batches >= {1, 2, 3, 4, 5, 8}


def test_sizes_and_whole_shapes_that_are_asked_for_are_the_only_ones():
    assert set(_shapes_of(cases=20, batch=[3], heads=[12], keys=[16, 48], head_dims=[24])) == {
        (3, 12, 16, 24), (3, 12, 48, 24)}  # fmt: skip
    shapes = [{"heads": 12, "keys": 32}, {"batch": 2, "keys": 64, "head_dim": 40}]
    assert set(_shapes_of(cases=20, shapes=shapes)) == {(1, 12, 32, 64), (2, 1, 64, 40)}


def test_scale_and_query_offset_are_drawn_where_the_signature_names_them():
    seen = []

    def function(q, k, v, scale, query_offset):
        seen.append((q.shape[2] < k.shape[2], scale != 1 / np.sqrt(q.shape[3])))
        s = scale * (q.astype(float) @ k.astype(float).swapaxes(-1, -2))
        i, j = np.arange(q.shape[2])[:, None] + query_offset, np.arange(k.shape[2])
        s = np.where(j <= i, s, -np.inf)
        lse = np.log(np.exp(s - s.max(-1, keepdims=True)).sum(-1)) + s.max(-1)
        return (np.exp(s - lse[..., None]) @ v).astype(np.float32), lse.astype(np.float32)

    plumbline.check(function, cases=40, **SMALL)
    assert {offset for offset, _ in seen} == {scale for _, scale in seen} == {True, False}
    with pytest.raises(plumbline.CheckFailed):  # the scale is ignored
        plumbline.check(lambda q, k, v, scale: formulas.attention(q, k, v), cases=40, **SMALL)


def test_the_oracle_itself_passes_for_every_method_with_gradients():
    """The oracle rounded to float32, by every class and every name of parameters and options."""
    for entry in json.loads(_native.methods()):
        if "+" in entry["name"]:
            continue  # no class of its own
        cls = {c.method: c for c in plumbline.Bias.__subclasses__()}[entry["name"]]
        forward = {}

        def rounded(q, k, v, *, cls=cls, forward=forward, **named):
            forward["of"] = plumbline.attention(q, k, v, cls(**named))
            return forward["of"].o.astype(np.float32), forward["of"].lse.astype(np.float32)

        def gradients(grad_o, q, k, v, o, lse, *, cls=cls, **named):
            got = plumbline.attention(q, k, v, cls(**named)).backward(grad_o)
            named = {"q": got.q, "k": got.k, "v": got.v, **got.parameters}
            return {name: x.astype(np.float32) for name, x in named.items()}

        report = plumbline.check(rounded, cls, backward=gradients, cases=2, longest=16, head_dims=[8])
        expected = {"o", "lse", "grad_q", "grad_k", "grad_v"}
        assert set(report.outputs) == expected | {"grad_" + name for name in entry["gradients"]}


@pytest.mark.parametrize("wrong, words", [
    ({"k": None}, "backward returned no gradient of k"),
    ({"slope": 0.0}, "backward returned a gradient of 'slope'; expected those of q, k, v"),
    ({"slopes": None}, "grad_q: every element is 0"),  # no word of what is not judged
])
def test_gradients_by_name_are_those_of_the_inputs(wrong, words):
    def backward(grad_o, q, k, v, o, lse, slopes):
        gradients = {"q": 0 * q, "k": 0 * k, "v": 0 * v, **wrong}
        return {name: x for name, x in gradients.items() if name != "k" or "k" not in wrong}

    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(alibi, plumbline.Alibi, backward=backward, cases=2, **SMALL)
    assert words in failed.value.explanation


def test_options_that_are_built_in_are_not_drawn_otherwise():
    def rope(q, k, v):
        rotated = [formulas.rope_half_split(x.astype(float), 0, 100.0).astype(np.float32) for x in (q, k)]
        return formulas.attention(*rotated, v)

    plumbline.check(rope, "rope_half_split", options={"base": 100}, **SHORT)
    with pytest.raises(plumbline.CheckFailed):
        plumbline.check(rope, "rope_half_split", options={"base": 10000}, **SHORT)


def test_the_values_of_options_that_an_error_lists_are_those_of_cases():
    seen = {"buckets": set(), "max_distance": set()}

    def t5(q, k, v, table, buckets, max_distance):
        seen["buckets"].add(buckets)
        seen["max_distance"].add(max_distance)
        oracle = plumbline.attention(q, k, v, plumbline.T5(table, buckets, max_distance))
        return oracle.o.astype(np.float32), oracle.lse.astype(np.float32)

    plumbline.check(t5, plumbline.T5, **{**SHORT, "cases": 40})
    drawn = next(method["drawn"] for method in json.loads(_native.methods()) if method["name"] == "t5")
    assert seen == {name: set(values) for name, values in drawn.items()}


def test_rope_goes_with_a_bias():
    def with_rope(rotate):
        def function(q, k, v, slopes, base):
            q, k, v = (x.astype(float) for x in (q, k, v))
            if rotate:
                q, k = (formulas.rope_half_split(x, 0, base) for x in (q, k))
            bias = formulas.alibi(slopes, q.shape[2], k.shape[2])
            return tuple(x.astype(np.float32) for x in formulas.attention(q, k, v, bias))

        return function

    report = plumbline.check(with_rope(True), "alibi+rope_half_split", **SHORT)
    assert report.bias == "alibi+rope_half_split"
    with pytest.raises(plumbline.CheckFailed, match="does not rotate"):
        plumbline.check(with_rope(False), "alibi+rope_half_split", **SHORT)


def test_half_precision_asks_for_its_contract():
    def half(q, k, v):
        """Flash attention's numerics: products in fp32, P rounded to the format of V."""
        q, k, v = (x.astype(np.float32) for x in (q, k, v))
        s = q @ k.swapaxes(-1, -2) / np.sqrt(np.float32(q.shape[-1]))
        s = np.where(np.tri(q.shape[2]), s, -np.inf)
        p = np.exp(s - s.max(-1, keepdims=True))
        total = p.sum(-1, keepdims=True)
        o = p.astype(np.float16).astype(np.float32) @ v / total
        return o.astype(np.float16), (s.max(-1) + np.log(total[..., 0])).astype(np.float32)

    plumbline.check(half, dtype="float16", contract=plumbline.Contract(probability_format="fp16"), **SHORT)
    plumbline.check(half, dtype="float16", contract="flash_attention_2", **SHORT)
    with pytest.raises(plumbline.CheckFailed, match=r"dtype='float16'") as failed:
        plumbline.check(half, dtype="float16", **{**SHORT, "cases": 40})
    assert "it would not fail if its contract said probability_format = fp16" in str(failed.value)
    with pytest.raises(ValueError, match='contract is "flash"; expected one of pytorch_math, '):
        plumbline.check(half, dtype="float16", contract="flash")


def test_a_function_that_differs_from_run_to_run_is_caught():
    calls = iter(range(10**6))

    def random(q, k, v):
        o, lse = formulas.attention(q, k, v)
        return o, np.nextafter(lse, np.float32(next(calls) % 2 * 1e9 - 5e8))

    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(random, deterministic=True, **{**SHORT, "cases": 40})
    assert failed.value.kind == "nondeterministic"


def test_lse_is_returned_always_or_never():
    def sometimes(q, k, v, slopes):
        o, lse = alibi(q, k, v, slopes)
        return (o, lse) if k.shape[2] > 8 else o

    with pytest.raises(plumbline.CheckFailed, match="o alone; expected o and lse, as in its first call") as failed:
        plumbline.check(sometimes, "alibi", **{**SHORT, "cases": 40})
    assert failed.value.kind == "returned_error"
    calls = iter(range(10**6))

    def later(q, k, v, slopes):
        o, lse = alibi(q, k, v, slopes)
        return (o, 2 * lse) if next(calls) else o

    with pytest.raises(plumbline.CheckFailed, match="o and lse; expected o alone, as in its first call"):
        plumbline.check(later, "alibi", **SHORT)
    no_lse = plumbline.Contract(no_lse=True)
    assert set(plumbline.check(sometimes, "alibi", contract=no_lse, **SHORT).outputs) == {"o"}


def test_a_function_and_an_exception_need_no_words():
    class WithoutWords(Exception):
        def __str__(self):
            raise ValueError("no words")

    class Kernel:
        __name__ = 5

        def __call__(self, q, k, v, slopes):
            return alibi(q, k, v, slopes)

    def raises_it(q, k, v, slopes):
        raise WithoutWords

    assert plumbline.check(Kernel(), "alibi", **SHORT).name == "Kernel"
    with pytest.raises(plumbline.CheckFailed, match="WithoutWords, which has no words") as failed:
        plumbline.check(raises_it, "alibi", **SHORT)
    assert failed.value.kind == "exception"


class CupyOnTheHost:
    """What check uses of CuPy, in host memory."""

    class Pointer:
        def __init__(self, memory, offset=0):
            self.memory, self.offset = memory, offset

        def __add__(self, more):
            return type(self)(self.memory, self.offset + more)

        def __sub__(self, less):
            return self + -less

    class ndarray(np.ndarray):
        def __new__(cls, shape, dtype, pointer, strides=None):
            made = super().__new__(cls, shape, dtype, pointer.memory, pointer.offset, strides)
            made.pointer = pointer
            return made

        def get(self):
            return np.array(self)

        @property
        def data(self):
            return self.pointer

    def empty(self, size):
        pass

    def asarray(self, array):
        return self.ndarray(array.shape, array.dtype, self.Pointer(np.array(array)))


def test_cupys_arrays_are_looked_at_after_the_call(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", CupyOnTheHost())

    def mine(q, k, v, slopes):
        return alibi(*(x.get() for x in (q, k, v, slopes)))

    def doubles_k(q, k, v, slopes):
        result = mine(q, k, v, slopes)
        k *= 2
        return result

    settings = {"framework": "cupy", "strides": True, **SHORT}
    plumbline.check(mine, "alibi", **settings)
    with pytest.raises(plumbline.CheckFailed, match="changed its input k") as failed:
        plumbline.check(doubles_k, "alibi", **settings)
    assert failed.value.kind == "changed_input"


def test_cupy_without_a_device_is_no_failure_of_the_function(monkeypatch):
    class Cupy(CupyOnTheHost):
        def empty(self, size):
            raise RuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient")

    monkeypatch.setitem(sys.modules, "cupy", Cupy())
    with pytest.raises(ValueError, match="framework is 'cupy'; expected another one: CuPy finds no CUDA device here: "
                                         "cudaErrorInsufficientDriver"):
        plumbline.check(alibi, "alibi", framework="cupy", **SHORT)


def test_an_interruption_is_no_failure_of_the_function():
    def interrupted(q, k, v):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plumbline.check(interrupted, **SHORT)


def test_a_check_inside_of_a_check():
    def outer(q, k, v, slopes):
        plumbline.check(formulas.attention, cases=1, longest=8, head_dims=[32])
        return alibi(q, k, v, slopes)

    plumbline.check(outer, "alibi", **{**SHORT, "cases": 2})


def test_a_seed_draws_the_same_cases():
    def sums(seed):
        seen = []

        def function(q, k, v):
            seen.append((q.shape, float(q.sum())))
            return formulas.attention(q, k, v)

        plumbline.check(function, seed=seed, **SHORT)
        return seen

    assert sums(3) == sums(3) != sums(4)


@pytest.mark.parametrize(
    "arguments, error, words",
    [
        ({"fn": 1}, TypeError, "fn is 1; expected a function"),
        ({"bias": "alibbi"}, ValueError, "bias is 'alibbi'; expected one of nope, alibi"),
        ({"bias": plumbline.Alibi()}, TypeError, "bias is .*its numbers are drawn"),
        ({"bias": plumbline.LocalRope}, ValueError,
         "bias is 'local_rope'; expected plumbline.RopeInterleaved with window=True"),
        ({"bias": plumbline.AlibiGeometric}, ValueError,
         "bias is 'alibi_geometric'; expected plumbline.Alibi: the slopes are drawn"),
        ({"dtype": "float8"}, ValueError, "dtype is 'float8'; expected one of float32"),
        ({"framework": "mxnet"}, ValueError, "framework is 'mxnet'; expected one of numpy"),
        ({"backward": True}, ValueError, "backward is True; expected a function"),
        ({"cases": 0}, ValueError, "cases is 0; expected"),
        ({"window": 1}, TypeError, "window is 1; expected True, False or 'left_right'"),
        ({"window": "right"}, TypeError, "window is 'right'; expected True, False or 'left_right'"),
        ({"query_offset": "left"}, ValueError, "query_offset is 'left'; expected True, False, None, 'top_left' or"),
        ({"query_offset": "top_left", "decode": True}, ValueError, "query_offset is 'top_left'; expected True, False"),
        ({"more_queries": True}, ValueError, "more_queries is True; expected False without query_offset or packed"),
        ({"packed": True, "documents": True}, ValueError, "documents is True; expected nothing of it"),
        ({"packed": True, "more_queries": True, "causal": False}, ValueError,
         "more_queries is True; expected False with packed=True and causal=False"),
        ({"packed": True, "bias": "cable"}, ValueError, "packed is True; expected False with increments"),
        ({"packed": True}, TypeError, r"fn is to be called as fn\(q, k, v, causal=..., cu_seqlens_q=..., "),
        ({"strides": 1}, TypeError, "strides is 1; expected True or False"),
        ({"queries_at_end": True}, ValueError, "queries_at_end is True; expected False without lengths"),
        ({"heads": [3], "kv_heads": [2]}, ValueError, "kv_heads is 2; expected a divisor"),
        ({"keys": [0]}, ValueError, "keys is 0; expected"),
        ({"shapes": [{"heads": 4, "kv_heads": 2}]}, ValueError,
         r"shapes\[0\] has kv_heads 2; expected 4, as many as heads, or grouped_heads=True"),
        ({"shapes": [{"length": 5}]}, ValueError, "has 'length'; expected some of batch, heads"),
        ({"shapes": [3]}, TypeError, r"shapes\[0\] is 3; expected a dictionary of batch"),
        ({"shapes": {"heads": 2}}, TypeError, "shapes is {'heads': 2}; expected a list of"),
        ({"shapes": 3}, TypeError, "shapes is 3; expected a list of"),
        ({"shapes": []}, ValueError, r"shapes is \[\]; expected at least one, or None"),
        ({"batch": 2.5}, TypeError, "batch is 2.5; expected a whole number"),
        ({"batch": object}, TypeError, "batch is <class 'object'>; expected a whole number"),
        ({"batch": np.array(2.5)}, TypeError, "batch is 2.5; expected a whole number"),
        ({"heads": np.array([[2]])}, TypeError, "heads is .*; expected a whole number"),
        ({"heads": np.array([2, 3.5])}, TypeError, "heads is 2.0; expected a whole number"),
        ({"bias": "rope_half_split", "rotary_dim": 3.5}, TypeError, "rotary_dim is 3.5; expected a whole number"),
        ({"lengths": None}, TypeError, "lengths is None; expected True or False"),
        ({"keys": [5], "queries": [7]}, ValueError, "queries is 7; expected at most 5, the keys, or more_queries=True"),
        ({"keys": [7], "queries": [5]}, ValueError, "queries is 5; expected one of keys without query_offset: 7"),
        ({"fn": lambda q, k, v, *, table: q, "bias": "t5", "options": {"buckets": 8, "max_distance": 64}, "heads": [2]},
         ValueError, r"Given are heads=\[2\], options={'buckets': 8, 'max_distance': 64}, causal=True"),
        ({"bias": "rope_half_split", "options": {"base": 3}}, ValueError,
         "options: base is 3; expected 100 or 10000 or 500000, which cases have"),
        ({"bias": "t5", "options": {"buckets": 7}}, ValueError,
         "options: buckets is 7; expected 8 or 16 or 20 or 32, which cases have"),
        ({"bias": "t5", "options": {"buckets": 7.5}}, ValueError, "options: buckets is 7.5; expected 8 or 16 or 20"),
        ({"bias": "fire", "options": {"epsilon": 0}}, ValueError, "options: epsilon is 0; expected 1e-06, which"),
        ({"softcap": 0}, ValueError, "softcap is 0; expected True, False or a number above 0"),
        ({"softcap": -1.5}, ValueError, "softcap is -1.5; expected True, False or a number above 0"),
        ({"framework": ["numpy"]}, ValueError, r"framework is \['numpy'\]; expected one of numpy"),
        ({"shapes": [{"keys": 0}]}, ValueError, r"shapes\[0\]: keys is 0; expected a number from 1"),
        ({"bias": "bias_tensor", "options": {"per_batch": 3}}, ValueError, "options: per_batch is 3; expected 0 or 1"),
        ({"bias": "alibi", "options": {"slopes_per_batch": 2}}, ValueError, "slopes_per_batch is 2; expected 0 or 1"),
        ({"bias": "alibi", "packed": True, "options": {"slopes_per_batch": 1}}, ValueError,
         "options: slopes_per_batch is 1; expected 0 with packed=True"),
        ({"options": 3}, TypeError, "options is 3; expected a dictionary"),
        ({"bias": "alibi"}, TypeError, "called as fn.q, k, v, slopes=.*slopes"),
        ({"case": "bias=nope,queries=4,keys=4,ragged=1"}, ValueError, "one without ragged .lengths."),
        ({"options": {"base": 1}}, ValueError, "options is \"base\"; expected none: nope has no"),
        ({"contract": plumbline.Contract(exp_error=-1.0)}, ValueError, "exp_error is -1"),
        ({"contract": plumbline.Contract(probability_format="x")}, ValueError, "probability_format"),
        ({"contract": plumbline.Contract(exp_error=float("nan"))}, ValueError,
         "contract.exp_error is nan; expected a finite number"),
        ({"contract": plumbline.Contract(tanh_error=float("inf"))}, ValueError, "contract.tanh_error is inf; expected"),
        ({"contract": plumbline.Contract(unit_roundoff=[1])}, TypeError, r"unit_roundoff is \[1\]; expected a number"),
        ({"contract": plumbline.Contract(splits=0)}, ValueError, "contract.splits is 0; expected a number from 1"),
        ({"contract": plumbline.Contract(no_lse=3)}, TypeError, "contract.no_lse is 3; expected True or False"),
        ({"contract": plumbline.Contract(prefix_sum=32)}, TypeError, "contract.prefix_sum is 32; expected a name"),
        ({"contract": plumbline.Contract(families_left_out="huge")}, TypeError,
         "contract.families_left_out is 'huge'; expected a list of names"),
        ({"contract": plumbline.Contract(families_left_out=["x"])}, ValueError,
         "families_left_out has 'x'; expected some of peaked, diffuse, tied, huge, subnormal, level$"),
        ({"contract": plumbline.Contract(families_left_out=["generic"])}, ValueError,
         "families_left_out has 'generic'; expected some of peaked"),
        ({"contract": {}}, TypeError, "contract is {}; expected a plumbline.Contract"),
        ({"case": ""}, ValueError, "case is ''; expected a case's line, or None"),
        ({"case": 0}, TypeError, "case is 0; expected a case's line, or None"),
        ({"case": "x"}, ValueError, "case line"),
        ({"case": "bias=alibi"}, ValueError, 'case: bias is "alibi"; expected "nope"'),
        ({"device": "cuda"}, ValueError, "device is 'cuda'; expected None"),
    ],
)
def test_bad_input_is_named(arguments, error, words):
    with pytest.raises(error, match=words):
        plumbline.check(**{"fn": formulas.attention, "cases": 1, **arguments})


def test_arrays_and_numbers_of_numpy_are_arguments_too():
    sizes = {"heads": np.array([2, 3]), "batch": np.int64(1), "keys": (9,), "cases": np.int64(4)}
    contract = plumbline.Contract(exp_error=np.float32(2.0**-20), splits=np.int64(2))
    assert {shape[1:3] for shape in _shapes_of(contract=contract, **sizes)} == {(2, 9), (3, 9)}
    failed = pytest.raises(plumbline.CheckFailed, plumbline.check, zeros, "alibi", contract=contract, **sizes).value
    assert "batch=1, heads=[2, 3], keys=(9,), contract=plumbline.Contract(splits=2), case=" in failed.repeat


def test_what_the_contract_lets_through_is_told():
    def mine(q, k, v, lengths):
        oracle = plumbline.attention(q, k, v, lengths=lengths)
        return oracle.o.astype(np.float32), np.where(np.isinf(oracle.lse), 9, oracle.lse).astype(np.float32)

    lax = plumbline.Contract(largest_score=64, families_left_out=["huge", "peaked"], empty_rows="not_mine")
    report = plumbline.check(mine, lengths=True, cases=30, **SMALL, contract=lax)
    assert report.rows_left_out > 0 and report.contract.families_left_out == ("peaked", "huge")
    lines = str(report).splitlines()
    assert "pass, 30 cases" in lines[0] and len(lines) == 3
    assert lines[1] == ("  not judged, because the contract excludes it: inputs of the families peaked, huge; "
                        f"{report.rows_left_out} rows")
    assert lines[2] == ("  the contract lets through: empty_rows = not_mine: anything where no key is visible; "
                        "largest_score = 64: any outputs of rows with larger scores")
    strictest = plumbline.check(alibi, "alibi", **SHORT)
    assert "\n" not in str(strictest) and strictest.contract == plumbline.Contract()


def test_every_default_of_the_contract_is_the_judges():
    report = _native.check(
        lambda *_: None, Exception, "f", "forward", "nope", "fp32",
        {"causal": None, "window": False, "lengths": False, "documents": False, "ssmax": False, "sinks": False,
         "grouped_heads": False, "window_sides": False, "query_offset": False, "alignment": "", "more_queries": False,
         "queries_at_end": False, "strides": False, "packed": False, "scale": False, "softcap": False,
         "mask": False, "value_dim": False, "values_in_keys": False, "lse_gradient": False,
         "dropout": False, "makes_keep": False, "rotary_dim": False, "rotary_dims": [], "nan_in_hidden_keys": False,
         "paged": False, "page_sizes": [], "caches": [], "scale_per_key": False,
         "own_softcap": 0.0, "longest": 0, "batch": [], "value_dims": [],
         "heads": [], "kv_heads": [], "queries": [], "keys": [], "head_dims": [], "shapes": [],
         "options": {}},
        "{}", 1, 1, 1, False, "", True, 0.0, None,
    )  # fmt: skip
    declared = json.loads(report[0])["cells"][0]["contract"]
    assert declared == json.loads(json.dumps(plumbline.Contract().__dict__))


def test_a_failing_case_is_reported_as_it_was_drawn_if_it_is_not_to_shrink():
    small = pytest.raises(plumbline.CheckFailed, plumbline.check, wrong_slope, "alibi", **SHORT).value
    drawn = pytest.raises(
        plumbline.CheckFailed, plumbline.check, wrong_slope, "alibi", shrink=False, **SHORT
    ).value

    def size(failed):
        return sum(array.size for array in plumbline.case_arrays(failed.case).values())

    assert size(small) < size(drawn)
    assert "; the smallest failing case found:" in str(small) and "; the failing case:" in str(drawn)
    assert "shrink" not in drawn.repeat
    with pytest.raises(plumbline.CheckFailed):
        plumbline.check(wrong_slope, "alibi", case=drawn.case)


def test_a_time_limit_ends_a_check_after_five_cases_at_least():
    def slow(q, k, v, slopes):
        time.sleep(0.05)
        return alibi(q, k, v, slopes)

    report = plumbline.check(slow, "alibi", **{**SHORT, "cases": 10**4}, time_limit=0.01)
    assert report.cases == 5 and report.asked == 10**4
    assert "pass, 5 cases of 10000 within the time limit" in str(report)
    report = plumbline.check(alibi, "alibi", **SHORT, time_limit=600)
    assert report.cases == report.asked == 12 and "limit" not in str(report)


def test_progress_is_told_to_a_function_or_on_standard_error(capsys):
    told = []
    plumbline.check(alibi, "alibi", **SHORT, progress=lambda done, cases: told.append((done, cases)))
    assert told == [(done, 12) for done in range(1, 13)]
    plumbline.check(alibi, "alibi", **SHORT, progress=True)
    assert "alibi alibi fp32: 1 of 12 cases\n" in capsys.readouterr().err
    plumbline.check(alibi, "alibi", **SHORT, progress=False)
    plumbline.check(alibi, "alibi", **SHORT)  # no terminal
    assert capsys.readouterr().err == ""

    def broken(done, cases):
        raise RuntimeError("no progress")

    with pytest.raises(RuntimeError, match="no progress"):
        plumbline.check(alibi, "alibi", **SHORT, progress=broken)


@pytest.mark.parametrize(
    "wrong", [{"shrink": 1}, {"time_limit": 0}, {"time_limit": "1"}, {"progress": 3}, {"progress": 1}]
)
def test_a_wrong_setting_of_the_run_is_named(wrong):
    with pytest.raises((TypeError, ValueError), match=f"^{next(iter(wrong))} is "):
        plumbline.check(alibi, "alibi", **SHORT, **wrong)


@pytest.mark.parametrize("wrong", [{"heads": []}, {"heads": [2], "shapes": [{"heads": 4}]},
                                   {"head_dims": 64, "shapes": [{"keys": 40}]}])
def test_sizes_that_would_be_ignored_are_refused(wrong):
    with pytest.raises(ValueError, match=f"^{next(iter(wrong))} is .*; expected "):
        plumbline.check(alibi, "alibi", cases=3, **wrong)


def test_an_o_of_floats_has_no_rounding_to_the_dtype():
    def mine(q, k, v):
        q, k, v = (x.astype(np.float32) for x in (q, k, v))
        s = np.where(np.tri(q.shape[2], dtype=bool), q @ k.swapaxes(2, 3) / np.float32(q.shape[3] ** 0.5), -np.inf)
        p = np.exp(s - s.max(-1, keepdims=True))
        return p @ v / p.sum(-1, keepdims=True), s.max(-1) + np.log(p.sum(-1))

    def rounded(q, k, v):
        o, lse = mine(q, k, v)
        return o.astype(np.float16).astype(np.float32), lse

    floats = plumbline.Contract(float_o=True)
    plumbline.check(mine, "nope", dtype="float16", contract=floats, **SHORT)
    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(rounded, "nope", dtype="float16", contract=floats, **SHORT)
    assert failed.value.kind == "outside_bound"
    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(mine, "nope", dtype="float16", **SHORT)
    assert failed.value.kind == "returned_error"
