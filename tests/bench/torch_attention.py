#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's float64 attention for blocked_attention.py: the same commands and numbers as
blocked_attention.cpp, answered in the same way."""
import json
import os
import sys
import time

import numpy
import torch

HEADS, LENGTH, HEAD_DIM = 12, 4096, 64


def memory(name):
    for line in open("/proc/self/status"):
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1024
    raise KeyError(name)


def numbers(first, *shape):
    n = numpy.arange(first, first + numpy.prod(shape), dtype=numpy.uint32)
    n = (n ^ (n >> 16)) * numpy.uint32(0x7feb352d)
    n = (n ^ (n >> 15)) * numpy.uint32(0x846ca68b)
    return torch.from_numpy(4 * ((n ^ (n >> 16)) * 2.0**-32 - 0.5)).reshape(shape)


class Attention:
    def __init__(self):
        shape = (HEADS, LENGTH, HEAD_DIM)
        size = HEADS * LENGTH * HEAD_DIM
        self.q, self.k, self.v = (numbers(n * size, *shape).requires_grad_() for n in range(3))
        self.grad_output = numbers(3 * size, *shape)
        self.hidden = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu_(1)
        self.before = memory("VmRSS")

    def run(self):
        for x in (self.q, self.k, self.v):
            x.grad = None
        start = time.perf_counter()
        scores = torch.matmul(self.q * 0.125, self.k.transpose(1, 2))
        p = torch.softmax(scores.masked_fill_(self.hidden, -float("inf")), -1)
        del scores
        output = torch.matmul(p, self.v)
        forward = time.perf_counter() - start
        output.backward(self.grad_output)
        backward = time.perf_counter() - start - forward
        sums = [float(x.detach().abs().sum())
                for x in (output, self.q.grad, self.k.grad, self.v.grad)]
        return {"forward": forward, "backward": backward,
                "memory": memory("VmHWM") - self.before, "sums": sums}


def product(n=2048):
    a = numbers(0, n, n)
    start = time.perf_counter()
    c = a @ a
    seconds = time.perf_counter() - start
    return {"gflops": 2e-9 * n**3 / seconds, "sums": [float(c.abs().sum())]}


torch.set_num_threads(os.cpu_count())  # Debian's PyTorch starts with one for what OpenBLAS does not do
attention = None
for command in map(str.strip, sys.stdin):
    if command == "which":
        answer = {"torch": torch.__version__, "threads": torch.get_num_threads()}
    elif command == "product":
        answer = product()
    elif command == "attention":
        attention = attention or Attention()
        answer = attention.run()
    else:
        sys.exit(f"unknown command {command}")
    print(json.dumps(answer), flush=True)
