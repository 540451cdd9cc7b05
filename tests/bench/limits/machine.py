# SPDX-License-Identifier: Apache-2.0
"""What a multiprocessor does in a clock, and what of it an instruction takes.

Rates are those of NVIDIA's CUDA C++ Programming Guide, "Arithmetic Instructions", for compute capabilities 8.0 and
9.0, of "Shared Memory" there (32 banks of 4 bytes), and of the white papers of A100 and H100 (tensor cores, clocks,
multiprocessors). A multiprocessor has four schedulers, each of which issues an instruction of a warp a clock.
mma.sync reaches 0.62 of H100's tensor rate, as published measurements of it say: only wgmma has all of it."""
import collections
import math
import re

Gpu = collections.namedtuple("Gpu", "name multiprocessors clock peak rates shared_bytes")  # peak: tensor, FLOP/s

# Results a clock and multiprocessor; "tensor" in multiply-adds, "memory" in words of 4 bytes.
RATES_80 = {"tensor": 1024, "float": 64, "integer": 64, "special": 16, "double": 32, "memory": 32}
RATES_90 = {**RATES_80, "tensor": 0.62 * 2048, "float": 128, "double": 64}
GPUS = {
    "sm_80": Gpu("A100 (SXM)", 108, 1.41e9, 312e12, RATES_80, 164 * 1024),
    "sm_90": Gpu("H100 (SXM)", 132, 1.83e9, 989e12, RATES_90, 228 * 1024),
    "sm_90a": Gpu("H100 (SXM)", 132, 1.83e9, 989e12, {**RATES_90, "tensor": 2048}, 228 * 1024),
}
PIPES = ["issue", "tensor", "float", "integer", "special", "double", "memory"]

# The pipe of an opcode: the first that matches its beginning. Integer multiplications share the pipe of floats;
# minima, comparisons and selections of floats that of integers.
PIPE_OF = [(re.compile(expression), pipe) for expression, pipe in [
    (r"HMMA|IMMA|DMMA|HGMMA|QGMMA", "tensor"),
    (r"MUFU|F2F$|F2I|I2F$|FRND|I2I", "special"),
    (r"D(ADD|FMA|MUL|SETP|MNMX)", "double"),
    (r"FFMA|FADD|FMUL|IMAD|IDP|HFMA2|HADD2|HMUL2|FSWZADD", "float"),
    (r"LDGDEPBAR|LDC|UTMA", "issue"),
    (r"LD|ST|ATOM|RED|SHFL|CCTL|SYNCS", "memory"),
    # Control, special registers, and uniform instructions, which have a datapath of their own.
    (r"WARPGROUP|BRA|BRXU?|BSSY|BSYNC|BREAK|CALL|RET|EXIT|WARPSYNC|NOP|BAR|DEPBAR|MEMBAR|ERRBAR|YIELD|ENDCOLLECTIVE|"
     r"U[A-Z]|R2UR|S2R|S2UR|FENCE|NANOSLEEP|ELECT", "issue"),
    (r"F2FP|I2FP|FMNMX|FSETP|FSEL|FSET|FCHK|IADD|LOP3|SHF|ISETP|SEL|MOV|PRMT|PLOP3|LEA|IMNMX|VI|R2P|P2R|IABS|FLO|"
     r"POPC|BREV|CS2R|SGXT|BMSK|VOTE|HSETP|HMNMX|LEPC|MATCH|REDUX|VABS", "integer"),
]]


def pipe_of(instruction):
    """@raises ValueError for an opcode that stands in no list."""
    for expression, pipe in PIPE_OF:
        if expression.match(instruction.opcode):
            return pipe
    raise ValueError(f"{instruction}: limits/machine.py does not know its pipe")


BYTES_OF_WGMMA = {"HGMMA": 2, "QGMMA": 1}  # of an element


def wgmma_shape(instruction):
    """(columns, depth) of HGMMA.64x128x16 or QGMMA.64x128x32, whose 64 rows are those of four warps."""
    found = re.fullmatch(r"64x(\d+)x(\d+)", instruction.modifiers[0])
    if not found:
        raise ValueError(f"{instruction}: limits/machine.py does not know its shape")
    return int(found[1]), int(found[2])


def multiply_adds(instruction):
    """Of a warp's part of a tensor-core instruction, from its shape: HMMA.16816 has 16 x 8 x 16."""
    if instruction.opcode in BYTES_OF_WGMMA:
        columns, depth = wgmma_shape(instruction)
        return 16 * columns * depth
    shape = next((m for m in instruction.modifiers if re.fullmatch(r"16\d+", m)), None)
    if not shape:
        raise ValueError(f"{instruction}: limits/machine.py does not know its shape")
    rows, columns, depth = 16, int(shape[2]), int(shape[3:])
    return rows * columns * depth


def words(instruction):
    """4-byte words of a lane that go through shared memory or the first cache."""
    for modifier in instruction.modifiers:
        if modifier in ("64", "128"):
            return int(modifier) // 32
    if instruction.opcode == "LDSM":  # an 8 x 8 matrix of 16 bits is a word of each lane
        return int(instruction.modifiers[-1]) if instruction.modifiers[-1] in "24" else 1
    return 1


def amounts(instruction):
    """{pipe: what a warp's instruction takes of it, in units of its rate}, without "issue"."""
    pipe = pipe_of(instruction)
    if pipe == "issue":
        return {}
    if instruction.opcode in BYTES_OF_WGMMA:
        # A quarter of what the four warps read: B, and A where it is not in registers. 8 bits have twice the rate.
        columns, depth = wgmma_shape(instruction)
        rows = 64 if instruction.operands[1].startswith("gdesc") else 0
        size = BYTES_OF_WGMMA[instruction.opcode]
        return {"tensor": multiply_adds(instruction) * size / 2, "memory": (rows + columns) * depth * size / 4 / 4}
    if pipe == "tensor":
        return {pipe: multiply_adds(instruction)}
    return {pipe: 32 * (words(instruction) if pipe == "memory" else 1)}


def cycles(work, gpu):
    """{pipe: clocks of a multiprocessor for four warps, one on each scheduler, that each do `work`}, and the
    largest pipe. work["issue"] counts instructions, the others units of the rates."""
    by_pipe = {pipe: work.get("issue", 0) if pipe == "issue" else 4 * work.get(pipe, 0) / gpu.rates[pipe]
               for pipe in PIPES}
    return by_pipe, max(by_pipe, key=by_pipe.get)


def blocks_of_multiprocessor(gpu, threads, registers, shared_bytes):
    """Blocks that a multiprocessor holds: by registers (65,536, in units of 256 a warp), shared memory (1 KiB of a
    block is the system's), warps (64) and blocks (32)."""
    warps = math.ceil(threads / 32)
    of_a_scheduler = 16384 // (math.ceil(registers * 32 / 256) * 256)
    return min(4 * of_a_scheduler // warps, gpu.shared_bytes // (shared_bytes + 1024), 64 // warps, 32)
