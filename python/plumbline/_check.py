# SPDX-License-Identifier: Apache-2.0
"""The property-based check of a function, by the judge of `plumbline verify`."""

from __future__ import annotations

import dataclasses
import inspect
import json
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._arguments import number, truth, whole
from ._bias import NOT_TOLD, Bias
from ._biases import Nope
from ._custom import Custom
from ._frameworks import EIGHT_BITS, FRAMEWORKS, Refusal, caches_of, format_of
from ._progress import Progress
from ._report import FAMILIES, CheckFailed, Contract, Figures, Report
from ._runner import PACKED, SCALES, NoLse, Runner


def case_arrays(line: str) -> dict[str, NDArray[Any]]:
    """The numbers of a case, by name: q, k, v, grad_o and grad_lse (backward), the parameters, lengths, documents,
    mask, keep, page_table and prefix_sums (decoding).

    line: CheckFailed.case. All float32, which holds the numbers of every format exactly; lengths, query_lengths and
    documents int32, mask uint8, 1 where a query may see a key, keep uint8, 1 where dropout keeps p_ij. The same
    bits on every machine, without the NaN of nan_in_hidden_keys; no number of page_table is -1, and all keys lie in
    their page, also beyond lengths[b]. In e4m3 and e5m2 also q_scale, k_scale and v_scale, in a cache of 8 bits the
    last two; q, k and v are the stored numbers, without them. k, v and scales of each key are in the order of the
    keys, not in pages; prefix_sums is float64.
    Packed sequences are padded: of sequence b there are the last query_lengths[b] rows of q, and the first lengths[b]
    keys.

    Raises ValueError for anything but such a line.
    """
    return _native.case_arrays(line)


