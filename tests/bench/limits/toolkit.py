# SPDX-License-Identifier: Apache-2.0
"""nvcc and nvdisasm, and what stands in the objects that they work on."""
import glob
import os
import pathlib
import re
import shutil
import struct
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]


class Missing(Exception):
    """A tool that is not there; says where it comes from."""


class Failed(Exception):
    """A tool that ended with an error; says what it said."""


def find_nvcc():
    """As CMake does: CUDACXX where it is set, else PATH, then /usr/local/cuda."""
    named = os.environ.get("CUDACXX")
    found = shutil.which(named) if named else shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not found:
        raise Missing("there is no nvcc: CUDA Toolkit 13 is needed, named by CUDACXX, in PATH or in /usr/local/cuda")
    return found


def find_nvdisasm(nvcc):
    """Beside nvcc, in PATH, or where .ci/run installs it."""
    of_ci = sorted(glob.glob(str(ROOT / "build/python-venv/lib/python3*/site-packages/nvidia/*/bin/nvdisasm")))
    for place in (pathlib.Path(nvcc).resolve().parent / "nvdisasm", shutil.which("nvdisasm"), *of_ci):
        if place and os.access(place, os.X_OK):
            return str(place)
    raise Missing("there is no nvdisasm beside nvcc or in PATH: install it with the CUDA toolkit, or from PyPI: "
                  "pip install nvidia-cuda-nvdisasm")


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, **more)
    if done.returncode:
        raise Failed(f"{pathlib.Path(command[0]).name} failed: {(done.stderr or done.stdout).strip()[-2000:]}")
    return done


def version(nvcc):
    return re.search(r"release [\d.]+, V([\d.]+)", run([nvcc, "--version"]).stdout)[1]


def is_fresh(cubin, dependencies):
    """Whether nothing that the cubin was made of is newer than it."""
    if not cubin.exists() or not dependencies.exists():
        return False
    files = dependencies.read_text().replace("\\\n", " ").split(":", 1)[1].split()
    return all(os.path.exists(f) and os.path.getmtime(f) <= cubin.stat().st_mtime for f in files)


def assemble(nvcc, source, arch, head_dim, folder):
    """Path of the machine code of gpu/attention/SOURCE.cu for one head dimension, made anew where it is older than
    its sources. From PTX of compute_80, as the default build has it, and of compute_90a for sm_90a; what ptxas says
    stands beside it."""
    cubin = folder / f"{source}.{head_dim}.{arch}.cubin"
    dependencies, messages = cubin.with_suffix(".d"), cubin.with_suffix(".ptxas")
    if is_fresh(cubin, dependencies):
        return cubin
    folder.mkdir(parents=True, exist_ok=True)
    ptx = "compute_90a" if arch == "sm_90a" else "compute_80"
    done = run([nvcc, "-std=c++20", "-O3", "-DNDEBUG", "-Xptxas=-v", f"-DPLUMBLINE_HEAD_DIMS={head_dim}",
                "-I", ROOT / "gpu", "-I", ROOT / "kernel_abi", "-I", ROOT, "-MMD", "-MF", dependencies,
                "-cubin", "-gencode", f"arch={ptx},code={arch}", "-o", cubin,
                ROOT / "gpu/attention" / f"{source}.cu"])
    messages.write_text(done.stdout + done.stderr)
    return cubin


def resources(messages):
    """{kernel: {"registers", "spilled" bytes, "shared" static bytes}} of what `ptxas -v` says."""
    found, name = {}, None
    for line in messages.splitlines():
        if begin := re.search(r"Compiling entry function '(\w+)'", line):
            name = begin[1]
            found[name] = {"registers": 0, "spilled": 0, "shared": 0}
        elif spills := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line):
            if name:
                found[name]["spilled"] = int(spills[1]) + int(spills[2])
        elif used := re.search(r"Used (\d+) registers", line):
            found[name]["registers"] = int(used[1])
            shared = re.search(r"(\d+) bytes smem", line)
            found[name]["shared"] = int(shared[1]) if shared else 0
    return found


def sections(cubin):
    """{name: contents} of an ELF file of 64 bits."""
    data = cubin.read_bytes()
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count, of_names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, table + n * size) for n in range(count)]
    names = headers[of_names][4]
    no_bits = 8
    return {data[names + h[0]:data.index(b"\0", names + h[0])].decode(): data[h[4]:h[4] + h[5]]
            for h in headers if h[1] != no_bits}


def constant_banks(of_object, kernel, parameters, threads, grid, stack_bytes):
    """{bank: contents}: those of the object, and the one that a launch fills: shape and parameters."""
    param_cbank = bytes([4, 0x0A, 8, 0])  # format, attribute and size; then symbol, offset and size
    info = of_object[f".nv.info.{kernel}"]
    offset, size = struct.unpack_from("<HH", info, info.index(param_cbank) + 8)
    if size != len(parameters):
        raise Failed(f"{kernel} takes {size} bytes of parameters, and the host gives it {len(parameters)}")
    launched = bytearray(offset + size)
    struct.pack_into("<6I", launched, 0, threads, 1, 1, *grid)
    struct.pack_into("<I", launched, 0x28, stack_bytes)  # where the stack ends
    launched[offset:] = parameters
    banks = {0: bytes(launched)}
    for name, contents in of_object.items():
        if found := re.fullmatch(rf"\.nv\.constant([2-9])(\.{re.escape(kernel)})?", name):
            banks[int(found[1])] = contents
    return banks


def disassemble(nvdisasm, cubin):
    return run([nvdisasm, "-c", cubin]).stdout
