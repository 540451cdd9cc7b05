# SPDX-License-Identifier: Apache-2.0
"""What a check is told of a function, and what it tells."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class Contract:
    """How a function computes; the error bounds follow from it. The defaults are the strictest.

    The fields are those of plumbline_contract in kernel_abi/plumbline_kernel.h.
    """

    unit_roundoff: float = 2.0**-24
    """Of the accumulation: 2^-24 rounding to nearest, 2^-23 truncating; 8-bit tensor cores 2^-13."""
    operand_roundoff: float = 0.0
    """Relative error of an operand on its way into a product: 2^-11 for floats rounded to tf32."""
    probability_format: str = "fp32"
    """fp32, bf16, fp16, e4m3 or e5m2: in which P meets V, and P and dS meet dO, K and Q."""
    sums_rounded_p: bool = False
    """The softmax's denominator sums P after that rounding."""
    exp_error: float = 2.0**-20
    """Relative error of the exponential."""
    skipped_mass: float = 0.0
    """Probability of a row that may be left out."""
    splits: int = 1
    """Ranges of keys that are merged through their LSE."""
    prefix_sum: str = "fp64"
    """fp64 or fp32: in which CABLE's and FoX's S, and CoPE's sums of gates, are formed."""
    prefix_tile: int = 0
    """Keys that share one recentring base of S; 0: differences are formed in double."""
    flushes_subnormals: bool = False
    """An fp32 operand or result below 2^-126 may count as 0."""
    probability_scale: float = 0.0
    """P is multiplied by this power of two, 1 to 2^8, before it is rounded to e4m3 or e5m2; 0: by none."""


@dataclasses.dataclass(frozen=True)
class Figures:
    """Of one output, over all cases."""

    worst: float
    """Largest |error| / bound: 1 is the limit. inf where something is not a number."""
    elements: int
    nonzero: int
    """Elements that should not be 0."""
    blind: int
    """Of those, the ones whose bound would let 0 pass."""


@dataclasses.dataclass(frozen=True)
class Report:
    """What a check that passed says."""

    name: str
    bias: str
    dtype: str
    cases: int
    rows: int
    ill_conditioned_rows: int
    """Rows so badly conditioned that they are held to the hull of their values only."""
    outputs: dict[str, Figures]
    """o, lse, and with a backward pass grad_q, ...; no lse where the function returns none."""
    seed: int
    seconds: float

    def __str__(self) -> str:
        worst = ", ".join(f"{name} {figures.worst:.3g}" for name, figures in self.outputs.items())
        return (
            f"{self.name} {self.bias} {self.dtype}: pass, {self.cases} cases, {self.rows} rows in "
            f"{self.seconds:.1f} s, seed {self.seed}; largest |error| / bound: {worst}"
        )


class CheckFailed(AssertionError):
    """A function failed, or the oracle could not decide. `__cause__` is what the function raised."""

    outcome: str
    """"fail" or "undecided"."""
    kind: str
    """One word: outside_bound, exception, nan, zeros, copies_input, changed_input, returned_error
    (an output of another shape or dtype), nondeterministic, ...; "" where it is undecided."""
    explanation: str
    """What is wrong: which output, how many elements, which heads, the worst element."""
    matches: tuple[str, ...]
    """The other conventions that its outputs match, one word each: ("bias_sign",). The explanation says
    what they are, docs/your_kernel.md which there are."""
    case: str
    """The smallest failing case that was found, as a line: case_arrays(case) has its numbers."""
    repeat: str
    """The call that repeats this case alone."""
    details: dict[str, Any]
    """All figures, as `plumbline verify --json` has them."""

    def __init__(self, headline: str, words: str, cell: dict[str, Any], repeat: str) -> None:
        judgement = cell["counterexample"]["judgement"]
        self.outcome = cell["outcome"].lower()
        self.kind = judgement.get("kind", "")
        self.explanation = words
        self.matches = tuple(match["name"] for match in judgement.get("matches", ()))
        self.case = cell["counterexample"]["case"]
        self.repeat = repeat
        self.details = cell
        super().__init__(
            f"{headline}: {cell['outcome']} after {cell['cases']} cases; "
            f"the smallest failing case found:\n{words}  repeat: {repeat}"
        )