def check(
    fn: Callable[..., Any],
    bias: Union[str, type[Bias], Custom, None] = None,
    *,
    dtype: Any = "float32",
    cases: int = 100,
    backward: Union[Callable[..., Any], bool, None] = None,
    framework: Optional[str] = None,
    causal: Optional[bool] = True,
    window: Union[bool, str] = False,
    lengths: bool = False,
    documents: bool = False,
    mask: bool = False,
    ssmax: bool = False,
    sinks: bool = False,
    softcap: Union[bool, float] = False,
    dropout: bool = False,
    rotary_dim: Union[bool, int, Sequence[int]] = False,
    nan_in_hidden_keys: bool = False,
    grouped_heads: bool = False,
    strides: bool = False,
    packed: bool = False,
    query_offset: Union[bool, str, None] = None,
    more_queries: bool = False,
    queries_at_end: bool = False,
    lse_gradient: bool = False,
    scale: Optional[bool] = None,
    decode: bool = False,
    paged: Union[bool, int, Sequence[int]] = False,
    cache: Union[bool, str, Sequence[str]] = False,
    scale_per_key: bool = False,
    batch: Optional[Sequence[int]] = None,
    heads: Optional[Sequence[int]] = None,
    kv_heads: Optional[Sequence[int]] = None,
    queries: Optional[Sequence[int]] = None,
    keys: Optional[Sequence[int]] = None,
    head_dims: Optional[Sequence[int]] = None,
    value_dims: Optional[Sequence[int]] = None,
    values_in_keys: bool = False,
    shapes: Optional[Sequence[dict[str, int]]] = None,
    longest: Optional[int] = None,
    options: Optional[dict[str, float]] = None,
    contract: Union[Contract, str, None] = None,
    deterministic: bool = False,
    device: Optional[str] = None,
    seed: int = 1,
    threads: Optional[int] = None,
    shrink: bool = True,
    time_limit: Optional[float] = None,
    progress: Union[Callable[[int, int], Any], bool, None] = None,
    case: Optional[str] = None,
) -> Report:
    """Judges fn on random cases, element by element, within derived error bounds.

    fn(q, k, v, **keywords) returns o, or (o, lse). Return lse if you can: it shows an error of scale or
    bias a hundred times sooner than a bfloat16 o. q [batch, heads, queries,
    head_dim] and k, v [batch, kv_heads, keys, head_dim] are fresh arrays of the framework in `dtype`;
    o must be like q, as wide as v, lse float32 [batch, heads, queries], the natural logarithm. `plumbline.attention`
    documents what is computed, docs/bounds.md how far a correct kernel may be from it. The judge is that
    of `plumbline verify`. The keywords are the bias's arrays by name (float32), its options, and the
    settings that this call enables.

    bias: a subclass of Bias, or its method's name, or a Custom one; None: Nope. Its numbers are drawn.
    dtype: float32, float16, bfloat16, tf32, float8_e4m3fn or float8_e5m2, as a string or as the
        framework's own. With the last two, q, k and v are of that dtype and o, grad_o and gradients
        bfloat16, and fn also takes q_scale, k_scale and v_scale, float32 [batch, kv_heads]: q[b, h] is
        to be multiplied by q_scale of batch b and the key head of h, and so on. NumPy needs
        ml_dtypes for them, PyTorch must be 2.1 or newer.
    cases: number of cases.
    backward: True: the gradients of fn by autograd (PyTorch) or jax.vjp; or a function backward(grad_o,
        q, k, v, o, lse, **keywords), which returns the gradients by name ({"q": ..., "increments": ...})
        or in the order q, k, v, arrays of the bias (without ALiBi's slopes, of which a gradient by name is not
        judged), ssmax_scale, sinks.
    framework: "numpy", "cupy", "torch" or "jax"; None: that of dtype, else "numpy". With "numpy" and "cupy", fn may
        return any framework's arrays that have __dlpack__, in host memory or on a CUDA device.
    causal: True or False for all cases; None: both, and fn takes `causal`, as it does where its signature (and that
        of a function backward) names it.
    window, lengths, documents: True: fn takes it, and it may be None; False: no case has it.
        window="left_right": fn takes it as (left, right), -1 for no limit, as FlashAttention's window_size.
    mask: True: fn takes `mask`, which may be None: booleans [batch or 1, heads or 1, queries, keys], True where a
        query may see a key. Prefix-LM, chunks, sparse blocks, trees of drafted tokens, and single pairs are drawn;
        some queries see no key.
    query_offset, scale: the same; None: True if fn's signature names it. With query_offset there may be
        fewer queries than keys; without scale it is 1/sqrt(head_dim). query_offset="top_left": fn does not take it, and
        has query row 0 at key 0, as PyTorch's is_causal has it; "bottom_right": the last row at the last key, as
        FlashAttention has it. Not when decoding.
    more_queries: True: there may also be more queries than keys. query_offset is then keys - queries,
        below 0, so that the first rows see no key, or more, up to 0.
    queries_at_end: True: fn takes `queries_at_end`; where it is True, row r of sequence b is at position
        r + lengths[b] - queries, and sees no key where that is below 0. Beside lengths=True.
    lse_gradient: True: in some backward cases the loss depends on lse, too. backward=True differentiates the lse
        that fn returns; a function backward takes `grad_lse`, float32 like lse, which may be None.
    ssmax: True: fn takes `ssmax_scale`, which may be None.
    sinks: True: fn takes `sinks`, float32 [heads], which may be None.
    softcap: True: fn takes `softcap`, which may be None; a number: that is the softcap of every case,
        and fn, which has it built in, does not take it.
    dropout: True: fn takes `dropout_p`, the probability with which p_ij is dropped, and `keep`, booleans [batch,
        heads, queries, keys], False where it is: o_i = sum_j keep_ij / (1 - dropout_p) p_ij v_j. In cases without
        dropout they are 0.0 and None. fn also gets `dropout_seed` and `dropout_offset`, below 2^64, if its signature
        names them: keep is what Philox makes of them as kernel_abi/plumbline_kernel.h says, or Triton's tl.rand. If
        not, keep is any in a quarter of the cases. Not with packed. No case of Cope and the Dape biases has dropout.
    rotary_dim: True: fn takes `rotary_dim`, even: RoPE rotates only the first rotary_dim components of q and k, by
        angles i base^(-2k / rotary_dim). Or the only sizes of it, [16, 32]. False: it is head_dim.
    nan_in_hidden_keys: True: k and v are NaN at keys that no query sees, which must reach no output: 0 times NaN
        is NaN. Gradients there are 0.
    grouped_heads: True: kv_heads may be less than heads.
    strides: True: in one case of four q, k, v and grad_o have strides: views of [batch, tokens, heads,
        head_dim], every other row, parts of a packed array. Between their rows is NaN. Not with JAX.
    packed: True: fn takes sequences one after the other, as FlashAttention's flash_attn_varlen_func: q [tokens,
        heads, head_dim], k, v [tokens, kv_heads, head_dim], and the keywords cu_seqlens_q, cu_seqlens_k
        (int32 [batch + 1], where each begins), max_seqlen_q and max_seqlen_k. The last query of a sequence is at
        its last key. It returns o like q, as wide as v, or (o, lse [heads, tokens]); backward likewise. A sequence
        may have no queries or no keys, and with more_queries more queries than keys where the mask is causal. Not
        with documents, mask or dropout, for biases with no number for each token, and with sinks without
        lse_gradient.
    decode: True: decoding, as FlashAttention's flash_attn_with_kvcache: fn(q, k_cache, v_cache, **keywords) with one
        query row of each sequence in most cases, else up to 8. Row r is at position r + keys - queries; with lengths,
        of which fn then always gets an array, at r + lengths[b] - queries; if fn takes query_offset, as that says. In
        place of increments and log_forget fn takes `prefix_sums`, float64 [batch, heads, keys], their sums over the
        keys up to each. Not with backward, packed, dropout, lse_gradient or more_queries.
    paged: True: the caches of all decoding cases are paged, k [page, kv_heads, page_size, head_dim] and v likewise, and
        fn takes `page_table`, int32 [batch, pages of a sequence], and `lengths`: key j of sequence b is key
        j % page_size of page page_table[b, j // page_size]. Sequences may share pages, and a page may belong to
        none. What a page holds beyond the last key is NaN, in an int8 cache -128. The number of a page that holds only
        keys beyond lengths[b] is that of another page, with nan_in_hidden_keys -1 or that of a page of NaN. Or the
        only page sizes, [16, 256].
    cache: kinds of caches of 8 bits, some of "int8", "e4m3" and "e5m2", or True for all three: k and v of all
        decoding cases are of one of them, while q and o are of dtype, and fn takes `k_scale` and `v_scale`, float32
        [batch, kv_heads]: k[b, h] is to be multiplied by k_scale[b, h]. Not with a dtype of 8 bits.
    scale_per_key: True: those scales are [batch, kv_heads, keys], in pages [page, kv_heads, page_size].
    batch, heads, kv_heads, queries, keys, head_dims: the only sizes that cases have; None: any.
    value_dims: the only last sizes of v, o, grad_o and grad_v; None: that of q and k.
    values_in_keys: True: row j of v is the first part of row j of k, as in latent attention, whose cache has one
        array for both: fn may leave v unread. Not with backward.
    shapes: the only shapes, for functions that are compiled for each: [{"heads": 12, "keys": 128}, ...],
        with any of batch (1), heads (1), kv_heads (heads), queries (keys; decoding: 1), keys (128), head_dim (64),
        value_dim (head_dim).
    longest: the largest number of keys; None: any, up to 65536 with few queries.
    options: options of the bias that fn has built in, {"base": 10000}: no other value is drawn, and fn
        does not get them. Cases have only a few values, which the error for another one lists. Of a
        bias tensor, [batch or 1, heads or 1, queries or 1, keys]: "per_batch", "per_head", "per_query": 1
        where that axis has its full size, 0 where it has size 1, and "in_format_of_o": 1 where every
        number is one of o's dtype, so that fn may cast to it. fn sees them in the tensor. Of ALiBi
        "slopes_per_batch": 1 for slopes [batch, heads]; without it they are [heads].
    contract: how fn computes; None: fp32 internally, the strictest; or the name of a known
        implementation, such as "jax" or "flash_attention_2" (docs/contracts.md).
    deterministic: one case in four is run twice and must give the same bits.
    device: "cuda", ...: where PyTorch's or JAX's arrays are; CuPy's are on its current device.
    seed: of the random cases. threads: of the judge (None: all processors).
    shrink: False: a failing case is reported as it was drawn, and no smaller one is looked for.
    time_limit: in seconds: no case is begun after it but for the first five, and no smaller failing one
        is looked for. Report.cases says how many cases there were. The seed alone does not repeat such
        a run; CheckFailed.case repeats its failing case.
    progress: called as progress(done, cases) after each of the random cases; True: a line on standard error instead;
        None: the same, where that is a terminal, after two seconds; False: nothing.
    case: CheckFailed.case: this one case instead of random ones.

    What fn launches on plumbline.device runs on each of its VARIATIONS, a quarter of the cases each. A
    failing case is run on all of them, and the explanation says if it passes on some.

    One case in eight is run after another of its shape with other numbers, so that what fn keeps from one call
    for the next shows.

    Returns a Report. Raises CheckFailed with the smallest failing case, a diagnosis and the
    call that repeats it; also if the oracle's own error leaves a case undecided. Raises ValueError or
    TypeError for wrong arguments, ImportError for a missing framework, MemoryError for a case that this
    machine's memory does not hold.
    """
    __tracebackhide__ = True  # pytest shows the caller's line
    asked = {name: value for name, value in locals().items() if not name.startswith("__")}
    if not callable(fn):
        raise TypeError(f"fn is {fn!r}; expected a function")
    if not (case is None or isinstance(case, str)):
        raise TypeError(f"case is {case!r}; expected a case's line, or None")
    if case == "":
        raise ValueError("case is ''; expected a case's line, or None")
    method = method_name(bias)
    known = {entry["name"]: entry for entry in json.loads(_native.methods())}
    if isinstance(bias, Custom):
        known[method] = {"name": method, "parameters": bias.parameter_names, "options": {}, "drawn": {}}
    if method in _ANOTHER_METHOD_WITH and not isinstance(bias, Custom):
        raise ValueError(f"bias is {method!r}; expected {_ANOTHER_METHOD_WITH[method]}")
    if method not in known:
        raise ValueError(f"bias is {method!r}; expected one of "
                         f"{', '.join(name for name in known if '+' not in name)}; most also with "
                         "+rope_interleaved or +rope_half_split")
    own_options = _options(options, known[method])
    format, of_dtype = format_of(dtype)
    paged = paged.tolist() if isinstance(paged, np.ndarray) else paged
    refused: dict[str, Any] = {"paged": paged, "cache": cache, "scale_per_key": scale_per_key}
    if truth("decode", decode):
        refused = {"backward": backward, "packed": packed, "dropout": dropout, "lse_gradient": lse_gradient,
                   "more_queries": more_queries}
    for name, value in refused.items():
        if value:
            raise ValueError(f"{name} is {value!r}; expected nothing of it with{'' if decode else 'out'} decode=True")
    if truth("scale_per_key", scale_per_key) and not cache:
        raise ValueError("scale_per_key is True; expected False without cache")
    if cache and format in EIGHT_BITS:
        raise ValueError(f"cache is {cache!r}; expected False with dtype {dtype}, which has scales of its own")
    framework = framework or of_dtype or "numpy"
    if framework not in [*FRAMEWORKS]:
        raise ValueError(f"framework is {framework!r}; expected one of {', '.join(FRAMEWORKS)}")
    of_framework = FRAMEWORKS[framework](format, device)
    caches = caches_of(cache, of_framework)
    if backward is True and framework in ("numpy", "cupy"):
        raise ValueError("backward is True; expected a function: NumPy and CuPy have no gradients of their own")
    if backward is True and format in EIGHT_BITS:
        raise ValueError(f"backward is True; expected a function: nothing differentiates {dtype}")
    if not (backward is None or isinstance(backward, bool) or callable(backward)):
        raise TypeError(f"backward is {backward!r}; expected True, False, None or a function")
    if shapes is not None:
        sizes = {"batch": batch, "heads": heads, "kv_heads": kv_heads, "queries": queries, "keys": keys,
                 "head_dims": head_dims, "value_dims": value_dims}
        given = [name for name, value in sizes.items() if value is not None]
        if given:
            raise ValueError(f"{given[0]} is {sizes[given[0]]!r}; expected None beside shapes")
    if truth("packed", packed):
        _expect_packable(bias, known[method]["parameters"],
                         {"documents": documents, "mask": mask, "lengths": lengths, "query_offset": query_offset,
                          "queries_at_end": queries_at_end, "strides": strides, "dropout": dropout})
        if own_options.get("slopes_per_batch"):
            raise ValueError("options: slopes_per_batch is 1; expected 0 with packed=True")
        query_offset = False
    if not isinstance(softcap, bool) and number("softcap", softcap) <= 0:
        raise ValueError(f"softcap is {softcap!r}; expected True, False or a number above 0")
    alignment = query_offset if isinstance(query_offset, str) else ""
    if alignment:
        if alignment not in ("top_left", "bottom_right"):
            raise ValueError(f"query_offset is {alignment!r}; expected True, False, None, 'top_left' or 'bottom_right'")
        if decode:
            raise ValueError(f"query_offset is {alignment!r}; expected True, False or None with decode=True")
        query_offset = False
    page_sizes = _listed("paged", paged)
    lengths = truth("lengths", lengths) or bool(paged)
    seeds = [name for name in ("dropout_seed", "dropout_offset") if _takes(fn, name, None)]
    whole_shapes = _shapes(shapes, more_queries, grouped_heads, decode)
    offer = {
        "causal": None if causal is None else truth("causal", causal),
        "window": bool(window),
        "window_sides": window == "left_right",
        "lengths": lengths,
        "documents": truth("documents", documents),
        "mask": truth("mask", mask),
        "lse_gradient": truth("lse_gradient", lse_gradient),
        "values_in_keys": truth("values_in_keys", values_in_keys),
        "value_dim": value_dims is not None or any("value_dim" in shape for shape in shapes or []),
        "ssmax": truth("ssmax", ssmax),
        "sinks": truth("sinks", sinks),
        "softcap": softcap is True,
        "dropout": truth("dropout", dropout),
        "makes_keep": bool(dropout and seeds),
        "rotary_dim": rotary_dim is not False,
        "rotary_dims": _rotary_dims(rotary_dim),
        "paged": bool(paged),
        "page_sizes": page_sizes,
        "caches": caches,
        "scale_per_key": scale_per_key,
        "nan_in_hidden_keys": truth("nan_in_hidden_keys", nan_in_hidden_keys),
        "own_softcap": 0.0 if isinstance(softcap, bool) else float(softcap),
        "grouped_heads": truth("grouped_heads", grouped_heads),
        "query_offset": _takes(fn, "query_offset", query_offset),
        "alignment": alignment,
        "more_queries": truth("more_queries", more_queries),
        "queries_at_end": truth("queries_at_end", queries_at_end),
        "strides": truth("strides", strides),
        "packed": packed,
        "scale": _takes(fn, "scale", scale),
        "batch": _sizes("batch", batch),
        "heads": _sizes("heads", heads),
        "kv_heads": _sizes("kv_heads", kv_heads),
        "queries": _sizes("queries", queries),
        "keys": _sizes("keys", keys),
        "head_dims": _sizes("head_dims", head_dims),
        "value_dims": _sizes("value_dims", value_dims),
        "shapes": whole_shapes,
        "longest": 0 if longest is None else whole("longest", longest, 1),
        "options": own_options,
    }
    if "slopes_per_batch" in known[method]["options"]:  # a function takes [heads] unless it says more
        offer["options"].setdefault("slopes_per_batch", 0.0)
    if window != "left_right" and not isinstance(window, bool):
        raise TypeError(f"window is {window!r}; expected True, False or 'left_right'")
    if more_queries and packed and causal is False:
        raise ValueError("more_queries is True; expected False with packed=True and causal=False")
    if more_queries and not (packed or alignment or offer["query_offset"]):
        raise ValueError("more_queries is True; expected False without query_offset or packed=True")
    _expect_rows(offer, decode)
    if strides and framework == "jax":
        raise ValueError("strides is True; expected False: JAX's arrays have none")
    if offer["rotary_dim"] and (isinstance(bias, Custom) or "rope_" not in method):
        raise ValueError(f"rotary_dim is {rotary_dim!r}; expected False with {method}, which has no RoPE")
    if values_in_keys and backward:
        raise ValueError("values_in_keys is True; expected False with backward")
    if lse_gradient and not backward:
        raise ValueError("lse_gradient is True; expected False without backward")
    if queries_at_end and not lengths:
        raise ValueError("queries_at_end is True; expected False without lengths=True")
    named = all(_takes(one, "causal", None) for one in (fn, backward) if callable(one))
    settings = ["causal"] if causal is None or named else []
    settings += [n for n in ("window", "lengths", "documents", "mask", "query_offset", "queries_at_end", "scale",
                             "softcap", "rotary_dim") if offer[n]]
    if dropout:
        settings += ["dropout_p", "keep", *seeds]
    settings += ["ssmax_scale"] if ssmax else []
    settings += ["sinks"] if sinks else []
    settings += SCALES if format in EIGHT_BITS else SCALES[1:] if caches else []
    settings += ["page_table"] if paged else []
    settings += PACKED if packed else []
    parameters = known[method]["parameters"]
    if decode:
        parameters = _with_prefix_sums(bias, parameters)
    runner = Runner(
        fn,
        backward,
        of_framework,
        "fp32" if format == "tf32" else format,
        method,
        parameters,
        settings,
        {*(options or {}), *NOT_TOLD},
    )
    free_options = [
        name for name in known[method]["options"] if name not in (options or {}) and name not in NOT_TOLD
    ]
    _expect_signature(fn, [*parameters, *free_options, *settings])
    shrink = truth("shrink", shrink)
    seconds = 0.0 if time_limit is None else number("time_limit", time_limit)
    if time_limit is not None and seconds <= 0:
        raise ValueError(f"time_limit is {time_limit!r}; expected seconds above 0, or None")
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise TypeError(f"progress is {progress!r}; expected a function, True, False or None")
    contract = Contract() if contract is None else contract
    if isinstance(contract, str):
        # Whether there is an lse, the function shows.
        named = json.loads(_native.named_contract(contract, format))
        contract = Contract(**{**named, "no_lse": False})
    if not isinstance(contract, Contract):
        raise TypeError(f"contract is {contract!r}; expected a plumbline.Contract or the name of one")
    contract = _declared(contract)
    if isinstance(asked["contract"], Contract):
        asked["contract"] = contract
    if lse_gradient and contract.no_lse:
        raise ValueError("lse_gradient is True; expected False with a contract that has no lse")
    runner.lse_format = contract.lse_format
    runner.float_o, runner.float_gradients = contract.float_o, contract.float_gradients
    runner.lse_gradient = lse_gradient
    name = getattr(fn, "__name__", None)
    name = name if isinstance(name, str) else type(fn).__name__

    def judged(contract: Contract) -> tuple[str, str, Any]:
        return _native.check(
            runner,
            Refusal,
            name,
            pass_name(decode, backward),
            method,
            format,
            offer,
            json.dumps(dataclasses.asdict(contract)),
            whole("cases", cases, 1, 10**8),
            whole("seed", seed, 0, 2**64 - 1),
            0 if threads is None else whole("threads", threads, 1, 4096),
            truth("deterministic", deterministic),
            case or "",
            shrink,
            seconds,
            told.case_done,
            bias.declaration if isinstance(bias, Custom) else None,
        )

    with Progress(f"{name} {method} {format}", progress) as told:
        try:
            text, words, cause = judged(contract)
        except ValueError as error:
            if not str(error).startswith("what the function takes is too narrow"):
                raise
            narrow = [f"{n}={asked[n]!r}" for n in _NARROWING
                      if asked[n] is not None and asked[n] is not False]
            raise ValueError(f"{error}. Given are {', '.join(narrow) or 'none of these'}") from None
        except NoLse:
            if lse_gradient:
                raise ValueError(f"lse_gradient is True; expected False: {name} returns no lse") from None
            # Nothing has been judged: the first call of the function ends here.
            text, words, cause = judged(dataclasses.replace(contract, no_lse=True, lse_format="fp32",
                                                                 lse_base_2=False))
    report = json.loads(text)
    cell = report["cells"][0]
    if cell["outcome"] != "pass":
        if of_dtype == "jax":  # whose dtypes are written as NumPy's
            asked["framework"] = framework
        repeat = _repeat(name, bias if isinstance(bias, Custom) else method, asked,
                         cell["counterexample"]["case"])
        which = "the case" if case else "the smallest failing case found" if shrink else "the failing case"
        raise CheckFailed(f"{name} {method} {format}", words, cell, repeat, which) from cause
    outputs = {
        output: Figures(float(x["worst"]), x["elements"], x["nonzero"], x["blind"])
        for output, x in cell["outputs"].items()
    }
    return Report(
        name,
        method,
        format,
        cell["cases"],
        cell["rows"],
        cell["ill_conditioned_rows"],
        outputs,
        report["seed"],
        report["seconds"],
        1 if case else cases,
        cell["rows_left_out"],
        Contract(**{**cell["contract"], "families_left_out": tuple(cell["contract"]["families_left_out"])}),
        cell["contract_lets_through"],
    )


