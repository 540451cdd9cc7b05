# SPDX-License-Identifier: Apache-2.0
"""Tells whether an attention kernel with a positional bias is right.

`attention` is the oracle: attention in double, with gradients. `check` judges a function on random
cases, element by element, within error bounds that follow from its declared numerics. Both work on
NumPy arrays, PyTorch tensors and JAX arrays, and need only NumPy. `device` is a CUDA device in software,
which runs PTX, and `triton` runs Triton's kernels on it.
"""

from ._attention import Attention, Gradients, attention
from . import _biases
from ._bias import AlibiGeometric, Bias, LocalRope, LocalRopeKeys, alibi_slopes
from ._biases import *
from ._check import case_arrays, check
from ._custom import Custom, per_head, per_key, per_query, per_sequence, prefix_sum, shared
from ._flex import flex_attention, score_mod
from ._kernel_test import kernel_test
from ._report import CheckFailed, Contract, Figures, Report
from ._triton import TritonKernel, triton
from . import device, formula

__all__ = [
    "AlibiGeometric",
    "Attention",
    "Bias",
    "CheckFailed",
    "Contract",
    "Custom",
    "Figures",
    "Gradients",
    "LocalRope",
    "LocalRopeKeys",
    "Report",
    "TritonKernel",
    "alibi_slopes",
    "attention",
    "case_arrays",
    "check",
    "device",
    "flex_attention",
    "formula",
    "kernel_test",
    "per_head",
    "per_key",
    "per_query",
    "per_sequence",
    "prefix_sum",
    "score_mod",
    "shared",
    "triton",
]
__all__ += _biases.__all__
