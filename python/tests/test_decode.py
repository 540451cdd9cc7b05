# SPDX-License-Identifier: Apache-2.0
"""Decoding from a cache: right functions pass, whatever the cache is; wrong twins fail and are told."""
import importlib.util
import re

import numpy as np
import pytest

import plumbline

SHORT = {"decode": True, "cases": 20, "longest": 70, "head_dims": [32]}
FRAMEWORKS = [pytest.param(name, marks=pytest.mark.skipif(importlib.util.find_spec(name) is None,
                                                          reason=f"{name} is not installed"))
              for name in ("numpy", "torch", "jax")]


def in_numpy(x):
    """Also of a type that NumPy lacks, in double."""
    if type(x).__module__ == "torch":
        x = x.double().numpy()
    return np.asarray(x).astype(np.float64)


def in_order(pages, table):
    """[page, kv_heads, page_size, ...] as [batch, kv_heads, keys, ...], with all that the last page holds."""
    of_sequence = pages[table].swapaxes(1, 2)
    return of_sequence.reshape(*of_sequence.shape[:2], -1, *pages.shape[3:])


def decode(q, k, v, *, lengths=None, page_table=None, k_scale=None, v_scale=None, bias=lambda i, j: 0.0):
    """In double. bias(i [batch, queries, 1], j [keys]) is [batch, heads, queries, keys] or less."""
    q, k, v = in_numpy(q), in_numpy(k), in_numpy(v)
    k_scale, v_scale = (1.0 if scale is None else in_numpy(scale) for scale in (k_scale, v_scale))
    if page_table is not None:
        table = np.asarray(page_table)
        k, v = in_order(k, table), in_order(v, table)
        k_scale, v_scale = (in_order(x, table) if np.ndim(x) == 3 else x for x in (k_scale, v_scale))
    if np.ndim(k_scale) == 2:
        k_scale, v_scale = k_scale[..., None], v_scale[..., None]
    batch, heads, queries, dim = q.shape
    lengths = np.full(batch, k.shape[2]) if lengths is None else np.asarray(lengths)
    most = max(lengths.max(), 1)
    k, v = k[:, :, :most], v[:, :, :most]
    if np.ndim(k_scale) == 3:
        k, v = k * k_scale[:, :, :most, None], v * v_scale[:, :, :most, None]
    k, v = (np.repeat(x, heads // x.shape[1], 1) for x in (k, v))
    j = np.arange(most)
    i = lengths[:, None, None] - queries + np.arange(queries)[:, None]
    scores = q @ k.swapaxes(2, 3) / dim**0.5 + bias(i, j)
    seen = ((j <= i) & (j < lengths[:, None, None]))[:, None]
    scores = np.where(seen, scores, -np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        largest = np.maximum(scores.max(-1, keepdims=True), -1e300)
        p = np.exp(scores - largest)
        total = p.sum(-1, keepdims=True)
        return np.where(total > 0, p @ v / total, 0), (largest + np.log(total))[..., 0].astype(np.float32)


def like(q, returned):
    o, lse = returned
    if type(q).__module__ == "torch":
        import torch

        return torch.from_numpy(o).to(q.dtype), torch.from_numpy(lse)
    if type(q).__module__ != "numpy":
        import jax.numpy

        return jax.numpy.asarray(o, q.dtype), jax.numpy.asarray(lse)
    return o.astype(q.dtype), lse


def alibi(q, k, v, slopes, **keywords):
    slopes = in_numpy(slopes)[:, None, None]
    return like(q, decode(q, k, v, bias=lambda i, j: -slopes * np.abs(i - j)[:, None], **keywords))


KINDS = [
    {},
    {"lengths": True},
    {"paged": True},
    {"paged": 16},
    {"cache": "int8"},
    {"cache": "int8", "scale_per_key": True},
    {"cache": ["int8"], "scale_per_key": True, "paged": [16, 128]},
    {"cache": "e4m3"},
    {"cache": ["e4m3", "e5m2"], "paged": True},
    {"cache": True, "scale_per_key": True, "lengths": True},
]


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_right_function_passes_from_every_kind_of_cache(framework, kind):
    if "e4m3" in str(kind) or kind.get("cache") is True:
        has = {"numpy": lambda: importlib.util.find_spec("ml_dtypes"), "jax": lambda: True,
               "torch": lambda: hasattr(__import__("torch"), "float8_e4m3fn")}[framework]
        if not has():
            with pytest.raises(ValueError, match=f"expected 'int8': {framework} has no float8_e4m3fn"):
                plumbline.check(alibi, "alibi", framework=framework, **kind, **SHORT)
            return
    seen = {"queries": set(), "dtype": set(), "page": set(), "partial": set(), "lengths": set(), "scale": set()}

    def sees(q, k, v, slopes, **keywords):
        seen["queries"].add(q.shape[2])
        seen["dtype"].add(str(k.dtype).rpartition(".")[2])
        if "page_table" in keywords:
            seen["page"].add(k.shape[2])
            assert str(keywords["page_table"].dtype).endswith("int32")
            assert k.shape[0] == np.prod(keywords["page_table"].shape)
        if "k_scale" in keywords:
            seen["scale"].add(keywords["k_scale"].ndim)
        if "lengths" in keywords:
            seen["lengths"].add(len(set(np.asarray(keywords["lengths"]).tolist())) > 1)
        return alibi(q, k, v, slopes, **keywords)

    report = plumbline.check(sees, "alibi", dtype="float16", framework=framework, grouped_heads=True, batch=[2, 3],
                             **kind, **SHORT)
    assert report.cases == 20 and {"o", "lse"} == set(report.outputs)
    assert len(seen["queries"]) > 1 and 1 in seen["queries"]
    dtypes = {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}
    kinds = kind.get("cache", "float16")
    kinds = ["int8", *dtypes] if kinds is True else [kinds] if isinstance(kinds, str) else kinds
    assert seen["dtype"] == {dtypes.get(one, one) for one in kinds}
    assert seen["scale"] == ({3 if kind.get("scale_per_key") else 2} if "cache" in kind else set())
    assert seen["lengths"] == ({True, False} if kind.get("lengths") or kind.get("paged") else set())
    pages = kind.get("paged", [])
    assert len(seen["page"]) > 2 if pages is True else seen["page"] == {*([pages] if isinstance(pages, int) else pages)}


def cable(q, k, v, prefix_sums, gain, **keywords):
    assert prefix_sums.dtype == np.float64

    def bias(i, j):
        if len(i) == 1:  # batch=[1]: all queries of a case stand at the same positions
            of_row = prefix_sums[:, :, np.maximum(i[0, :, 0], 0)]
        return -gain[..., None] * np.abs(of_row[..., None] - prefix_sums[:, :, None, : len(j)])

    return like(q, decode(q, k, v, bias=bias, **keywords))


def fox(q, k, v, prefix_sums, **keywords):
    return cable(q, k, v, -prefix_sums, np.ones(q.shape[:3]), **keywords)


def test_a_bias_of_prefix_sums_gets_them():
    ours = {**SHORT, "batch": [1]}
    for paged in (False, True):
        plumbline.check(cable, plumbline.Cable, paged=paged, **ours)
        plumbline.check(fox, plumbline.Fox, paged=paged, **ours)
    custom = plumbline.Custom("-g[i] * abs(x)", x=plumbline.prefix_sum(0, 1), g=plumbline.per_query(0.1, 2))
    plumbline.check(lambda q, k, v, prefix_sums, g: cable(q, k, v, prefix_sums, g), custom, **ours)
    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(lambda q, k, v, prefix_sums, gain: cable(q, k, v, 1.01 * prefix_sums, gain), "cable", **ours)
    arrays = plumbline.case_arrays(failed.value.case)
    assert np.allclose(arrays["prefix_sums"], np.cumsum(arrays["increments"], -1, dtype=np.float64), 1e-15)
    with pytest.raises(TypeError, match="fn is to be called as .*prefix_sums=..., gain=..."):
        plumbline.check(lambda q, k, v, increments, gain: q, "cable", decode=True)


def of_first_head(scale):
    return np.repeat(scale[:, :1], scale.shape[1], 1)


def page_table_ignored(q, k, v, slopes, page_table, **keywords):
    in_a_row = np.arange(page_table.size, dtype=np.int32).reshape(page_table.shape)
    return alibi(q, k, v, slopes, page_table=in_a_row, **keywords)


def reads_whole_pages(q, k, v, slopes, page_table, lengths):
    """Weights are right, but the values of the last page's other rows meet them."""
    o, lse = alibi(q, k, v, slopes, page_table=page_table, lengths=lengths)
    return o + 0 * np.repeat(in_order(v, page_table).sum(2), q.shape[1] // v.shape[1], 1)[:, :, None], lse


def scale_of_first_head(q, k, v, slopes, k_scale, v_scale):
    return alibi(q, k, v, slopes, k_scale=of_first_head(k_scale), v_scale=of_first_head(v_scale))


def scale_of_first_key(q, k, v, slopes, k_scale, v_scale):
    return alibi(q, k, v, slopes, k_scale=np.repeat(k_scale[:, :, :1], k.shape[2], 2), v_scale=v_scale)


def k_scale_for_v(q, k, v, slopes, k_scale, v_scale):
    return alibi(q, k, v, slopes, k_scale=k_scale, v_scale=k_scale)


def scales_ignored(q, k, v, slopes, k_scale, v_scale):
    return alibi(q, k, v, slopes)


def first_query_alone(q, k, v, slopes):
    o, lse = alibi(q, k, v, slopes)
    return np.repeat(o[:, :, :1], q.shape[2], 2), np.repeat(lse[:, :, :1], q.shape[2], 2)


def all_rows_at_the_end(q, k, v, slopes):
    rows = [alibi(q[:, :, n : n + 1], k, v, slopes) for n in range(q.shape[2])]
    return tuple(np.concatenate(x, 2) for x in zip(*rows))


def lengths_ignored(q, k, v, slopes, lengths):
    return alibi(q, k, v, slopes)


def ends_at_the_longest(q, k, v, slopes, lengths):
    """Keys beyond a sequence's length are hidden, but its queries stand at the cache's end."""
    oracle = plumbline.attention(q, k, v, plumbline.Alibi(slopes), lengths=lengths)
    return oracle.o.astype(q.dtype), oracle.lse.astype(np.float32)


def int8_as_unsigned(q, k, v, slopes, k_scale, v_scale):
    return alibi(q, k.view(np.uint8), v, slopes, k_scale=k_scale, v_scale=v_scale)


@pytest.mark.parametrize(
    "function, kind, words",
    [
        (page_table_ignored, {"paged": True}, "o: .* elements fail"),
        (reads_whole_pages, {"paged": True}, "o: 32 of 32 elements are NaN"),
        (scale_of_first_head, {"cache": "int8", "kv_heads": [2, 4]}, "lse: failing heads: 1 "),
        (scale_of_first_key, {"cache": "int8", "scale_per_key": True}, "lse: .* elements fail"),
        (k_scale_for_v, {"cache": "int8"}, r"^((?!lse).)*o: .* elements fail((?!lse).)*$"),
        (scales_ignored, {"cache": "int8"}, "lse: .* elements fail"),
        (int8_as_unsigned, {"cache": "int8"}, "lse: .* elements fail"),
        (first_query_alone, {}, "lse: where it fails: query 1"),
        (all_rows_at_the_end, {}, "lse: where it fails: query 0"),
        (lengths_ignored, {"lengths": True}, "those of a kernel that reads no lengths"),
        (ends_at_the_longest, {"lengths": True}, "whose queries stand at the same positions in all sequences"),
    ],
)
def test_a_wrong_twin_fails_and_is_told(function, kind, words):
    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(function, plumbline.Alibi, **SHORT | kind)
    error = failed.value
    assert re.search(words, error.explanation, re.DOTALL), error.explanation
    assert "pass=decode" in error.case and "decode=True" in error.repeat
    # The line repeats the failure, and the right function passes on the same case.
    scope = {"plumbline": plumbline, function.__name__: function}
    with pytest.raises(plumbline.CheckFailed) as again:
        eval(error.repeat, scope)
    assert again.value.case == error.case and again.value.kind == error.kind
    plumbline.check(alibi, "alibi", decode=True, **kind, case=error.case)


def of_oracle(q, k, v, **keywords):
    oracle = plumbline.attention(q, k, v, **keywords)
    return oracle.o.astype(q.dtype), oracle.lse.astype(np.float32)


def test_other_settings_are_as_in_the_forward_pass():
    seen = {"offset": set(), "at_end": set(), "window": set(), "layout": set()}

    def general(q, k, v, *, causal, window, lengths, documents, mask, ssmax_scale, sinks, softcap, query_offset,
                queries_at_end, scale):
        queries = q.shape[2]
        offsets = [query_offset] * len(q) if not queries_at_end else [int(n) - queries for n in lengths]
        seen["offset"].add(query_offset == k.shape[2] - queries)
        seen["at_end"].add(queries_at_end)
        seen["window"].add(window is not None)
        seen["layout"].add(q.flags.c_contiguous)
        return of_oracle(q, k, v, causal=causal, window=window, lengths=lengths, documents=documents, mask=mask,
                         ssmax_scale=ssmax_scale, sinks=sinks, softcap=softcap, query_offset=offsets, scale=scale)

    plumbline.check(general, causal=None, window=True, lengths=True, documents=True, mask=True, ssmax=True, sinks=True,
                    softcap=True, queries_at_end=True, value_dims=[16, 48], strides=True, **{**SHORT, "cases": 100})
    assert all(values == {True, False} for values in seen.values()), seen


def test_sizes_that_are_asked_for():
    seen = set()

    def sees(q, k, v, slopes, page_table, lengths):
        seen.add((*q.shape, page_table.shape[1], k.shape[2]))
        return alibi(q, k, v, slopes, page_table=page_table, lengths=lengths)

    shapes = [{"batch": 2, "heads": 3, "keys": 70, "head_dim": 32}, {"keys": 70, "queries": 4}]
    plumbline.check(sees, "alibi", decode=True, paged=[7, 256], shapes=shapes, cases=40)
    assert seen == {(*q, pages, size) for q in ((2, 3, 1, 32), (1, 1, 4, 64)) for pages, size in ((10, 7), (1, 256))}


def test_strides_of_a_cache_of_8_bits():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (Debian's python3-torch)")
    contiguous = set()

    def sees(q, k, v, slopes, **keywords):
        contiguous.add(k.is_contiguous())
        assert k.dtype == torch.int8
        return alibi(q, k, v, slopes, **keywords)

    for device in (None, "cpu") if hasattr(torch.Tensor, "untyped_storage") else (None,):  # from PyTorch 2 on
        plumbline.check(sees, "alibi", framework="torch", device=device, strides=True, cache="int8", paged=True, **SHORT)
    assert contiguous == {True, False}


def test_every_kind_of_cache_comes_in_pages_of_every_size():
    pytest.importorskip("ml_dtypes")
    seen = set()

    def sees(q, k, v, slopes, **keywords):
        seen.add((k.dtype.name, k.shape[2]))
        return alibi(q, k, v, slopes, **keywords)

    plumbline.check(sees, "alibi", cache=["int8", "e5m2"], paged=[16, 128], **SHORT)
    assert seen == {(kind, size) for kind in ("int8", "float8_e5m2") for size in (16, 128)}


@pytest.mark.parametrize(
    "arguments, error, words",
    [
        ({"decode": True, "backward": True}, ValueError, "backward is True; expected nothing of it with decode=True"),
        ({"decode": True, "backward": alibi}, ValueError, "backward is .*; expected nothing of it with decode=True"),
        ({"decode": True, "dropout": True}, ValueError, "dropout is True; expected nothing of it with decode=True"),
        ({"decode": True, "packed": True}, ValueError, "packed is True; expected nothing of it with decode=True"),
        ({"decode": True, "lse_gradient": True}, ValueError, "lse_gradient is True; expected nothing"),
        ({"decode": True, "more_queries": True}, ValueError, "more_queries is True; expected nothing"),
        ({"paged": True}, ValueError, "paged is True; expected nothing of it without decode=True"),
        ({"cache": "int8"}, ValueError, "cache is 'int8'; expected nothing of it without decode=True"),
        ({"decode": True, "scale_per_key": True}, ValueError, "scale_per_key is True; expected False without cache"),
        ({"decode": True, "cache": "int4"}, ValueError, "cache is 'int4'; expected True, False or some of int8, e4m3"),
        ({"decode": True, "cache": []}, ValueError, r"cache is \[\]; expected True, False or some of int8, e4m3, e5m2"),
        ({"decode": True, "cache": "int8", "dtype": "e4m3"}, ValueError, "cache is 'int8'; expected False with dtype"),
        ({"decode": True, "paged": [0]}, ValueError, "paged is 0; expected a number from 1"),
        ({"decode": True, "paged": None}, TypeError, "paged is None; expected True, False or sizes"),
        ({"decode": True, "paged": "yes"}, TypeError, "paged is .yes.; expected True, False or sizes"),
        ({"decode": 1}, TypeError, "decode is 1; expected True or False"),
        ({"decode": True, "paged": True}, TypeError, "fn is to be called as .*lengths=..., page_table=..."),
        ({"decode": True, "paged": True, "case": "pass=decode,bias=alibi"}, ValueError,
         "one without page_size=0, cache=in_format, scale_per_key=0"),
        ({"decode": True, "cache": "int8", "case": "pass=decode,bias=alibi,cache=int8,scale_per_key=1"}, ValueError,
         "one without page_size=0, cache=int8, scale_per_key=1"),
        ({"decode": True, "cache": "int8", "case": "pass=decode,bias=alibi,cache=e5m2"}, ValueError,
         "one without page_size=0, cache=e5m2, scale_per_key=0"),
        ({"decode": True, "case": "pass=decode,bias=alibi,keys=3"}, ValueError, "one without queries before the end"),
        ({"decode": True, "case": "pass=forward,bias=alibi"}, ValueError, "case: pass"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        plumbline.check(alibi if "case" in arguments else lambda q, k, v, slopes: q, "alibi", **arguments)


def test_scales_of_a_case_are_told_and_its_numbers_are_the_stored_ones():
    line = "pass=decode,bias=nope,batch=2,keys=5,query_offset=4,page_size=2,cache=int8,scale_per_key=1"
    arrays = plumbline.case_arrays(line)
    assert arrays["k_scale"].shape == arrays["v_scale"].shape == (2, 1, 5) and arrays["page_table"].shape == (2, 3)
    assert sorted(arrays["page_table"].ravel()) == list(range(6)) and "q_scale" not in arrays
    assert (arrays["k"] == np.round(arrays["k"])).all() and 16 < np.abs(arrays["k"]).max() < 128
