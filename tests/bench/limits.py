#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast the attention kernels can be, read off their machine code: no GPU is needed.

Each kernel is assembled, disassembled, and one block of it is run instruction by instruction with the parameters
that the host would launch it with; what an interior tile issues is counted by pipe and divided by the pipes' rates.
docs/results/limits.md has the table, and what it assumes. Without options the whole table is made anew, which takes
half an hour; with options that choose kernels it is printed and not written."""
import argparse
import collections
import datetime
import itertools
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "limits"))
import counting
import machine
import sass
import thread
import toolkit

ROOT = pathlib.Path(__file__).resolve().parents[2]
COUNTS = ROOT / "tests/bench/limits/counts.json"
TABLE = ROOT / "docs/results/limits.md"
GROWTH = 0.05
LENGTH = 4096  # for the share of the diagonal tiles that is computed and thrown away

# source: of gpu/attention/. products: matrix products that the kernel computes; useful: those of the pass.
# keys, block: the problem's length, and which block is run: one with some interior tiles.
# scores: of a block's iteration, where no tensor-core instruction tells. threads: of a block. archs: it is made for.
Kernel = collections.namedtuple("Kernel", "source entry methods head_dims keys block products useful scores threads "
                                          "archs", defaults=[None, 128, ("sm_80", "sm_90")])
FEW = ["nope", "alibi", "ggd", "cable"]
ALL = ["nope", "alibi", "ggd", "kerple_log", "t5", "cable", "k_cable", "fox", "fire"]
KERNELS = {
    "mma_forward": Kernel("mma_forward_bf16", "forward_kernel", ALL, [64, 128], 512, 0, 2, 2),
    "mma_skipping": Kernel("mma_skipping_bf16", "forward_kernel", ["nope", "alibi", "cable"], [64, 128], 512, 0, 2, 2),
    "mma_backward_keys": Kernel("mma_backward_keys_bf16", "backward_keys_kernel", FEW, [64, 128], 256, 0, 4, 5),
    "mma_backward_queries": Kernel("mma_backward_queries_bf16", "backward_queries_kernel", FEW, [64], 512, 0, 3, 5),
    "mma_backward_queries_atomic": Kernel("mma_backward_queries_bf16", "backward_queries_kernel", FEW, [64], 512, 0,
                                          5, 5),
    "mma_backward_split": Kernel("mma_backward_queries_bf16", "split_backward_queries_kernel",
                                 ["nope", "alibi", "cable"], [128], 1024, 0, 3, 5, threads=256),
    "mma_backward_split_atomic": Kernel("mma_backward_queries_bf16", "split_backward_queries_kernel",
                                        ["nope", "alibi", "cable"], [128], 1024, 0, 5, 5, threads=256),
    "mma_backward_split_heads": Kernel("mma_backward_queries_bf16", "split_backward_heads_kernel",
                                       ["ggd", "kerple_log", "t5"], [128], 1024, 0, 3, 5, threads=256),
    "mma_backward_split_heads_atomic": Kernel("mma_backward_queries_bf16", "split_backward_heads_kernel",
                                              ["ggd", "kerple_log", "t5"], [128], 1024, 0, 5, 5, threads=256),
    "fused_forward": Kernel("3_fused_forward", "forward_kernel", FEW, [64], 256, 4, 2, 2, 32 * 32),
    "wgmma_forward": Kernel("wgmma_forward_bf16", "wgmma_forward_kernel", ALL, [64, 128], 2048, 0, 2, 2, threads=384,
                            archs=("sm_90a",)),
    "wgmma_backward_keys": Kernel("wgmma_backward_keys_bf16", "wgmma_backward_keys_kernel", ["nope", "alibi", "ggd"],
                                  [64, 128], 2048, 0, 4, 5, threads=384, archs=("sm_90a",)),
    "wgmma_backward_queries": Kernel("wgmma_backward_queries_bf16", "wgmma_backward_queries_kernel",
                                     ["nope", "alibi", "cable"], [64, 128], 2048, 0, 3, 5, threads=384,
                                     archs=("sm_90a",)),
    "wgmma_backward_heads": Kernel("wgmma_backward_queries_bf16", "wgmma_backward_heads_kernel",
                                   ["ggd", "kerple_log", "t5"], [64, 128], 2048, 0, 3, 5, threads=384,
                                   archs=("sm_90a",)),
    "wgmma_fp8_forward": Kernel("wgmma_fp8_forward", "wgmma_fp8_forward_kernel", ALL, [64, 128], 2048, 0, 2, 2,
                                128 * 128, threads=384, archs=("sm_90a",)),
    "decode": Kernel("5_decode", "split_kernel", FEW, [64, 128], 16384, 0, 2, 2, 4 * 32),
}
TWO_PARTS = [("mma_backward_keys", "mma_backward_queries"),  # of one pass
             ("mma_backward_keys", "mma_backward_split"),
             ("mma_backward_keys", "mma_backward_split_heads"),
             ("wgmma_backward_keys", "wgmma_backward_queries"),
             ("wgmma_backward_keys", "wgmma_backward_heads")]
# What CI compares with COUNTS.
WATCHED = [(kernel, method, 64, "sm_80") for kernel, methods in [
    ("mma_forward", ["nope", "alibi", "cable"]), ("mma_backward_keys", ["nope", "cable"]),
    ("mma_backward_queries", ["nope", "cable"]), ("decode", ["nope"])] for method in methods] + [
    ("wgmma_forward", method, 128, "sm_90a") for method in ["nope", "alibi", "cable"]] + [
    ("wgmma_fp8_forward", "nope", 128, "sm_90a")]

Row = collections.namedtuple("Row", "kernel method head_dim arch issued cycles binding registers spilled shared blocks "
                                    "iterations")


def say(text):
    print(f"plumbline: {text}", file=sys.stderr, flush=True)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        say(message)
        sys.exit(2)


def parsed(arguments):
    parser = Parser(prog="plumbline bench limits", description=__doc__, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter,
                    epilog="Exit status: 0; 1 with --check where a count has grown by more than 5 %; 2 bad usage;\n"
                    "3 no nvcc or nvdisasm, or what they do not compile.")
    parser.add_argument("--kernel", action="append", choices=KERNELS, help="this kernel; may come again")
    parser.add_argument("--method", action="append", choices=ALL, help="with this bias; may come again")
    parser.add_argument("--head-dim", action="append", type=int, choices=[64, 128])
    parser.add_argument("--arch", action="append", choices=machine.GPUS)
    parser.add_argument("--check", action="store_true",
                        help=f"compare the hot kernels with {COUNTS.relative_to(ROOT)}")
    parser.add_argument("--renew", action="store_true", help="write that file")
    parser.add_argument("--counts", type=pathlib.Path, default=COUNTS, help=argparse.SUPPRESS)
    parser.add_argument("--stage", choices=["prepare", "run"], default="run", help=argparse.SUPPRESS)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    chosen = options.kernel or options.method or options.head_dim or options.arch
    if (options.check or options.renew) and chosen or options.check and options.renew:
        parser.error("--check and --renew take the hot kernels: no other option goes with them")
    options.writes_table = not (chosen or options.check or options.renew)
    return options


def wanted(options):
    """(kernel, method, head_dim, arch) of what is asked for."""
    if options.check or options.renew:
        return WATCHED
    cases = [(name, method, head_dim, arch) for arch in machine.GPUS for name, kernel in KERNELS.items()
             if arch in kernel.archs for head_dim in kernel.head_dims for method in kernel.methods]
    chosen = [options.kernel, options.method, options.head_dim, options.arch]
    found = [case for case in cases if all(choice is None or value in choice for value, choice in zip(case, chosen))]
    if not found:
        say("no kernel has all of that")
        sys.exit(2)
    return found


class Bench:
    def __init__(self, build):
        self.nvcc = toolkit.find_nvcc()
        self.nvdisasm = toolkit.find_nvdisasm(self.nvcc)
        self.version = toolkit.version(self.nvcc)
        self.launches = build / "bin/plumbline_bench_limits"
        self.folder = build / "limits" / self.version
        self.objects, self.codes = {}, {}

    def object(self, source, arch, head_dim):
        """(kernels of an object, its sections, their resources)."""
        key = source, arch, head_dim
        if key not in self.objects:
            cubin = toolkit.assemble(self.nvcc, source, arch, head_dim, self.folder)
            self.objects[key] = (sass.parse(toolkit.disassemble(self.nvdisasm, cubin)), toolkit.sections(cubin),
                                 toolkit.resources(cubin.with_suffix(".ptxas").read_text()))
        return self.objects[key]

    def blocks(self, code, name, key):
        if (name, key) not in self.codes:
            self.codes[name, key] = sass.Blocks(code[name])
        return self.codes[name, key]

    def count(self, case):
        name, method, head_dim, arch = case
        kernel, gpu = KERNELS[name], machine.GPUS[arch]
        launch = json.loads(toolkit.run(list(map(str, [self.launches, name, method, head_dim, kernel.keys]))).stdout)
        code, of_object, resources = self.object(kernel.source, arch, head_dim)
        entry = entry_of(code, kernel, head_dim, launch["family"])
        banks = toolkit.constant_banks(of_object, entry, bytes.fromhex(launch["parameters"]), kernel.threads,
                                       launch["grid"], thread.STACK_BYTES)
        blocks = self.blocks(code, entry, (arch, head_dim))
        shared = launch["shared_bytes"] + resources[entry]["shared"]
        traces = thread.run_block(thread.Translator(blocks, banks), kernel.threads, (kernel.block, 1, 0), shared)
        work, often = counting.work_of_block(blocks, traces)
        scores = kernel.scores or work["tensor"] / (kernel.products * head_dim)
        tile = {pipe: amount / (scores / (16 * 64)) for pipe, amount in work.items()}
        cycles, binding = machine.cycles(tile, gpu)
        registers = resources[entry]["registers"]
        return Row(*case, tile["issue"], cycles, binding, registers, resources[entry]["spilled"], shared,
                   machine.blocks_of_multiprocessor(gpu, kernel.threads, registers, shared), often)


def entry_of(code, kernel, head_dim, family):
    """The kernel's name in the object: of its head dimension, and of the bias's family where it has one."""
    of_dim = [name for name in code if f"{len(kernel.entry)}{kernel.entry}ILi{head_dim}E" in name]
    of_family = [name for name in of_dim if re.search(rf"ILi{head_dim}ENS\d*_{len(family)}{family}E", name)]
    if len(of_family or of_dim) != 1:
        raise toolkit.Failed(f"{kernel.source} has {len(of_family or of_dim)} kernels {kernel.entry} of {head_dim} "
                             f"and {family}")
    return (of_family or of_dim)[0]


def rate(kernel, head_dim, clocks, gpu):
    """FLOP/s of a causal problem of LENGTH: 4 tiles of 16 x 64 scores in `clocks` of a multiprocessor."""
    flops = 4 * 16 * 64 * 2 * head_dim * KERNELS[kernel].useful
    thrown_away = 128 if kernel.startswith("wgmma") else 64  # scores of a row, on average, that nobody sees
    return flops / clocks * gpu.multiprocessors * gpu.clock * LENGTH / (LENGTH + thrown_away)


def bandwidth(head_dim, clocks, gpu):
    """Bytes of keys and values a second in bf16, of decoding."""
    return 4 * 16 * 64 * head_dim * 4 / clocks * gpu.multiprocessors * gpu.clock


def bound(row, clocks):
    gpu = machine.GPUS[row.arch]
    if row.kernel == "decode":
        return f"{bandwidth(row.head_dim, clocks, gpu) / 1e12:.2f} TB/s"
    reached = rate(row.kernel, row.head_dim, clocks, gpu)
    peak = gpu.peak * (2 if "fp8" in row.kernel else 1)
    return f"{reached / 1e12:.0f} ({reached / peak:.0%})"


def line(row):
    gpu = machine.GPUS[row.arch]
    clocks = " | ".join(f"{'**' if pipe == row.binding else ''}{row.cycles[pipe]:.0f}"
                        f"{'**' if pipe == row.binding else ''}" for pipe in machine.PIPES[1:])
    issued = f"**{row.issued:.0f}**" if row.binding == "issue" else f"{row.issued:.0f}"
    return (f"| `{row.kernel}` | {row.method} | {row.head_dim} | {issued} | {clocks} | {row.binding} | "
            f"{row.registers} | {row.spilled} | {row.shared / 1024:.0f} | {row.blocks} | "
            f"{'' if any(row.kernel in parts for parts in TWO_PARTS) else bound(row, row.cycles[row.binding])} |\n")


def both_parts(rows):
    """Lines of passes that are two kernels."""
    by_case = {(row.kernel, row.method, row.head_dim): row for row in rows}
    text = ""
    for row, names in itertools.product(rows, TWO_PARTS):
        parts = [by_case.get((part, row.method, row.head_dim)) for part in names]
        if names[0] == row.kernel and all(parts):
            clocks = sum(part.cycles[part.binding] for part in parts)
            sums = " | ".join(f"{sum(part.cycles[pipe] for part in parts):.0f}" for pipe in machine.PIPES)
            text += (f"| both of {row.kernel.removesuffix('_keys')} | {row.method} | {row.head_dim} | {sums} | "
                     f"{' + '.join(part.binding for part in parts)} | | | | | {bound(row, clocks)} |\n")
    return text


def table(rows):
    text = ""
    for arch, gpu in machine.GPUS.items():
        of_arch = [row for row in rows if row.arch == arch]
        if not of_arch:
            continue
        text += (f"\n## {gpu.name}, {arch}\n\n| kernel | bias | D | issue | "
                 + " | ".join(machine.PIPES[1:]) + " | bound by | registers | spilled bytes | shared KiB | blocks "
                 "an SM | TFLOP/s (of peak) |\n|" + "---|" * (3 + len(machine.PIPES) + 6) + "\n")
        text += "".join(map(line, of_arch)) + both_parts(of_arch)
    return text


def document(rows, version):
    rates = "".join(
        f"| {gpu.name}, {arch} | {gpu.multiprocessors} at {gpu.clock / 1e9:.2f} GHz | "
        + " | ".join(f"{gpu.rates[pipe]:.0f}" for pipe in machine.PIPES[1:]) + " |\n"
        for arch, gpu in machine.GPUS.items())
    peaks = " and ".join(dict.fromkeys(f"{gpu.peak / 1e12:.0f}" for gpu in machine.GPUS.values()))
    return f"""# How fast the kernels can be

