# SPDX-License-Identifier: Apache-2.0
"""Faults planted in the attention of triton_attention.py: in its text, or in the PTX that Triton makes of it.
The judge names the former, and the device stops the latter at the right line."""

import dataclasses
import importlib.util
import pathlib
import re

import plumbline
import plumbline._triton
import pytest

pytest.importorskip("triton", reason="Triton is not installed (PyPI's triton; it needs no GPU)")
import triton_attention  # noqa: E402
from test_triton_attention import BIASES, SHORT, TARGETS, skip_what_is_refused  # noqa: E402

SOURCE = pathlib.Path(triton_attention.__file__).read_text()


@dataclasses.dataclass(frozen=True)
class Wrong:
    """A fault in the text of a function: what stands there once, what instead, and what the judge says."""

    name: str
    function: str
    old: str
    new: str
    says: str
    bias: str = "alibi"


@dataclasses.dataclass(frozen=True)
class Unsafe:
    """A fault in the PTX of a kernel: a pattern, of which one match is replaced, the first or the one `at`; the
    kind of the device's fault, the instruction at which it stops, and the line of triton_attention.py that it
    names. Of two accesses that race it stops at the second, whichever that is, and where that reads what the other
    has not written yet, it says so: the possible ones are separated by |."""

    name: str
    kernel: str
    pattern: str
    new: str
    kind: str
    instruction: str
    line: str
    target: str = "sm_80"
    at: int = 0


