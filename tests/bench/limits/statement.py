# SPDX-License-Identifier: Apache-2.0
"""An instruction as lines of Python over r, a thread's registers, and t, the thread.

What decides where a thread goes is computed: integers, predicates, floats, addresses, shared memory. Memory of the
device is not there: every word of it reads as a number that is about 1/2 in fp32 and bf16 and small in fp64, what
is stored goes nowhere, and tensor cores give 1/4. Shuffles and votes answer with the thread's own value."""
import re

from operand import PREDICATES, SINK, Operand
from values import COMPARISON, MASK, OPPOSITE, ROUNDING

WORD = 0x3F003F00  # of device memory
PRODUCT = 0x3E800000  # 1/4, of tensor cores
# Nothing that a thread by itself would notice.
SILENT = {"BAR", "BSSY", "BSYNC", "BREAK", "WARPSYNC", "NOP", "DEPBAR", "LDGDEPBAR", "LDGSTS", "STG", "RED", "REDG",
          "MEMBAR", "ERRBAR", "CCTL", "YIELD", "ENDCOLLECTIVE", "ST", "FENCE", "UTMACCTL", "UTMALDG", "WARPGROUP"}


class Statement:
    """An instruction as lines of Python, over r, the thread's registers, and t, the thread."""

    def __init__(self, instruction):
        self.i, self.opcode, self.m = instruction, instruction.opcode, instruction.modifiers
        self.o = [Operand(text) for text in instruction.operands]

    def lines(self):
        if self.opcode in SILENT:
            return []
        name = self.opcode
        if name[0] == "U" and not hasattr(self, "do_" + name) and hasattr(self, "do_" + name[1:]):
            name = name[1:]
        return getattr(self, "do_" + name, self.unknown)()

    def unknown(self):
        raise KeyError(self.opcode)

    def to(self, value, operand=None, part=0):
        place = (operand or self.o[0]).place
        return [] if place == SINK else [f"r[{place + part}] = {value}"]

    def to_number(self, value):
        return self.to(f"fb({value})")

    def to_double(self, value):
        place = self.o[0].place
        return [f"r[{place}], r[{place + 1}] = db({value})"]

    def split(self, first=1):
        """From operand `first` on: predicates that are written, then what is read."""
        outs = []
        rest = self.o[first:]
        while rest and rest[0].place is not None and rest[0].text[0] in "PU" and rest[0].text[:2] != "UR" and \
                len(outs) < 2:
            outs.append(rest.pop(0))
        return outs, rest

    # Integers.
    def do_MOV(self):
        return self.to(self.o[1].word())

    do_R2UR = do_MOV

    def do_IADD3(self):
        outs, rest = self.split()
        value = " + ".join(operand.summand() for operand in rest[:3])
        if "X" in self.m:
            value = " + ".join([value, *(o.predicate() for o in rest[3:])])
        lines = [f"v = {value}", *self.to("v & MASK")]
        for n, out in enumerate(outs):
            lines += self.to(f"v >> 32 > {n}", out)
        return lines

    def do_VIADD(self):
        return self.to(f"({self.o[1].word()} + {self.o[2].word()}) & MASK")

    def do_IMAD(self):
        outs, (a, b, c, *carry) = self.split()
        extra = f" + {carry[0].predicate()}" if "X" in self.m else ""
        unsigned = "U32" in self.m
        product = f"{a.word() if unsigned else a.signed()} * {b.word() if unsigned else b.signed()}"
        if "WIDE" in self.m:
            lines = [f"v = {product} + {c.pair()}{extra}"]
            lines += [*self.to("v & MASK"), *self.to("v >> 32 & MASK", part=1)]
            return lines + [line for out in outs for line in self.to("v >> 64 != 0", out)]
        if "HI" in self.m:
            return self.to(f"({product} + {c.pair()} >> 32) & MASK")
        return self.to(f"({product} + {c.word()}{extra}) & MASK")

    def do_IABS(self):
        return self.to(f"abs({self.o[1].signed()})")

    def do_IMNMX(self):
        a, b, chosen = self.o[1:4]
        as_read = (lambda o: o.word()) if "U32" in self.m else (lambda o: o.signed())
        value = f"(min if {chosen.predicate()} else max)({as_read(a)}, {as_read(b)})"
        return self.to(f"max({value}, 0) & MASK" if "RELU" in self.m else f"{value} & MASK")

    do_VIMNMX = do_IMNMX

    def do_VIMNMX3(self):
        values = ", ".join(o.word() if "U32" in self.m else o.signed() for o in self.o[1:4])
        return self.to(f"(min if {self.o[4].predicate()} else max)({values}) & MASK")

    def do_VIADDMNMX(self):
        a, b, c, chosen = self.o[1:5]
        sign = (lambda x: x) if "U32" in self.m else (lambda x: f"s({x})")
        added = sign(f"({a.word()} + {b.word()} & MASK)")
        return self.to(f"(min if {chosen.predicate()} else max)({added}, {sign(c.word())}) & MASK")

    def do_LEA(self):
        outs, rest = self.split()
        carry = f" + {rest.pop().predicate()}" if "X" in self.m else ""
        a, b = rest[:2]
        if "HI" not in self.m:
            lines = [f"v = ({a.word()} << {rest[2].word()} & MASK) + {b.word()}{carry}"]
        elif "SX32" in self.m:
            lines = [f"v = ({a.signed()} << {rest[2].word()} >> 32 & MASK) + {b.word()}{carry}"]
        else:
            wide = f"({rest[2].word()} << 32 | {a.word()})"
            lines = [f"v = ({wide} << {rest[3].word()} >> 32 & MASK) + {b.word()}{carry}"]
        return lines + self.to("v & MASK") + [line for out in outs for line in self.to("v >> 32 != 0", out)]

    def do_SHF(self):
        low, amount, high = self.o[1:4]
        wide = f"({high.signed() if self.m[1][0] == 'S' else high.word()} << 32 | {low.word()})"
        most_bits = 63 if "64" in self.m[1] else 31 if "W" in self.m else 32
        limited = f"({amount.word()} & {most_bits})" if "W" in self.m else f"min({amount.word()}, {most_bits})"
        shifted = f"({wide} {'<<' if self.m[0] == 'L' else '>>'} {limited})"
        return self.to(f"{shifted} >> {32 if 'HI' in self.m else 0} & MASK")

    def do_LOP3(self):
        outs, rest = self.split(0)
        lines = [f"v = logic({rest[4].word()}, {', '.join(o.word() for o in rest[1:4])})"]
        lines += self.to("v", rest[0])
        return lines + [line for out in outs for line in self.to("v != 0", out)]

    def do_PLOP3(self):
        a, b, c, table, other = self.o[2:7]
        index = f"(bool({a.predicate()}) * 4 + bool({b.predicate()}) * 2 + bool({c.predicate()}))"
        return [f"n = {index}", *self.to(f"bool({table.word()} >> n & 1)"),
                *self.to(f"bool({other.word()} >> n & 1)", self.o[1])]

    def do_PRMT(self):
        return self.to(f"permuted({', '.join(o.word() for o in self.o[1:4])})")

    def do_SEL(self):
        return self.to(f"{self.o[1].word()} if {self.o[3].predicate()} else {self.o[2].word()}")

    def do_POPC(self):
        return self.to(f"bin({self.o[1].word()}).count('1')")

    def do_FLO(self):
        return self.to(f"({self.o[1].word()}.bit_length() - 1) & MASK")

    def do_BREV(self):
        return self.to(f"int(format({self.o[1].word()}, '032b')[::-1], 2)")

    def do_SGXT(self):
        bits = self.o[2].word()
        if "U32" in self.m:
            return self.to(f"{self.o[1].word()} & (1 << {bits}) - 1")
        return self.to(f"s({self.o[1].word()} << 32 - {bits} & MASK) >> 32 - {bits} & MASK")

    def do_P2R(self):
        bits = " | ".join(f"bool(r[{PREDICATES + n}]) << {n}" for n in range(7))
        return self.to(f"({bits}) & {self.o[3].word()} | {self.o[2].word()} & ~{self.o[3].word()} & MASK")

    def do_R2P(self):
        shift = {"B1": 8, "B2": 16, "B3": 24}.get((self.o[1].modifiers or [""])[0], 0)
        mask = int(self.o[2].name, 16)
        return [f"r[{PREDICATES + n}] = bool({self.o[1].raw()} >> {shift + n} & 1)"
                for n in range(7) if mask >> n & 1]

    # Predicates.
    def compared(self, condition, combined, accumulated):
        word = {"AND": "and", "OR": "or", "XOR": "!="}[combined]
        return [f"c, p = bool({condition}), bool({accumulated})", *self.to(f"(c {word} p)"),
                *self.to(f"((not c) {word} p)", self.o[1])]

    def do_ISETP(self):
        a, b, accumulated, *low = self.o[2:]
        read = (lambda o: o.word()) if "U32" in self.m else (lambda o: o.signed())
        sign, extended = COMPARISON[self.m[0]], "EX" in self.m
        combined = next(m for m in self.m if m in ("AND", "OR", "XOR"))
        condition = f"{read(a)} {sign} {read(b)}"
        if extended:
            strict = {"<=": "<", ">=": ">"}.get(sign, sign)
            same = f"{a.word()} == {b.word()}"
            lower = low[0].predicate()
            condition = (f"{read(a)} != {read(b)} or {lower}" if sign == "!=" else
                         f"{same} and {lower}" if sign == "==" else
                         f"{read(a)} {strict} {read(b)} or {same} and {lower}")
        return self.compared(condition, combined, accumulated.predicate())

    def do_FSETP(self, wide=False):
        a, b, accumulated = (self.o[2].number(wide), self.o[3].number(wide), self.o[4].predicate())
        name = self.m[0]
        if name in ("NAN", "NUM"):
            condition = f"({'not ' if name == 'NUM' else ''}(math.isnan({a}) or math.isnan({b})))"
        elif name == "NEU":
            condition = f"{a} != {b}"  # NaN included
        elif name == "NE":
            condition = f"{a} < {b} or {a} > {b}"
        elif name.endswith("U"):
            condition = f"not ({a} {COMPARISON[OPPOSITE[name[:2]]]} {b})"
        else:
            condition = f"{a} {COMPARISON[name]} {b}"
        return self.compared(condition, next(m for m in self.m if m in ("AND", "OR", "XOR")), accumulated)

    def do_DSETP(self):
        return self.do_FSETP(wide=True)

    def do_FSET(self):
        a, b, accumulated = self.o[1].number(), self.o[2].number(), self.o[3].predicate()
        sign = COMPARISON[self.m[1].rstrip("U")]
        return self.to(f"(0x3f800000 if {a} {sign} {b} and {accumulated} else 0)")

    def do_FCHK(self):
        return self.to("False")  # division needs no special case

    # Floats.
    def binary(self, sign, wide=False):
        value = f"{self.o[1].number(wide)} {sign} {self.o[2].number(wide)}"
        return self.to_double(value) if wide else self.to_number(value)

    def do_FADD(self):
        return self.binary("+")

    def do_FMUL(self):
        return self.binary("*")

    def do_DADD(self):
        return self.binary("+", True)

    def do_DMUL(self):
        return self.binary("*", True)

    def do_FFMA(self):
        value = f"fma({', '.join(o.number() for o in self.o[1:4])})"
        return self.to_number(f"min(max({value}, 0.0), 1.0)" if "SAT" in self.m else value)

    def do_DFMA(self):
        return self.to_double(f"fma({', '.join(o.number(True) for o in self.o[1:4])})")

    def do_FMNMX(self):
        return self.to_number(f"(least if {self.o[3].predicate()} else most)({self.o[1].number()}, "
                              f"{self.o[2].number()})")

    def do_FSEL(self):
        return self.to_number(f"{self.o[1].number()} if {self.o[3].predicate()} else {self.o[2].number()}")

    def do_MUFU(self):
        if self.m[0] in ("RCP64H", "RSQ64H"):
            return self.to(f"db(SPECIAL['{self.m[0][:3]}'](d(0, {self.o[1].raw()})))[1]")
        return self.to_number(f"SPECIAL['{self.m[0]}']({self.o[1].number()})")

    def do_FRND(self):
        rounded = next((m for m in self.m if m in ROUNDING), None)
        return self.to_number(f"(lambda x: {f'ROUNDING[{rounded!r}]' if rounded else 'round'}(x) "
                              f"if math.isfinite(x) else x)({self.o[1].number()})")

    def do_HFMA2(self):
        if len(self.o) == 5:  # the last two are halves of a literal
            values = self.o[1].halves(), self.o[2].halves(), [self.o[4].number(), self.o[3].number()]
        else:
            values = [o.halves() for o in self.o[1:4]]
        low, high = (f"struct.unpack('<H', struct.pack('<e', {a} * {b} + {c}))[0]" for a, b, c in zip(*values))
        return self.to(f"{low} | {high} << 16")

    def do_HADD2(self):
        if self.m != ["F32"]:
            self.unknown()
        half = 1 if "H1_H1" in self.o[2].modifiers else 0  # of -RZ and one half: widened
        return self.to_number(self.o[2].halves()[half])

    # Conversions.
    def do_F2F(self):
        if self.m[:2] == ["F64", "F32"]:
            return self.to_double(self.o[1].number())
        if self.m[:2] == ["F32", "F64"]:
            return self.to_number(self.o[1].number(True))
        self.unknown()

    def do_F2FP(self):
        if "BF16" in self.m:
            return self.to(f"fb({self.o[1].number()}) >> 16 << 16 | fb({self.o[2].number()}) >> 16")
        return self.to(f"(struct.unpack('<H', struct.pack('<e', {self.o[1].number()}))[0] << 16 | "
                       f"struct.unpack('<H', struct.pack('<e', {self.o[2].number()}))[0])")

    def do_I2F(self):
        source = self.o[1].word() if any(m.startswith("U") for m in self.m) else self.o[1].signed()
        return self.to_double(f"float({source})") if "F64" in self.m else self.to_number(f"float({source})")

    do_I2FP = do_I2F

    def do_F2I(self):
        low, high = (0, MASK) if "U32" in self.m else (-2**31, 2**31 - 1)
        rounded = next((f"ROUNDING['{m}']" for m in self.m if m in ROUNDING), "round")
        return self.to(f"whole({self.o[1].number('F64' in self.m)}, {low}, {high}, {rounded}) & MASK")

    # Special registers and constants.
    def do_S2R(self):
        return self.to(f"t.special['{self.i.operands[1]}']")

    def do_CS2R(self):
        return self.to("0") + ([] if "32" in self.m else self.to("0", part=1))

    def do_LDC(self):
        found = re.fullmatch(r"c\[(\w+)\]\[(.*)\]", self.i.operands[1])
        offset = Operand(f"[{found[2]}]").address()
        bank = int(found[1], 16)
        if "64" in self.m:
            return [f"n = {offset}", *self.to(f"const({bank}, n)"), *self.to(f"const({bank}, n + 4)", part=1)]
        size = 1 if "U8" in self.m else 2 if "U16" in self.m else 4
        return self.to(f"const({bank}, {offset}, {size})")

    # Memory.
    def words(self):
        return 4 if "128" in self.m else 2 if "64" in self.m else 1

    def loaded(self, value):
        operand = next(o for o in self.o if o.place is not None and o.text[0] == "R")
        return [line for part in range(self.words()) for line in self.to(value(part), operand, part)]

    def do_LDG(self):
        narrow = "U16" in self.m or "U8" in self.m
        return self.loaded(lambda part: str(WORD & 0xFFFF if narrow else WORD))

    do_LD = do_LDG

    def in_array(self, array, store):
        address = self.o[0 if store else 1].address()
        lines = [f"a = {address}"]
        if "U8" in self.m or "S8" in self.m:
            return lines + ([f"{array}[a] = {self.o[1].word()} & 255"] if store else self.to(f"{array}[a]"))
        if "U16" in self.m:
            return lines + ([f"U16.pack_into({array}, a, {self.o[1].word()} & 65535)"] if store else
                            self.to(f"U16.unpack_from({array}, a)[0]"))
        if store:
            return lines + [f"U32.pack_into({array}, a + {4 * part}, {self.o[1].raw(part)})"
                            for part in range(self.words())]
        return lines + self.loaded(lambda part: f"U32.unpack_from({array}, a + {4 * part})[0]")

    def do_LDS(self):
        return self.in_array("t.shared", False)

    def do_STS(self):
        return self.in_array("t.shared", True)

    def do_LDL(self):
        return self.in_array("t.local", False)

    def do_STL(self):
        return self.in_array("t.local", True)

    def do_LDSM(self):
        return [line for part in range(int(self.m[-1]) if self.m[-1] in "24" else 1)
                for line in self.to(str(WORD), part=part)]

    def do_HMMA(self):
        return [line for part in range(4 if "F32" in self.m else 2) for line in self.to(str(PRODUCT), part=part)]

    def do_HGMMA(self):
        columns = int(self.m[0].split("x")[1])
        return [line for part in range(columns // 2) for line in self.to(str(PRODUCT), part=part)]

    do_QGMMA = do_HGMMA

    def do_SYNCS(self):  # what is waited for is there
        return self.to("True") if "PHASECHK" in self.m else []

    def do_ELECT(self):
        return self.to("t.special['SR_LANEID'] == 0")

    def do_USETMAXREG(self):
        return self.to("True") if "TRY_ALLOC" in self.m else []

    def do_ATOM(self):
        compared = self.opcode.endswith("CAS") or "CAS" in self.m or "CAST" in self.m
        operands = self.o[1:] if self.o[0].text[0] == "P" else self.o
        self.o = operands
        return self.to(operands[2].word() if compared else str(WORD))

    do_ATOMG = do_ATOMS = do_ATOM

    # Between threads: each alone.
    def do_SHFL(self):
        return self.to("True") + self.to(self.o[2].word(), self.o[1])

    def do_VOTE(self):
        written = [o for o in self.o[:-1] if o.place is not None]
        value = self.o[-1].predicate()
        return [line for o in written for line in
                self.to(f"bool({value})" if o.text[0] == "P" or o.text[:2] == "UP" else f"MASK * bool({value})", o)]

    do_VOTEU = do_VOTE

    # Where to go on.
    def do_BRA(self):
        if "DIV" in self.m or "CONV" in self.m:
            return []  # a thread alone never diverges
        conditions = [o.predicate() for o in self.o[:-1] if o.text.lstrip("!")[0] in "PU"]
        jump = f"return block_at[{self.i.target}]"
        return [f"if {' and '.join(conditions)}: {jump}"] if conditions else [jump]

    def do_BRX(self):
        name, offset = self.i.operands[0].split()
        return [f"return block_at[({Operand(name).raw()} + {self.i.address + 16} + {int(offset, 16)}) & MASK]"]

    do_BRXU = do_BRX

    def do_CALL(self):
        return [f"return block_at[{self.i.target}]"]

    def do_RET(self):
        return [f"return block_at[{Operand(self.i.operands[0].split()[0]).raw()}]"]

    def do_EXIT(self):
        return ["return None"]


# Uniform instructions are those without the U; these have another name, or none without it.
Statement.do_S2UR = Statement.do_S2R
Statement.do_ULDC = Statement.do_LDC
