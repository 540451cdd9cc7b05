# SPDX-License-Identifier: Apache-2.0
"""Computes the golden numbers once more, from kernel_abi/plumbline_kernel.h, with mpmath.

Nothing is shared with the C++ equations. Every o, lse and bias must be the double nearest to the
value in 70 digits. The gradients are compared with central differences: for every gradient tensor
the derivative of the loss L = sum(o * grad_o) + sum(lse * grad_lse), over the rows that see a key,
in a direction w of that tensor, against sum(w * gradient).

usage: cross_check.py FOLDER      exit status 0: all agree; 1: some do not
"""
import itertools
import json
import pathlib
import sys

from mpmath import mp, mpf

mp.dps = 70
# Central differences. Where the loss is smooth they are off by some STEP^2; at a kink |x| = 0, whose
# even part |STEP| meets the odd part of the rest, by STEP times two derivatives, of which the bias's
# own is largest: theta_beta epsilon^(theta_beta - 1) < 1e3 for the GGD. Below 1e-20 either way.
# Rounding: 1e-70 / STEP.
STEP = mpf(10) ** -25


def number(word):
    return mpf("-inf") if word == "-inf" else mpf(float.fromhex(word))


class Tensor:
    def __init__(self, shape, data):
        self.shape, self.data = shape, data

    @classmethod
    def parse(cls, entry):
        return cls(entry["shape"], [number(word) for word in entry["data"].split()])

    def __getitem__(self, index):
        flat = 0
        for i, extent in zip(index, self.shape):
            assert 0 <= i < extent
            flat = flat * extent + i
        return self.data[flat]


def bias_of(method, x, epsilon, b, h, r, i, j, prefix):
    if method == "nope":
        return mpf(0)
    if method == "alibi":
        return -x["slopes"][h,] * abs(i - j)
    if method == "ggd":
        mu = mp.exp(x["theta_mu"][h,]) - mp.exp(-x["theta_mu"][h,])
        return -mp.exp(x["theta_alpha"][h,]) * (abs(j - i - mu) + epsilon) ** x["theta_beta"][h,]
    difference = prefix[b, h, i] - prefix[b, h, j]
    value = mp.log(1 + difference ** 2) if method.startswith("k_") else abs(difference)
    return -value if method.endswith("_nw") else -x["gain"][b, h, r] * value


def visible(case, b, i):
    s, mask = case["shape"], case["mask"]
    seen = []
    for j in range(s["keys"]):
        if mask["lengths"] is not None and not (i < mask["lengths"][b] and j < mask["lengths"][b]):
            continue
        if mask["causal"] and j > i:
            continue
        if mask["window"] is not None and abs(i - j) > mask["window"]:
            continue
        if mask["documents"] is not None:
            ids = mask["documents"][b * s["keys"]:(b + 1) * s["keys"]]
            if ids[i] != ids[j]:
                continue
        seen.append(j)
    return seen


def forward(method, case, x, prefix=None):
    """o, lse, bias as flat lists, and the loss."""
    s, scale = case["shape"], number(case["scale"])
    epsilon = number(case["epsilon"]) if "epsilon" in case else None
    if prefix is None and "increments" in x:
        prefix = Tensor(x["increments"].shape, [])
        for start in range(0, len(x["increments"].data), s["keys"]):
            prefix.data += itertools.accumulate(x["increments"].data[start:start + s["keys"]])
    o, lse, bias, loss = [], [], [], mpf(0)
    for b, h, r in itertools.product(range(s["batch"]), range(s["heads"]), range(s["queries"])):
        kv, i = h // (s["heads"] // s["kv_heads"]), r + s["query_offset"]
        row_bias = [bias_of(method, x, epsilon, b, h, r, i, j, prefix) for j in range(s["keys"])]
        bias += row_bias
        seen = visible(case, b, i)
        if not seen:
            o += [mpf(0)] * s["head_dim"]
            lse.append(mpf("-inf"))
            continue
        factor = x["ssmax_scale"][h,] * mp.log(len(seen)) if "ssmax_scale" in x else mpf(1)
        logits = [factor * (scale * mp.fsum(x["q"][b, h, r, d] * x["k"][b, kv, j, d]
                                            for d in range(s["head_dim"])) + row_bias[j])
                  for j in seen]
        lse.append(mp.log(mp.fsum(mp.exp(logit) for logit in logits)))
        loss += lse[-1] * x["grad_lse"][b, h, r]
        for d in range(s["head_dim"]):
            o.append(mp.fsum(mp.exp(logit - lse[-1]) * x["v"][b, kv, j, d]
                             for logit, j in zip(logits, seen)))
            loss += o[-1] * x["grad_o"][b, h, r, d]
    return o, lse, bias, loss, prefix


def direction(size):
    """Small different integers, so that no two elements can be exchanged unnoticed."""
    return [mpf((7 * n * n + 3 * n) % 11 - 5) for n in range(size)]


def check(method, case):
    failures = []
    x = {name: Tensor.parse(entry) for name, entry in case["inputs"].items()}
    golden = {name: Tensor.parse(entry) for name, entry in case["outputs"].items()}
    o, lse, bias, _, prefix = forward(method, case, x)
    for name, values in (("o", o), ("lse", lse), ("bias", bias)):
        if len(values) != len(golden[name].data):
            failures.append(f"{name}: {len(golden[name].data)} numbers, expected {len(values)}")
        for n, (ours, theirs) in enumerate(zip(values, golden[name].data)):
            if not float(ours) == float(theirs):
                failures.append(f"{name}[{n}] is {theirs}, mpmath gives {mp.nstr(ours, 20)}")
    for name in golden:
        if not name.startswith("grad_"):
            continue
        parameter = name[len("grad_"):]
        source = prefix if parameter == "prefix_sum" else x[parameter]
        w = direction(len(source.data))
        losses = []
        for sign in (1, -1):
            moved = Tensor(source.shape, [v + sign * STEP * e for v, e in zip(source.data, w)])
            if parameter == "prefix_sum":
                losses.append(forward(method, case, x, moved)[3])
            else:
                losses.append(forward(method, case, dict(x, **{parameter: moved}))[3])
        numeric = (losses[0] - losses[1]) / (2 * STEP)
        stated = mp.fsum(e * g for e, g in zip(w, golden[name].data))
        # Each golden number is rounded once, by at most 2^-53 of itself; STEP adds below 1e-20.
        size = mp.fsum(abs(e * g) for e, g in zip(w, golden[name].data))
        bound = size * mpf(2) ** -53 + mpf(10) ** -20
        if not abs(numeric - stated) <= bound:
            failures.append(f"{name}: along w {mp.nstr(stated, 20)}, "
                            f"mpmath gives {mp.nstr(numeric, 20)}")
    return failures


def main():
    files = sorted(pathlib.Path(sys.argv[1], "vectors").glob("*.json"))
    cases = failed = 0
    for path in files:
        content = json.loads(path.read_text())
        for case in content["cases"]:
            cases += 1
            for failure in check(content["method"], case):
                failed += 1
                print(f"{path.name}: {case['name']}: {failure}")
    print(f"{cases} cases, {failed} disagreements")
    return 0 if cases and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
