#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GPT-2 small in double, T = 1024, loss and gradient to every parameter, beside PyTorch's float64.

Usage: gpt2.py PROGRAM REPORT. PROGRAM is plumbline_bench_gpt2; the table goes to the file REPORT.
PyTorch computes the model of tests/models/checkpoint/torch_models.py with the same numbers. Ends with 3
where PyTorch or NumPy is missing."""
import datetime
import json
import math
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
REPETITIONS = 3
T, C, V = 1024, 768, 50304


def numbers(first, count):
    """As gpt2.cpp: in [-1/2, 1/2), a hash of first, first + 1, ..; indices wrap at 2^32."""
    x = np.arange(first, first + count, dtype=np.uint64).astype(np.uint32)
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    return (x ^ (x >> np.uint32(16))).astype(np.float64) * 2.0 ** -32 - 0.5


def parameters(model):
    """By name. GPT-2's Conv1D weights are [in, out]; gpt2.cpp counts through [out, in]."""
    sizes, at, p = {"V": V, "C": C, "F": 4 * C}, 0, {}
    for name, axes, kind in model.parameters():
        shape = [sizes.get(axis, axis) for axis in axes]
        count = math.prod(shape)
        if kind == "gain":
            values = np.ones(shape)
        else:
            values = 0.02 * math.sqrt(12) * numbers(at, count)
            at += count
            conv1d = len(shape) == 2 and ".h." in name
            values = values.reshape(shape[::-1]).T if conv1d else values.reshape(shape)
        p[name] = torch.tensor(np.ascontiguousarray(values), requires_grad=True)
    return p, [int((x + 0.5) * V) for x in numbers(at, T)]


def by_pytorch():
    torch.set_num_threads(os.cpu_count())  # Debian's PyTorch starts with one beside OpenBLAS
    model = torch_models.Gpt2(dict(layers=12, heads=12, C=C, embedding="learnable", positions=T,
                                   ssmax=False), torch_positions.Nope())
    p, ids = parameters(model)
    start = time.perf_counter()
    logits = model.logits(p, torch.tensor(ids), None)
    loss = torch.nn.functional.cross_entropy(logits[:-1], torch.tensor(ids[1:]))
    forward = time.perf_counter() - start
    loss.backward()
    return {"forward": forward, "backward": time.perf_counter() - start - forward,
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "loss": loss.item(),
            "gradient_norm": math.sqrt(sum((x.grad ** 2).sum().item() for x in p.values()))}


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown processor"


def main(program, report):
    runs = [json.loads(subprocess.run([program], check=True, capture_output=True).stdout)
            for _ in range(REPETITIONS)]
    ours = {key: statistics.median(run[key] for run in runs) for key in ("forward", "backward")}
    ours["memory"] = runs[0]["memory"]
    theirs = by_pytorch()
    lines = ["# GPT-2 small in double, one sequence of 1024 tokens", "",
             f"Written by `./plumbline bench gpt2`, {datetime.date.today()}: {processor()}, "
             f"{os.cpu_count()} cores; {runs[0]['instruction_set']}.",
             f"The median of {REPETITIONS} runs, one run of PyTorch {torch.__version__}, on a machine "
             "that may have had other work.", "Memory is the peak of the whole process: parameters, "
             "gradients and, on PyTorch's side, Python.", "",
             "| | forward and loss, s | backward, s | most memory, MiB |", "|---|---|---|---|"]
    for name, of in (("`Blocked`", ours), ("PyTorch float64", theirs)):
        lines.append(f"| {name} | {of['forward']:.1f} | {of['backward']:.1f} "
                     f"| {of['memory']:.0f} |")
    lines += ["", "| | `Blocked` | PyTorch | relative difference |", "|---|---|---|---|"]
    for name, key in (("loss", "loss"), ("norm of the whole gradient", "gradient_norm")):
        ours_is, theirs_is = runs[0][key], theirs[key]
        lines.append(f"| {name} | {ours_is!r} | {theirs_is!r} "
                     f"| {abs(ours_is - theirs_is) / theirs_is:.1e} |")
    report = pathlib.Path(report)
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    try:
        import numpy as np
        import torch
    except ImportError as missing:
        print(f"gpt2.py: {missing}", file=sys.stderr)
        sys.exit(3)
    sys.path.insert(0, str(ROOT / "tests/models/checkpoint"))
    import torch_models
    import torch_positions
    main(*sys.argv[1:3])
