#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes the blocks, losses, RoPE, CoPE and DAPE once more with PyTorch in float64, by autograd.

PyTorch's own functions where it has them; RoPE by complex numbers and CoPE by floor, ceil and
gather, as they are published. Nothing is shared with the C++ equations. PyTorch takes the same
operations in another order, a few more or fewer; so its rounding error is of the size of the
printed bound E, and 4 E allows it three times that besides our own E. A wrong term would be larger
by ten powers of ten.

Usage: pytorch_check.py PRINT_BLOCKS. Ends with status 77 where PyTorch is missing."""
import importlib.util
import json
import subprocess
import sys

if importlib.util.find_spec("torch") is None:
    print("skipped: PyTorch is not installed (Debian's package python3-torch)")
    sys.exit(77)
import torch
from torch.nn import functional


def numbers(words):
    return torch.tensor([float.fromhex(w) for w in words.split()], dtype=torch.float64)


def rotated(x):
    """Rows of pairs (complex numbers) at positions 5, 6, 7."""
    angle = torch.outer(torch.arange(5.0, 8, dtype=torch.float64),
                        10000.0 ** (-torch.arange(0, 4, 2, dtype=torch.float64) / 4))
    return x * torch.polar(torch.ones_like(angle), angle)


def rope_interleaved(x):
    return torch.view_as_real(rotated(torch.view_as_complex(x.view(3, 2, 2))))


def rope_half_split(x):
    first, second = x.view(3, 4).chunk(2, dim=1)
    y = rotated(torch.complex(first, second))
    return torch.cat((y.real, y.imag), dim=1)


def split(x, *shapes):
    parts = x.split([torch.Size(shape).numel() for shape in shapes])
    return [part.view(shape) for part, shape in zip(parts, shapes)]


def dape_1(x):
    a, b, w1, b1, w2, b2 = split(x, (2, 4), (2, 4), (3, 4), (3,), (2, 3), (2,))
    hidden = functional.leaky_relu(functional.linear(torch.cat((a, b)).T, w1, b1))
    return a + b + functional.linear(hidden, w2, b2).T


def dape_2(x):
    a, b, w1, b1, w2, b2 = split(x, (2, 4), (2, 4), (3, 4, 1, 3), (3,), (2, 3, 1, 3), (2,))
    seen = torch.cat((a, b)) * torch.tensor([1.0, 1, 1, 0])
    hidden = functional.leaky_relu(functional.conv2d(seen[None, :, None], w1, b1, padding=(0, 1)))
    return a + b + functional.conv2d(hidden, w2, b2, padding=(0, 1))[0, :, 0]


def cope(x):
    q, k, table = split(x, (3,), (5, 3), (3, 3))
    scores = 0.5 * (k @ q)
    position = torch.sigmoid(scores).flip(0).cumsum(0).flip(0).clamp(max=2)
    by_row, low, high = table @ q, position.floor().long(), position.ceil().long()
    part = position - low
    return scores + part * by_row[high] + (1 - part) * by_row[low]


def layernorm(x):
    rows, gamma, beta = split(x, (3, 4), (4,), (4,))
    return functional.layer_norm(rows, (4,), gamma, beta, eps=1e-5)


def mean_pooling(x):
    """With a padding mask, as sentence-transformers has it."""
    tokens, mask = x.view(1, 4, 3), torch.tensor([[1.0, 1, 0, 1]], dtype=torch.float64)[..., None]
    return (tokens * mask).sum(1) / mask.sum(1)


def contrastive(similarity):
    def loss(x):
        queries, positives, negatives = split(x, (2, 3), (2, 3), (3, 3))
        scores = similarity(queries, torch.cat((positives, negatives)))
        return functional.cross_entropy(scores / 0.25, torch.arange(2))
    return loss


BLOCKS = {
    "rope interleaved": rope_interleaved,
    "rope half-split": rope_half_split,
    "dape version 1": dape_1,
    "dape version 2": dape_2,
    "gelu erf": functional.gelu,
    "gelu tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "cope": cope,
    "layernorm": layernorm,
    "cross-entropy": lambda x: functional.cross_entropy(
        x.view(3, 4), torch.tensor([2, -100, 0])),
    "mlm loss": lambda x: functional.cross_entropy(
        x.view(4, 4), torch.tensor([-100, 1, -100, 2])),
    "mean pooling": mean_pooling,
    "cls pooling": lambda x: x.view(4, 3)[0],
    "last pooling": lambda x: x.view(4, 3)[3],
    "contrastive loss, cosine": contrastive(
        lambda q, d: functional.cosine_similarity(q[:, None], d[None], dim=-1)),
    "contrastive loss, dot": contrastive(lambda q, d: q @ d.T),
}

failures = 0
seen = set()
for line in subprocess.run([sys.argv[1]], check=True, capture_output=True,
                           text=True).stdout.splitlines():
    block = json.loads(line)
    seen.add(block["name"])
    x = numbers(block["inputs"]).requires_grad_()
    y = BLOCKS[block["name"]](x).reshape(-1)
    (numbers(block["weights"]) * y).sum().backward()
    for ours, theirs in (("value", y.detach()), ("gradient", x.grad)):
        expected = numbers(block["values" if ours == "value" else ours])
        worst = ((theirs - expected).abs() - 4 * numbers(block[ours + "_errors"])).max()
        if not worst <= 0:
            failures += 1
            print(f"{block['name']}: {ours} beyond 4 E by {worst:g}")
if seen != set(BLOCKS):
    failures += 1
    print(f"not printed: {set(BLOCKS) - seen}")
sys.exit(failures > 0)