# What is a method with numbers or settings of its own.
_ANOTHER_METHOD_WITH = {
    "alibi_geometric": "plumbline.Alibi: the slopes are drawn, and fn is given them",
    "local_rope": "plumbline.RopeInterleaved with window=True: fn is given the window",
    "local_rope_keys": "plumbline.RopeInterleaved with window=True: fn is given the window, a number of "
    "keys less one",
}

_SIZES = ("batch", "heads", "kv_heads", "queries", "keys", "head_dim", "value_dim")


def pass_name(decode: Any, backward: Any) -> str:
    """As a case's line has it."""
    return "decode" if decode else "backward" if backward else "forward"


def _with_prefix_sums(bias: Any, parameters: list[str]) -> list[str]:
    """What a decoding function takes: prefix sums in place of what is summed."""
    summed = ["increments", "log_forget"]
    if isinstance(bias, Custom):
        summed = [p["name"] for p in bias.declaration["parameters"] if p["per"] == "prefix_sum"]
    return [*dict.fromkeys("prefix_sums" if name in summed else name for name in parameters)]


_OF_TOKENS = ("increments", "gain", "log_forget", "tensor")


def _expect_packable(bias: Any, parameters: list[str], settings: dict[str, Any]) -> None:
    """Raises ValueError for what packed sequences do not have."""
    for name, value in settings.items():
        if value:
            raise ValueError(f"{name} is {value!r}; expected nothing of it with packed=True")
    of_tokens = [name for name in parameters if name in _OF_TOKENS]
    if isinstance(bias, Custom):
        of_tokens = [p["name"] for p in bias.declaration["parameters"] if p["per"] in ("query", "key", "prefix_sum")]
    if of_tokens:
        raise ValueError(f"packed is True; expected False with {of_tokens[0]}, which has a number for each token")


