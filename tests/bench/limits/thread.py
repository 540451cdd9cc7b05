# SPDX-License-Identifier: Apache-2.0
"""Runs machine code, one thread at a time: each basic block becomes a function of Python (statement.py)."""
import struct

import values
from operand import PREDICATES, SIZE, UNIFORM_PREDICATES, Operand
from statement import WORD, Statement
from values import U32

SYSTEM_BYTES = 1024  # of shared memory, which compute capability 9.0 has in front of a block's own
STACK_BYTES = 4096


class Unknown(Exception):
    """An instruction, or a form of one, that is not known here."""


class Translator:
    """Functions of a kernel's blocks. `banks`: contents of the banks of constants by their numbers."""

    def __init__(self, blocks, banks):
        self.blocks, self.banks, self.functions = blocks, banks, {}

    def function(self, block):
        if block not in self.functions:
            self.functions[block] = self.translate(block)
        return self.functions[block]

    def translate(self, block):
        first, end = self.blocks.bounds[block]
        lines = []
        for n in range(first, end):
            lines += self.statements(self.blocks.instructions[n], n)
        lines.append(f"return {block + 1}")
        names = {**vars(values), "const": self.constant, "block_at": self.blocks.of_address}
        exec("def run(r, t):\n" + "\n".join(" " + line for line in lines), names)
        return names["run"]

    def statements(self, i, n):
        try:
            done = Statement(i).lines()
        except (KeyError, IndexError, TypeError, ValueError) as why:
            raise Unknown(f"{i}: limits/statement.py does not know this instruction") from why
        if not i.predicate:
            return done
        return [f"if {Operand(i.predicate).predicate()}:", *(" " + line for line in done or ["pass"]),
                f"else: t.trace.append(~{n})"]

    def constant(self, bank, offset, size=4):
        data = self.banks.get(bank, b"")
        return int.from_bytes(data[offset:offset + size].ljust(size, b"\0"), "little")


class Thread:
    """One thread of a block. `trace` grows by a block's number for each that it runs, and by ~n for each
    instruction n whose predicate was false."""

    def __init__(self, translator, special, shared):
        self.translator, self.special, self.shared = translator, special, shared
        self.local = bytearray(STACK_BYTES)
        self.registers = [0] * SIZE
        self.registers[PREDICATES + 7] = self.registers[UNIFORM_PREDICATES + 7] = True
        self.trace, self.block = [], 0

    def run_to_barrier(self, most_blocks):
        """False where the thread has ended."""
        blocks, functions = self.translator.blocks, self.translator.functions
        trace, registers = self.trace, self.registers
        while self.block is not None:
            if len(trace) > most_blocks:
                raise Unknown("a thread does not end")
            trace.append(self.block)
            function = functions.get(self.block) or self.translator.function(self.block)
            at_barrier = blocks.instructions[blocks.bounds[self.block][1] - 1].opcode == "BAR"
            try:
                self.block = function(registers, self)
            except (struct.error, IndexError) as why:
                first, end = blocks.bounds[self.block]
                raise Unknown(f"between {blocks.instructions[first]} and {blocks.instructions[end - 1]} a thread goes "
                              "outside of its memory") from why
            if at_barrier:
                return True
        return False


def run_block(translator, threads, place, shared_bytes, most_blocks=200_000):
    """The traces of all threads of the block at `place`, by x, y, z."""
    shared = bytearray(U32.pack(WORD) * ((SYSTEM_BYTES + shared_bytes) // 4 + 1))
    special = {"SR_CTAID.X": place[0], "SR_CTAID.Y": place[1], "SR_CTAID.Z": place[2], "SR_TID.Y": 0, "SR_TID.Z": 0,
               "SR_CLOCKLO": 0, "SR_CgaCtaId": 0, "SR_SMEMSZ": shared_bytes}
    block = [Thread(translator, {**special, "SR_TID.X": n, "SR_LANEID": n % 32, "SR_TID": n}, shared)
             for n in range(threads)]
    running = block
    while running:
        running = [thread for thread in running if thread.run_to_barrier(most_blocks)]
    return [thread.trace for thread in block]
