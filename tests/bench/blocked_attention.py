#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Blocked attention beside PyTorch's float64 attention, and 64 rows of a context of 524,288.

Usage: blocked_attention.py PROGRAM REPORT. PROGRAM is plumbline_bench_blocked_attention; the table
goes to the file REPORT. Ends with 1 if a goal is missed, 3 where PyTorch or a fast BLAS is missing.
The goals stand in main: 4 times PyTorch's speed in a tenth of its memory, half the rate of the faster
library's matrix product, and 15 s and 2 GiB for the rows.
Both sides run in processes of their own and take turns, so that what else the machine does weighs on
both. Their results are compared before their times are."""
import datetime
import importlib.util
import json
import pathlib
import statistics
import subprocess
import sys

REPETITIONS = 5
T, H, D = 4096, 12, 64
FORWARD = 4 * T * T * D * H / 2  # operations, counting the causal half
FASTEST_SLOW_BLAS = 20  # GFLOP/s: the reference BLAS reaches 3 a core


class Process:
    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def __call__(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"the process ended at {command!r}")
        return json.loads(answer)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def say(text):
    print(f"plumbline: {text}", file=sys.stderr, flush=True)


def cpu():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "unknown CPU"


def medians(runs):
    keys = [key for key in runs[0] if key != "sums"]
    return {key: statistics.median(run[key] for run in runs) for key in keys}


def spread(runs, of):
    values = sorted(map(of, runs))
    return f"{values[0]:.2f} to {values[-1]:.2f}"


def total(run):
    return run["forward"] + run["backward"]


def agree(ours, theirs):
    """Sums of absolute values of 3 million numbers each: rounding is far below 1e-9 of them."""
    for a, b in zip(ours["sums"], theirs["sums"]):
        if not abs(a - b) <= 1e-9 * abs(b):
            sys.exit(f"the results differ: {a!r}, PyTorch has {b!r}")


def main():
    if importlib.util.find_spec("torch") is None:
        say("PyTorch is missing (Debian's packages python3-torch and libopenblas0-pthread)")
        sys.exit(3)
    program, report = sys.argv[1:]
    ours = Process(program)
    theirs = Process(sys.executable, str(pathlib.Path(__file__).with_name("torch_attention.py")))
    which, peer = ours("which"), theirs("which")
    say(f"{which['instruction_set']}, Eigen {which['eigen']}; PyTorch {peer['torch']}")
    products, peer_products, runs, peer_runs = [], [], [], []
    for n in range(REPETITIONS + 1):  # the first is not counted
        products.append(ours("product"))
        runs.append(ours("attention"))
        peer_products.append(theirs("product"))
        peer_runs.append(theirs("attention"))
        say(f"{n}: {total(runs[n]):.2f} s, PyTorch {total(peer_runs[n]):.2f} s, product "
            f"{products[n]['gflops']:.0f} GFLOP/s, PyTorch {peer_products[n]['gflops']:.0f}")
        agree(products[n], peer_products[n])
        agree(runs[n], peer_runs[n])
    ours.close()
    theirs.close()
    del products[0], peer_products[0], runs[0], peer_runs[0]
    if medians(peer_products)["gflops"] < FASTEST_SLOW_BLAS:
        say("PyTorch runs on a slow BLAS; install libopenblas0-pthread")
        sys.exit(3)
    rows_process = Process(program)
    rows = rows_process("rows")
    rows_process.close()

    mine, peers = medians(runs), medians(peer_runs)
    ratios = [total(peer) / total(run) for run, peer in zip(runs, peer_runs)]
    rates = [3.5e-9 * FORWARD / total(run) / max(product["gflops"], peer_product["gflops"])
             for run, product, peer_product in zip(runs, products, peer_products)]
    speed, rate = statistics.median(ratios), statistics.median(rates)
    memory = peers["memory"] / mine["memory"]
    goals = [("times PyTorch's speed", speed, speed >= 4, "at least 4"),
             ("PyTorch's memory over ours", memory, memory >= 10, "at least 10"),
             ("of the faster library's matrix-product rate", rate, rate >= 0.5, "at least 0.5"),
             ("seconds for 64 rows of T = 524,288, 12 heads", rows["seconds"],
              rows["seconds"] <= 15, "at most 15"),
             ("GiB for them", rows["memory"] / 1024, rows["memory"] <= 2048, "at most 2")]
    text = f"""# Blocked attention

Written by `./plumbline bench blocked`, {datetime.date.today()}: {cpu()}, {peer['threads']} cores;
{which['instruction_set']}, Eigen {which['eigen']}; PyTorch {peer['torch']} on OpenBLAS.

| goal | reached | wanted | |
|---|---|---|---|
""" + "".join(f"| {name} | {value:.2f} | {wanted} | {'yes' if met else '**no**'} |\n"
              for name, value, met, wanted in goals) + f"""
Double precision, causal, H = {H}, T = {T}, D = {D}; forward and backward. Medians of {REPETITIONS}
repetitions in which both sides took turns; the ratios of speed and rate are medians of the
repetitions' own, that of memory is one of medians.

| | forward s | backward s | both, from to | memory MiB | 2048³ product GFLOP/s |
|---|---|---|---|---|---|
| blocked | {mine['forward']:.2f} | {mine['backward']:.2f} | {spread(runs, total)} | {mine['memory']:.0f} | {medians(products)['gflops']:.0f} |
| PyTorch | {peers['forward']:.2f} | {peers['backward']:.2f} | {spread(peer_runs, total)} | {peers['memory']:.0f} | {medians(peer_products)['gflops']:.0f} |

- Memory: the process's peak (VmHWM) up to the end of a repetition less what it held (VmRSS) when the
  inputs were there; outputs, LSE and gradients count. PyTorch holds the scores of all heads.
- Rate: 4·T²·D·H/2 operations forward and 2.5 times that backward, counting the causal half, per
  second, over that of a 2048³ product on all cores, Eigen's or PyTorch's, whichever was faster in the
  same repetition. Exponentials are not counted.
- PyTorch: `softmax(mask(q·scale @ kᵀ)) @ v` and autograd (it has no fused float64 attention). Both
  sides' outputs and gradients were compared in every repetition (sums of absolute values, to 1e-9).
- 64 rows: output and LSE under ALiBi, q, k and v stored in bf16, one head in memory at a time; peak of
  the whole process, inputs included; making the inputs is not in the seconds.
"""
    pathlib.Path(report).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(report).write_text(text)
    print(text)
    sys.exit(0 if all(met for _, _, met, _ in goals) else 1)


main()
