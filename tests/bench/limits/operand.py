# SPDX-License-Identifier: Apache-2.0
"""An operand of an instruction as an expression of Python over r, a thread's registers."""
import re

from values import MASK

# Where registers stand in a thread's list. What is written to SINK is never read.
SINK, UNIFORM, PREDICATES, UNIFORM_PREDICATES, SIZE = 255, 256, 320, 328, 336


def register(text):
    """Place of a register, None where the text is none."""
    found = re.fullmatch(r"(UR|R|UP|P)(\d+|Z|T)", text)
    if not found:
        return None
    kind, number = found.groups()
    if number in "ZT":
        return SINK
    return int(number) + {"R": 0, "UR": UNIFORM, "P": PREDICATES, "UP": UNIFORM_PREDICATES}[kind]


class Operand:
    def __init__(self, text):
        self.text = text.replace(".reuse", "")
        self.negative = self.text.startswith("-") and not re.match(r"-(0x|\d|INF|QNAN)", self.text)
        rest = self.text[1:] if self.negative else self.text
        self.inverted = rest[:1] in "~!"
        rest = rest[1:] if self.inverted else rest
        self.absolute = rest.startswith("|")
        rest = rest.strip("|")
        self.name, *self.modifiers = rest.split(".") if re.match(r"[A-Z]", rest) else [rest]
        self.place = register(self.name)

    def raw(self, part=0):
        """The word as it stands there; part 1: that after it."""
        if self.place == SINK:
            return "0"
        if self.place is not None:
            return f"r[{self.place + part}]"
        if found := re.fullmatch(r"c\[(\w+)\]\[(\w+)\]", self.name.split(".")[0]):
            return f"const({int(found[1], 16)}, {int(found[2], 16) + 4 * part})"
        if re.fullmatch(r"-?(0x[0-9a-f]+|\d+)", self.name):
            value = int(self.name, 0)
            return str(value >> 32 * part & MASK)
        raise KeyError(self.text)

    def predicate(self):
        value = "True" if self.place == SINK else self.raw()
        return f"(not {value})" if self.inverted else value

    def word(self, part=0):
        value = self.raw(part)
        if "H1_H1" in self.modifiers or "H1" in self.modifiers:
            value = f"({value} >> 16)"
        if self.inverted:
            value = f"({value} ^ {MASK})"
        return f"(-{value} & {MASK})" if self.negative else value

    def summand(self):
        """For sums that carry: a negative one as its complement and 1."""
        value = self.raw()
        if self.negative:
            return f"(({value} ^ {MASK}) + 1)"
        return f"({value} ^ {MASK})" if self.inverted else value

    def pair(self):
        value = f"({self.raw(1)} << 32 | {self.raw()})"
        return f"(-{value} & {2**64 - 1})" if self.negative else value

    def signed(self):
        return f"s({self.word()})"

    def number(self, wide=False):
        """As fp32, or fp64."""
        literal = re.fullmatch(r"([+-]?)(INF|QNAN|\d[\d.]*(?:e[+-]?\d+)?)", self.text.strip())
        if literal and not self.text.startswith("0x"):
            return {"INF": f"({literal[1]}math.inf)", "QNAN": "math.nan"}.get(literal[2], f"({self.text})")
        if wide:
            value = "0.0" if self.place == SINK else f"d({self.raw()}, {self.raw(1)})"
            if self.place is None and self.name.startswith("0x"):
                value = f"d(0, {self.raw()})"
        else:
            value = "0.0" if self.place == SINK else f"f({self.raw()})"
        if self.absolute:
            value = f"abs({value})"
        return f"(-{value})" if self.negative else value

    def halves(self):
        value = self.raw()
        low, high = f"h({value})", f"h({value} >> 16)"
        return [f"(-{x})" if self.negative else x for x in (low, high)]

    def address(self):
        """Of an operand in brackets."""
        inside = re.search(r"\[([^\[\]]*)\]$", self.text)[1]
        terms = []
        for term in inside.replace("+-", "+ -").split("+"):
            name, *modifiers = term.strip().split(".")
            scale = next((int(m[1:]) for m in modifiers if re.fullmatch(r"X\d+", m)), 1)
            place = register(name)
            terms.append(str(int(name, 16)) if place is None else "0" if place == SINK else
                         f"s(r[{place}]) * {scale}")
        return "(" + " + ".join(terms) + ")"
