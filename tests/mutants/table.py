#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which gate caught which fault, as a table in Markdown.

Usage: table.py BUILD, after `ctest -L mutant` in that build folder. Prints the table; ends with 1
when a mutant has not run or was not caught."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


def fields(mutant):
    lines = mutant.read_text().split("<<<", 1)[0].splitlines()
    fault = " ".join(line[1:].strip() for line in lines if line.startswith("#"))
    return fault, dict(line.split(":", 1) for line in lines if not line.startswith("#") and line)


def main():
    build = pathlib.Path(sys.argv[1])
    rows, missing, by_gate = [], [], {}
    for mutant in sorted(HERE.glob("*.mutant")):
        fault, of = fields(mutant)
        caught_by = of["caught_by"].strip()
        if caught_by == "nothing":
            continue
        gates = build / "tests" / "mutants" / mutant.stem / "gates"
        names = gates.read_text().split("\n")[:-1] if gates.exists() else []
        if not names:
            missing.append(mutant.stem)
            continue
        by_gate[caught_by] = by_gate.get(caught_by, 0) + 1
        rows.append(f"| `{mutant.stem}` | {fault.replace('|', chr(92) + '|')} "
                    f"| `{of['file'].strip()}` | {caught_by}: {', '.join(names)} |")
    print("# Which gate caught which fault")
    print()
    print("Made by `tests/mutants/table.py` from the last run of the mutants; of a verdict the gate")
    print("is the output, of a test its check, of a sanitizer its name.")
    print()
    total = ", ".join(f"{count} by {gate}" for gate, count in sorted(by_gate.items()))
    print(f"{len(rows)} faults: {total}.")
    print()
    print("| mutant | fault | file | caught by |")
    print("|---|---|---|---|")
    print("\n".join(rows))
    for name in missing:
        print(f"table.py: {name} has no result: run `ctest -L mutant`", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
