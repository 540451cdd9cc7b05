# SPDX-License-Identifier: Apache-2.0
"""usage: bench_limits.py LIMITS: `plumbline bench limits`, on machine code that was written and counted by hand."""
import contextlib
import io
import json
import pathlib
import sys
import unittest

path = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(path.parent))
import limits  # which brings the folder limits/ into the path
import counting
import machine
import operand
import sass
import thread
import toolkit

HAND = (pathlib.Path(__file__).parent / "bench_limits.sass").read_text()


class OfOneThread:
    """Registers after some lines of machine code, by a thread whose registers were `before`."""

    def __init__(self, lines, **before):
        text = "\t.section\t.text.k,\"ax\"\n" + "".join(
            f"        /*{16 * n:04x}*/  {line} ;\n" for n, line in enumerate([*lines, "EXIT"]))
        blocks = sass.Blocks(sass.parse(text)["k"])
        one = thread.Thread(thread.Translator(blocks, {}), {}, bytearray(64))
        for name, value in before.items():
            one.registers[operand.register(name)] = value
        one.run_to_barrier(100)
        self.registers = one.registers

    def __getitem__(self, name):
        return self.registers[operand.register(name)]


class MachineCode(unittest.TestCase):
    def setUp(self):
        self.code = sass.parse(HAND)["loop"]
        self.blocks = sass.Blocks(self.code)

    def test_instructions_are_read(self):
        self.assertEqual(len(self.code), 22)
        self.assertEqual(str(self.code[5]), "0x50 IMAD R2, R0, 0x1, R0.reuse")
        self.assertEqual(str(self.code[4]), "0x40 @P0 BRA 0x70")

    def test_the_loop_is_found(self):
        loops = self.blocks.loops()
        bounds = {16 * self.blocks.bounds[head][0]: sum(
            self.blocks.bounds[n][1] - self.blocks.bounds[n][0] for n in body) for head, body in loops.items()}
        self.assertEqual(bounds, {0x30: 15})  # what is never reached is no loop

    def test_an_interior_iteration_is_counted(self):
        traces = thread.run_block(thread.Translator(self.blocks, {}), 128, (0, 0, 0), 512)
        work, often = counting.work_of_block(self.blocks, traces)
        # Four warps of 11, and two of warp 0. The first iteration: two more in each warp. The sixth is the last.
        self.assertEqual(often, {54: 1, 46: 4})
        self.assertEqual(work, {
            "issue": 46, "tensor": 4 * 16 * 8 * 16,
            "integer": 4 * 32 * 3,            # the two comparisons and IADD3
            "float": 32,                      # IMAD
            "memory": 4 * 32 * 4 + 32})       # 16 bytes a lane, and STS; MUFU's predicate is false

    def test_a_missing_instruction_is_told(self):
        with self.assertRaisesRegex(ValueError, "missing before 0xe0 FADD|missing before 0xd0"):
            sass.parse(HAND.replace("        /*00c0*/                   FADD R3, R3, 1 ;\n", ""))

    def test_an_unknown_instruction_is_named(self):
        with self.assertRaisesRegex(thread.Unknown, "0x0 QUUX R1, R2: .*does not know"):
            OfOneThread(["QUUX R1, R2"])
        with self.assertRaisesRegex(ValueError, "QUUX R1: .*pipe"):
            machine.pipe_of(sass.Instruction(0, "", "QUUX", ["R1"]))

    def test_an_address_outside_is_told(self):
        with self.assertRaisesRegex(thread.Unknown, "between 0x0 LDS R0, .* outside of its memory"):
            OfOneThread(["LDS R0, [R1+0x40]"])
        self.assertEqual(OfOneThread(["STS.64 [R1+0x38], R2", "LDS R0, [0x3c]"], R3=7)["R0"], 7)

    def test_a_kernel_without_a_loop_is_told(self):
        blocks = sass.Blocks(sass.parse(HAND.replace("BRA `(.L_x_0)", "EXIT"))["loop"])
        traces = thread.run_block(thread.Translator(blocks, {}), 128, (0, 0, 0), 512)
        with self.assertRaisesRegex(counting.NoLoop, "no loop has nine tenths"):
            counting.work_of_block(blocks, traces)


