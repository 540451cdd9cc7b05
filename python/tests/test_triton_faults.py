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
    """A fault in the PTX of a kernel: a pattern, whose first match is replaced; the kind of the device's
    fault, the instruction at which it stops, and the line of triton_attention.py that it names."""

    name: str
    kernel: str
    pattern: str
    new: str
    kind: str
    instruction: str
    line: str
    target: str = "sm_80"


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
    Wrong("increments from the next token on", "running_sums_kernel", "total + tl.cumsum(terms, 0)",
          "total + tl.cumsum(terms, 0) - terms", "grad_increments: ", bias="cable"),
]
UNMASKED = [
    Wrong("a load without its mask", "load", ", mask=n < tokens, other=0.0)", ")", "ld.global"),
    Wrong("a store without its mask", "store", ", mask=n < tokens)", ")", "st.global"),
]
BARRIER, WAIT = r"bar\.sync\s+0;", r"cp\.async\.wait_group\s+0;"
QK, LOAD, LSE = "scores = tl.dot(queries, tl.trans(keys))", "block = tl.load(", "tl.store(lse +"
UNSAFE = [
    Unsafe("no wait for the copies", "forward_kernel", WAIT, "", "copy_in_flight", "ldmatrix", QK),
    Unsafe("the wait leaves one group", "forward_kernel", WAIT, "cp.async.wait_group 1;", "copy_in_flight",
           "ldmatrix.sync.aligned.m8n8.x4.trans", LOAD),
    Unsafe("no barrier after the wait", "forward_kernel", WAIT + r"\s+" + BARRIER, "cp.async.wait_group 0;",
           "race", "ldmatrix", QK),
    Unsafe("no barrier before the next copies", "forward_kernel", BARRIER + r"(?=\s+selp)", "", "race",
           "ldmatrix", QK),
    Unsafe("a store before its barrier", "forward_kernel",
           "(" + BARRIER + r")((?:(?!bar\.sync)[\s\S])*?st\.shared\.v2[^;]*;)", r"\2\1", "race", "st.shared.v2", LSE),
    Unsafe("a store is missing", "backward_keys_kernel", r"st\.shared\.b32[^;]*;", "", "uninitialised_shared",
           "ldmatrix", "dv = tl.dot("),
    Unsafe("no wait for the copies, backward", "backward_keys_kernel", WAIT, "", "copy_in_flight", "ldmatrix",
           LOAD),
    Unsafe("no wait for the products", "forward_kernel", r"wgmma\.wait_group\.sync\.aligned\s+0;", "",
           "registers_in_flight", "fma.rn.f32", "scores += bias_of(", target="sm_90a"),
    Unsafe("no fence before the products", "forward_kernel", r"wgmma\.fence\.sync\.aligned;", "",
           "registers_in_flight", "wgmma.mma_async", QK, target="sm_90a"),
    Unsafe("no fence between copies and products", "forward_kernel", r"fence\.proxy\.async\.shared::cta;", "",
           "proxy_fence", "wgmma.mma_async", QK, target="sm_90a"),
    Unsafe("no wait for a tile", "forward_kernel", r"mbarrier\.try_wait\.parity\S*\s+(\w+), [^;]*;",
           r"setp.eq.u32 \1, 0, 0;", "copy_in_flight", "", "", target="tma"),
    Unsafe("fewer bytes are expected than come", "forward_kernel", r"(expect_tx[^;]*), 4096;", r"\1, 2048;",
           "deadlock", "mbarrier.try_wait", "rows.load(", target="tma"),
    Unsafe("more bytes are expected than come", "forward_kernel", r"(expect_tx[^;]*), 4096;", r"\1, 8192;",
           "deadlock", "mbarrier.try_wait", "rows.load(", target="tma"),
    Unsafe("no fence between the stores and TMA", "forward_kernel",
           r"fence\.proxy\.async\.shared::cta;(?=(?:(?!fence\.proxy)[\s\S])*\Z)", "", "proxy_fence",
           "cp.async.bulk.tensor", "rows.store(", target="tma"),
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
            ptx, count = re.subn(fault.pattern, fault.new, ptx, count=1)
            assert count == 1
            texts.append(ptx)
        return plumbline.device.Module(ptx, device)

    monkeypatch.setattr(plumbline._triton, "Module", module_with_the_fault)
    attention = triton_attention.Attention("alibi", **TARGETS[fault.target][0])
    failure = failure_of(attention, "alibi", attention.backward)
    stopped = failure.__cause__
    skip_what_is_refused(stopped)
    assert isinstance(stopped, plumbline.device.Fault), failure.explanation
    assert stopped.kind == fault.kind and stopped.kernel == fault.kernel, stopped
    assert fault.instruction in stopped.instruction and fault.line in line_at(stopped.source), stopped
    assert stopped.instruction.split()[0] in texts[-1].splitlines()[stopped.ptx_line - 1]


def line_at(source):
    file, line = source.rsplit(":", 1)
    return pathlib.Path(file).read_text().splitlines()[int(line) - 1]
