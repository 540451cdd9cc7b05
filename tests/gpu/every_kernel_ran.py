#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Was every kernel of gpu/ launched by one of the runners?

Usage: every_kernel_ran.py SOURCE PROGRAM LAUNCHED [PROGRAM LAUNCHED ...]

SOURCE is the repository; LAUNCHED the file that PROGRAM wrote (launched_kernels.hpp). A kernel is a
function that is marked __global__, named by its file and its name. Ends with 1, and names them, if
kernels are missing."""
import collections
import os
import pathlib
import re
import subprocess
import sys

# void NAME( after the mark, with what __launch_bounds__ says in between.
KERNEL = re.compile(r"__global__\s+void\s+(?:__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\)\s*)?(\w+)\s*\(")
# What the emulation does not compile: one asks a GPU whether it is there, the others are for Hopper.
FOR_GPUS_ALONE = {("gpu/kernel_library.cu", "probe"),
                  ("gpu/attention/wgmma_backward_keys.cuh", "wgmma_backward_keys_kernel"),
                  ("gpu/attention/wgmma_backward_queries.cuh", "wgmma_backward_queries_kernel"),
                  ("gpu/attention/wgmma_backward_queries.cuh", "wgmma_backward_heads_kernel"),
                  ("gpu/attention/wgmma_forward.cuh", "wgmma_forward_kernel"),
                  ("gpu/attention/wgmma_fp8_forward.cuh", "wgmma_fp8_forward_kernel")}


def kernels_in(source):
    found, marks = set(), 0
    for path in sorted((source / "gpu").rglob("*.cu*")):
        text = re.sub(r"//[^\n]*", "", path.read_text())
        marks += text.count("__global__")
        for name in KERNEL.findall(text):
            found.add((str(path.relative_to(source)), name))
    return found, marks


def launched_by(source, program, addresses):
    """Pairs of file and function at these addresses. The file is that of the first instruction: of a
    function that begins with an inlined one, another's."""
    output = subprocess.run(["addr2line", "-f", "-C", "-e", program], input=addresses, text=True,
                            stdout=subprocess.PIPE, check=True).stdout.splitlines()
    pairs = set()
    for function, place in zip(output[::2], output[1::2]):
        # "void plumbline::gpu::(anonymous namespace)::kernel<float>(float const*, int)"
        name = re.split(r"[(<]", function.replace("(anonymous namespace)::", ""))[0]
        path = os.path.relpath(place.split(":")[0], source)
        pairs.add((path, re.split(r"::|\s", name)[-1]))
    return pairs


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    kernels, marks = kernels_in(source)
    if len(kernels) != marks:
        print(f"{marks} functions are marked __global__, but {len(kernels)} kernels were read")
        return 1
    launched, instances = set(), 0
    for program, file in zip(sys.argv[2::2], sys.argv[3::2]):
        addresses = pathlib.Path(file).read_text()
        instances += len(addresses.split())
        launched |= launched_by(source, program, addresses)
    # The name tells, but where two files have it.
    names = collections.Counter(name for _, name in kernels)
    ran = {(path, name) for path, name in kernels
           if (path, name) in launched
           or names[name] == 1 and name in {other for _, other in launched}}
    missing = kernels - ran - FOR_GPUS_ALONE
    for path, name in sorted(missing):
        print(f"{path}: {name} is never launched by these programs")
    unknown = {name for _, name in launched} - set(names)
    for name in sorted(unknown):
        print(f"{name} was launched, but was not read as a kernel")
    print(f"{len(ran)} of {len(kernels)} kernels, {instances} instantiations launched")
    return 1 if missing or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
