#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which feature of attention is judged, and by what that is tested: docs/features.md, computed from a run of
`verify` (which built-in kernels had cases with it, in which pass, and what they declare), the C interface, the
signature of plumbline.check, the planted faults, and the tests of contracts.

Usage: features.py PLUMBLINE [FILE]. With the environment variable PLUMBLINE_RENEW it writes FILE; else it compares.
Ends with 1 where a cell is empty without a reason, or the file is another."""
import ast
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILED = (32, 48, 64, 80, 96, 128)  # the head dimensions that fused kernels are compiled for
TRAINING, INFERENCE = "in training alone", "in inference alone"

# name; in `cover` of the report (or a bias); in the C interface; in Python; planted faults (names in the judge's
# campaign and of mutants, patterns); what public faults are told to offer, or their names; passes that have it not
FEATURES = [
    ("a bias tensor, each axis full or of size 1", "bias_tensor", "PLUMBLINE_TENSOR", "BiasTensor",
     r"tensor_(row|transposed)|bias_tensor", "BIAS_TENSOR", {}),
    ("softcap", "softcap", "softcap", "softcap", r"softcap", "softcap_", {}),
    ("attention sinks", "sinks", "sinks", "sinks", r"(^|_)sinks?_(?!token)", "sinks_", {}),
    ("strides: tokens first, spaced rows, packed q, k and v", "strided", "strided", "strides", r"^stride(d|s)_", None, {}),
    ("packed sequences (cu_seqlens)", "packed sequences", "cu_seqlens_q", "packed", r"^packed_", None,
     {"decode": "ragged lengths"}),
    ("dropout of P", "dropout", "dropout", "dropout",
     r"drop(out|ped)_(?!draw|group)|^keep_|dropout$|_(dv|dp|d)_undropped", "dropout_", {"decode": TRAINING}),
    ("head_dim: any multiple of 8, up to 256 and beyond", "head_dim", "head_dim", "head_dims", r"head_dim|128_components",
     None, {}),
    ("queries before the end: causal masks aligned top-left, or anywhere", "queries before the end", "query_offset", "query_offset",
     r"(?<!dropout_)offset", "\"offset_", {}),
    ("values of another width than keys", "other value width", "value_dim", "value_dims",
     r"value_dim|as_wide_as|key_stride", "values_", {}),
    ("values that are a part of the keys", "values in keys", "values_in_keys", "values_in_keys",
     r"values_read", "values_", {"backward": INFERENCE}),
    ("mask tensors: prefix, chunks, blocks, trees, sink tokens, any pairs", "mask tensor", "mask", "mask", r"mask_tensor|by_a_tensor",
     "mask_", {}),
    ("windows of two sides", "window of two sides", "window_right", "window", r"window_(sides|of|one|after)", "window_", {}),
    ("each sequence's own length", "lengths", "lengths", "lengths", r"length", "ends_ragged", {}),
    ("queries at each sequence's own end", "queries at each end", "queries_at_end", "queries_at_end",
     r"at_(a_)?common_end|queries_at_end", "ends_", {}),
    ("more queries than keys", "more queries than keys", "query_offset", "more_queries",
     r"(?<!dropout_)offset|at_a_common_end|more_queries|position_clamped|beyond_keys",
     "ends_causal", {"decode": "a query stands at a key"}),
    ("documents in a sequence", "documents", "documents", "documents", r"document", "46634", {}),
    ("fewer key heads than heads", "group", "kv_heads", "grouped_heads", r"key_head|(?<!sink_of_)first_head", "kv_head_modulo", {}),
    ("RoPE of a part of the components", "partly rotated", "rotary_dim", "rotary_dim", r"rotary|partial_rope",
     "partial_rope", {}),
    ("any scale", "other scale", "scale", "scale", r"^scale_", "scale_ignored", {}),
    ("slopes of each sequence", "slopes of each sequence", "PLUMBLINE_SLOPES_PER_BATCH", "options",
     r"slopes_of_the_first_sequence", None, {}),
    ("a gradient through lse", "gradient through lse", "grad_lse", "lse_gradient", r"grad_lse|gradient_through_lse",
     "lse_", {"forward": TRAINING, "decode": TRAINING}),
    ("paged caches", "paged", "page_size", "paged", r"page", "offers_pages",
     {"forward": INFERENCE, "backward": INFERENCE}),
    ("several queries of a sequence in decoding", "several queries", "queries", "decode", r"first_query|row_guard",
     "offers_cache", {"forward": INFERENCE, "backward": INFERENCE}),
    ("caches of 8 bits, scales of heads", "cache of 8 bits", "cache_format", "cache",
     r"decode_(values_times|scale_of|int8)|^cache_(?!scale_(of|pages))", None,
     {"forward": INFERENCE, "backward": INFERENCE}),
    ("caches of 8 bits, scales of keys", "scale of each key", "scale_per_key", "scale_per_key",
     r"decode_scales_of|^cache_scale_(of|pages)", None, {"forward": INFERENCE, "backward": INFERENCE}),
]
HEAD = """# What is judged, feature by feature

Computed by [features.py](../tests/faults/features.py); a test fails when this page is out of date. The columns:

- **C**: the name in [plumbline_kernel.h](../kernel_abi/plumbline_kernel.h). **Python**: the keyword of `plumbline.check`, or the class.
- **forward**, **backward**, **decoding**: the built-in kernels that had cases with the feature in `plumbline verify --cases 3000`. Each
  case is judged against the oracle within derived bounds, in the backward pass with all gradients.
- **planted**: how many wrong kernels of our own have a fault in it. Each is caught. **public**: how many faults of public kernels,
  made again.
- Other words in a cell say why there is nothing: some features have no meaning in a pass.