def _sizes(name: str, sizes: Union[None, int, Sequence[int]]) -> list[int]:
    if sizes is None:
        return []
    plain: Any = sizes.tolist() if isinstance(sizes, np.ndarray) else sizes
    listed = [plain] if isinstance(plain, str) or not np.iterable(plain) else list(plain)
    if not listed:
        raise ValueError(f"{name} is {sizes!r}; expected at least one, or None")
    return [whole(name, size, 1, 2**24) for size in listed]


def _expect_rows(offer: dict[str, Any], decode: bool) -> None:
    """Raises ValueError for queries that go with none of the keys."""
    queries, keys = offer["queries"], offer["keys"]
    if not queries or not keys:
        return
    if min(queries) > max(keys) and not offer["more_queries"]:
        raise ValueError(f"queries is {min(queries)}; expected at most {max(keys)}, the keys"
                         f"{'' if decode else ', or more_queries=True'}")
    square = not (decode or offer["packed"] or offer["alignment"] or offer["query_offset"])
    if square and not {*queries} & {*keys}:
        raise ValueError(f"queries is {queries[0]}; expected one of keys without query_offset: "
                         f"{', '.join(map(str, keys))}")


def _listed(name: str, sizes: Union[bool, int, Sequence[int]]) -> list[int]:
    if isinstance(sizes, bool):
        return []
    if sizes is None or isinstance(sizes, str):
        raise TypeError(f"{name} is {sizes!r}; expected True, False or sizes")
    return _sizes(name, sizes)  # type: ignore[arg-type]


