#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A case whose k has more than 2^31 elements, judged on a sample of its rows: a right kernel passes, and one whose
numbers of elements have 32 bits fails. 18 GiB of memory and 2 minutes.

Usage: huge_arrays.py PLUMBLINE LAYOUT_KERNELS. Ends with 77 where there is too little memory."""
import re
import subprocess
import sys

NEEDED = 19  # GiB
# 65 heads of 131,072 keys of 256 components.
CASE = ("bias=nope,dtype=bf16,heads=65,kv_heads=65,queries=2,keys=131072,head_dim=256,value_dim=8,"
        "query_offset=131070,seed=1")


def verify(plumbline, library, kernel):
    run = subprocess.run([plumbline, "verify", "--kernel", library, "--kernels", kernel, "--case", CASE],
                         capture_output=True, text=True, check=False)
    return run.returncode, run.stdout + run.stderr


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open("/proc/meminfo", encoding="ascii") as file:
        available = int(re.search(r"MemAvailable: *(\d+) kB", file.read())[1]) / 2**20
    if available < NEEDED:
        print(f"huge_arrays.py: {available:.0f} GiB of memory are free; {NEEDED} are needed")
        sys.exit(77)
    status, text = verify(*sys.argv[1:], "float_o")
    if status != 0 or "pass" not in text:
        sys.exit(f"huge_arrays.py: the right kernel: status {status}\n{text}")
    print(text)
    status, text = verify(*sys.argv[1:], "float_o_32_bits")
    if status != 1 or "read" not in text:
        sys.exit(f"huge_arrays.py: the kernel with 32-bit numbers: status {status}\n{text}")
    print(text)


main()