WRONG = [
    Wrong("scores are not scaled", "forward_kernel", "(scale * LOG2_E)", "LOG2_E", "a kernel without the scale"),
    Wrong("the bias is not in units of log 2", "forward_kernel", "BIAS) * LOG2_E", "BIAS)",
          "multiply the bias by log2 e too"),
    Wrong("o is not rescaled", "forward_kernel", "sums * shrink[:, None])", "sums)",
          "o: where it fails: the last query"),
    Wrong("the sum is not rescaled", "forward_kernel", "total * shrink", "total",
          "lse: where it fails: the last query"),
    Wrong("the last block of keys is missing", "forward_kernel", "(0, end, COLUMNS)",
          "(0, tl.maximum(end - COLUMNS, 1), COLUMNS)", "lse: where it fails: the last query"),
    Wrong("lse is in units of log 2", "forward_kernel", "tl.log2(total)) / LOG2_E", "tl.log2(total))",
          "a kernel that returns lse to base 2"),
    Wrong("the mask is off by one", "visible_of", "<= i[:, None]", "<= i[:, None] + 1",
          "a kernel that sees the key after the query"),
    Wrong("the sign of the bias", "bias_of", "bias = -tl.load(a + h) *", "bias = tl.load(a + h) *",
          "a kernel whose bias has the opposite sign"),
    Wrong("the slope of the next head", "bias_of", "head % heads", "(head + 1) % heads", "lse: where it fails"),
    Wrong("the gain of the key", "bias_of", "-of_tokens(b, head, i, tokens)[:, None]",
          "-of_tokens(b, head, j, tokens)[None, :]", "multiplied by the gain of the key", bias="cable"),
    Wrong("mu has the other sign", "off_centre", "(tl.exp2(theta) - tl.exp2(-theta))",
          "(tl.exp2(-theta) - tl.exp2(theta))", "whose mu has the opposite sign", bias="ggd"),
]
WRONG_BACKWARD = [
    Wrong("dK is not scaled", "backward_keys_kernel", "(dk * scale)", "dk", "whose grad_k lacks the scale"),
    Wrong("dS without delta", "scores_gradient", " - of_tokens(delta, head, i, tokens)[:, None]", "",
          "whose dS is P dP, without D"),
    Wrong("the first block of queries is missing", "backward_keys_kernel", "first_column // ROWS * ROWS",
          "(first_column // ROWS + 1) * ROWS", "grad_v: "),
    Wrong("the logarithm of the wrong base", "backward_queries_kernel", "tl.log2(x) / LOG2_E", "tl.log2(x)",
          "grad_theta_beta: ", bias="ggd"),
    Wrong("mu's gradient by another derivative", "backward_queries_kernel", "(tl.exp2(theta) + tl.exp2(-theta))",
          "(tl.exp2(theta) - tl.exp2(-theta))", "grad_theta_mu: ", bias="ggd"),
    Wrong("dQ is not scaled", "backward_queries_kernel", "(dq * scale)", "dq", "whose grad_q lacks the scale"),
    Wrong("the last block of keys is missing", "backward_queries_kernel", "(0, end, COLUMNS)",
          "(0, tl.maximum(end - COLUMNS, 1), COLUMNS)", "grad_q: where it fails: the last query"),
    Wrong("dV of dS", "backward_keys_kernel", "tl.trans(p.to(grads.dtype))", "tl.trans(ds.to(grads.dtype))",
          "grad_v: "),
    Wrong("hidden keys have a share", "scores_gradient",
          "tl.where(visible_of(i, j, tokens, CAUSAL), tl.exp2(scores), 0.0)", "tl.exp2(scores)",
          "a kernel that sees keys after the query"),
    Wrong("lse is taken for one to base 2", "scores_gradient", "[:, None] * LOG2_E", "[:, None]",
          "takes lse for one to base 2"),
    Wrong("delta of the rows from the keys' on", "scores_gradient", "of_tokens(delta, head, i,",
          "of_tokens(delta, head, j,", "grad_q: where it fails: the last query"),
    Wrong("dS is dP - delta", "scores_gradient", "return p, p * (", "return p, (", "grad_q: "),
    Wrong("the gain's gradient has the other sign", "backward_queries_kernel", "of_b -= tl.sum(ds * sums_apart(",
          "of_b += tl.sum(ds * sums_apart(", "grad_gain: ", bias="cable"),
    Wrong("increments from the next token on", "running_sums_kernel", "total + tl.cumsum(terms, 0)",
          "total + tl.cumsum(terms, 0) - terms", "grad_increments: ", bias="cable"),
]
UNMASKED = [
    Wrong("a load without its mask", "load", ", mask=n < tokens, other=0.0)", ")", "ld.global"),
    Wrong("a store without its mask", "store", ", mask=n < tokens)", ")", "st.global"),
]
BARRIER, WAIT = r"bar\.sync\s+0;", r"cp\.async\.wait_group\s+0;"
PRODUCTS, PRODUCTS_FENCE = r"wgmma\.wait_group\.sync\.aligned\s+0;", r"wgmma\.fence\.sync\.aligned;"
PROXY_FENCE = r"fence\.proxy\.async\.shared::cta;"
# A wait for a tile that always ends, and half of the bytes that a tile has.
TILE, NO_WAIT = r"mbarrier\.try_wait\.parity\S*\s+(\w+), [^;]*;", r"setp.eq.u32 \1, 0, 0;"
BYTES, TOO_FEW = r"(expect_tx[^;]*), (?:4096|8192);", r"\1, 2048;"
QK, LOAD = "scores = tl.dot(queries, tl.trans(keys))", "block = tl.load("
LSE, STORE = "tl.store(lse +", "tl.store(rows +"
DP, DQ, DK = "p * (tl.dot(grads, tl.trans(values))", "dq = tl.dot(", "dk = tl.dot("
UNSAFE = [
    Unsafe("no wait for the copies", "forward_kernel", WAIT, "", "copy_in_flight", "ldmatrix", QK),
    Unsafe("the wait leaves one group", "forward_kernel", WAIT, "cp.async.wait_group 1;", "copy_in_flight",
           "ldmatrix.sync.aligned.m8n8.x4.trans", LOAD),
    Unsafe("no barrier after the wait", "forward_kernel", WAIT + r"\s+" + BARRIER, "cp.async.wait_group 0;",
           "race|uninitialised_shared", "ldmatrix", QK),
    Unsafe("no barrier before the next copies", "forward_kernel", BARRIER + r"(?=\s+selp)", "", "race",
           "ldmatrix", QK),
    Unsafe("a store before its barrier", "forward_kernel",
           "(" + BARRIER + r")((?:(?!bar\.sync)[\s\S])*?st\.shared\.v2[^;]*;)", r"\2\1", "race", "st.shared.v2|ldmatrix",
           LSE + "|" + STORE),
    Unsafe("a store is missing", "backward_keys_kernel", r"st\.shared\.b32[^;]*;", "", "uninitialised_shared",
           "ldmatrix", "dv = tl.dot("),
    Unsafe("no wait for the copies, backward", "backward_keys_kernel", WAIT, "", "copy_in_flight", "ldmatrix",
           LOAD),
    Unsafe("no wait for the keys, backward", "backward_queries_kernel", WAIT, "", "copy_in_flight", "ldmatrix", QK),
    Unsafe("no barrier before the keys are read", "backward_queries_kernel", BARRIER, "", "race", "ldmatrix", QK,
           at=1),
    Unsafe("no barrier before dS is stored", "backward_keys_kernel", BARRIER, "", "race", "ldmatrix", DK, at=3),
    Unsafe("no wait for the products", "forward_kernel", PRODUCTS, "", "registers_in_flight", "fma.rn.f32",
           "scores += bias_of(", "sm_90a"),
    Unsafe("no fence before the products", "forward_kernel", PRODUCTS_FENCE, "", "registers_in_flight",
           "wgmma.mma_async", QK, "sm_90a"),
    Unsafe("no fence between copies and products", "forward_kernel", PROXY_FENCE, "", "proxy_fence",
           "wgmma.mma_async", QK, "sm_90a"),
    Unsafe("no wait for the scores", "backward_keys_kernel", PRODUCTS, "", "registers_in_flight", "fma.rn.f32",
           "scores += bias_of(", "sm_90a"),
    Unsafe("no wait for the last dK", "backward_keys_kernel", PRODUCTS, "", "registers_in_flight", "mul.f32",
           "(dk * scale)", "sm_90a", at=2),
    Unsafe("no fence before dK", "backward_keys_kernel", PRODUCTS_FENCE, "", "registers_in_flight",
           "wgmma.mma_async", DK, "sm_90a", at=3),
    Unsafe("no fence between stores and dP", "backward_keys_kernel", PROXY_FENCE, "", "proxy_fence",
           "wgmma.mma_async", DP, "sm_90a", at=1),
    Unsafe("no wait for dP", "backward_queries_kernel", PRODUCTS, "", "registers_in_flight", "sub.f32", DP, "sm_90a",
           at=1),
    Unsafe("no fence before dQ", "backward_queries_kernel", PRODUCTS_FENCE, "", "registers_in_flight",
           "wgmma.mma_async", DQ, "sm_90a", at=2),
    Unsafe("no fence between copies and scores", "backward_queries_kernel", PROXY_FENCE, "", "proxy_fence",
           "wgmma.mma_async", QK, "sm_90a"),
    Unsafe("no wait for a tile", "forward_kernel", TILE, NO_WAIT, "copy_in_flight", "", "", "tma"),
    Unsafe("fewer bytes are expected than come", "forward_kernel", BYTES, TOO_FEW, "deadlock",
           "mbarrier.try_wait", "rows.load(", "tma"),
    Unsafe("more bytes are expected than come", "forward_kernel", BYTES, r"\1, 16384;", "deadlock",
           "mbarrier.try_wait", "rows.load(", "tma"),
    Unsafe("no fence between the stores and TMA", "forward_kernel",
           PROXY_FENCE + r"(?=(?:(?!fence\.proxy)[\s\S])*\Z)", "", "proxy_fence", "cp.async.bulk.tensor",
           "rows.store(", "tma"),
    Unsafe("no wait for the values", "backward_keys_kernel", TILE, NO_WAIT, "copy_in_flight", "wgmma.mma_async", DP,
           "tma", at=1),
    Unsafe("fewer bytes of keys than come", "backward_keys_kernel", BYTES, TOO_FEW, "deadlock",
           "mbarrier.try_wait", "rows.load(", "tma"),
    Unsafe("no fence between dK and TMA", "backward_keys_kernel", PROXY_FENCE, "", "proxy_fence",
           "cp.async.bulk.tensor", "rows.store(", "tma", at=1),
    Unsafe("no wait for the queries", "backward_queries_kernel", TILE, NO_WAIT, "copy_in_flight",
           "wgmma.mma_async", QK, "tma"),
    Unsafe("fewer bytes of a tile than come", "backward_queries_kernel", BYTES, TOO_FEW, "deadlock",
           "mbarrier.try_wait", "range(0, end, COLUMNS)", "tma", at=2),
    Unsafe("no wait for dP, with TMA", "backward_queries_kernel", PRODUCTS, "", "registers_in_flight", "sub.f32", DP,
           "tma", at=1),
]


