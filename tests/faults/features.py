#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which feature of attention is judged, and by what that is tested: docs/features.md, computed from a run of
`verify` (which built-in kernels had cases with it, in which pass, and what they declare), the tests of the oracle, of
gradients, of bounds and of contracts, the C interface, the signature of plumbline.check, and the planted faults.

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
TRAINING, INFERENCE, NONE = "in training alone", "in inference alone", "no built-in kernel"
DECODING = {"gradient": INFERENCE, "forward": INFERENCE, "backward": INFERENCE}

# Tests of the oracle, and of what it and a kernel are given; tests in which numbers are judged or bounds computed.
ORACLE = [*(f"tests/reference/{folder}/*_test.cpp" for folder in ("attention", "bias", "core", "position")),
          "tests/golden/*_test.cpp", "tests/verdict/cases/generate_test.cpp", "tests/verdict/cases/formats_test.cpp",
          "tests/verdict/gradient_oracle_test.cpp", "tests/verdict/score_methods_test.cpp",
          "tests/verdict/exact_rows_test.cpp", "tests/verdict/layout_test.cpp"]
BOUNDS = [f"tests/verdict/{name}_test.cpp" for name in (
    "*bounds", "*error", "bias_gradient", "score_methods", "judge*", "contracts", "fp8", "layout")]
REFUSING = r"refuse|bad_|wrong_arguments|makes_no_sense|does_not_fit|default_of"  # in names of tests: they judge nothing


def cases(name, *values):
    """Whether a cell of the report has cases with one of the values of a property of `cover`."""
    return lambda cell: any(cell["cover"].get(name, {}).get(value, 0) for value in values or ("1",))


def other_than(name, *values):
    return lambda cell: any(value not in values for value in cell["cover"].get(name, {}))