| feature | C | Python | forward | backward | decoding | planted | public |
|---|---|---|---|---|---|---|---|
"""

CONTRACT = """
## What a kernel says of itself

The fields of `plumbline_contract`, which `plumbline.Contract` has by the same names, where a kernel may differ from the
strictest; [contracts.md](contracts.md) tells what each lets through. **Declared by**: built-in kernels in that run, and
known implementations (*in italics*). **Tests**: test cases of `tests/verdict` that name the field.

| field | meaning | declared by | tests |
|---|---|---|---|
"""


def report(plumbline):
    run = subprocess.run([plumbline, "verify", "--cases", "3000", "--json"], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"features.py: verify ended with status {run.returncode}:\n{run.stderr[-2000:]}")
    return json.loads(run.stdout)["cells"]


def kernels_with(cells, which, of_pass):
    found = {cell["kernel"] for cell in cells if cell["pass"] == of_pass and cell["cases"] > 0 and (
        cell["bias"].split("+")[0] == which if which == "bias_tensor"
        else any(count for value, count in cell["cover"].get(which, {}).items() if value not in ("0", "1"))
        if which == "group" else any(int(value) not in COMPILED for value in cell["cover"].get(which, {}))
        if which == "head_dim" else cell["cover"].get(which, {}).get("1", 0) > 0)}
    return ", ".join(f"`{name}`" for name in sorted(found))


def keywords_of_python():
    tree = ast.parse((ROOT / "python/plumbline/_check.py").read_text())
    check = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check")
    biases = ast.parse((ROOT / "python/plumbline/_biases.py").read_text())
    return {argument.arg for argument in check.args.args + check.args.kwonlyargs} | {
        node.name for node in biases.body if isinstance(node, ast.ClassDef)}


def rows(cells):
    header = (ROOT / "kernel_abi/plumbline_kernel.h").read_text()
    python = keywords_of_python()
    names = {path.stem for path in (ROOT / "tests/faults/kernels").glob("*.mutant")}
    for path in (ROOT / "tests/faults/judge").glob("faults_of_*.cpp"):
        names.update(re.findall(r'"([a-z0-9_]+)"', path.read_text()))
    public = [line for line in (ROOT / "tests/faults/historical/faults.def").read_text().splitlines()
              if line.startswith("FAULT(")]
    for name, cover, field, keyword, faults, offers, without in FEATURES:
        if not re.search(rf"\b{field}\b", header):
            sys.exit(f"features.py: {name}: plumbline_kernel.h has no {field}")
        if keyword not in python:
            sys.exit(f"features.py: {name}: plumbline.check has no {keyword}")
        cell = [name, f"`{field}`", f"`{keyword}`"]
        for of_pass in ("forward", "backward", "decode"):
            found = kernels_with(cells, cover, of_pass)
            if bool(found) == (of_pass in without):
                sys.exit(f"features.py: {name}: {of_pass}: {found or 'no built-in kernel had a case'}")
            cell.append(found or without[of_pass])
        planted = sum(bool(re.search(faults, fault)) for fault in names)
        if planted == 0:
            sys.exit(f"features.py: {name}: no planted fault is called {faults}")
        cell += [str(planted), str(sum(offers in line for line in public)) if offers else "none known"]
        if "" in cell:
            sys.exit(f"features.py: {name}: an empty cell in {cell}")
        yield "| " + " | ".join(cell) + " |\n"


def default_contract():
    """The strictest values of plumbline.Contract, and what each field means."""
    tree = ast.parse((ROOT / "python/plumbline/_report.py").read_text())
    contract = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Contract")
    for field, words in zip(contract.body, contract.body[1:]):
        if isinstance(field, ast.AnnAssign):
            value = eval(ast.unparse(field.value))  # of our own source: numbers, strings and ()
            meaning = " ".join(ast.literal_eval(words.value).split())
            yield field.target.id, list(value) if value == () else value, meaning


def implementations_with(field):
    text = (ROOT / "verdict/cases/named_contracts.cpp").read_text()
    parts = re.split(r"^void (\w+)\(Contract& c\b", text, flags=re.MULTILINE)
    return [name for name, body in zip(parts[1::2], parts[2::2]) if re.search(rf"\bc\.{field}\b", body)]


def tests_with(field):
    """Bodies of test cases that name the field."""
    texts = [path.read_text() for path in (ROOT / "tests/verdict").rglob("*_test.cpp")]
    bodies = [body for text in texts for body in text.split("BOOST_AUTO_TEST_CASE")[1:]]
    return sum(bool(re.search(rf"\b{field}\b", body)) for body in bodies)


def rows_of_contract(cells):
    for field, strictest, meaning in default_contract():
        built_in = sorted({cell["kernel"] for cell in cells if cell["cases"] and cell["contract"][field] != strictest})
        by = [f"`{name}`" for name in built_in] + [f"*{name}*" for name in implementations_with(field)]
        tests = tests_with(field)
        if tests == 0:
            sys.exit(f"features.py: {field}: no test names it")
        yield f"| `{field}` | {meaning} | {', '.join(by) or 'kernels of tests alone'} | {tests} |\n"


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    cells = report(sys.argv[1])
    text = HEAD + "".join(rows(cells)) + CONTRACT + "".join(rows_of_contract(cells))
    if len(sys.argv) == 2:
        print(text, end="")
        return
    file = pathlib.Path(sys.argv[2])
    if os.environ.get("PLUMBLINE_RENEW"):
        file.write_text(text)
    if not file.exists() or file.read_text() != text:
        sys.exit(f"{file} is not what is tested: run PLUMBLINE_RENEW=1 ./plumbline test -R features")


main()
