# SPDX-License-Identifier: Apache-2.0
"""A bias of one's own from C++ (kernel_abi/plumbline_custom_bias.hpp): the example and its wrong twin, a kernel with
parameters of all kinds, and what formulas are as a text, as floats, and to the compiler.

usage: custom_bias_header.py ROOT PROGRAM COMPILER [NVCC]"""
import importlib.util
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

root, program = (pathlib.Path(x).resolve() for x in sys.argv[1:3])
compiler, nvcc = sys.argv[3], sys.argv[4:]
specification = importlib.util.spec_from_file_location("formula", root / "python/plumbline/formula.py")
python = importlib.util.module_from_spec(specification)
sys.modules["formula"] = python
specification.loader.exec_module(python)
example = (root / "docs/examples/custom_bias.cpp").read_text()

# As C++ writes it, as Python does (None: the same), and the text.
FORMULAS = [
    ("-p.r * log1p(p.s * abs(i - j))", None, "-r * log1p(s * abs(i - j))"),
    ("fabs(j - i)", "abs(j - i)", "abs(j - i)"),
    ("exp(-i) + log(i) - sqrt(j)", None, "exp(-i) + log(i) - sqrt(j)"),
    ("sin(i) * cos(j) / tanh(p.r)", None, "sin(i) * cos(j) / tanh(r)"),
    ("erf(p.s) - floor(i / 2)", None, "erf(s) - floor(i / 2)"),
    ("fmax(i, T(0)) - fmin(T(2), j) + fmax(i, 1.5f)", "maximum(i, 0) - minimum(2, j) + maximum(i, 1.5)",
     "max(i, 0) - min(2, j) + max(i, 1.5)"),
    ("pow(i - j, p.r) + pow(i, T(2)) - pow(T(2), -j)", "(i - j) ** p.r + i ** 2 - 2 ** -j",
     "(i - j)**r + i**2 - 2**-j"),
    ("pow(-i, T(2)) - -pow(pow(i, T(2)), pow(j, p.m))", "(-i) ** 2 - -(i ** 2) ** j ** p.m",
     "(-i)**2 - -(i**2)**j**m"),
    ("i - (j - 1) - (i + j) - 1", None, "i - (j - 1) - (i + j) - 1"),
    ("i / (j * 2) * (i / j) / 2", None, "i / (j * 2) * (i / j) / 2"),
    ("(i + j) * (i - j) / (1 - i)", None, "(i + j) * (i - j) / (1 - i)"),
    ("-(i + j) + -(i * j) - -i + +j", None, "-(i + j) + -(i * j) - -i + j"),
    ("1 * (i < j) + 2 * (i <= 7) + 4 * (i > 3) + 8 * (i >= j)", None,
     "1 * (i < j) + 2 * (i <= 7) + 4 * (i > 3) + 8 * (i >= j)"),
    ("1 * (i == j) + 2 * (i != j) + (i - j == 4) * p.s", None, "1 * (i == j) + 2 * (i != j) + (i - j == 4) * s"),
    ("(i == j) == (j < 1)", None, "(i == j) == (j < 1)"),
    ("j <= i || j < p.m", "(j <= i) | (j < p.m)", "max(j <= i, j < m)"),
    ("j <= i && !(j < p.m)", "(j <= i) & ~(j < p.m)", "(j <= i) * (1 - (j < m))"),
    ("plumbline::where(i == j, 0, log(abs(i - j)))", "where(i == j, 0, log(abs(i - j)))",
     "where(i == j, 0, log(abs(i - j)))"),
    ("plumbline::where(j < i, p.r + 1, p.s) * 2", "where(j < i, p.r + 1, p.s) * 2", "where(j < i, r + 1, s) * 2"),
    ("p.w[j] - p.w[i] * p.g[i] + p.m / 3 + p.x * p.h", None, "w[j] - w[i] * g[i] + m / 3 + x * h"),
    ("0.1f * i + T(0.1) * j - 2.5f", "0.10000000149011612 * i + 0.1 * j - 2.5",
     "0.10000000149011612 * i + 0.1 * j - 2.5"),
    ("T(1e-5) * i + 0x1p-100f * j + T(1) / 3 + T(1 / 3.0) + T(0.0001)",
     "1e-5 * i + 0x1p-100 * j + E(1) / 3 + E(1 / 3.0) + E(0.0001)".replace("0x1p-100", "2.0**-100"),
     "1e-05 * i + 7.888609052210118e-31 * j + 1 / 3 + 0.3333333333333333 + 0.0001"),
    ("T(1e22) * i + 16777215 * j + T(123456.5) + 1000000", "1e22 * i + 16777215 * j + E(123456.5) + E(1000000)",
     "1e+22 * i + 16777215 * j + 123456.5 + 1000000"),
    ("T(-2) * i - T(-2) + pow(T(-2), T(2))", "E(-2) * i - E(-2) + E(-2) ** 2", "-2 * i - -2 + (-2)**2"),
    ("[&] { T y = 0; for (int n = 1; n < 3; ++n) y += n * i; y -= j; y *= 2; y /= p.r; return y; }()",
     "(E(0) + 1 * i + 2 * i - j) * 2 / p.r", "(0 + 1 * i + 2 * i - j) * 2 / r"),
]
# Formulas that do not compile, and a word of why, by GCC or by Clang.
OPERANDS = "no match for .operator|invalid operands"
REFUSED = [("atan(i)", "atan"), ("std::log1p(i)", "log1p"), ("exp2(i)", "exp2"), ("0.1 * i", OPERANDS),
           ("i - 0.5", OPERANDS), ("i % 2", OPERANDS), ("i < j ? i : j", "deleted function"),
           ("i < j ? T(1) : T(0)", "deleted function"), ("T(float(i))", "float"), ("fmax(i, 0)", "fmax"),
           ("fmin(0, i)", "fmin"), ("fmax(i, 0.5)", "fmax"), ("pow(i, 2)", "pow"), ("p.w * i", OPERANDS),
           ("plumbline::where(i < j, 0.5, i)", "where"), ("p.none", "none")]