class Arithmetic(unittest.TestCase):
    """Results worked out by hand."""

    def check(self, line, expected, **before):
        after = OfOneThread([line], **before)
        self.assertEqual({name: after[name] for name in expected}, expected, line)

    def test_integers(self):
        self.check("IADD3 R0, P0, R1, R2, RZ", {"R0": 1, "P0": True}, R1=0xFFFFFFFF, R2=2)
        self.check("IADD3 R0, P0, R1, -R2, RZ", {"R0": 3, "P0": True}, R1=5, R2=2)
        self.check("IADD3.X R0, R1, R2, RZ, P0, !PT", {"R0": 8}, R1=5, R2=2, P0=True)
        self.check("VIMNMX R0, R1, R2, PT", {"R0": 0xFFFFFFFE}, R1=5, R2=0xFFFFFFFE)
        self.check("VIMNMX.RELU R0, R1, R2, PT", {"R0": 0}, R1=5, R2=0xFFFFFFFE)
        self.check("VIMNMX.RELU R0, R1, R2, !PT", {"R0": 5}, R1=5, R2=0xFFFFFFFE)
        self.check("VIMNMX3 R0, R1, R2, R3, PT", {"R0": 0xFFFFFFFE}, R1=5, R2=0xFFFFFFFE, R3=7)
        self.check("VIMNMX3.U32 R0, R1, R2, R3, !PT", {"R0": 0xFFFFFFFE}, R1=5, R2=0xFFFFFFFE, R3=7)
        self.check("IMAD.WIDE R2, R0, R1, R4", {"R2": 0xFFFFFFFF, "R3": 0}, R0=0xFFFFFFFF, R1=3, R4=2, R5=1)
        self.check("IMAD.HI.U32 R0, R1, R2, R4", {"R0": 0x80000001}, R1=0xFFFFFFFF, R2=0x80000000, R4=0x80000000,
                   R5=1)
        self.check("LEA R0, P0, R1, R2, 0x2", {"R0": 3, "P0": True}, R1=0x3FFFFFFF, R2=7)
        self.check("LEA.HI R0, R1, R2, RZ, 0x5", {"R0": 0x11F}, R1=0xFFFFFFFF, R2=0x100)
        self.check("LEA.HI.X.SX32 R0, R1, R2, 0x1, P0", {"R0": 0x100}, R1=0x80000000, R2=0x100, P0=True)
        self.check("SHF.R.S32.HI R0, RZ, 0x1f, R1", {"R0": 0xFFFFFFFF}, R1=0x80000000)
        self.check("SHF.L.U64.HI R0, R1, 0x4, R2", {"R0": 0x2A}, R1=0xA0000000, R2=2)
        self.check("LOP3.LUT R0, R1, R2, R3, 0x96, !PT", {"R0": 0b0110}, R1=0b1100, R2=0b1010, R3=0)
        self.check("PRMT R0, R1, 0x5410, R2", {"R0": 0x56781234}, R1=0xABCD1234, R2=0xEF015678)
        self.check("PRMT R0, R1, 0x9981, RZ", {"R0": 0xFFFF0080}, R1=0x8000)
        self.check("IMNMX R0, R1, 0x40, PT", {"R0": 0xFFFFFFFF}, R1=0xFFFFFFFF)
        self.check("SEL R0, R1, R2, !P0", {"R0": 2}, R1=1, R2=2, P0=True)

    def test_predicates(self):
        self.check("ISETP.GT.OR P0, P1, R1, R2, P2", {"P0": False, "P1": True}, R1=0xFFFFFFFF, R2=1)
        self.check("ISETP.GE.U32.AND P0, PT, R1, R2, PT", {"P0": True}, R1=0xFFFFFFFF, R2=1)
        self.check("ISETP.GE.AND.EX P0, PT, R1, R2, PT, P1", {"P0": False}, R1=3, R2=3)
        self.check("PLOP3.LUT P0, PT, P1, P2, PT, 0x80, 0x0", {"P0": True}, P1=True, P2=True)
        self.check("FSETP.NEU.AND P0, PT, |R1|, +INF , PT", {"P0": False}, R1=0xFF800000)
        self.check("FSETP.GEU.AND P0, PT, R1, -126, PT", {"P0": True}, R1=0x7FC00000)

    def test_floats(self):
        one, two = 0x3F800000, 0x40000000
        self.check("FFMA R0, R1, -2, R2", {"R0": 0}, R1=one, R2=two)
        self.check("FMNMX R0, R1, R2, !PT", {"R0": two}, R1=one, R2=two)
        self.check("MUFU.EX2 R0, R1", {"R0": two}, R1=one)
        self.check("DADD R0, R2, -R2", {"R0": 0, "R1": 0}, R2=5, R3=one)
        self.check("F2F.F64.F32 R0, R2", {"R0": 0, "R1": 0x3FF00000}, R2=one)
        self.check("F2FP.BF16.PACK_AB R0, R1, R2", {"R0": 0x3F804000}, R1=one, R2=two)
        self.check("HFMA2.MMA R0, -RZ, RZ, 1.875, 0", {"R0": one})
        self.check("F2I.FTZ.U32.TRUNC.NTZ R0, R1", {"R0": 0}, R1=0xBF800000)


