# SPDX-License-Identifier: Apache-2.0
"""The contract of a function, and the results of a check."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import _native

FAMILIES = tuple(_native.families())
"""Of inputs that a contract may leave out."""


@dataclasses.dataclass(frozen=True)
class Contract:
    """How a function computes; the error bounds follow from it. The defaults are the strictest.

    The fields are those of plumbline_contract in kernel_abi/plumbline_kernel.h.
    """

    unit_roundoff: float = 2.0**-24
    """Roundoff of the accumulation: 2^-24 to nearest, 2^-23 truncating; 8-bit tensor cores 2^-13."""
    operand_roundoff: float = 0.0
    """Relative rounding error of an operand of a product: 2^-11 for floats rounded to tf32."""
    probability_format: str = "fp32"
    """fp32, bf16, fp16, e4m3 or e5m2: of P and dS as operands of products with V, dO, K and Q."""
    sums_rounded_p: bool = False
    """The softmax's denominator sums P after that rounding."""
    exp_error: float = 2.0**-20
    """Relative error of the exponential."""
    skipped_mass: float = 0.0
    """Probability of a row that may be left out."""
    splits: int = 1
    """Ranges of keys that are merged through their LSE."""
    prefix_sum: str = "fp64"
    """fp64 or fp32: format in which CABLE's and FoX's S, and CoPE's sums of gates, are computed."""
    prefix_tile: int = 0
    """Keys that share one recentring base of S; 0: differences are formed in double."""
    flushes_subnormals: bool = False
    """An fp32 operand or result below 2^-126 may count as 0."""
    probability_scale: float = 0.0
    """P is multiplied by this power of two, 1 to 2^8, before it is rounded to e4m3 or e5m2; 0: none."""
    head_gradient_format: str = "fp32"
    """fp32, or the 16-bit format in which each query head's gradients of k and v are stored before they
    are summed over the heads of a group."""
    gradient_sum_format: str = "fp32"
    """fp32, or the 16-bit format in which the sums of gradients of q, k and v are kept from block to block."""
    output_sum_format: str = "fp32"
    """fp32, or the 16-bit format in which the sum of o is kept from block to block."""
    sum_block: int = 0
    """Keys or queries of such a block; 0 without gradient_sum_format and output_sum_format."""
    score_format: str = "fp32"
    """fp32, or the 16-bit format that scores are rounded to."""
    grad_probability_format: str = "fp32"
    """fp32, or the 16-bit format that dP = grad_o . v is rounded to."""
    delta_format: str = "fp32"
    """fp32, or the 16-bit format of the terms of D = grad_o . o, or sum of P dP, and of their sum."""
    saves_rounded_p: bool = False
    """dS and D are computed from P rounded to probability_format."""
    lse_format: str = "fp32"
    """fp32, or the 16-bit format of lse, which the function may then return in that dtype."""
    no_lse: bool = False
    """There is no lse; set automatically if the function returns only o."""
    inexact_exp_zero: bool = False
    """exp(0) is off by exp_error, as elsewhere."""
    empty_rows: str = "zero"
    """Result of a row that sees no key: zero, plus_inf (lse), mean (o, of all v), nan, or not_mine."""
    families_left_out: tuple[str, ...] = ()
    """Inputs that the function is not made for: peaked, diffuse, tied, huge, subnormal, level."""
    largest_score: float = 0.0
    """Rows with a score beyond it are not judged; 0: all are judged; otherwise at least 64."""
    alibi_of_key: bool = False
    """Causal ALiBi without a window adds only slopes[h] j, so lse is larger by slopes[h] i."""
    tanh_error: float = 0.0
    """Error of a softcap's tanh beside 2 ulp of it: 2^-11 for tanh.approx.f32."""
    log_error: float = 0.0
    """Error of ln(1 + x) in a bias (K-CABLE, Kerple log, FIRE) beside 1 ulp, as a part of max(1, ln): 2^-22 for lg2.approx.f32."""
    lse_base_2: bool = False
    """lse is to base 2, also as backward is given it."""
    float_o: bool = False
    """o is float32, whatever the dtype."""
    float_gradients: bool = False
    """The gradients of q, k and v are float32."""


