# SPDX-License-Identifier: Apache-2.0
"""What the lines of statement.py are made of: numbers and their bits. Registers are unsigned words."""
import math
import struct

MASK = 0xFFFFFFFF
F32, F64 = struct.Struct("<f"), struct.Struct("<d")
U16, U32 = struct.Struct("<H"), struct.Struct("<I")


def f(bits):
    return F32.unpack(U32.pack(bits))[0]


def fb(x):
    """The bits of x rounded to fp32."""
    try:
        return U32.unpack(F32.pack(x))[0]
    except OverflowError:
        return 0x7F800000 if x > 0 else 0xFF800000


def d(low, high):
    return F64.unpack(U32.pack(low) + U32.pack(high))[0]


def db(x):
    return struct.unpack("<II", F64.pack(x))


def h(bits):
    return struct.unpack("<e", U16.pack(bits & 0xFFFF))[0]


def s(x):
    """As a signed word."""
    return x - 0x100000000 if x & 0x80000000 else x


def guarded(function, otherwise):
    def call(*arguments):
        try:
            return function(*arguments)
        except (ValueError, ZeroDivisionError, OverflowError):
            return otherwise
    return call


def fma(a, b, c):
    try:
        return a * b + c
    except OverflowError:
        return math.inf


def least(a, b):
    return b if math.isnan(a) or b < a else a


def most(a, b):
    return b if math.isnan(a) or b > a else a


def whole(x, low, high, rounded):
    """As F2I: rounded and kept in range; 0 for NaN."""
    if math.isnan(x):
        return 0
    return max(low, min(high, rounded(x))) if math.isfinite(x) else high if x > 0 else low


def logic(table, a, b, c):
    value = 0
    for n in range(8):
        if table >> n & 1:
            value |= (a if n & 4 else ~a) & (b if n & 2 else ~b) & (c if n & 1 else ~c)
    return value & MASK


def permuted(a, selector, b):
    wide, value = b << 32 | a, 0
    for n in range(4):
        nibble = selector >> 4 * n & 15
        byte = wide >> 8 * (nibble & 7) & 255
        value |= ((255 if byte & 128 else 0) if nibble & 8 else byte) << 8 * n
    return value


SPECIAL = {  # of MUFU
    "EX2": guarded(lambda x: 2.0 ** x, math.inf), "LG2": guarded(math.log2, -math.inf),
    "RCP": guarded(lambda x: 1.0 / x, math.inf), "RSQ": guarded(lambda x: x ** -0.5, math.inf),
    "SQRT": guarded(math.sqrt, 0.0), "SIN": guarded(math.sin, 0.0), "COS": guarded(math.cos, 0.0),
    "TANH": math.tanh}
ROUNDING = {"TRUNC": math.trunc, "FLOOR": math.floor, "CEIL": math.ceil}
COMPARISON = {"LT": "<", "LE": "<=", "GT": ">", "GE": ">=", "EQ": "==", "NE": "!="}
OPPOSITE = {"LT": "GE", "LE": "GT", "GT": "LE", "GE": "LT", "EQ": "NE"}
