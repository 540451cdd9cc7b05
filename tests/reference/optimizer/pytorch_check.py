#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes the optimisers, the clipping and the schedule once more with PyTorch in float64.

PyTorch's own Adam, AdamW, RAdam, clip_grad_norm_, LinearLR and CosineAnnealingLR. Its RAdam has
decoupled weight decay only since version 2.1, so the weights are shrunk here before its step; and
no threshold but 5, so RAdam as the paper has it (algorithm 2) is written out below. Nothing is
shared with the C++ equations. PyTorch takes the same operations in another order, a few more or
fewer; so its rounding error is of the size of the printed bound E, and 4 E allows it three times
that besides our own E. A wrong term would be larger by ten powers of ten.

Usage: pytorch_check.py PRINT_STEPS. Ends with status 77 where PyTorch is missing."""
import importlib.util
import json
import math
import subprocess
import sys

if importlib.util.find_spec("torch") is None:
    print("skipped: PyTorch is not installed (Debian's package python3-torch)")
    sys.exit(77)
import torch

STEPS, SHAPES = 12, ((2, 3), (2,))
RATE, BETAS, DECAY = 0.01, (0.9, 0.95), 0.1


def numbers(words):
    return torch.tensor([float.fromhex(w) for w in words.split()], dtype=torch.float64)


def tensors(x):
    """One vector of numbers as a list of (matrix, vector)."""
    sizes = [torch.Size(shape).numel() for shape in SHAPES]
    return [[part.reshape(shape).clone() for part, shape in zip(row.split(sizes), SHAPES)]
            for row in x.reshape(-1, sum(sizes))]


def flat(parts):
    return torch.cat([part.detach().reshape(-1) for part in parts])


def steps(make, decoupled=0.0):
    def run(x):
        (first, *gradients) = tensors(x)
        parameters = [torch.nn.Parameter(p) for p in first]
        optimizer = make(parameters, lr=RATE, betas=BETAS, eps=1e-8)
        for grads in gradients:
            for parameter, grad in zip(parameters, grads):
                parameter.grad = grad
                parameter.data.mul_(1 - RATE * decoupled)
            optimizer.step()
        return flat(parameters)
    return run


def with_decay(optimizer, decay):
    return lambda parameters, **options: optimizer(parameters, weight_decay=decay, **options)


def paper_radam(x):
    """Algorithm 2 of arXiv:1908.03265, with PyTorch's place for epsilon and decay."""
    beta1, beta2 = BETAS
    (parameters, *gradients) = tensors(x)
    for p, grads in zip(parameters, zip(*gradients)):
        m = torch.zeros_like(p)
        v = torch.zeros_like(p)
        rho_inf = 2 / (1 - beta2) - 1
        for t, g in enumerate(grads, start=1):
            p -= RATE * DECAY * p
            m = beta1 * m + (1 - beta1) * g
            v = beta2 * v + (1 - beta2) * g ** 2
            step = m / (1 - beta1 ** t)
            rho = rho_inf - 2 * t * beta2 ** t / (1 - beta2 ** t)
            if rho > 4:
                step *= math.sqrt((rho - 4) * (rho - 2) * rho_inf
                                  / ((rho_inf - 4) * (rho_inf - 2) * rho))
                step *= math.sqrt(1 - beta2 ** t) / (v.sqrt() + 1e-8)
            p -= RATE * step
    return flat(parameters)


def clip(x):
    gradients = tensors(x)[0]
    parameters = [torch.nn.Parameter(torch.zeros_like(g)) for g in gradients]
    for parameter, grad in zip(parameters, gradients):
        parameter.grad = grad
    norm = torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    return flat([norm] + [p.grad for p in parameters])


def schedule(_):
    """3 steps of warm-up, then 7 of the cosine."""
    highest, lowest = 6e-4, 6e-5
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=highest)
    warm_up = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=1 / 3, total_iters=2)
    rates = []
    for step in range(3):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        warm_up.step()
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=highest)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=7, eta_min=lowest)
    for step in range(7):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        cosine.step()
    return torch.tensor(rates, dtype=torch.float64)


PROBLEMS = {
    "adam": steps(torch.optim.Adam),
    "adam with an L2 penalty": steps(with_decay(torch.optim.Adam, DECAY)),
    "adamw": steps(with_decay(torch.optim.AdamW, DECAY)),
    "radam, decoupled": steps(torch.optim.RAdam, decoupled=DECAY),
    "radam, L2": steps(with_decay(torch.optim.RAdam, DECAY)),
    "radam, decoupled, of the paper": paper_radam,
    "clip": clip,
    "schedule": schedule,
}

failures = 0
seen = set()
for line in subprocess.run([sys.argv[1]], check=True, capture_output=True,
                           text=True).stdout.splitlines():
    problem = json.loads(line)
    seen.add(problem["name"])
    theirs = PROBLEMS[problem["name"]](numbers(problem["inputs"]))
    worst = ((theirs - numbers(problem["values"])).abs() - 4 * numbers(problem["errors"])).max()
    if not worst <= 0:
        failures += 1
        print(f"{problem['name']}: beyond 4 E by {worst:g}")
if seen != set(PROBLEMS):
    failures += 1
    print(f"not printed: {set(PROBLEMS) - seen}")
sys.exit(failures > 0)