FUNCTIONS = ["abs", "fabs", "cos", "erf", "exp", "floor", "log", "log1p", "sin", "sqrt", "tanh"]

BIAS = """
template <class T> struct Numbers {
  T s, r, x, m, h, unnamed; plumbline::Positions<T> g, w;
  template <class D> PLUMBLINE_BOTH void declare(D& d) {
    d.shared("s", s, plumbline::uniform(0.25, 1));
    d.per_head("r", r, plumbline::normal(0.5));
    d.prefix_sum("x", x, plumbline::uniform(0, 0.1));
    d.per_sequence("m", m, plumbline::whole(0, 40));
    d.per_query("g", g, plumbline::uniform(0.1, 1));
    d.per_key("w", w, plumbline::normal(1));
    d.head(h);
  }
};
struct NAME {
  template <class T> using Parameters = Numbers<T>;
  template <class T> PLUMBLINE_BOTH T operator()(T i, T j, const Numbers<T>& p) const { return FORMULA; }
  VISIBLE
};
"""


def bias(formula, name="LogDecay", visible=""):
    if visible:
        visible = f"template <class T> auto visible(T i, T j, const Numbers<T>& p) const {{ return {visible}; }}"
    return BIAS.replace("NAME", name).replace("FORMULA", formula).replace("VISIBLE", visible)


def changed(text, *pairs):
    for old, new in pairs:
        assert text.count(old) == 1, f"{old!r} is not once in what is changed"
        text = text.replace(old, new)
    return text


def compiled(folder, source, *options, by=(compiler, "-Wall", "-Werror", "-x", "c++")):
    (folder / "source.cpp").write_text(source)
    return subprocess.run([*by, "-std=c++17", "-O1", "-I", root / "kernel_abi", *options, "source.cpp"], cwd=folder,
                          stderr=subprocess.PIPE, text=True)


def built(folder, source, *options):
    result = compiled(folder, source, *options)
    assert result.returncode == 0, result.stderr


def printed(folder, source):
    built(folder, source, "-o", "program")
    return subprocess.run(["./program"], cwd=folder, stdout=subprocess.PIPE, check=True, text=True).stdout


