#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The software device beside the source emulation: kernels, a verdict, and single instructions.

Usage: software_device.py BUILD REPORT [--repetitions N]. BUILD is a build folder in which the target
bench_software_device is built; the tables go to the file REPORT. Ends with 1 if a goal is missed, 3 where
there is no nvcc. What is compared is measured in turn in one process, so that what else the machine does
weighs on all of it. The goals stand in main: at least the emulation's speed, three times it as an aim that
does not fail the run, and 60 s for a verdict of 50 cases."""
import argparse
import datetime
import json
import pathlib
import statistics
import subprocess
import sys
import time

CASES = 50
median = statistics.median


def say(text):
    print(f"plumbline: {text}", file=sys.stderr, flush=True)


def machine():
    lines = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return f"{lines[0]}, {len(lines)} cores" if lines else "a CPU without a name"


def measured(program, folder, repetitions):
    """Rows of kernels and rows of instructions."""
    rows = []
    with subprocess.Popen([program, folder, str(repetitions)], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            rows.append(json.loads(line))
            say(rows[-1].get("kernel") or rows[-1]["instruction"])
    if process.returncode:
        sys.exit(process.returncode)
    return [row for row in rows if "kernel" in row], [row for row in rows if "instruction" in row]


def verdict(build, folder):
    """Seconds of `verify` of the example, compiled by nvcc."""
    begin = time.monotonic()
    done = subprocess.run([build / "bin/plumbline", "verify", "--kernel", folder / "attention.so", "--device",
                           "software", "--cases", str(CASES)], stdout=subprocess.DEVNULL)
    if done.returncode:
        sys.exit("verify does not accept docs/examples/attention.cu")
    return time.monotonic() - begin


def ratio(row, of, to):
    return median(a / b for a, b in zip(row[of], row[to]))


def kernel_row(row):
    nanoseconds = 1e9 * median(row["checked cpu"]) / row["warp_instructions"]
    return (f"| {row['kernel']} | {row['warp_instructions'] / 1e6:.2f} | {median(row['emulation']):.4f} "
            f"| {median(row['checked']):.4f} | {median(row['unchecked']):.4f} "
            f"| {ratio(row, 'emulation', 'checked'):.2f} | {ratio(row, 'emulation cpu', 'checked cpu'):.2f} "
            f"| {ratio(row, 'emulation', 'unchecked'):.2f} | {nanoseconds:.1f} |\n")


def main():
    parser = argparse.ArgumentParser(prog="plumbline bench software-device", allow_abbrev=False)
    parser.add_argument("build", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("report", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--repetitions", type=int, default=21, help="of each measurement (default: 21)")
    options = parser.parse_args()
    folder = options.build / "tests/bench/software_device"
    if not (folder / "attention.so").exists():
        say("nvcc is missing: the software device runs what it makes of kernels")
        sys.exit(3)
    kernels, instructions = measured(options.build / "bin/plumbline_bench_software_device", folder,
                                     options.repetitions)
    seconds = verdict(options.build, folder)
    goals = [("times the source emulation's speed, `mma` forward, with checks",
              ratio(kernels[0], "emulation", "checked"), 1.0, True),
             ("the same, as aimed at", ratio(kernels[0], "emulation", "checked"), 3.0, True),
             (f"seconds of `verify`, {CASES} cases of docs/examples/attention.cu", seconds, 60.0, False)]
    met = [value >= wanted if more else value <= wanted for _, value, wanted, more in goals]
    text = f"""# The software device

Made by `./plumbline bench software-device`, {datetime.date.today()}: {machine()}.

| goal | reached | wanted | |
|---|---|---|---|
""" + "".join(f"| {name} | {value:.2f} | {'at least' if more else 'at most'} {wanted:g} "
              f"| {'yes' if yes else '**no**'} |\n"
              for (name, value, wanted, more), yes in zip(goals, met)) + f"""
Forward passes of the built-in kernels with ALiBi, causal, N = 1024, 2 heads, D = 64, on all cores: the PTX that nvcc
makes of a kernel, on the software device with its checks (as `verify` and `sanitize` run it) and with the bounds of
memory alone; and the same source on the emulation, as `./plumbline verify` runs it. The three take turns, and their
outputs are compared; medians of {options.repetitions}, and of the ratios of each turn. CPU time is that of all threads
together: what else the machine does changes it little.

| kernel | million warp instructions | emulation s | with checks s | without s | times the emulation's speed | by CPU time | without checks | ns of a CPU for a warp instruction |
|---|---|---|---|---|---|---|---|---|
""" + "".join(map(kernel_row, kernels)) + """
A loop of 32 of one instruction, 4 warps of a block, one thread of the CPU: nanoseconds of CPU time for a warp's
instruction, the loop's share included. In a row of 65 each lane's word is 260 bytes after the last one's. cp.async is
with its wait.

| instruction | with checks | without |
|---|---|---|
""" + "".join(f"| `{row['instruction']}` | {median(row['checked']):.1f} | {median(row['unchecked']):.1f} |\n"
              for row in instructions)
    options.report.parent.mkdir(parents=True, exist_ok=True)
    options.report.write_text(text)
    print(text)
    sys.exit(0 if met[0] and met[2] else 1)


main()
