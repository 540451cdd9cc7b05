// SPDX-License-Identifier: Apache-2.0
// wmma.load, wmma.mma and wmma.store (section 9.7.14.4 of the PTX ISA). How fragments lie in
// registers is the device's own affair, so a program loads, multiplies and stores: D = A*B + C in
// memory, of integers, whose sums are exact, and of special and subnormal numbers (edge_sums in
// domain.hpp says what the ISA leaves open).
#include <fmt/format.h>

#include "tests/gpu/ptx/conformance/families.hpp"

namespace plumbline::ptx::conformance {
namespace {

struct Shape {
  int m, n, k;
  int a, b, c;  ///< registers of the fragments
};
struct Types {
  std::string element, other;  ///< of A and of B
  std::string c, d;
  std::string mma;  ///< the types as wmma.mma names them
  std::vector<Shape> shapes;
};

Bits encoded(const std::string& type, double x) {
  if (const Format* f = format_named(type)) return converted(*f, Rounding::rn, x);
  return low(static_cast<Bits>(static_cast<std::int64_t>(x)), type == "s32" ? 32 : 8);
}
double number(const std::string& type, Bits x) {
  if (const Format* f = format_named(type)) return value(*f, x);
  return static_cast<double>(signed_of(x, type == "s32" ? 32 : 8));
}
int bytes_of(const std::string& type) {
  return type == "f64"                     ? 8
         : type == "f16" || type == "bf16" ? 2
         : type == "s8" || type == "u8"    ? 1
                                           : 4;
}

std::string list(const char* letter, int n) {
  std::string text = "{";
  for (int i = 0; i < n; ++i) text += fmt::format("{}%{}{}", i ? ", " : "", letter, i);
  return text + "}";
}

/// A matrix of rows x columns in memory, `stride` elements from line to line.
Buffer image(const std::vector<Bits>& x, int rows, int columns, bool by_rows,
             const std::string& type) {
  const int bytes = bytes_of(type);
  Buffer buffer(x.size() * bytes);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      const Bits bits = x[i * columns + j] << (type == "tf32" ? 13 : 0);
      std::memcpy(buffer.data() + (by_rows ? i * columns + j : j * rows + i) * bytes, &bits, bytes);
    }
  return buffer;
}

void add(Family& family, const Types& t, const Shape& s, bool a_rows, bool b_rows, bool c_rows,
         const EdgeSums& edge = {}) {
  const auto layout = [](bool by_rows) { return by_rows ? "row" : "col"; };
  const std::string shape = fmt::format("m{}n{}k{}", s.m, s.n, s.k);
  Experiment& e = family.write(fmt::format("wmma.mma.{}.{}.{}.{} C and D by {}", layout(a_rows),
                                           layout(b_rows), shape, t.mma, layout(c_rows)));
  if (!edge.what.empty()) e.form += " of " + edge.what;
  e.block[0] = 32;
  const char* wide = t.element == "f64" ? "b64" : "b32";
  const int nd = t.d == "f16" ? 4 : s.c, nc = t.c == "f16" ? 4 : s.c;
  e.text = fmt::format(
      ".visible .entry KERNEL(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)\n{{\n"
      "  .reg .{0} %a<{1}>, %b<{2}>, %c<{3}>, %d<{4}>;\n  .reg .b64 %l<4>;\n",
      wide, s.a, s.b, nc, nd);
  for (int i = 0; i < 4; ++i)
    e.text += fmt::format("  ld.param.u64 %l{0}, [p{0}];\n  cvta.to.global.u64 %l{0}, %l{0};\n", i);
  e.text += fmt::format("  wmma.load.a.sync.aligned.{}.{}.global.{} {}, [%l0], {};\n",
                        layout(a_rows), shape, t.element, list("a", s.a), a_rows ? s.k : s.m);
  e.text += fmt::format("  wmma.load.b.sync.aligned.{}.{}.global.{} {}, [%l1], {};\n",
                        layout(b_rows), shape, t.other, list("b", s.b), b_rows ? s.n : s.k);
  e.text += fmt::format("  wmma.load.c.sync.aligned.{}.{}.global.{} {}, [%l2], {};\n",
                        layout(c_rows), shape, t.c, list("c", nc), c_rows ? s.n : s.m);
  e.text += fmt::format("  wmma.mma.sync.aligned.{}.{}.{}.{} {}, {}, {}, {};\n", layout(a_rows),
                        layout(b_rows), shape, t.mma, list("d", nd), list("a", s.a), list("b", s.b),
                        list("c", nc));
  e.text += fmt::format("  wmma.store.d.sync.aligned.{}.{}.global.{} [%l3], {}, {};\n  ret;\n}}\n",
                        layout(c_rows), shape, t.d, list("d", nd), c_rows ? s.n : s.m);
  Random random(s.m * 100 + s.n + (a_rows ? 7 : 0) + (b_rows ? 13 : 0));
  const auto drawn = [&](int n, const std::string& type, const Draw& draw) {
    std::vector<Bits> x(n);
    for (Bits& y : x)
      y = draw             ? draw(random)
          : type[0] == 'u' ? random() % 9
                           : encoded(type, static_cast<int>(random() % 17) - 8);
    return x;
  };
  const auto a = drawn(s.m * s.k, t.element, edge.a), b = drawn(s.k * s.n, t.other, edge.b),
             c = drawn(s.m * s.n, t.c, edge.c);
  std::vector<Bits> d(c.size());
  for (int i = 0; i < s.m; ++i)
    for (int j = 0; j < s.n; ++j) {
      double x = number(t.c, c[i * s.n + j]);
      for (int l = 0; l < s.k; ++l)
        x += number(t.element, a[i * s.k + l]) * number(t.other, b[l * s.n + j]);
      d[i * s.n + j] = encoded(t.d, x);
    }
  const Buffer expected = image(d, s.m, s.n, c_rows, t.d);
  e.buffers = {image(a, s.m, s.k, a_rows, t.element), image(b, s.k, s.n, b_rows, t.other),
               image(c, s.m, s.n, c_rows, t.c), Buffer(expected.size())};
  const Format* f = format_named(t.d);
  e.judge = f ? holds_floats(3, expected, *f)
              : holds<std::uint32_t>(3, values_of<std::uint32_t>(expected));
}

}  // namespace

