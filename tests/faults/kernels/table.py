#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which gate caught which fault, as a table in Markdown.

Usage: table.py [--device] BUILD [FILE], after `ctest -L mutant` in that build folder. Writes the table
to FILE, or prints it: that of the emulation, or with --device that of the software device. Ends with 1,
and writes nothing, when a mutant has not run or was not caught."""
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

DEVICE_HEAD = """# Which fault the software device caught

Made on {date} from a run of every [mutant](../../tests/faults/kernels/README.md) of our attention kernels as
nvcc compiles them, on the [software device](../software_device.md), by

```
./plumbline test --all -L mutant
tests/faults/kernels/table.py --device build/release docs/results/mutants-software-device.md
```

- **verdict**: `plumbline verify` ended with status 1. Named are the outputs that were outside their bounds.
- Everything else: the device stopped the kernel. **its line**: the report names a line of the fault or one
  of the three on either side; **the access**: it names an access that the fault lets go wrong.

{count} faults: {total}. Not one was missed; the controls, which change nothing, passed.

{families}

| kernel | mutant | fault | caught by |
|---|---|---|---|
"""


def fields(mutant):
    lines = mutant.read_text().split("<<<", 1)[0].splitlines()
    fault = " ".join(line[1:].strip() for line in lines if line.startswith("#"))
    return fault, dict(line.split(":", 1) for line in lines if not line.startswith("#") and line)


def gates(build, name, device=False):
    file = build / "tests" / "faults" / "kernels" / ("device" if device else "") / name / "gates"
    return file.read_text().split("\n")[:-1] if file.exists() else []


def family(of):
    """The kernel and the pass of `verify`, or the program, that the device runs."""
    if of["device"].split()[0] == "test":
        return of["program"].strip()
    words = (of["device"] + " " + of["run"]).split()
    kernel, only = (words[words.index(name) + 1] if name in words else ""
                    for name in ("--kernels", "--pass"))
    return f"{kernel} backward" if only == "backward" else kernel


def counts(values):
    by = {value: values.count(value) for value in sorted(set(values))}
    return ", ".join(f"{count} by {value}" for value, count in by.items())


def write(text, arguments):
    if not arguments:
        print(text, end="")
        return
    whole = arguments[0] + ".part"
    pathlib.Path(whole).write_text(text)
    os.replace(whole, arguments[0])


def device_table(build):
    rows, missing = [], []
    for mutant in sorted(HERE.glob("*.mutant")):
        fault, of = fields(mutant)
        caught_by = of.get("device", "").split()
        if not caught_by or caught_by[0] == "nothing":
            continue
        names = gates(build, mutant.stem, device=True)
        if not names:
            missing.append(mutant.stem)
            continue
        caught = ", ".join(names)
        rows.append((family(of), mutant.stem, fault.replace("|", "\\|"),
                     caught if caught_by[0] == "checks" else f"{caught_by[0]}: {caught}"))
    rows.sort()
    kinds = [caught.split(":")[0].split(";")[0] for *_, caught in rows]
    families = [name for name, *_ in rows]
    text = DEVICE_HEAD.format(
        date=datetime.date.today(), count=len(rows), total=counts(kinds),
        families="Of each kernel: " +
        ", ".join(f"`{name}` {families.count(name)}" for name in sorted(set(families))) + ".")
    return text + "".join(f"| `{a}` | `{b}` | {c} | {d} |\n" for a, b, c, d in rows), missing


def emulation_table(build):
    rows, missing, by_gate = [], [], {}
    for mutant in sorted(HERE.glob("*.mutant")):
        fault, of = fields(mutant)
        caught_by = of["caught_by"].strip()
        if caught_by == "device":
            continue
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
    total = ", ".join(f"{count} by {gate}" for gate, count in sorted(by_gate.items()))
    text = HEAD.format(date=datetime.date.today(), count=len(rows), total=total) + "".join(rows)
    return text, missing


def main():
    device = sys.argv[1:2] == ["--device"]
    build, *to = sys.argv[2 if device else 1:]
    text, missing = (device_table if device else emulation_table)(pathlib.Path(build))
    for name in missing:
        print(f"table.py: {name} has no result: run `ctest -L mutant`", file=sys.stderr)
    if missing:
        return 1
    write(text, to)
    return 0


if __name__ == "__main__":
    sys.exit(main())