def _rotary_dims(sizes: Union[bool, int, Sequence[int]]) -> list[int]:
    listed = _listed("rotary_dim", sizes)
    odd = [size for size in listed if size % 2 != 0]
    if odd:
        raise ValueError(f"rotary_dim is {odd[0]}; expected an even number")
    return listed


def _shapes(shapes: Optional[Sequence[dict[str, int]]], more_queries: bool, grouped_heads: bool,
            decode: bool) -> list[list[int]]:
    if shapes is None:
        return []
    if not isinstance(shapes, (list, tuple)):
        raise TypeError(f"shapes is {shapes!r}; expected a list of dictionaries of sizes, or None")
    if not shapes:
        raise ValueError(f"shapes is {shapes!r}; expected at least one, or None")
    result = []
    for n, shape in enumerate(shapes):
        if not isinstance(shape, dict):
            raise TypeError(f"shapes[{n}] is {shape!r}; expected a dictionary of {', '.join(_SIZES)}")
        unknown = [name for name in shape if name not in _SIZES]
        if unknown:
            raise ValueError(f"shapes[{n}] has {unknown[0]!r}; expected some of {', '.join(_SIZES)}")
        for name, size in shape.items():
            whole(f"shapes[{n}]: {name}", size, 1, 2**24)
        sizes = {"batch": 1, "heads": 1, "keys": 128, "head_dim": 64, **shape}
        sizes = {"kv_heads": sizes["heads"], "queries": 1 if decode else sizes["keys"],
                 "value_dim": sizes["head_dim"], **sizes}
        result.append([int(sizes[name]) for name in _SIZES])
        if sizes["value_dim"] == sizes["head_dim"]:
            result[-1][-1] = 0  # the same, as cases have it
        if sizes["heads"] % sizes["kv_heads"] != 0:
            raise ValueError(f"shapes[{n}] has kv_heads {sizes['kv_heads']}; expected a divisor of heads")
        if sizes["heads"] != sizes["kv_heads"] and not grouped_heads:
            raise ValueError(f"shapes[{n}] has kv_heads {sizes['kv_heads']}; expected {sizes['heads']}, as many as "
                             "heads, or grouped_heads=True")
        if sizes["queries"] > sizes["keys"] and not more_queries:
            raise ValueError(f"shapes[{n}] has queries {sizes['queries']}; expected at most keys, or "
                             "more_queries=True")
    return result