Family wmma() {
  Family family{"wmma", {}, {}};
  const std::vector<Shape> halves = {
      {16, 16, 16, 8, 8, 8}, {32, 8, 16, 8, 8, 8}, {8, 32, 16, 8, 8, 8}};
  const std::vector<Shape> bhalves = {
      {16, 16, 16, 4, 4, 8}, {32, 8, 16, 8, 2, 8}, {8, 32, 16, 2, 8, 8}};
  const std::vector<Shape> bytes = {
      {16, 16, 16, 2, 2, 8}, {32, 8, 16, 4, 1, 8}, {8, 32, 16, 1, 4, 8}};
  const Types all[] = {{"f16", "f16", "f32", "f32", "f32.f32", halves},
                       {"f16", "f16", "f16", "f16", "f16.f16", halves},
                       {"f16", "f16", "f16", "f32", "f32.f16", halves},
                       {"bf16", "bf16", "f32", "f32", "f32.bf16.bf16.f32", bhalves},
                       {"tf32", "tf32", "f32", "f32", "f32.tf32.tf32.f32", {{16, 16, 8, 4, 4, 8}}},
                       {"f64", "f64", "f64", "f64", "f64.f64.f64.f64", {{8, 8, 4, 1, 1, 2}}},
                       {"s8", "s8", "s32", "s32", "s32.s8.s8.s32", bytes},
                       {"u8", "u8", "s32", "s32", "s32.u8.u8.s32", bytes}};
  for (const Types& t : all)
    for (const Shape& s : t.shapes)
      for (const bool a : {true, false})
        for (const bool b : {true, false}) {
          for (const bool c : {true, false}) add(family, t, s, a, b, c);
          if (const Format* c = format_named(t.c))
            for (const EdgeSums& edge :
                 edge_sums(*format_named(t.element), *format_named(t.other), *c, s.k))
              add(family, t, s, a, b, true, edge);
        }
  return family;
}

}  // namespace plumbline::ptx::conformance
