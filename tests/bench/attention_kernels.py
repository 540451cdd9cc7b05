#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The built-in attention kernels on their device, and PyTorch's on the same GPU in the same run.

Usage: attention_kernels.py PROGRAM FOLDER REPORT [--emulated]. PROGRAM is plumbline_bench_attention_kernels,
FOLDER holds the libraries of kernels: the CUDA one is measured where it is there and finds a GPU,
else, or with --emulated, the emulated one. On a GPU the table goes to the file REPORT. Under emulation the sizes are toys:
it shows that the benchmark works, its figures mean nothing, and nothing is written."""
import datetime
import json
import pathlib
import statistics
import subprocess
import sys

HEADS_TIMES_DIM = 768
KERNELS = ["fused", "fused_atomic", "fused_skipping", "mma", "mma_rope", "mma_atomic", "mma_skipping", "mma_fp8", "wgmma",
           "wgmma_rope", "wgmma_fp8", "split_kv"]
BIASES = ["nope", "alibi", "cable", "ggd", "kerple_log", "t5", "fire", "fox", "rope_half_split"]


class Sizes:
    def __init__(self, on_gpu):
        lengths = [1024, 2048, 4096, 8192, 16384]
        # (length, head dimension)
        self.shapes = [(n, 64) for n in lengths] + [(n, 128) for n in lengths[2:]] if on_gpu else [(64, 64), (64, 128)]
        self.tokens = 16384 if on_gpu else 64
        self.of_heads = HEADS_TIMES_DIM if on_gpu else 128
        self.repetitions = 30 if on_gpu else 2
        self.formats = ["bf16", "e4m3", "fp32"] if on_gpu else ["bf16", "e4m3"]

    def heads(self, head_dim):
        return self.of_heads // head_dim

    def batch(self, length, of_pass):
        return 1 if of_pass == "decode" else max(1, self.tokens // length)


def flops(batch, width, length, of_pass):
    """Of the two products of the causal half, forward; of the five of the backward pass. width: heads times head
    dimension."""
    products = {"forward": 2, "backward": 5}[of_pass]
    return products * 2 * batch * width * length * length / 2


def spec(of_pass, bias, dtype, batch, heads, length, head_dim):
    queries = 1 if of_pass == "decode" else length
    page = 64 if of_pass == "decode" else 0
    return (f"pass={of_pass},bias={bias},dtype={dtype},batch={batch},heads={heads},"
            f"kv_heads={heads},queries={queries},keys={length},head_dim={head_dim},"
            f"query_offset={length - queries},page_size={page},causal=1,seed=1")


def started(program, folder, backends):
    """The measuring program on the first library that runs here, and the line it begins with."""
    for name in backends:
        library = pathlib.Path(folder) / f"libplumbline_kernels_{name}.so"
        if not library.exists():
            continue
        process = subprocess.Popen([program, library], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        first = process.stdout.readline()
        if first:
            return process, first
    sys.exit(3)


def ours(program, folder, backends):
    """The device's name, and a function that measures a kernel: seconds, or None."""
    process, first = started(program, folder, backends)
    library = json.loads(first)

    def measure(kernel, repetitions, line):
        if kernel not in library["kernels"]:  # one for GPUs, on the emulation
            return None
        process.stdin.write(f"{kernel} {repetitions} {line}\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        if "error" in answer:
            sys.exit(f"{kernel} {line}: {answer['error']}")
        return None if "skipped" in answer else statistics.median(answer["seconds"])

    return library["device"], measure


class Peers:
    """PyTorch on the same GPU, where both are there."""

    def __init__(self):
        import torch
        self.torch = torch
        if not torch.cuda.is_available():
            raise ImportError("PyTorch sees no GPU")
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention
        self.flex = torch.compile(flex_attention, dynamic=False)
        self.block_mask = create_block_mask

    def seconds(self, work, repetitions=30):
        cuda = self.torch.cuda
        for _ in range(3):
            work()
        times = []
        for _ in range(repetitions):
            begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
            begin.record()
            work()
            end.record()
            end.synchronize()
            times.append(1e-3 * begin.elapsed_time(end))
        return statistics.median(times)

    def ceilings(self):
        torch = self.torch
        a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
        product = 2 * 8192**3 / self.seconds(lambda: a @ a)
        big = torch.empty(1 << 30, device="cuda", dtype=torch.uint8)
        copy = 2 * big.numel() / self.seconds(lambda: big.clone())
        return product, copy

    def inputs(self, batch, heads, length, head_dim):
        torch = self.torch
        make = lambda: torch.randn(batch, heads, length, head_dim, device="cuda",
                                   dtype=torch.bfloat16, requires_grad=True)
        return make(), make(), make()

    def both(self, q, k, v, attend):
        """Seconds forward and backward."""
        forward = self.seconds(lambda: attend(q, k, v))
        o = attend(q, k, v)
        g = self.torch.randn_like(o)
        backward = self.seconds(
            lambda: self.torch.autograd.grad(o, (q, k, v), g, retain_graph=True))
        return forward, backward

    def sdpa(self, batch, heads, length, head_dim):
        attention = self.torch.nn.functional.scaled_dot_product_attention
        return self.both(*self.inputs(batch, heads, length, head_dim),
                         lambda q, k, v: attention(q, k, v, is_causal=True))

    def sdpa_with_bias(self, batch, heads, length, head_dim):
        torch = self.torch
        i = torch.arange(length, device="cuda")
        slopes = 2.0 ** -torch.arange(1, heads + 1, device="cuda").float()
        bias = -slopes[:, None, None] * (i[:, None] - i[None, :]).abs()
        bias = bias.masked_fill(i[None, :] > i[:, None], float("-inf")).to(torch.bfloat16)
        attention = torch.nn.functional.scaled_dot_product_attention
        return self.both(*self.inputs(batch, heads, length, head_dim),
                         lambda q, k, v: attention(q, k, v, attn_mask=bias[None]))

    def flex_alibi(self, batch, heads, length, head_dim):
        slopes = 2.0 ** -self.torch.arange(1, heads + 1, device="cuda").float()
        return self.flex_with(batch, heads, length, head_dim,
                              lambda score, b, h, i, j: score - slopes[h] * (i - j))

    def flex_cable(self, batch, heads, length, head_dim):
        torch = self.torch
        S = torch.rand(batch, heads, length, device="cuda").cumsum(-1)
        g = torch.rand(batch, heads, length, device="cuda")
        return self.flex_with(
            batch, heads, length, head_dim,
            lambda score, b, h, i, j: score - g[b, h, i] * (S[b, h, i] - S[b, h, j]))

    def flex_with(self, batch, heads, length, head_dim, score_mod):
        mask = self.block_mask(lambda b, h, i, j: j <= i, None, None, length, length)
        return self.both(*self.inputs(batch, heads, length, head_dim),
                         lambda q, k, v: self.flex(q, k, v, score_mod=score_mod, block_mask=mask))


def peers_or_none():
    try:
        return Peers()
    except ImportError as why:
        print(f"no peers in this run: {why}", file=sys.stderr)
        return None


def our_rows(measure, sizes):
    for of_pass in ("forward", "backward", "decode"):
        for length, head_dim in sizes.shapes:
            batch = sizes.batch(length, of_pass)
            for dtype in sizes.formats:
                for kernel in KERNELS:
                    for bias in BIASES:
                        line = spec(of_pass, bias, dtype, batch, sizes.heads(head_dim), length, head_dim)
                        taken = measure(kernel, sizes.repetitions, line)
                        if taken is not None:
                            # At once: the table comes at the end, which a time limit may cut off.
                            print(f"{line}: {kernel} {taken * 1e3:.4g} ms", file=sys.stderr, flush=True)
                            yield of_pass, length, head_dim, batch, dtype, f"{kernel}, {bias}", taken


def peer_rows(peers, sizes):
    for length, head_dim in sizes.shapes:
        batch = sizes.batch(length, "forward")
        for name, work in (("PyTorch SDPA, no bias", peers.sdpa),
                           ("PyTorch SDPA, bias tensor", peers.sdpa_with_bias),
                           ("FlexAttention, ALiBi", peers.flex_alibi),
                           ("FlexAttention, CABLE", peers.flex_cable)):
            try:
                forward, backward = work(batch, sizes.heads(head_dim), length, head_dim)
            except RuntimeError as error:  # out of memory: the row says so by its absence
                print(f"{name}, T = {length}, D = {head_dim}: {error}", file=sys.stderr)
                continue
            yield "forward", length, head_dim, batch, "bf16", name, forward
            yield "backward", length, head_dim, batch, "bf16", name, backward


def table(rows, width):
    lines = ["| pass | T | D | batch | format | kernel | ms | TFLOP/s |", "|---|---|---|---|---|---|---|---|"]
    for of_pass, length, head_dim, batch, dtype, name, taken in rows:
        rate = ("-" if of_pass == "decode"
                else f"{flops(batch, width, length, of_pass) / taken * 1e-12:.4g}")
        lines.append(f"| {of_pass} | {length} | {head_dim} | {batch} | {dtype} | {name} | {taken * 1e3:.4g} "
                     f"| {rate} |")
    return "\n".join(lines) + "\n"


def main():
    program, folder, report = sys.argv[1:4]
    backends = ["emulated"] if sys.argv[4:] == ["--emulated"] else ["cuda", "emulated"]
    device, measure = ours(program, folder, backends)
    on_gpu = device != "CPU emulation"
    sizes = Sizes(on_gpu)
    peers = peers_or_none() if on_gpu else None
    rows = list(our_rows(measure, sizes))
    head = [f"# Attention kernels on {device}", "",
            f"{datetime.date.today()}, {sizes.of_heads} numbers of a token in heads of D, causal, median of "
            f"{sizes.repetitions}; the kernels' own time on the device. Made by "
            "`./plumbline bench attention`."]
    if peers:
        rows += peer_rows(peers, sizes)
        product, copy = peers.ceilings()
        head += ["", f"Ceilings of the same run, by PyTorch {peers.torch.__version__}: bf16 matrix "
                 f"product of 8192 {product * 1e-12:.0f} TFLOP/s, copy {copy * 1e-12:.2f} TB/s (read "
                 "plus written)."]
    text = "\n".join(head) + "\n\n" + table(rows, sizes.of_heads)
    print(text)
    if not on_gpu:
        print("Toy sizes under emulation: the benchmark works; its figures mean nothing and are not "
              "kept.")
        return
    with open(report, "w") as file:
        file.write(text)
    print(f"written to {report}")


if __name__ == "__main__":
    main()
