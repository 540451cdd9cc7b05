#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether every *.mutant beside this file fits the sources, without building one: the text that it changes occurs
once, every text of `reported_at` is in a line of its file with the fault in place, and `sources` names files of gpu/.

Usage: every_mutant_fits.py SOURCE_DIR. Names each that does not fit, and then ends with 1."""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent


def wrong(mutant, root):
    """What is wrong with a mutant, in lines."""
    text = mutant.read_text()
    file = re.search(r"^file: *(.*)$", text, re.MULTILINE)
    if not file or not file[1]:
        return  # a control
    blocks = re.findall(r"^<<<\n(.*?)\n?^>>>$", text, re.MULTILINE | re.DOTALL)
    if len(blocks) != 2 or not blocks[0]:
        yield "it has no old text and new text between <<< and >>>"
        return
    for pattern in " ".join(re.findall(r"^sources: *(.*)$", text, re.MULTILINE)).split():
        if pattern != "program" and not any((root / "gpu").glob(pattern)):
            yield f"sources: no file of gpu/ is {pattern!r}"
    source = (root / file[1]).read_text()
    if source.count(blocks[0]) != 1:
        yield f"its old text occurs {source.count(blocks[0])} times in {file[1]}, not once"
    for where, line in re.findall(r"^reported_at: *(\S+) +(.*)$", text, re.MULTILINE):
        planted = (root / where).read_text()
        if where == file[1]:
            planted = planted.replace(*blocks)
        if line not in planted:
            yield f"reported_at: no line of {where} has {line!r}"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: every_mutant_fits.py SOURCE_DIR")
    root = pathlib.Path(sys.argv[1])
    mutants = sorted(HERE.glob("*.mutant"))
    messages = [f"{mutant.name}: {line}" for mutant in mutants for line in wrong(mutant, root)]
    print("\n".join(messages) or f"{len(mutants)} mutants fit")
    sys.exit(bool(messages))


main()