@dataclasses.dataclass(frozen=True)
class Figures:
    """Results for one output, over all cases."""

    worst: float
    """Largest |error| / bound: 1 is the limit. inf if an element is not a number."""
    elements: int
    nonzero: int
    """Elements that should not be 0."""
    blind: int
    """Those of them whose bound would let 0 pass."""


@dataclasses.dataclass(frozen=True)
class Report:
    """The result of a check that passed."""

    name: str
    bias: str
    dtype: str
    cases: int
    rows: int
    ill_conditioned_rows: int
    """Rows so ill-conditioned that o is only checked to lie in the convex hull of their values."""
    outputs: dict[str, Figures]
    """o, lse, and with a backward pass grad_q, ...; no lse if the function returns none."""
    seed: int
    seconds: float
    asked: int
    """Cases that were asked for: more than `cases` where time_limit ended the check."""
    rows_left_out: int = 0
    """Rows that the contract says not to judge."""
    contract: Contract = Contract()
    """By which the function was judged; with no_lse where it returned only o."""
    lets_through: dict[str, str] = dataclasses.field(default_factory=dict)
    """By field, where the contract is laxer than the default: what is no longer seen."""

    def __str__(self) -> str:
        of = "" if self.cases >= self.asked else f" of {self.asked} within the time limit"
        worst = ", ".join(f"{name} {figures.worst:.3g}" for name, figures in self.outputs.items())
        return (
            f"{self.name} {self.bias} {self.dtype}: pass, {self.cases} cases{of}, {self.rows} rows in "
            f"{self.seconds:.1f} s, seed {self.seed}; largest |error| / bound: {worst}{self._left_out()}"
        )

    def _left_out(self) -> str:
        """A line for what was not judged, one for what else the contract lets through."""
        families, text = self.contract.families_left_out, ""
        of = "families" if len(families) > 1 else "family"
        left_out = [f"inputs of the {of} {', '.join(families)}"] * bool(families)
        left_out += [f"{self.rows_left_out} row{'s' * (self.rows_left_out > 1)}"] * bool(self.rows_left_out)
        if left_out:
            text += f"\n  not judged, because the contract excludes it: {'; '.join(left_out)}"
        lax = []
        for name, what in self.lets_through.items():
            value = getattr(self.contract, name)
            if name != "families_left_out":
                lax.append(f"{name} = {value:g}: {what}" if isinstance(value, float) else f"{name} = {value}: {what}")
        return text + (f"\n  the contract lets through: {'; '.join(lax)}" if lax else "")


class CheckFailed(AssertionError):
    """A function failed, or the oracle could not decide. `__cause__` is what the function raised."""

    outcome: str
    """"fail" or "undecided"."""
    kind: str
    """One word: outside_bound, exception, nan, zeros, copies_input, changed_input, returned_error
    (an output of another shape or dtype), nondeterministic, ...; "" if it is undecided."""
    explanation: str
    """What is wrong: which output, how many elements, which heads, the worst element."""
    matches: tuple[str, ...]
    """The other conventions that its outputs match, one word each: ("bias_sign",). The explanation
    describes them; docs/your_kernel.md lists all of them."""
    case: str
    """The smallest failing case found, as a line; case_arrays(case) returns its numbers."""
    repeat: str
    """The call that repeats only this case."""
    details: dict[str, Any]
    """All results, as `plumbline verify --json` writes them."""

    def __init__(
        self, headline: str, words: str, cell: dict[str, Any], repeat: str, which: str
    ) -> None:
        judgement = cell["counterexample"]["judgement"]
        self.outcome = cell["outcome"].lower()
        self.kind = judgement.get("kind", "")
        self.explanation = words
        self.matches = tuple(match["name"] for match in judgement.get("matches", ()))
        self.case = cell["counterexample"]["case"]
        self.repeat = repeat
        self.details = cell
        super().__init__(
            f"{headline}: {cell['outcome']} after {cell['cases']} case{'s' * (cell['cases'] != 1)}; "
            f"{which}:\n{words}  repeat: {repeat}"
        )
