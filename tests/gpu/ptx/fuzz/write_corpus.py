# SPDX-License-Identifier: Apache-2.0
"""Writes a corpus for the PTX fuzzers from real PTX: each instruction once in each of its shapes,
with the names that fuzzed_text.hpp declares, a few to a file.

    write_corpus.py FOLDER FILE.ptx...

Good files: the kernels' PTX (`cuobjdump -ptx libplumbline_kernels_cuda.so`), Triton's, and
`device_conformance --print`.
"""

import hashlib
import pathlib
import re
import sys

MOST_IN_A_FILE = 400  # bytes, about
CLASSES = {1: ("p", 16), 8: ("rs", 16), 16: ("rs", 16), 32: ("r", 64), 64: ("rd", 32), 128: ("rq", 4)}
SPECIAL = re.compile(r"%(n?tid|n?ctaid|laneid|n?warpid|n?smid|gridid|lanemask|clock|globaltimer|"
                     r"n?cluster|is_explicit|total_smem|dynamic_smem|aggr_smem|current_graph|envreg)")
SYMBOLS = {"ld.param": "o", "st.param": "a0", "shared": "s", "const": "c", "local": "l", "global": "g"}


def declared(line, registers):
    """Notes the registers of a .reg line."""
    kind = re.match(r"\.reg\s+\.([a-z]+)(\d*)(x2)?\s+(.*);", line)
    bits = 1 if kind[1] == "pred" else int(kind[2]) * (2 if kind[3] else 1)
    for name in re.findall(r"%?[\w$]+", kind[4].replace("<", " <")):
        if not name.isdigit():
            registers[name] = bits


def renamed(statement, registers):
    """The statement with the names of fuzzed_text.hpp."""

    def register(match):
        name = match[0]
        if SPECIAL.match(name):
            return name
        bits = registers.get(name) or registers.get(name.rstrip("0123456789"), 32)
        letters, count = CLASSES[bits]
        number = int(re.search(r"\d*$", name)[0] or len(name))
        return f"%{letters}{number % count}"

    statement = re.sub(r"%[\w$]+", register, statement)
    opcode = statement.split()[1 if statement.startswith("@") else 0]
    if opcode.startswith(("bra", "brx")):
        return re.sub(r"[\w$]+;$", "L1;", statement)
    symbol = next((name for word, name in SYMBOLS.items() if word in opcode), "s")

    def named(match):  # registers of inline assembly have no %
        name = match[0]
        return register(match) if name in registers else name if name in ("called", "_") else symbol

    statement = re.sub(r"(?<![%.\w$])[A-Za-z_$][\w$]*(?=[\]+,;])", named, statement)
    # `map` is the one parameter with room behind its first bytes.
    return re.sub(r"\[o\+(\d+)\]", lambda at: f"[map+{int(at[1]) % 64}]", statement)


def statements(text):
    registers = {}
    for line in re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S).splitlines():
        line = line.strip()
        if line.startswith(".entry") or ".entry" in line or line.startswith(".func"):
            registers = {}
        for part in re.findall(r"\.reg[^;]*;", line):
            declared(part, registers)
        if re.match(r"(@!?%[\w$]+\s+)?[a-z]\w*[. ][^:{]*;$", line) or re.match(r"(mma|wgmma|ld|st|call|mov|cp)\..*;$", line):
            yield renamed(line, registers)


def shape(statement):
    return re.sub(r"\d+", "0", re.sub(r"%\w+", "%", statement))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    seen, text = set(), ""
    for path in sys.argv[2:]:
        for statement in statements(pathlib.Path(path).read_text(errors="replace")):
            if shape(statement) in seen:
                continue
            seen.add(shape(statement))
            text += statement + "\n"
            if len(text) >= MOST_IN_A_FILE:
                (folder / hashlib.sha1(text.encode()).hexdigest()[:16]).write_text(text)
                text = ""
    print(f"{len(seen)} statements")


if __name__ == "__main__":
    main()