def names_of(rows):
    return {"argvalues": rows, "ids": [row.name for row in rows]}


def attention_with(fault, folder, target="sm_80"):
    """The attention with the fault in its text, compiled for a target."""
    begin = SOURCE.index(f"def {fault.function}(")
    end = SOURCE.find("\n\n\n", begin)
    function = SOURCE[begin:end]
    assert function.count(fault.old) == 1, "the text to change must occur exactly once"
    file = folder / "triton_attention_with_a_fault.py"
    file.write_text(SOURCE[:begin] + function.replace(fault.old, fault.new) + SOURCE[end:])
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Attention(fault.bias, **TARGETS[target][0])


def failure_of(attention, bias, backward=None, format="fp16"):
    dtype = "float16"
    if format == "bf16":
        dtype = pytest.importorskip("torch", reason="PyTorch is not installed (Debian's python3-torch)").bfloat16
    with pytest.raises(plumbline.CheckFailed) as failed:
        plumbline.check(attention, BIASES[bias], dtype=dtype, backward=backward,
                        contract=plumbline.Contract(probability_format=format), **SHORT)
    return failed.value


FORMATS = {"sm_80": "fp16", "sm_90a": "bf16", "tma": "fp16"}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("fault", **names_of(WRONG))
def test_a_broken_forward_fails_by_name(fault, target, tmp_path):
    failure = failure_of(attention_with(fault, tmp_path, target), fault.bias, format=FORMATS[target])
    assert failure.kind == "outside_bound" and fault.says in failure.explanation
    if fault.name == "the slope of the next head":  # which one head does not show
        assert plumbline.case_arrays(failure.case)["slopes"].size == 3


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("fault", **names_of(WRONG_BACKWARD))
def test_a_broken_backward_fails_by_name(fault, target, tmp_path):
    attention = attention_with(fault, tmp_path, target)
    right = triton_attention.Attention(fault.bias, **TARGETS[target][0])
    failure = failure_of(right, fault.bias, attention.backward, FORMATS[target])
    assert fault.says in failure.explanation and "lse: " not in failure.explanation


