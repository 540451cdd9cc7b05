#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A bf16 case goes to PyTorch and its outputs come back, both as files: what is right passes, and
broken twins fail.

Usage: pytorch_bf16_files.py PLUMBLINE. Ends with status 77 where PyTorch is missing."""
import importlib.util
import json
import os
import struct
import subprocess
import sys
import tempfile

plumbline = os.path.abspath(sys.argv[1])
if importlib.util.find_spec("torch") is None:
    print("skipped: PyTorch is not installed (Debian's package python3-torch)")
    sys.exit(77)
import torch  # noqa: E402

DTYPES = {"F32": torch.float32, "BF16": torch.bfloat16}
CASE = "bias=alibi,dtype=bf16,heads=4,kv_heads=2,queries=96,keys=96,head_dim=64,causal=1,seed=7"


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    end = 8 + struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, entry in json.loads(data[8:end]).items():
        if name != "__metadata__":
            first, last = (end + offset for offset in entry["data_offsets"])
            numbers = torch.frombuffer(bytearray(data[first:last]), dtype=DTYPES[entry["dtype"]])
            tensors[name] = numbers.view(entry["shape"])
    return tensors


def save(path, spec, tensors):
    header, data = {"__metadata__": {"plumbline": json.dumps(spec)}}, b""
    for name, x in tensors.items():
        bits = x.contiguous().view(torch.int16) if x.dtype == torch.bfloat16 else x.contiguous()
        end = len(data) + x.numel() * x.element_size()
        dtype = next(name for name, known in DTYPES.items() if known == x.dtype)
        header[name] = {"dtype": dtype, "shape": list(x.shape), "data_offsets": [len(data), end]}
        data += bits.numpy().tobytes()
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def attend(q, k, v, slopes):
    """Sums in float32, P in bf16 where it meets V."""
    k, v = (x.float().repeat_interleave(q.shape[1] // k.shape[1], 1) for x in (k, v))
    i, j = torch.arange(q.shape[2])[:, None], torch.arange(k.shape[2])[None, :]
    s = q.float() @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 - slopes[:, None, None] * (i - j)
    s = s.masked_fill(j > i, float("-inf"))
    p = (s - s.amax(-1, keepdim=True)).exp()
    o = p.bfloat16().float() @ v / p.sum(-1, keepdim=True)
    return {"o": o.bfloat16(), "lse": torch.logsumexp(s, -1)}


def judged(case, outputs):
    spec = {"format_version": 1, "kernel": "torch", "contract": {"probability_format": "bf16"}}
    save("outputs.safetensors", spec, outputs)
    command = [plumbline, "judge", case, "outputs.safetensors", "--json", "-"]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    report = json.loads(run.stdout)
    print(report["outcome"], report["o"]["worst"])
    return run.returncode, report["outcome"]


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([plumbline, "vectors", "cases", "--case", CASE], check=True)
    (name,) = (file for file in os.listdir("cases") if file.endswith(".safetensors"))
    case = os.path.join("cases", name)
    given = load(case)
    q, k, v, slopes = (given[name] for name in ("q", "k", "v", "slopes"))
    assert q.dtype == torch.bfloat16
    assert judged(case, attend(q, k, v, slopes)) == (0, "pass")
    assert judged(case, attend(q, k, v, 1.0001 * slopes)) == (1, "FAIL")  # the slopes
    assert judged(case, attend(q, k.roll(1, 2), v, slopes)) == (1, "FAIL")  # a key off by one
    truncated = attend(q, k, v, slopes)
    truncated["o"] = truncated["o"] * torch.tensor(1 - 2**-7).bfloat16()  # a rounding too low
    assert judged(case, truncated) == (1, "FAIL")
    os.chdir("/")
