# SPDX-License-Identifier: Apache-2.0
# usage: hopper_attention.py PLUMBLINE NVCC [--faults]
# The kernel of hopper_attention.cu passes `plumbline verify --device software`; --faults: with each of the faults
# below, planted in its text, it does not, and is told the line.
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = (HERE / "hopper_attention.cu").read_text()
LIBRARY = HERE.parents[3] / "kernel_abi"


class Fault(NamedTuple):
    name: str
    old: str  # occurs once
    new: str
    says: str | tuple  # the verdict, or the device: this, or one of these
    line: str = ""  # what stands in a line that the device names; "": the verdict finds it


IN_FLIGHT = "to which an asynchronous copy is under way"
WAIT, BRING = '"r"(parity)', '"l"(&map), "r"(address(barrier))'
EXPECTED = "sizeof s.k[stage] + sizeof s.v[stage]"
BRING_K = "    bring(s.k[stage], k, n * kKeys, kv_head, &s.full[stage]);\n"
FAULTS = [
    Fault("scores are in other units than the bias", "n.scale * kLog2E", "n.scale", "lse: "),
    Fault("the sign of the bias", "- slope * fabsf", "+ slope * fabsf", "a kernel whose bias has the opposite sign"),
    Fault("o is not rescaled", "*= shrink;", "*= 1;", "o: "),
    Fault("the mask is off by one", "j <= i)", "j <= i + 1)", "a kernel that sees the key after the query"),
    Fault("lse in units of log 2", "log2f(sum)) * kLn2", "log2f(sum))", "a kernel that returns lse to base 2"),
    Fault("o is not swizzled", " ^ of % 8 << 4", "", "o: "),
    Fault("no wait for a tile", "wait(&s.full[stage], tile / kStages & 1);", "", IN_FLIGHT, 'SCORES("bf16")'),
    Fault("the phase of the wait", "tile / kStages & 1)", "(tile / kStages & 1) ^ 1)", "waits for the mbarrier", WAIT),
    Fault("the producer does not wait", "wait(&s.empty[stage], (n / kStages & 1) ^ 1);", "", IN_FLIGHT, BRING),
    Fault("a tile is given back before it is read", "    wait_for_products(o);\n", "",
          ("its warpgroup has not waited for it", "no barrier is between them"), BRING),
    Fault("half of the consumers give a tile back", "(&s.empty[stage], kWarpsThatRead)",
          "(&s.empty[stage], kWarpsThatRead / 2)", "waits for the mbarrier", WAIT),
    Fault("too few bytes are expected", EXPECTED, "sizeof s.k[stage]", IN_FLIGHT, 'VALUES_64("bf16")'),
    Fault("too many bytes are expected", EXPECTED, "3 * sizeof s.k[stage]", "waits for the mbarrier", WAIT),
    Fault("V is never brought", EXPECTED + ");\n" + BRING_K + BRING_K.replace("k,", "v,").replace("s.k", "s.v"),
          "sizeof s.k[stage]);\n" + BRING_K, "which nothing has written", 'VALUES_64("bf16")'),
    Fault("no fence before TMA reads", 'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");', "",
          "no fence.proxy.async is between them", '"r"(address(tile.bytes[c]))'),
    Fault("no fence before the products", "fence_registers(o);", "keep_order(o);",
          "has written registers of this after its last wgmma.fence", 'VALUES_64("bf16")'),
    Fault("no wait for the products", 'asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");', "",
          "reads an accumulator of the wgmma.mma_async", "score = score * scale"),
    Fault("no barrier before the store", 'asm volatile("bar.sync %0, 128;" ::"r"(1 + w) : "memory");\n  if', "if",
          "no barrier is between them", "*(uint32_t*)(s.q[w]"),
    Fault("lse of rows that are not there", "lane % 4 == 0 && first_row + of < n.queries", "lane % 4 == 0",
          "after the end of an allocation", "n.lse["),
    Fault("an mbarrier is not initialised", "start(&s.empty[stage], kWarpsThatRead);", "",
          "has not been initialised", WAIT),
]

# Lengths at and next to the ends of tiles, and of two and three of them.
SIZES = "1,63,64,65,100,128,129,200"
RIGHT = ["--cases", "12", "--keys", SIZES, "--batch", "1,2", "--heads", "1,2,3"]
QUICK = ["--cases", "8", "--keys", "200", "--batch", "1", "--heads", "2", "--head-dims", "64", "--dtype", "bf16",
         "--bias", "alibi"]


def verify(plumbline, nvcc, source, folder, options):
    """Status and output of the verdict."""
    file, library = folder / "hopper_attention.cu", folder / "libhopper.so"
    file.write_text(source)
    subprocess.run([nvcc, "-O2", "-w", "-shared", "-Xcompiler", "-fPIC", "-lineinfo", "-cudart", "shared", "-gencode",
                    "arch=compute_90a,code=compute_90a", "-I", LIBRARY, file, "-o", library], check=True)
    run = subprocess.run([plumbline, "verify", "--kernel", library, "--device", "software", *options],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return run.returncode, run.stdout


def planted(fault):
    assert SOURCE.count(fault.old) == 1, f"{fault.name}: {SOURCE.count(fault.old)} places"
    return SOURCE.replace(fault.old, fault.new)


def complaint(fault, source, status, output):
    """What is wrong with the verdict on a fault; or nothing."""
    stopped = "the software device stopped the kernel" in output
    says = (fault.says,) if isinstance(fault.says, str) else fault.says
    if status != 1 or stopped != bool(fault.line) or not any(words in output for words in says):
        return "not caught as it should be"
    if stopped:
        # Which of the two accesses of a race comes second, the order of the warps says: both are named.
        named = re.findall(r"(?:from |at PTX line \d+ \()\S*hopper_attention\.cu:(\d+)", output)
        if not any(fault.line in source.splitlines()[int(n) - 1] for n in named):
            return f"lines {named} are named, not that of {fault.line!r}"
    return ""


def main(plumbline, nvcc, *faults):
    if not nvcc:
        print("skipped: there is no nvcc")
        return 77
    failed = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        status, output = verify(plumbline, nvcc, SOURCE, folder, RIGHT)
        if status == 3 and "an instruction that this device lacks" in output:
            print("skipped:", output)
            return 77
        if status != 0:
            failed.append(f"the right kernel: status {status}\n{output}")
        for fault in FAULTS if faults and not failed else []:
            source = planted(fault)
            wrong = complaint(fault, source, *(verdict := verify(plumbline, nvcc, source, folder, QUICK)))
            if wrong:
                failed.append(f"{fault.name}: {wrong}; status {verdict[0]}\n{verdict[1]}")
    caught = f", and {len(FAULTS)} faults are caught" if faults else ""
    print("\n".join(failed) or "the kernel passes" + caught)
    return bool(failed)


sys.exit(main(*sys.argv[1:]))