Made by `./plumbline bench limits`, {datetime.date.today()}, with nvcc {version}: read off the
machine code, not measured on a GPU.

**Columns.** Four warps, one on each scheduler of a multiprocessor (SM), each work on a tile of 16 queries and 64
keys: 64 x 64 scores together. The columns from `issue` to `memory` are the clocks of the SM that each pipe needs for
that; `issue` is also the number of instructions that a warp issues for its 16 x 64 scores. The largest is the bound:
what a kernel would reach if all pipes overlapped perfectly, without bank conflicts and waits, at the full clock.
Good kernels reach half to three quarters of it. Decoding has 1,024 keys of one query in place of a warp's tile.

**What is counted.** An interior tile of a causal problem with one sequence and two heads, without lengths,
documents, window and RoPE. One block of threads runs in an interpreter of machine code
([thread.py](../../tests/bench/limits/thread.py)) with the parameters that the host would launch it with and
stand-ins for device memory. The hot loop is the smallest that holds nine tenths of the tensor-core instructions (of
the multiply-adds in fp32, where there are none); of a block's iterations the most frequent kind counts, which is
that of interior tiles; a warp issues what any of its lanes executes. Branches that depend on data go where the
stand-ins lead: all scores alike, so that no maximum grows and nothing is rescaled, no exponential underflows, prefix
sums hardly differ, and no unit of FIRE has a kink within an interior tile (each that has takes 160 instructions).