def verified(folder, kernel, source, cases):
    """verify of a kernel by its own declaration: (status, what it says)."""
    (folder / "bias.json").write_text(printed(folder, source))
    built(folder, kernel, "-shared", "-fPIC", "-o", "kernel.so")
    result = subprocess.run([program, "verify", "--kernel", "./kernel.so", "--bias-file", "bias.json", "--cases",
                             str(cases)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return result.returncode, result.stdout


def check_example(folder):
    call = "LogDecay{}(float(i), float(j), bias)"
    assert printed(folder, example) == (root / "tests/verdict/log_decay.json").read_text()
    status, said = verified(folder, example, example, 12)
    assert status == 0 and re.search(r"forward +log_decay +fp32 +12 ", said), said
    status, said = verified(folder, changed(example, (call, "1.001f * " + call)), example, 12)
    assert status == 1 and "elements fail" in said, said
    (page,) = re.findall(r"^```cpp\n(.*?)^```", (root / "docs/custom_bias.md").read_text(), re.DOTALL | re.MULTILINE)
    assert page in example, "docs/custom_bias.md does not show what is in docs/examples/custom_bias.cpp"


def check_kinds(folder):
    """Parameters of all kinds, a condition, and an error factor, in a kernel; and a twin that forgets the condition."""
    own = bias("p.w[j] - 0.1f * p.w[i] - p.g[i] * abs(p.x) + p.r * (p.h + 1) - p.s * log1p(i - j)",
               visible="j < 1 || i - j < p.m")
    start, end = example.index("struct LogDecay"), example.index("int main")
    loop = "for (int j = 0; j <= i; ++j) {"
    kernel = changed(example, (example[start:end], own), ("const auto bias", "auto bias"), ('"log_decay"', '"kinds", 1.5'),
                     (loop, loop + """
      if (!LogDecay{}.visible(float(i), float(j), bias)) continue;
      double between = 0;
      for (int t = j + 1; t <= i; ++t) between += p->parameters[PLUMBLINE_INCREMENTS][size_t(head) * p->keys + t];
      bias.x = float(between);"""))
    status, said = verified(folder, kernel, kernel, 12)
    assert status == 0 and re.search(r"forward +kinds +fp32 +12 ", said), said
    declared = json.loads((folder / "bias.json").read_text())
    assert declared == {
        "name": "kinds", "error_factor": 1.5, "visible": "max(j < 1, i - j < m)",
        "formula": "w[j] - 0.10000000149011612 * w[i] - g[i] * abs(x) + r * (h + 1) - s * log1p(i - j)",
        "parameters": [{"name": "s", "per": "all", "uniform": [0.25, 1]}, {"name": "r", "per": "head", "normal": 0.5},
                       {"name": "x", "per": "prefix_sum", "uniform": [0, 0.1]},
                       {"name": "m", "per": "sequence", "whole": [0, 40]},
                       {"name": "g", "per": "query", "uniform": [0.1, 1]},
                       {"name": "w", "per": "key", "normal": 1}]}, declared
    status, said = verified(folder, changed(kernel, ("if (!LogDecay{}.visible(", "if (false && !LogDecay{}.visible(")),
                            kernel, 12)
    assert status == 1 and "elements fail" in said, said


def check_texts_and_floats(folder):
    """The header's text is the one written here and that of Python's tracer; as floats it is what the text says.
    Batch entry 1 of 2, head 2 of 3, row 2 of 4, with queries_at_end row 3."""
    source = "#include <cstring>\n#include <iostream>\n#include \"plumbline_custom_bias.hpp\"\n"
    source += bias("i", "Reader")
    for n, (formula, _, _) in enumerate(FORMULAS):
        source += (f"template <class T> auto formula_{n}(T i, T j, const Numbers<T>& p)"
                   f" {{ (void)i, (void)j, (void)p; return {formula}; }}\n")
    source += """
template <class T> bool same(T x, T y) { return std::memcmp(&x, &y, sizeof x) == 0; }
int main() {
  using E = plumbline::Expression;
  float s[1], r[3], m[2], g[24], w[54];
  const auto fill = [](auto& x, float from) { for (float& n : x) n = from, from += 0.125f; };
  fill(s, 0.5f), fill(r, 1), fill(m, 2), fill(g, 3), fill(w, 10);
  const int32_t lengths[2] = {9, 8};
  plumbline_problem problem{};
  problem.batch = 2, problem.heads = 3, problem.queries = 4, problem.keys = 9, problem.query_offset = 5;
  const float* all[5] = {s, r, m, g, w};
  for (int n = 0; n < 5; ++n) problem.parameters[PLUMBLINE_CUSTOM_0 + n] = all[n];
  auto p = plumbline::parameters<Reader>(problem, 1, 2);
  std::cout.precision(9);
  std::cout << std::isnan(p.x) << "\\n";
  problem.queries_at_end = 1, problem.lengths = lengths;
  std::cout << plumbline::parameters<Reader>(problem, 1, 2).g[7] << "\\n";
  p.x = 0.75f;
  Numbers<E> traced;
  plumbline::ParameterWriter writer;
  traced.declare(writer);
  const E i("i", E::atom), j("j", E::atom);
"""
    for n in range(len(FORMULAS)):
        source += f'  std::cout << formula_{n}(i, j, traced).text() << "\\n" << float(formula_{n}(7.0f, 3.0f, p)) << "\\n";\n'
    for name in FUNCTIONS:
        source += (f'  for (float x = 0.01f; x < 20; x *= 1.3f) if (!same({name}(x), std::{name}(x)))'
                   f' return std::cout << "{name} of " << x << " is no float\\n", 1;\n')
    lines = printed(folder, source + "}\n").splitlines()
    numbers = {"s": 0.5, "r": 1.25, "m": 2.125, "x": 0.75, "h": 2, "i": 7, "j": 3,
               "g": [3 + 0.125 * (20 + n - 5) for n in range(9)], "w": [10 + 0.125 * (45 + n) for n in range(9)]}
    assert lines[:2] == ["1", str(3 + 0.125 * 23)], lines[:2]
    lines = lines[2:]
    assert len(lines) == 2 * len(FORMULAS), lines

    class Given:
        pass

    p = Given()
    for name, indices in {"s": "", "r": "", "m": "", "x": "", "h": "", "g": "i", "w": "ij"}.items():
        setattr(p, name, python.Expression(name, indices=indices))
    names = {name: getattr(python, name) for name in python.__all__}
    names.update(i=python.Expression("i"), j=python.Expression("j"), p=p, E=python._as_expression)
    functions = {name: getattr(math, name) for name in FUNCTIONS if hasattr(math, name)}
    functions.update(abs=abs, min=min, max=max, where=lambda condition, x, y: x if condition else y)
    for n, (formula, same, text) in enumerate(FORMULAS):
        assert lines[2 * n] == text, f"{formula}: {lines[2 * n]}; expected {text}"
        traced = python.as_text(eval(same or formula, dict(names)))
        assert traced == text, f"Python's {same or formula}: {traced}; expected {text}"
        value = eval(text, {**functions, **numbers})
        assert abs(float(lines[2 * n + 1]) - value) <= 1e-6 * abs(value), f"{formula}: {lines[2 * n + 1]}; expected {value}"


def check_refusals(folder):
    declares = '#include "plumbline_custom_bias.hpp"\n{}int main() {{ puts(plumbline::declaration<LogDecay>("own").c_str()); }}\n'
    built(folder, declares.format(bias("i * j")), "-fsyntax-only")
    for formula, word in REFUSED:
        result = compiled(folder, declares.format(bias(formula)), "-fsyntax-only")
        assert result.returncode != 0 and re.search(f"error: .*{word}", result.stderr), f"{formula}: {result.stderr}"
    built(folder, declares.format(bias("p.unnamed * i")), "-o", "program")
    result = subprocess.run(["./program"], cwd=folder, stderr=subprocess.PIPE, text=True)
    assert result.returncode != 0 and "reads a T that declare() does not name" in result.stderr, result.stderr
    for formula, words in [("p.w[i - 1]", 'expected "]"'), ("T(INFINITY) * i", '"inf * i"')]:
        status, said = verified(folder, example, declares.format(bias(formula)), 1)
        assert status == 2 and "bias.json" in said and words in said, said


def check_cuda(folder):
    """The example and a kernel of it as CUDA, without a warning and without a double on the device."""
    source = example + """
__global__ void kernel_of_it(plumbline_problem p, float* x) {
  x[2] = LogDecay{}(x[0], x[1], plumbline::parameters<LogDecay>(p, 0, 1));
}
"""
    result = compiled(folder, source, "-ptx", "-o", "kernel.ptx", by=(*nvcc, "-Werror", "all-warnings", "-x", "cu"))
    assert result.returncode == 0, result.stderr
    ptx = (folder / "kernel.ptx").read_text()
    assert "kernel_of_it" in ptx and not re.search(r"\.f64\b", ptx), ptx


with tempfile.TemporaryDirectory() as name:
    for check in (check_texts_and_floats, check_refusals, check_example, check_kinds, *[check_cuda][:len(nvcc)]):
        check(pathlib.Path(name))
