#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which gate caught which fault, as a table in Markdown.

Usage: table.py BUILD [FILE], after `ctest -L mutant` in that build folder. Writes the table to FILE,
or prints it. Ends with 1, and writes nothing, when a mutant has not run or was not caught."""
import datetime
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent

HEAD = """# Which gate caught which fault

Made on {date} from a run of every [mutant](../../tests/faults/kernels/README.md), by

```
./plumbline test --all -L mutant
tests/faults/kernels/table.py build/release docs/results/mutants.md
```

The gates:

- **verdict**: `plumbline verify` ended with status 1. Named are the outputs that were outside their
  [bounds](../bounds.md) (`o`, `lse`, `grad_q`, ..., a parameter's name), or what the kernel did instead of
  giving any: it returned an error, wrote outside its outputs, changed an input, gave other bits when asked again.
- **test**: a test program against the oracle or against numbers by hand; named are its failing checks.
- **address**: AddressSanitizer and UndefinedBehaviorSanitizer, which named the line of the fault.
- **thread**: ThreadSanitizer, which named the line of the fault: a race, or a barrier that is missing.

{count} faults: {total}. Not one was missed; `control.mutant`, which changes nothing, passed.

| mutant | fault | file | caught by |
|---|---|---|---|
"""


def fields(mutant):
    lines = mutant.read_text().split("<<<", 1)[0].splitlines()
    fault = " ".join(line[1:].strip() for line in lines if line.startswith("#"))
    return fault, dict(line.split(":", 1) for line in lines if not line.startswith("#") and line)


def gates(build, name):
    file = build / "tests" / "mutants" / name / "gates"
    return file.read_text().split("\n")[:-1] if file.exists() else []


def main():
    build = pathlib.Path(sys.argv[1])
    rows, missing, by_gate = [], [], {}
    for mutant in sorted(HERE.glob("*.mutant")):
        fault, of = fields(mutant)
        caught_by = of["caught_by"].strip()
        names = gates(build, mutant.stem)
        if not names:
            missing.append(mutant.stem)
            continue
        if caught_by == "nothing":
            continue
        by_gate[caught_by] = by_gate.get(caught_by, 0) + 1
        caught = caught_by if names == [caught_by] else f"{caught_by}: {', '.join(names)}"
        rows.append(f"| `{mutant.stem}` | {fault.replace('|', chr(92) + '|')} "
                    f"| `{of['file'].strip()}` | {caught} |\n")
    for name in missing:
        print(f"table.py: {name} has no result: run `ctest -L mutant`", file=sys.stderr)
    if missing:
        return 1
    total = ", ".join(f"{count} by {gate}" for gate, count in sorted(by_gate.items()))
    text = HEAD.format(date=datetime.date.today(), count=len(rows), total=total) + "".join(rows)
    if len(sys.argv) < 3:
        print(text, end="")
        return 0
    whole = sys.argv[2] + ".part"
    pathlib.Path(whole).write_text(text)
    os.replace(whole, sys.argv[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