def _options(given: Optional[dict[str, float]], method: dict[str, Any]) -> dict[str, float]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise TypeError(f"options is {given!r}; expected a dictionary of names and numbers, or None")
    numbers = {name: number(f"options: {name}", value) for name, value in given.items()}
    for name, value in numbers.items():
        drawn = method["drawn"].get(name, [value])  # of an unknown one the judge tells
        if value not in drawn:
            known = " or ".join(f"{x:.12g}" for x in sorted(set(drawn)))
            raise ValueError(f"options: {name} is {given[name]!r}; expected {known}, which cases have")
    return numbers


def _signature(fn: Callable[..., Any]) -> Optional[inspect.Signature]:
    try:
        return inspect.signature(fn)
    except (TypeError, ValueError):  # of a builtin
        return None


def _takes(fn: Callable[..., Any], name: str, said: Optional[bool]) -> bool:
    if said is not None:
        return truth(name, said)
    signature = _signature(fn)
    return signature is not None and name in signature.parameters


def _expect_signature(fn: Callable[..., Any], keywords: list[str]) -> None:
    """Raises TypeError where fn cannot be called as it will be."""
    signature = _signature(fn)
    if signature is None:
        return
    try:
        signature.bind(None, None, None, **dict.fromkeys(keywords))
    except TypeError as error:
        call = ", ".join(["q", "k", "v", *(f"{name}=..." for name in keywords)])
        raise TypeError(
            f"fn is to be called as fn({call}): {error}"
        ) from None