TENSOR, MASK = r"(?<!mask_)tensor_(row|transposed)|bias_tensor|pairs_of_the_first", r"mask_tensor|by_a_tensor"
DROPOUT = r"drop(out|ped)_(?!draw|group|counter|seed|offset)|dropout$|_(dv|dp|d)_undropped"
CACHE = r"decode_(values_times|scale_of)|^cache_(k_|v_)?scales?_(?!of_first_key|pages)"
# name; which cells have it; in the C interface; in Python; words of tests; planted faults (names in the judge's campaign
# and of mutants); lines of public faults, or None; reasons why a column has nothing. All but the second are patterns.
FEATURES = [
    ("a bias tensor in fp32, each axis full or of size 1", cases("bias in 16 bits", "0"), "PLUMBLINE_TENSOR", "BiasTensor",
     r"BIAS_TENSOR|BiasTensor", TENSOR, "BIAS_TENSOR", {}),
    ("a bias tensor in 16 bits", cases("bias in 16 bits"), "PLUMBLINE_IN_FORMAT_OF_O", "options",
     r"IN_FORMAT_OF_O|in_format_of_o", r"bias_tensor_gradient", "BIAS_TENSOR", {}),
    ("softcap", cases("softcap"), "softcap", "softcap", r"softcap", r"softcap", "softcap_", {}),
    ("attention sinks", cases("sinks"), "sinks", "sinks", r"\bsinks\b|SINKS|sink_(by|alone)", r"(^|_)sinks?_(?!token)",
     "sinks_", {}),
    ("sink tokens beside a window", cases("mask pattern", "sink_tokens"), "mask", "mask", r"sink_tokens", MASK, "mask_", {}),
    ("dropout, what is kept given as a tensor", cases("dropout by a given mask"), "keep", "dropout",
     r"keep_given|\bkeep\b", DROPOUT + "|^keep_", "dropout_", {"decode": TRAINING}),
    ("dropout by the counter-based generator", cases("dropout by the generator"), "dropout_generator", "dropout",
     r"generator_keeps|dropout_seed|\.dropout = ", DROPOUT + "|dropout_(draw|group|counter|seed|offset)", "dropout_",
     {"decode": TRAINING}),
    ("values of another width than keys", cases("other value width"), "value_dim", "value_dims", r"value_dim",
     r"value_dim|as_wide_as|key_stride", "values_", {}),
    ("widths of latent attention, 192 and 128, 576 and 512", cases("latent widths"), "value_dim", "value_dims",
     r"head_dims?\W+(192|576)|MLA|, 576\)", r"value_dim|as_wide_as|key_stride", "values_", {"backward": NONE, "decode": NONE}),
    ("values that are a part of the keys", cases("values in keys"), "values_in_keys", "values_in_keys", r"values_in_keys",
     r"values_(read|at_end)", "values_", {"gradient": INFERENCE, "backward": INFERENCE}),
    ("head_dim: any multiple of 8, up to 256 and beyond", other_than("head_dim", "32", "48", "64", "80", "96", "128"),
     "head_dim", "head_dims", r"head_dims?\W{1,4}(?!(32|48|64|80|96|128|0|1)\b)\d", r"head_dim|128_components", None, {}),
    ("causal masks aligned bottom-right", cases("aligned bottom-right"), "query_offset", "query_offset",
     r"bottom_right|(spec|s)\.keys - (spec|s)\.queries", r"(?<!dropout_)offset", "\"offset_zero", {}),
    ("causal masks aligned top-left", cases("aligned top-left"), "query_offset", "query_offset", r"top_left",
     r"rows_beyond_keys", "offset_at_end", {}),
    ("queries anywhere before the end", cases("queries before the end"), "query_offset", "query_offset", r"query_offset",
     r"(?<!dropout_)offset", "\"offset_", {}),
    ("queries at each sequence's own end", cases("queries at each end"), "queries_at_end", "queries_at_end",
     r"queries_at_end|query_offsets", r"at_(a_)?common_end|queries_at_end", "ends_", {}),
    ("more queries than keys", cases("more queries than keys"), "query_offset", "more_queries", r"more_queries",
     r"(?<!dropout_)offset|at_a_common_end|more_queries|position_clamped|beyond_keys", "ends_causal",
     {"decode": "a query stands at a key"}),
    ("packed sequences, [T, H, D] with cu_seqlens", cases("layout", "packed_sequences"), "cu_seqlens_q", "packed",
     r"packed(_sequences)?\b", r"^packed_", None, {"decode": "ragged lengths"}),
    *((f"mask tensors: {name}", cases("mask pattern", pattern), "mask", "mask", rf"Pattern::{pattern}|\"{pattern}\"", MASK,
       "mask_", {}) for name, pattern in (("prefix-LM", "prefix"), ("chunks", "chunks"), ("sparse blocks", "blocks"),
                                          ("trees of drafted tokens", "tree"), ("any pairs", "scattered"))),
    ("documents in a sequence", cases("documents"), "documents", "documents", r"documents", r"document", "46634", {}),
    ("windows of two sides", cases("window of two sides"), "window_right", "window",
     r"left_right|sides_of_different|window of two sides|window\.right|window=\(|window = \{",
     r"window_(sides|of|one|after)", "window_", {}),
    ("each sequence's own length", cases("lengths"), "lengths", "lengths", r"ragged|lengths", r"length", "ends_ragged", {}),
    *((f"strides: {name}", cases("layout", layout), "strided", "strides", rf"Layout::{layout}|\"{layout}\"", r"^stride(d|s)_", None,
       without) for name, layout, without in (
           ("[B, T, H, D], tokens first", "tokens_first", {}), ("rows with gaps between them", "spaced", {}),
           ("q, k and v of one packed array", "packed_qkv", {"decode": "caches are arrays of their own"}))),
    ("paged caches", cases("paged"), "page_size", "paged", r"paged|page_size", r"page", "offers_pages", DECODING),
    ("int8 caches", cases("cache", "int8"), "PLUMBLINE_CACHE_INT8", "cache", r"CacheFormat::int8|cache\W+int8|\"int8\"",
     CACHE + "|int8", None, DECODING),
    ("fp8 caches", cases("cache", "e4m3", "e5m2"), "PLUMBLINE_CACHE_E4M3", "cache",
     r"CacheFormat::e\dm\d|cache=\[.*e\dm\d|\"e4m3\" in str", CACHE + "|^cache_e", None, DECODING),
    ("8-bit caches, scales of keys", cases("scale of each key"), "scale_per_key", "scale_per_key", r"scale_per_key",
     r"decode_scales_of|^cache_scale_(of_first_key|pages)", None, DECODING),
    ("several queries of a sequence in decoding", cases("several queries"), "queries", "decode",
     r"first_query_alone|\"queries\"", r"first_query|row_guard", "offers_cache",
     {**DECODING, "oracle": "as in the forward pass"}),
    ("ranges of keys, merged through lse", lambda cell: cell["contract"]["splits"] > 1, "splits", "contract", r"\bsplits\b",
     r"(?<!mma_)split|^merge_|every_range", r", [2-9], \w+_(all|decode)",
     {"gradient": INFERENCE, "forward": NONE, "backward": INFERENCE}),
    ("NaN in keys that no query sees", cases("NaN in hidden keys"), "ignores_hidden_keys", "nan_in_hidden_keys",
     r"nan_in_hidden_keys|ignores_hidden_keys", r"hidden_values_times|nan_of_hidden|values_of_hidden", "1745",
     {"oracle": "has numbers there"}),
    ("RoPE of a part of the components", cases("partly rotated"), "rotary_dim", "rotary_dim", r"rotary_dim",
     r"rotary|partial_rope", "partial_rope", {}),
    ("any scale", cases("other scale"), "scale", "scale", r"\b(spec|setting)\.scale\b|\bscale=|\bscale\)|scale_and",
     r"^scale_(of|by|missing|\d)", "scale_ignored", {}),
    ("slopes of each sequence", cases("slopes of each sequence"), "PLUMBLINE_SLOPES_PER_BATCH", "options",
     r"SLOPES_PER_BATCH|slopes_per_batch|slopes_of_each", r"slopes_of_the_first_sequence", None, {}),
    ("fewer key heads than heads", other_than("group", "1"), "kv_heads", "grouped_heads",
     r"grouped|kv_heads( = |=)[12]\b|head_of_a_group|each_query_head", r"key_head|(?<!sink_of_)first_head",
     "kv_head_modulo", {}),
    ("a gradient through lse", cases("gradient through lse"), "grad_lse", "lse_gradient", r"lse_gradient|grad_lse",
     r"grad_lse|gradient_through_lse", "lse_", {"forward": TRAINING, "decode": TRAINING}),
]
HEAD = """# What is judged, feature by feature

Computed by [features.py](../tests/faults/features.py); a test fails when this page is out of date. The columns:

- **oracle**: how many tests of the equations, of the oracle, and of what it and a kernel are given, name the feature. **bounds**: how
  many tests that compute bounds, or judge numbers by them, do. **gradient**: those of both that are about gradients, too.
- **C**: the name in [plumbline_kernel.h](../kernel_abi/plumbline_kernel.h). **Python**: the keyword of `plumbline.check`, or the class.
- **forward**, **backward**, **decoding**: the built-in kernels that had cases with the feature in `plumbline verify --cases 3000`. Each
  case is judged against the oracle within derived bounds, in the backward pass with all gradients.
- **planted**: how many wrong kernels of our own have a fault in it: those of [kernels](../tests/faults/kernels/README.md), each of which is
  caught, and those of the [campaign](results/verdict.md), which tells in which formats and sizes one survives. **public**: how many
  faults of public kernels, made again. Rows of one array, such as those of mask tensors, have its faults in common.
- Other words in a cell say why there is nothing: some features have no meaning in a pass.

Not in the table: arrays of more than 2^31 elements, which [huge_arrays.py](../tests/verdict/huge_arrays.py) has judged, a right
kernel and one with indices of 32 bits; and biases of one's own ([custom_bias.md](custom_bias.md)), which no built-in kernel has.

| feature | oracle | gradient | bounds | C | Python | forward | backward | decoding | planted | public |
|---|---|---|---|---|---|---|---|---|---|---|
"""

