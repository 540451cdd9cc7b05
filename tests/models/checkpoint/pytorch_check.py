#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes GPT-2, BERT and the LLaMA-style model once more with PyTorch in float64.

usage: pytorch_check.py PROGRAM SET, the program being checkpoint_model_gradients and SET one of
  small    the architectures with every position method, and faults that must be seen
  gpt2     GPT-2 small, 72 tokens, random weights
  bert     BERT base, 72 tokens, random weights
Weights go through files with Hugging Face's names. The limits: model_check.py. Ends with status 77
where PyTorch is missing, or for the large models 5 GiB of memory or 2 GiB of disk."""
import importlib.util
import os
import shutil
import sys
import tempfile
import time

if any(importlib.util.find_spec(module) is None for module in ("numpy", "torch")):
    print("skipped: PyTorch is not installed (Debian's packages python3-torch, python3-numpy)")
    sys.exit(77)
import numpy
import torch

import model_check
import torch_models

SMALL = {"tier": "equations", "layers": 2, "heads": 3, "C": 24, "F": 96, "V": 50, "positions": 20,
         "tokens": 16, "ssmax": False, "embedding": "none", "position": "nope", "scale": 0.2}
GPT2_SMALL = {"model": "gpt2", "tier": "blocked", "layers": 12, "heads": 12, "C": 768, "F": 3072,
              "V": 50257, "positions": 1024, "tokens": 72, "ssmax": False,
              "embedding": "learnable", "position": "nope", "scale": 0.02}
BERT_BASE = dict(GPT2_SMALL, model="bert", V=30522, positions=512)
GPT2_POSITIONS = ("nope", "alibi", "cable", "cable_nw", "k_cable", "k_cable_nw", "fox", "ggd",
                  "kerple_log", "kerple_power", "fire", "t5", "rope", "rope_half_split",
                  "rope_local")


def with_sequence(config, seed):
    """Tokens, and targets: the next token, or for BERT a word in place of every seventh."""
    random = numpy.random.default_rng(seed)
    tokens, vocabulary = config["tokens"], config["V"]
    ids = random.integers(0, vocabulary, tokens).tolist()
    targets = ids[1:] + [None]
    types = [0] * tokens
    if config["model"] == "bert":
        targets = [id if t % 7 == 3 else None for t, id in enumerate(ids)]
        ids = [103 % vocabulary if target is not None else id for id, target in zip(ids, targets)]
        types = [int(t >= tokens // 2) for t in range(tokens)]
    return dict(config, ids=ids, targets=targets, token_types=types)


# Faults: each changes PyTorch's model, or returns other weights for it.
def other_epsilon(model, weights):
    model.epsilon = 1e-12 if model.epsilon == 1e-5 else 1e-5


def other_gelu(model, weights):
    erf = model.gelu is torch_models.gelu_erf
    model.gelu = torch_models.gelu_tanh if erf else torch_models.gelu_erf


def swapped_norms(model, weights):
    model.swapped_norms = True


def next_float(model, weights):
    name = list(weights)[0]
    changed = weights[name].copy()
    changed[model.c["ids"][0], 0] = numpy.nextafter(changed[model.c["ids"][0], 0], numpy.float32(9))
    return dict(weights, **{name: changed})


FAULTS = [("an epsilon of 1e-12 in place of 1e-5, or the reverse", other_epsilon),
          ("GELU by erf in place of tanh, or the reverse", other_gelu),
          ("two LayerNorms exchanged in every layer", swapped_norms),
          ("one number of an embedding in the next float", next_float)]


class Check:
    def __init__(self, program):
        self.program, self.failures = program, 0

    def run(self, config, permutations, faults=()):
        """Compares one configuration; then, each fault in PyTorch's model must be noticed."""
        config = with_sequence(config, 1)
        model = model_check.model_of(config)
        weights = model_check.drawn(model, config, 2)
        what = " ".join([config["model"], config["embedding"], config["position"]]
                        + ["ssmax"] * config["ssmax"])
        with tempfile.TemporaryDirectory() as folder:
            begin = time.monotonic()
            output = model_check.by_program(self.program, config, weights, folder)
            middle = time.monotonic()
            levels = model_check.Levels(model, config, weights, permutations)
            end = time.monotonic()
            complaints, (worst, where) = model_check.compared(levels, output)
            complaints += levels.complaints()
            self.report(f"{what}: {len(levels.expected)} tensors agree, largest error {worst:.2f} "
                        f"of its limit ({where}); {middle - begin:.1f} s, PyTorch "
                        f"{end - middle:.1f} s", what, complaints)
            for name, plant in faults:
                wrong = model_check.model_of(config)
                changed = plant(wrong, weights) or weights
                levels.expected = model_check.by_pytorch(wrong, config, changed, {})
                unnoticed = not model_check.compared(levels, output)[0]
                self.report(f"{what}: {name} is noticed", what,
                            [f"the fault is not noticed: {name}"] if unnoticed else [])

    def report(self, good, what, complaints):
        print(f"{what}:\n  " + "\n  ".join(complaints[:20]) if complaints else good, flush=True)
        self.failures += bool(complaints)


def small(check):
    gpt2 = dict(SMALL, model="gpt2")
    check.run(dict(gpt2, embedding="learnable"), 8, FAULTS)
    check.run(dict(gpt2, embedding="learnable", tier="blocked"), 8)
    check.run(dict(gpt2, embedding="sinusoidal"), 8)
    for position in GPT2_POSITIONS:
        for ssmax in (False, True):
            check.run(dict(gpt2, position=position, ssmax=ssmax), 8)
    bert = dict(SMALL, model="bert")
    check.run(dict(bert, embedding="learnable"), 8, FAULTS)
    check.run(dict(bert, embedding="learnable", tier="blocked"), 8)
    for position in ("nope", "alibi", "cable", "k_cable", "t5_bidirectional"):
        check.run(dict(bert, position=position), 8)
    llama = dict(SMALL, model="llama", F=48)
    check.run(llama, 8, FAULTS[:1] + FAULTS[3:])
    check.run(dict(llama, embedding="sinusoidal"), 8)
    for position in ("ggd", "rope"):
        for ssmax in (False, True):
            check.run(dict(llama, position=position, ssmax=ssmax), 8)


def large(config):
    def run(check):
        with open("/proc/meminfo") as file:
            memory = int(file.read().split("MemAvailable:")[1].split()[0]) << 10
        disk = shutil.disk_usage(tempfile.gettempdir()).free
        if memory < 5 << 30 or disk < 2 << 30:
            print(f"skipped: {memory >> 20} MiB of memory, {disk >> 20} MiB of disk are free")
            sys.exit(77)
        check.run(config, 1)
    return run


SETS = {"small": small, "gpt2": large(GPT2_SMALL), "bert": large(BERT_BASE)}

if __name__ == "__main__":
    torch.set_num_threads(os.cpu_count())
    check = Check(sys.argv[1])
    SETS[sys.argv[2]](check)
    sys.exit(1 if check.failures else 0)