def method_name(bias: Union[str, type[Bias], Custom, None]) -> str:
    """Of a method, its class, or None. Raises TypeError for anything else."""
    if bias is None:
        return Nope.method
    if isinstance(bias, str):
        return bias
    if isinstance(bias, Custom):
        return bias.method
    if isinstance(bias, type) and issubclass(bias, Bias) and hasattr(bias, "method"):
        return bias.method
    raise TypeError(
        f"bias is {bias!r}; expected a subclass of plumbline.Bias, such as plumbline.Cable, "
        "or its method's name, or a plumbline.Custom: its numbers are drawn"
    )


# What may leave no case.
_NARROWING = ("batch", "heads", "kv_heads", "queries", "keys", "head_dims", "value_dims", "shapes", "longest",
              "options", "scale", "softcap", "rotary_dim", "query_offset", "values_in_keys", "packed", "decode",
              "paged", "cache", "scale_per_key", "causal")

# What a call with one case does not need.
_NOT_REPEATED = ("fn", "bias", "cases", "seed", "shrink", "time_limit", "progress", "case")


def _repeat(name: str, method: Union[str, Custom], asked: dict[str, Any], case: str) -> str:
    """The call with the case: what differs from the defaults, as one would write it."""
    said = [name, repr(method)]
    for parameter in inspect.signature(check).parameters.values():
        value = asked.get(parameter.name)
        if parameter.name in _NOT_REPEATED or repr(value) == repr(parameter.default):
            continue
        if parameter.name == "dtype" and not str(value).startswith("torch."):
            value = repr(getattr(value, "__name__", str(value)))
        elif callable(value):
            value = getattr(value, "__name__", value)
        elif isinstance(value, Contract):
            value = "plumbline." + _without_defaults(value)
        elif isinstance(value, (np.ndarray, np.generic)):
            value = repr(value.tolist())
        else:
            value = repr(value)
        said.append(f"{parameter.name}={value}")
    return f"plumbline.check({', '.join(said)}, case={case!r})"