@pytest.mark.parametrize("fault", **names_of(UNMASKED))
def test_an_access_without_its_mask_is_named_with_its_line(fault, tmp_path):
    stopped = failure_of(attention_with(fault, tmp_path), fault.bias).__cause__
    assert isinstance(stopped, plumbline.device.Fault) and stopped.kind == "out_of_bounds"
    assert stopped.instruction.startswith(fault.says)
    assert f"tl.{fault.function}(" in line_at(stopped.source)


@pytest.mark.parametrize("fault", **names_of(UNSAFE))
def test_a_fault_in_the_ptx_is_stopped_at_its_line(fault, monkeypatch):
    texts = []

    def module_with_the_fault(ptx, device):
        if f".entry {fault.kernel}" in ptx:
            match = list(re.finditer(fault.pattern, ptx))[fault.at]
            ptx = ptx[:match.start()] + match.expand(fault.new) + ptx[match.end():]
            texts.append(ptx)
        return plumbline.device.Module(ptx, device)

    monkeypatch.setattr(plumbline._triton, "Module", module_with_the_fault)
    attention = triton_attention.Attention("alibi", **TARGETS[fault.target][0])
    failure = failure_of(attention, "alibi", attention.backward, FORMATS[fault.target])
    stopped = failure.__cause__
    skip_what_is_refused(stopped)
    assert isinstance(stopped, plumbline.device.Fault), failure.explanation
    assert stopped.kind in fault.kind.split("|") and stopped.kernel == fault.kernel, stopped
    assert is_one_of(fault.instruction, stopped.instruction), stopped
    assert is_one_of(fault.line, line_at(stopped.source)), stopped
    assert stopped.instruction.split()[0] in texts[-1].splitlines()[stopped.ptx_line - 1]


def is_one_of(possible, text):
    return any(part in text for part in possible.split("|"))


def line_at(source):
    """Triton keeps what it compiled by a function's text: the file may be a copy with a fault in another one,
    which has as many lines."""
    file, line = source.rsplit(":", 1)
    assert pathlib.Path(file).name.startswith("triton_attention")
    return SOURCE.splitlines()[int(line) - 1]
