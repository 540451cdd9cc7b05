#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A GPT-2 whose weights PyTorch draws, in a safetensors file with Hugging Face's names and a
config.json, on the device: its logits against PyTorch's in float64.

usage: pytorch_logits.py PROGRAM, the program being model_imported_logits. Each logit may be off by
the bound that the program tells (docs/bounds-model.md). Ends with status 77 where PyTorch is
missing."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

if any(importlib.util.find_spec(module) is None for module in ("numpy", "torch")):
    print("skipped: PyTorch is not installed (Debian's packages python3-torch, python3-numpy)")
    sys.exit(77)
import numpy
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../models/checkpoint"))
import model_check
import safetensors_file

CONFIG = {"model": "gpt2", "layers": 2, "heads": 2, "C": 64, "F": 256, "V": 19, "positions": 9,
          "ssmax": False, "embedding": "learnable", "position": "nope", "scale": 0.15,
          "ids": [3, 10, 17, 5, 5, 12, 0, 7, 14]}
EPSILON = 1e-3  # not the one that a file has if it does not say it


def logits_of_device(program, weights):
    """Logits and bounds, [tokens, vocabulary] each."""
    with tempfile.TemporaryDirectory() as folder:
        file, output = os.path.join(folder, "model.safetensors"), os.path.join(folder, "logits")
        safetensors_file.write(file, weights)
        with open(os.path.join(folder, "config.json"), "w") as config:
            json.dump({"model_type": "gpt2", "n_layer": CONFIG["layers"], "n_head": CONFIG["heads"],
                       "n_embd": CONFIG["C"], "n_inner": None, "vocab_size": CONFIG["V"],
                       "n_positions": CONFIG["positions"], "layer_norm_epsilon": EPSILON,
                       "activation_function": "gelu_new"}, config)
        subprocess.run([program, file, output] + [str(n) for n in CONFIG["ids"]], check=True)
        numbers = numpy.loadtxt(output).reshape(len(CONFIG["ids"]), CONFIG["V"], 2)
    return numbers[..., 0], numbers[..., 1]


def logits_of_pytorch(weights, epsilon=EPSILON):
    model = model_check.model_of(CONFIG)
    model.epsilon = epsilon
    p = {name: torch.from_numpy(x).double() for name, x in weights.items()}
    with torch.no_grad():
        return model.logits(p, torch.tensor(CONFIG["ids"]), slice(None)).numpy()


def beyond(error, bound):
    return int((~(error <= bound)).sum())


if __name__ == "__main__":
    weights = model_check.drawn(model_check.model_of(CONFIG), CONFIG, 2)
    got, bound = logits_of_device(sys.argv[1], weights)
    expected = logits_of_pytorch(weights)
    error = numpy.abs(got - expected)
    print(f"{error.size} logits of size {numpy.sqrt((expected ** 2).mean()):.2f}: error at most "
          f"{error.max():.2g}, {(error / bound).max():.2g} of its bound; bounds at most "
          f"{bound.max():.2g}")
    failures = beyond(error, bound)
    # The bounds see an epsilon of 1e-5 in the place of 1e-3, and exchanged positions.
    unseen = [name for name, wrong in (
        ("epsilon", logits_of_pytorch(weights, 1e-5)),
        ("positions", logits_of_pytorch({**weights, "transformer.wpe.weight": numpy.roll(
            weights["transformer.wpe.weight"], 1, 0)})))
        if beyond(numpy.abs(got - wrong), bound) == 0]
    print(f"{failures} logits beyond their bounds; faults not seen: {unseen or 'none'}")
    sys.exit(1 if failures or unseen else 0)