CONTRACT = """
## What a kernel says of itself

The fields of `plumbline_contract`, which `plumbline.Contract` has by the same names, where a kernel may differ from the
strictest; [contracts.md](contracts.md) tells what each lets through. **Declared by**: built-in kernels in that run, and
known implementations (*in italics*). **Tests**: test cases of `tests/verdict` that name the field.

| field | meaning | declared by | tests |
|---|---|---|---|
"""


def expect(truth, *words):
    if not truth:
        sys.exit(f"features.py: {': '.join(words)}")


def report(plumbline):
    run = subprocess.run([plumbline, "verify", "--cases", "3000", "--json"], capture_output=True, text=True, check=False)
    expect(run.returncode == 0, f"verify ended with status {run.returncode}", run.stderr[-2000:])
    return json.loads(run.stdout)["cells"]


def kernels_with(cells, has, of_pass):
    found = {cell["kernel"] for cell in cells if cell["pass"] == of_pass and cell["cases"] > 0 and has(cell)}
    return ", ".join(f"`{name}`" for name in sorted(found))


def tests_in_cpp(places):
    """File, name and body of each test case."""
    for place in places:
        for file in (ROOT / place).parent.rglob(pathlib.Path(place).name):
            for text in file.read_text().split("BOOST_AUTO_TEST_CASE(")[1:]:
                yield file.stem, re.search(r"\w+", text)[0], text.split("\n}")[0]


