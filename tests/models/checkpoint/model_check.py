# SPDX-License-Identifier: Apache-2.0
"""A model's logits, loss and gradients by the C++ program and by PyTorch in float64, compared.

The limit. Two right implementations differ by rounding alone, and by how much depends on the
condition of each gradient: it is measured, by PyTorch against itself. Width, feed-forward width and
vocabulary are put into another order: the same function, but every sum over them is taken in
another order. For each tensor, with P0 PyTorch's result and Pk that of permutation k,

  level = max over k of |Pk - P0| + own |P0|,   required: |ours - P0| <= 8 level,

in the norms RMS and maximum over the tensor. `own` is what permutations do not show where results
agree by chance: 2 u, since either result is rounded at its end; T u for the loss, a mean of up to
T positive terms, which are always added in the same order. 8: let rounding errors be independent
draws, with standard deviation s for PyTorch and r s for us. Then RMS(ours - P0) / RMS(Pk - P0) is
sqrt((1 + r^2) / 2). Where PyTorch's products are fused multiply-adds, we round twice, a factor of
sqrt(2); where its BLAS keeps 16 partial sums (two registers of eight lanes), the equations add term
after term, and the random walk is sqrt(16) times longer: r <= 5.7, and the quotient is at most 4.1.
The rest is for tensors of few numbers, whose levels are draws as well. (Largest quotient seen: 3.4,
for BERT's key bias. Its gradient is 0, for softmax does not see it, so all of it is rounding: that
of Sum_d dO o in our backward pass, where autograd has Sum_j p dP.)
Were the levels large, agreement would say nothing: they must stay below 2^-36 of the model's
largest gradient (in RMS), 2^17 u: GPT-2 small has some 10^2 rounded operations in a row, each with
a condition of the order of 10."""
import json
import math
import os
import subprocess

import numpy
import torch

import safetensors_file
import torch_models
from torch_positions import POSITIONS

UNIT = 2.0 ** -53


def drawn(model, config, seed):
    """Weights that a float holds, so that a file of half the size gives the same numbers."""
    random = numpy.random.default_rng(seed)
    scale = numpy.float32(config["scale"])
    values = {}
    for name, shape, kind in model.parameters():
        x = random.standard_normal([config.get(a, a) for a in shape], dtype=numpy.float32)
        if kind == "weight":
            x *= scale
        elif kind == "positive":
            x = 0.5 + 0.4 * numpy.tanh(x)
        else:  # neither gains of 1 nor biases of 0, at which mistakes would not show
            x = 0.1 * x + (kind == "gain")
        values[name] = x.astype(numpy.float32)
    return values


def orders(config, seed):
    """An order of each axis on which the result does not depend."""
    generator = torch.Generator().manual_seed(seed)
    return {axis: torch.randperm(config[axis], generator=generator) for axis in "VCF"}


def reordered(x, axes, order):
    for n, axis in enumerate(axes):
        if axis in order:
            x = x.index_select(n, order[axis])
    return x


def by_pytorch(model, config, weights, order):
    """name -> gradient, and the logits and the loss; computed in the given order of the axes."""
    back = {axis: torch.argsort(o) for axis, o in order.items()}
    axes = {name: shape for name, shape, _ in model.parameters()}
    p = {name: reordered(torch.from_numpy(x).double(), axes[name], order).requires_grad_()
         for name, x in weights.items()}
    ids, targets = torch.tensor(config["ids"]), config["targets"]
    if "V" in order:
        ids = back["V"][ids]
        targets = [None if t is None else int(back["V"][t]) for t in targets]
    logits = model.logits(p, ids, order.get("C", slice(None)))
    loss = torch_models.loss(logits, targets)
    loss.backward()
    # One by one, since parameters and gradients of GPT-2 small are a gigabyte each.
    result = {name: reordered(p.pop(name).grad, axes[name], back) for name in list(p)}
    result["logits"] = reordered(logits.detach(), ("T", "V"), back)
    result["loss"] = loss.detach().reshape(1)
    return result


def by_program(program, config, weights, folder):
    job = dict(config, weights=os.path.join(folder, "weights"),
               output=os.path.join(folder, "output"))
    safetensors_file.write(job["weights"], weights)
    path = os.path.join(folder, "job.json")
    with open(path, "w") as file:
        json.dump(job, file)
    subprocess.run([program, path], check=True)
    os.remove(job["weights"])
    return job["output"]


NORMS = {"RMS": lambda x: float(x.pow(2).mean().sqrt()), "maximum": lambda x: float(x.abs().max())}


class Levels:
    """What rounding alone does to PyTorch's results, tensor by tensor."""

    def __init__(self, model, config, weights, permutations):
        self.expected = by_pytorch(model, config, weights, {})
        self.level = {key: 0.0 for key in self.keys()}
        for seed in range(permutations):
            other = by_pytorch(model, config, weights, orders(config, seed))
            for name, norm in self.keys():
                difference = NORMS[norm](other[name] - self.expected[name])
                self.level[name, norm] = max(self.level[name, norm], difference)
        for name, norm in self.keys():
            own = (len(config["ids"]) if name == "loss" else 2) * UNIT
            self.level[name, norm] += own * NORMS[norm](self.expected[name])

    def keys(self):
        return [(name, norm) for name in self.expected for norm in NORMS]

    def complaints(self):
        gradients = [n for n in self.expected if n not in ("logits", "loss")]
        largest = max(NORMS["RMS"](self.expected[n]) for n in gradients)
        return [f"{n}: rounding alone changes it by {self.level[n, 'RMS']:.2g}, of {largest:.2g}"
                for n in gradients if not self.level[n, "RMS"] <= 2.0 ** -36 * largest]


def compared(levels, output):
    """What differs by more than rounding, as texts; and the largest error over its limit."""
    ours = safetensors_file.read(output)
    if set(ours) != set(levels.expected):
        return [f"names in one only: {sorted(set(ours) ^ set(levels.expected))}"], (math.inf, "")
    complaints, worst = [], (0.0, "")
    for name, expected in levels.expected.items():
        found = torch.from_numpy(numpy.array(ours[name]))
        if found.shape != expected.shape:
            complaints.append(f"{name}: shape {list(found.shape)}, not {list(expected.shape)}")
            continue
        for norm, of in NORMS.items():
            error, limit = of(found - expected), 8 * levels.level[name, norm]
            if not error <= limit:
                complaints.append(f"{name}: {norm} of the difference {error:.3g} > {limit:.3g}; "
                                  f"of the value {of(expected):.3g}")
            elif limit > 0:
                worst = max(worst, (error / limit, f"{name}, {norm}"))
    return complaints, worst


def model_of(config):
    return torch_models.MODELS[config["model"]](config, POSITIONS[config["position"]])
