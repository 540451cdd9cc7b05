#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes the baselines once more with PyTorch in float64, gradients by autograd.

Written from the formulas; nothing is shared with the C++ equations. PyTorch's elementary functions
are within 1 ulp too, and it takes the same operations in another order, a few more or fewer; so its
rounding error is of the size of the printed bound E, and 4 E allows it three times that besides our
own E. A wrong term would be larger by ten powers of ten.

Usage: pytorch_check.py PRINT_BASELINES. Ends with status 77 where PyTorch is missing."""
import importlib.util
import json
import math
import subprocess
import sys

if importlib.util.find_spec("torch") is None:
    print("skipped: PyTorch is not installed (Debian's package python3-torch)")
    sys.exit(77)
import torch


def numbers(words):
    return torch.tensor([float.fromhex(w) for w in words.split()], dtype=torch.float64)


def k_cable_paper(x, i, j):
    keys = j.shape[1]
    total = torch.cumsum(x[:keys], 0)
    b = x[keys:, None] * (total[i] - total[j])
    return -torch.log1p(b * b)


def kerple_log(x, i, j):
    return -x[0] * torch.log1p(x[1] * (i - j).abs())


def kerple_power(x, i, j):
    return -x[1] * (i - j).abs().double().pow(x[0])  # autograd takes 0^p ln 0 as 0 too


def t5_clipped(x, i, j):
    return x[(i - j).clamp(0, len(x) - 1)]


def t5_clipped_offset(x, i, j):
    largest = (len(x) - 1) // 2
    return x[(i - j).clamp(-largest, largest) + largest]


def fox(x, i, j):
    gates = torch.nn.functional.logsigmoid(x[:8].reshape(4, 2) @ x[8:10] + x[10])
    total = torch.cumsum(gates, 0)
    return total[i] - total[j]


def fire(x, i, j):
    c, length = x[10], x[11]
    reach = torch.maximum(i.double(), (length * 3.0).abs())
    ratio = torch.log1p((c * (i - j)).abs()) / (torch.log1p((c * reach).abs()) + 1e-6)
    hidden = torch.nn.functional.linear(ratio[..., None], x[0:3, None], x[3:6]).relu()
    return torch.nn.functional.linear(hidden, x[None, 6:9], x[9:10])[..., 0]


def bucket(relative, bidirectional, buckets, max_distance):
    """T5's formula in float32; `relative` is key minus query."""
    result = torch.zeros_like(relative)
    if bidirectional:
        buckets //= 2
        result += (relative > 0).long() * buckets
        n = relative.abs()
    else:
        n = (-relative).clamp(min=0)
    exact = buckets // 2
    steps = torch.log(n.float().clamp(min=1) / exact) / math.log(max_distance / exact)
    large = (exact + (steps * (buckets - exact)).long()).clamp(max=buckets - 1)
    return result + torch.where(n < exact, n, large)


METHODS = {f.__name__: f for f in (k_cable_paper, kerple_log, kerple_power, t5_clipped,
                                   t5_clipped_offset, fox, fire)}
failures, seen = [], set()


def compare(what, ours, bounds, theirs):
    assert len(ours) == len(bounds) == len(theirs), what
    for n, (a, bound, b) in enumerate(zip(ours, bounds, theirs)):
        if not abs(a - b) <= 4 * bound:
            failures.append(f"{what}[{n}]: {float(a)!r}, PyTorch has {float(b)!r}, E {float(bound)}")


run = subprocess.run([sys.argv[1]], stdout=subprocess.PIPE, check=True)
for line in run.stdout.decode().splitlines():
    case = json.loads(line)
    if "buckets" in case:
        relative = torch.arange(200, -201, -1)
        theirs = bucket(relative, case["bidirectional"], case["buckets"], case["max_distance"])
        seen.add(f"buckets {case['bidirectional']}")
        if theirs.tolist() != case["of_i_minus_j"]:
            failures.append(f"buckets, bidirectional {case['bidirectional']}")
        continue
    name = case["method"]
    seen.add(name)
    x = numbers(case["inputs"]).requires_grad_()
    i = torch.arange(case["queries"])[:, None] + case["query_offset"]
    j = torch.arange(case["keys"])[None, :]
    values = METHODS[name](x, i, j).reshape(-1)
    (values * numbers(case["weights"])).sum().backward()
    compare(name, numbers(case["values"]), numbers(case["value_errors"]), values.detach())
    compare(f"{name}, gradient", numbers(case["gradient"]), numbers(case["gradient_errors"]), x.grad)

assert seen == set(METHODS) | {"buckets 0", "buckets 1"}, seen
print("\n".join(failures) or f"{len(seen)} agree")
sys.exit(1 if failures else 0)