def _declared(contract: Contract) -> Contract:
    """The contract in Python's own types. Raises TypeError or ValueError for a field of another type, a number that is
    not finite and an unknown family."""
    fields = {}
    for field in dataclasses.fields(contract):
        name, value = f"contract.{field.name}", getattr(contract, field.name)
        if isinstance(field.default, bool):
            value = truth(name, value)
        elif isinstance(field.default, int):
            value = whole(name, value, field.default, 2**31 - 1)
        elif isinstance(field.default, float):
            value = number(name, value)
        elif isinstance(field.default, str):
            if not isinstance(value, str):
                raise TypeError(f"{name} is {value!r}; expected a name, such as {field.default!r}")
        elif not isinstance(value, (list, tuple, set, frozenset)):
            raise TypeError(f"{name} is {value!r}; expected a list of names")
        else:
            unknown = [family for family in value if family not in FAMILIES]
            if unknown:
                raise ValueError(f"{name} has {unknown[0]!r}; expected some of {', '.join(FAMILIES)}")
            value = tuple(value)
        fields[field.name] = value
    return Contract(**fields)


def _without_defaults(contract: Contract) -> str:
    said = [
        f"{field.name}={getattr(contract, field.name)!r}"
        for field in dataclasses.fields(contract)
        if getattr(contract, field.name) != field.default
    ]
    return f"Contract({', '.join(said)})"