**Rates**, a clock and SM: multiply-adds of tensor cores, words of 4 bytes from shared memory and the first cache,
results elsewhere. A scheduler issues one instruction a clock.

| GPU | SMs | {" | ".join(machine.PIPES[1:])} |
|---|---|{"---|" * len(machine.PIPES[1:])}
{rates}
`float` has fp32 and integer multiplications (IMAD); `integer` has additions, logic, moves, comparisons, minima and
conversions to bf16; `special` has exponentials, reciprocals and the other conversions. mma.sync is taken to reach
0.62 of H100's tensor rate, wgmma all of it, and twice as much of 8 bits; the latter's operands in shared memory count
as `memory`. Code of sm_90 is made from PTX of compute_80, that of sm_90a from PTX of compute_90a, as in the default
build. In the `wgmma` kernels tiles are brought by warps of their own, which count, too.

**TFLOP/s** of the pass: 4 D a score forward, 10 D backward, causal, T = {LENGTH}; the scores of diagonal tiles that
nobody sees are computed and not counted. Peak: {peaks}, of 8 bits on H100 twice as much. Decoding has the rate at which it could take keys and values
(one query a head, heads not grouped), to be compared with the memory's 2.0 and 3.35 TB/s. Nothing else of the second
cache and of device memory enters, so that kernels with atomic additions are further from their bound than others, nor
do blocks an SM (by threads, registers and shared memory).
{table(rows)}"""


def name_of(case):
    kernel, method, head_dim, arch = case
    return f"{kernel}, {method}, D = {head_dim}, {arch}"


def compare(rows, counts, version, path):
    """0, or 1 where a count has grown. Counts of another compiler say nothing."""
    if counts["nvcc"] != version:
        say(f"{path} has counts of nvcc {counts['nvcc']}; this is {version}: nothing is compared")
        return 0
    status = 0
    renew = "./plumbline bench limits --renew"
    for row in rows:
        name, now = name_of(row[:4]), round(row.issued)
        before = counts["instructions"].get(name)
        print(f"{name}: {now} instructions for 16 x 64 scores, {before} before")
        if before is None:
            say(f"{name} has no count in {path}; after a look, {renew} writes it")
            status = 1
        elif now > before * (1 + GROWTH):
            say(f"{name}: {before} instructions before, {now} now, {now / before - 1:.1%} more; if that is meant, "
                f"{renew} renews {path}")
            status = 1
        elif now < before * (1 - GROWTH):
            say(f"{name}: {before} instructions before, {now} now; {renew} makes that the new measure")
    return status


def main():
    options = parsed(sys.argv[1:])
    cases = wanted(options)
    try:
        bench = Bench(options.build)
        if options.stage == "prepare":
            return 0
        rows = []
        for case in cases:
            rows.append(bench.count(case))
            say(f"{name_of(case)}: {rows[-1].issued:.0f} instructions, {rows[-1].cycles[rows[-1].binding]:.0f} clocks "
                f"({rows[-1].binding})")
    except (toolkit.Missing, toolkit.Failed, thread.Unknown, counting.NoLoop, ValueError) as why:
        say(str(why))
        return 3
    if options.check:
        place = options.counts.resolve()
        place = place.relative_to(ROOT) if place.is_relative_to(ROOT) else place
        return compare(rows, json.loads(options.counts.read_text()), bench.version, place)
    if options.renew:
        instructions = {name_of(row[:4]): round(row.issued) for row in rows}
        options.counts.write_text(json.dumps({"nvcc": bench.version, "instructions": instructions}, indent=1) + "\n")
        return 0
    if options.writes_table:
        TABLE.write_text(document(rows, bench.version))
    print(table(rows) if not options.writes_table else TABLE.read_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