class Hopper(unittest.TestCase):
    def test_wgmma_takes_tensor_cores_and_shared_memory(self):
        # A warp's quarter of 64 x 128 x 16; B has 128 x 16 elements of 2 bytes, A 64 x 16 where it is there.
        from_memory = sass.Instruction(0, "", "HGMMA.64x128x16.F32.BF16", ["R24", "gdesc[UR12]", "R24"])
        from_registers = sass.Instruction(0, "", "HGMMA.64x128x16.F32.BF16",
                                          ["R88", "R152", "gdesc[UR8].tnspB", "R88", "gsb0"])
        self.assertEqual(machine.amounts(from_memory), {"tensor": 16 * 128 * 16, "memory": 384})
        self.assertEqual(machine.amounts(from_registers), {"tensor": 16 * 128 * 16, "memory": 256})
        # All of the peak: 16 x 128 x 16 products of each of four warps in 64 clocks.
        clocks, _ = machine.cycles(machine.amounts(from_registers), machine.GPUS["sm_90a"])
        self.assertEqual((clocks["tensor"], clocks["memory"]), (64, 32))

    def test_products_of_8_bits_have_twice_the_rate(self):
        product = sass.Instruction(0, "", "QGMMA.64x128x32.F32.E4M3.E4M3", ["R24", "gdesc[UR12]", "R24"])
        self.assertEqual(machine.amounts(product), {"tensor": 16 * 128 * 16, "memory": 384})

    def test_products_and_barriers_let_a_thread_go_on(self):
        after = OfOneThread(["HGMMA.64x8x16.F32.BF16 R4, gdesc[UR4], RZ, !UPT",
                             "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R3+URZ+0x28400], R20",
                             "USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xe8"])
        self.assertEqual([after[f"R{n}"] for n in range(3, 9)], [0, *[0x3E800000] * 4, 0])
        self.assertTrue(after["P0"] and after["UP0"])

    def test_a_loop_that_is_entered_in_the_middle_is_found(self):
        # Blocks at 0, 0x10 (the copy), 0x20 and 0x40: the first goes to both parts of the loop, so that none of
        # them comes before the other.
        code = [("P0", "BRA", ["0x20"]), ("", "UTMALDG.3D", ["[UR8]", "[UR16]"]),
                ("", "IADD3", ["R0", "R0", "0x1", "RZ"]), ("!P1", "BRA", ["0x10"]), ("", "EXIT", [])]
        blocks = sass.Blocks([sass.Instruction(16 * n, *line) for n, line in enumerate(code)])
        self.assertEqual(blocks.loops(), {})
        self.assertEqual(counting.hot_loop(blocks, [[0, 1, 2, 1, 2, 3]], ["UTMALDG"]), 1)
        self.assertIsNone(counting.hot_loop(blocks, [[0, 2, 3]], ["UTMALDG"]))
        with self.assertRaisesRegex(counting.NoLoop, "no loop has nine tenths of UTMALDG"):
            counting.hot_loop(blocks, [[0, 1, 2, 3]], ["UTMALDG"])


