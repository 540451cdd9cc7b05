# SPDX-License-Identifier: Apache-2.0
"""Tells whether an attention kernel with a positional bias is right.

`attention` is the oracle: attention in double, with gradients. `check` judges a function on random
cases, element by element, by error bounds that follow from how it says that it computes. Both work on
NumPy arrays, PyTorch tensors and JAX arrays, and need NumPy alone.
"""

from ._attention import Attention, Gradients, attention
from ._biases import (
    Alibi,
    AlibiGeometric,
    Bias,
    Cable,
    CableNw,
    CableNwPaper,
    CablePaper,
    Fire,
    Fox,
    Ggd,
    KCable,
    KCableNw,
    KCablePaper,
    KerpleLog,
    KerplePower,
    Nope,
    T5,
    T5Bidirectional,
    T5Clipped,
    T5ClippedOffset,
    alibi_slopes,
)
from ._check import case_arrays, check
from ._report import CheckFailed, Contract, Figures, Report
from ._rotations import LocalRope, LocalRopeKeys, RopeHalfSplit, RopeInterleaved
from ._score_biases import (
    Cope,
    DapeV1Alibi,
    DapeV1Cable,
    DapeV1KerpleLog,
    DapeV2Alibi,
    DapeV2Cable,
    DapeV2KerpleLog,
)

__all__ = [
    "Alibi",
    "AlibiGeometric",
    "Attention",
    "Bias",
    "Cable",
    "CableNw",
    "CableNwPaper",
    "CablePaper",
    "CheckFailed",
    "Contract",
    "Cope",
    "DapeV1Alibi",
    "DapeV1Cable",
    "DapeV1KerpleLog",
    "DapeV2Alibi",
    "DapeV2Cable",
    "DapeV2KerpleLog",
    "Figures",
    "Fire",
    "Fox",
    "Ggd",
    "Gradients",
    "KCable",
    "KCableNw",
    "KCablePaper",
    "KerpleLog",
    "KerplePower",
    "LocalRope",
    "LocalRopeKeys",
    "Nope",
    "Report",
    "RopeHalfSplit",
    "RopeInterleaved",
    "T5",
    "T5Bidirectional",
    "T5Clipped",
    "T5ClippedOffset",
    "alibi_slopes",
    "attention",
    "case_arrays",
    "check",
]
