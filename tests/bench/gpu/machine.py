#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the machine is. As a program it prints that as JSON, without names of users or machines; status 3
where no GPU answers, except with --toy."""
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

import run

GPU_FIELDS = ["name", "driver_version", "compute_cap", "memory.total", "ecc.mode.current",
              "mig.mode.current", "persistence_mode", "power.limit", "power.max_limit",
              "clocks.current.sm", "clocks.current.memory", "clocks.max.sm", "clocks.max.memory",
              "temperature.gpu"]
OLDEST_NVCC = 13  # gpu/cuda/CMakeLists.txt


def answer(*command):
    """Standard output; empty where the program is missing or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True,
                              stdin=subprocess.DEVNULL).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def gpu_count():
    return answer("nvidia-smi", "-L").count("GPU ")


def nvcc():
    """Where CMake would find it, or None."""
    places = [os.environ.get("CUDACXX"), shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"]
    return next((place for place in places if place and shutil.which(place)), None)


def nvcc_release():
    found = re.search(r"release (\d+\.\d+), (\S+)", answer(nvcc(), "--version")) if nvcc() else None
    return found.groups() if found else None


def tool(name):
    """A program of the CUDA toolkit: by PATH, or beside nvcc."""
    places = [name] + ([str(pathlib.Path(nvcc()).resolve().parent / name)] if nvcc() else [])
    return next((shutil.which(place) for place in places if shutil.which(place)), None)


def expect_gpu_and_nvcc():
    if gpu_count() == 0:
        run.refuse("no GPU here: nvidia-smi, which comes with NVIDIA's driver, lists none. --toy runs the "
                   "steps on the CPU emulation", 3)
    release = nvcc_release()
    if not release:
        run.refuse("no nvcc here, by CUDACXX, PATH or below /usr/local/cuda; the CUDA kernels need CUDA "
                   f"Toolkit {OLDEST_NVCC}", 3)
    if float(release[0]) < OLDEST_NVCC:
        run.refuse(f"nvcc is {release[0]}; the CUDA kernels need CUDA Toolkit {OLDEST_NVCC}", 3)


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def system():
    found = re.search(r'^PRETTY_NAME="?([^"\n]*)', pathlib.Path("/etc/os-release").read_text(), re.M)
    return found.group(1) if found else platform.system()


def facts():
    gpus = [{} for _ in range(gpu_count())]
    for field in GPU_FIELDS:  # one at a time: a driver that does not know one refuses them all
        values = answer("nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader").splitlines()
        for gpu, value in zip(gpus, values):
            gpu[field] = value.strip()
    cuda = re.search(r"CUDA Version: *([\d.]+)", answer("nvidia-smi"))
    torch = answer(sys.executable, "-c", "import torch; print(torch.__version__)").strip()
    sanitizer = tool("compute-sanitizer")
    return {"gpus": gpus, "CUDA of the driver": cuda.group(1) if cuda else "none",
            "nvcc": nvcc_release()[1] if nvcc_release() else "none",
            "compute-sanitizer": (answer(sanitizer, "--version").splitlines() or ["none"])[-1].strip()
            if sanitizer else "none",
            "PyTorch": torch or "none", "Python": platform.python_version(), "system": system(),
            "kernel": platform.release(), "processor": processor(), "processors": os.cpu_count()}


if __name__ == "__main__":
    found = facts()
    print(json.dumps(found, indent=1))
    sys.exit(0 if found["gpus"] or sys.argv[1:] == ["--toy"] else 3)
