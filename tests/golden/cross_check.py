# SPDX-License-Identifier: Apache-2.0
"""Computes the golden numbers once more, with mpmath, from the papers (methods_by_hand.py).

Nothing is shared with the C++ equations. Every o, lse, bias and embedding must be the double
nearest to the value in 70 digits. The gradients are compared with central differences: for every
gradient tensor the derivative of the loss L = sum(o * grad_o) + sum(lse * grad_lse), over the rows
that see a key, or sum(embeddings * grad_embeddings), in a direction w of that tensor, against
sum(w * gradient).

usage: cross_check.py FOLDER      exit status 0: all agree; 1: some do not
"""
import itertools
import json
import pathlib
import sys

from mpmath import mp, mpf

from methods_by_hand import (Tensor, bias_of, cope_logits, dape_logits, dot, number, option,
                             position_row, prefix_sums, rotated)

mp.dps = 70
# Central differences. Where the loss is smooth they are off by some STEP^2; at a kink |x| = 0, whose
# even part |STEP| meets the odd part of the rest, by STEP times two derivatives, of which the bias's
# own is largest: theta_beta epsilon^(theta_beta - 1) < 1e3 for the GGD. Below 1e-20 either way.
# Rounding: 1e-70 / STEP.
STEP = mpf(10) ** -25


def visible(method, case, b, i):
    s, mask = case["shape"], case["mask"]
    seen = []
    for j in range(s["keys"]):
        if mask["lengths"] is not None and not (i < mask["lengths"][b] and j < mask["lengths"][b]):
            continue
        if mask["causal"] and j > i:
            continue
        left, right = mask["window"] if isinstance(mask["window"], list) else 2 * [mask["window"]]
        if (left is not None and i - j > left) or (right is not None and j - i > right):
            continue
        # BAM's local RoPE hides |i - j| > W; other libraries keep W keys.
        if method == "local_rope" and not 0 <= i - j <= option(case, "sliding_window"):
            continue
        if method == "local_rope_keys" and not 0 <= i - j < option(case, "sliding_window"):
            continue
        if mask["documents"] is not None:
            ids = mask["documents"][b * s["keys"]:(b + 1) * s["keys"]]
            if ids[i] != ids[j]:
                continue
        seen.append(j)
    return seen


def row_logits(method, case, x, prefix, b, r, bias):
    """[heads][keys] of one query row, before SSMax; adds b_ij to `bias` where the method has it."""
    s, i = case["shape"], r + case["shape"]["query_offset"]
    scale, size, keys = number(case["scale"]), s["head_dim"], range(s["keys"])
    rope = "rope" in method

    def product(h, j):
        kv = h // (s["heads"] // s["kv_heads"])
        q = [x["q"][b, h, r, d] for d in range(size)]
        k = [x["k"][b, kv, j, d] for d in range(size)]
        if rope:
            interleaved, base = method != "rope_half_split", option(case, "base")
            q, k = rotated(q, i, base, interleaved), rotated(k, j, base, interleaved)
        return scale * dot(q, k)

    products = [[product(h, j) for j in keys] for h in range(s["heads"])]
    if rope:
        return products
    if method == "cope":
        seen, logits = visible(method, case, b, i), []
        for h, row in enumerate(products):
            q = [x["q"][b, h, r, d] for d in range(size)]
            of_seen = cope_logits(case, x, h, q, [row[j] for j in seen])
            logits.append([of_seen[seen.index(j)] if j in seen else None for j in keys])
        return logits
    base = method.split("_", 2)[2] if method.startswith("dape") else method
    biases = [[bias_of(base, case, x, b, h, r, i, j, prefix) for j in keys]
              for h in range(s["heads"])]
    if method.startswith("dape"):
        return dape_logits(int(method[6]), x, i, products, biases)
    for h, row in enumerate(biases):
        bias.update({(b, h, r, j): value for j, value in enumerate(row)})
    return [[p + q for p, q in zip(*rows)] for rows in zip(products, biases)]


def attention(method, case, x, prefix=None):
    """o, lse, bias by index, the loss, and S."""
    s = case["shape"]
    if prefix is None:
        prefix = prefix_sums(method[8:] if method.startswith("dape") else method, case, x)
    o, lse, bias, loss = {}, {}, {}, mpf(0)
    for b, r in itertools.product(range(s["batch"]), range(s["queries"])):
        seen = visible(method, case, b, r + s["query_offset"])
        logits = row_logits(method, case, x, prefix, b, r, bias)
        for h in range(s["heads"]):
            kv = h // (s["heads"] // s["kv_heads"])
            if not seen:
                o.update({(b, h, r, d): mpf(0) for d in range(s["head_dim"])})
                lse[b, h, r] = mpf("-inf")
                continue
            factor = x["ssmax_scale"][h,] * mp.log(len(seen)) if "ssmax_scale" in x else mpf(1)
            row = [factor * logits[h][j] for j in seen]
            total = mp.log(mp.fsum(mp.exp(logit) for logit in row))
            lse[b, h, r] = total
            loss += total * x["grad_lse"][b, h, r]
            for d in range(s["head_dim"]):
                o[b, h, r, d] = mp.fsum(mp.exp(logit - total) * x["v"][b, kv, j, d]
                                        for logit, j in zip(row, seen))
                loss += o[b, h, r, d] * x["grad_o"][b, h, r, d]
    values = {"o": o, "lse": lse, "bias": bias}
    return {name: value for name, value in values.items() if value}, loss, prefix


def embeddings(method, case, x):
    s = case["shape"]
    width, values, loss = s["heads"] * s["head_dim"], {}, mpf(0)
    for b, t in itertools.product(range(s["batch"]), range(s["queries"])):
        for c, p in enumerate(position_row(method, case, x, t + s["query_offset"], width)):
            values[b, t, c] = x["x"][b, t, c] + p
            loss += values[b, t, c] * x["grad_embeddings"][b, t, c]
    return {"embeddings": values}, loss, None


def forward(method, case, x, prefix=None):
    """The values by name and index, the loss, and the prefix sums if there are any."""
    if "grad_embeddings" in x:
        return embeddings(method, case, x)
    return attention(method, case, x, prefix)


def direction(size):
    """Small different integers, so that no two elements can be exchanged unnoticed."""
    return [mpf((7 * n * n + 3 * n) % 11 - 5) or mpf(7) for n in range(size)]


def check(method, case):
    failures = []
    x = {name: Tensor.parse(entry) for name, entry in case["inputs"].items()}
    golden = {name: Tensor.parse(entry) for name, entry in case["outputs"].items()}
    values, _, prefix = forward(method, case, x)
    for name, by_index in values.items():
        if name not in golden or len(by_index) != len(golden[name].data):
            failures.append(f"{name}: not {len(by_index)} numbers")
            continue
        for index, ours in by_index.items():
            theirs = golden[name][index]
            if not float(ours) == float(theirs):
                failures.append(f"{name}{list(index)} is {theirs}, mpmath gives {mp.nstr(ours, 20)}")
    for name in sorted(set(golden) - set(values)):
        if not name.startswith("grad_"):
            failures.append(f"{name}: unknown")
            continue
        parameter = name[len("grad_"):]
        source = prefix if parameter == "prefix_sum" else x[parameter]
        w = direction(len(source.data))
        losses = []
        for sign in (1, -1):
            moved = Tensor(source.shape, [v + sign * STEP * e for v, e in zip(source.data, w)])
            if parameter == "prefix_sum":
                losses.append(forward(method, case, x, moved)[1])
            else:
                losses.append(forward(method, case, dict(x, **{parameter: moved}))[1])
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