class Bounds(unittest.TestCase):
    def test_clocks(self):
        # The hand count of a forward tile at D = 64: 986 instructions, 64 HMMA, 453 of the pipe of floats.
        work = {"issue": 986, "tensor": 64 * 2048, "float": 453 * 32, "special": 34 * 32, "memory": 180 * 32}
        clocks, binding = machine.cycles(work, machine.GPUS["sm_80"])
        self.assertEqual((clocks["tensor"], clocks["float"], clocks["memory"], clocks["special"], binding),
                         (512, 906, 720, 272, "issue"))
        self.assertEqual(machine.cycles(work, machine.GPUS["sm_90"])[0]["float"], 453)
        self.assertEqual(round(limits.rate("mma_forward", 64, 986, machine.GPUS["sm_80"]) / 1e12), 159)

    def test_occupancy(self):
        a100 = machine.GPUS["sm_80"]
        self.assertEqual(machine.blocks_of_multiprocessor(a100, 128, 168, 48128), 3)  # registers and shared memory
        self.assertEqual(machine.blocks_of_multiprocessor(a100, 128, 168, 88 * 1024), 1)
        self.assertEqual(machine.blocks_of_multiprocessor(a100, 128, 32, 41 * 1024), 3)  # 1 KiB of each is taken
        self.assertEqual(machine.blocks_of_multiprocessor(a100, 128, 32, 0), 16)  # warps


class Growth(unittest.TestCase):
    COUNTS = {"nvcc": "13.0.88", "instructions": {"mma_forward, nope, D = 64, sm_80": 1000}}

    def compared(self, issued, counts=COUNTS, version="13.0.88", method="nope"):
        row = limits.Row("mma_forward", method, 64, "sm_80", issued, *[None] * 7)
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            status = limits.compare([row], counts, version, "counts.json")
        return status, said.getvalue()

    def test_five_per_cent_more_are_let_through(self):
        self.assertEqual(self.compared(1050), (0, ""))

    def test_more_are_not(self):
        status, said = self.compared(1051)
        self.assertEqual(status, 1)
        for part in ("mma_forward, nope, D = 64, sm_80", "1000 instructions before, 1051 now", "5.1% more",
                     "./plumbline bench limits --renew"):
            self.assertIn(part, said)

    def test_fewer_are_told(self):
        status, said = self.compared(900)
        self.assertEqual(status, 0)
        self.assertIn("--renew", said)

    def test_a_kernel_without_a_count_fails(self):
        status, said = self.compared(1000, method="fire")
        self.assertEqual(status, 1)
        self.assertIn("no count", said)

    def test_counts_of_another_compiler_are_not_compared(self):
        status, said = self.compared(2000, version="13.1.1")
        self.assertEqual(status, 0)
        self.assertIn("nothing is compared", said)

    def test_what_is_watched_has_a_count_and_nothing_else_has(self):
        counts = json.loads(limits.COUNTS.read_text())
        self.assertEqual(set(counts["instructions"]), set(map(limits.name_of, limits.WATCHED)))


class Resources(unittest.TestCase):
    def test_what_ptxas_says(self):
        said = """ptxas info    : Compiling entry function '_Z1kv' for 'sm_80'
ptxas info    : Function properties for _Z1kv
    0 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 168 registers, used 1 barriers, 256 bytes smem, 680 bytes cmem[0]
"""
        self.assertEqual(toolkit.resources(said), {"_Z1kv": {"registers": 168, "spilled": 20, "shared": 256}})


class Usage(unittest.TestCase):
    def refused(self, *arguments):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as end:
            limits.wanted(limits.parsed(list(arguments)))
        self.assertEqual(end.exception.code, 2)
        return said.getvalue()

    def test_bad_options(self):
        self.assertIn("--kernl", self.refused("--kernl", "mma_forward"))
        self.assertIn("invalid choice: 'mma'", self.refused("--kernel", "mma"))
        self.assertIn("invalid choice: 32", self.refused("--head-dim", "32"))
        self.assertIn("no other option", self.refused("--check", "--arch", "sm_80"))
        self.assertIn("no kernel has all of that", self.refused("--kernel", "decode", "--method", "fire"))

    def test_cases_are_chosen(self):
        chosen = limits.wanted(limits.parsed(["--kernel", "mma_forward", "--head-dim", "64", "--arch", "sm_80",
                                              "--method", "fox"]))
        self.assertEqual(chosen, [("mma_forward", "fox", 64, "sm_80")])


unittest.main()