def tests_in_python():
    for file in (ROOT / "python/tests").glob("test_*.py"):
        lines = file.read_text().splitlines()
        for node in ast.parse("\n".join(lines)).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                yield file.stem, node.name, "\n".join(lines[first - 1 : node.end_lineno])


def tests_by_column():
    tests = {"oracle": set(tests_in_cpp(ORACLE)), "bounds": set(tests_in_cpp(BOUNDS))}
    for test in tests_in_python():
        if test[0] == "test_attention" or "oracle" in test[1] or "case_arrays(" in test[2]:
            tests["oracle"].add(test)
        if re.search(r"\b(check|fails|failure)\(", test[2]):
            tests["bounds"].add(test)
    # What is 0, none or off in a case is not there.
    words = {test: re.sub(r"\b\w+\"?(=|: )(0|none|None|False)\b", "", "\n".join(test))
             for test in tests["oracle"] | tests["bounds"] if not re.search(REFUSING, test[1])}
    tests["gradient"] = {test for test in words if re.search("(?i)grad|backward", words[test])}
    return {column: [words[test] for test in tests[column] & words.keys()] for column in ("oracle", "gradient", "bounds")}


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
    tests = tests_by_column()
    for name, has, field, keyword, words, faults, offers, without in FEATURES:
        expect(re.search(rf"\b{field}\b", header), name, f"plumbline_kernel.h has no {field}")
        expect(keyword in python, name, f"plumbline.check has no {keyword}")
        counts = []
        for column, bodies in tests.items():
            count = sum(bool(re.search(words, body)) for body in bodies)
            expect(count or column in without, name, column, f"no test has the words {words}")
            counts.append(without.get(column, str(count)))
        kernels = []
        for of_pass in ("forward", "backward", "decode"):
            found = kernels_with(cells, has, of_pass)
            expect(bool(found) != (of_pass in without), name, of_pass, found or "no built-in kernel had a case")
            kernels.append(found or without[of_pass])
        planted = sum(bool(re.search(faults, fault)) for fault in names)
        expect(planted, name, f"no planted fault is called {faults}")
        known = sum(bool(re.search(offers, line)) for line in public) if offers else "none known"
        expect(known, name, f"no public fault has {offers}")
        yield f"| {' | '.join([name, *counts, f'`{field}`', f'`{keyword}`', *kernels, str(planted), str(known)])} |\n"


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
    return sum(bool(re.search(rf"\b{field}\b", body)) for _, _, body in tests_in_cpp(["tests/verdict/*_test.cpp"]))


def rows_of_contract(cells):
    for field, strictest, meaning in default_contract():
        built_in = sorted({cell["kernel"] for cell in cells if cell["cases"] and cell["contract"][field] != strictest})
        by = [f"`{name}`" for name in built_in] + [f"*{name}*" for name in implementations_with(field)]
        tests = tests_with(field)
        expect(tests, field, "no test names it")
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
