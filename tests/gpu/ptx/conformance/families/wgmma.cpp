// SPDX-License-Identifier: Apache-2.0
// wgmma.mma_async (section 9.7.15 of the PTX ISA) of one warpgroup: types, shapes, layouts of
// shared memory, A in registers, scales. Integral inputs, whose sums are exact in any order, and
// special and subnormal ones (edge_sums in domain.hpp says what the ISA leaves open). The images of
// A and B in shared memory are made here from the ISA's canonical layouts.
#include <fmt/format.h>

#include <algorithm>

#include "tests/gpu/ptx/conformance/families.hpp"

namespace plumbline::ptx::conformance {
namespace {

/// An element's type: its name, bits, and the integers that are drawn.
struct Element {
  std::string name;
  int bits;
  int magnitude;
  const Format* format() const { return format_named(name); }
  Draw integers() const {
    if (format()) return summands(*format(), magnitude);
    return [*this](Random& random) {
      const int x = static_cast<int>(random() % (2 * magnitude + 1)) - magnitude;
      return low(static_cast<Bits>(name[0] == 'u' ? std::abs(x) : x), 8);
    };
  }
  double number(Bits x) const {  // of u8, which have at most 7 bits, too
    return format() ? value(*format(), x) : static_cast<double>(signed_of(x, 8));
  }
  /// As it lies in memory: tf32 in the upper bits of its word.
  Bits stored(Bits x) const { return format() ? x << (bits - format()->width()) : x; }
};
const Element half{"f16", 16, 4}, bhalf{"bf16", 16, 4}, tensor{"tf32", 32, 20}, e4m3{"e4m3", 8, 4},
    e5m2{"e5m2", 8, 4}, s8{"s8", 8, 127}, u8{"u8", 8, 127};

/// How a matrix of `rows` (M or N) times `k` lies in shared memory. `swizzle`: 16 (none), 32, 64 or
/// 128 bytes.
struct Layout {
  int rows, k, bits, swizzle;
  bool rows_major;  ///< MN-major: the transposed one
  int per_16() const { return 128 / bits; }
  int wide() const { return swizzle / 16; }
  /// Leading and stride byte offsets of images without gaps.
  int leading() const {
    if (!rows_major) return swizzle == 16 ? rows * 16 : 16;
    return swizzle == 16 ? rows / per_16() * 128 : k / 8 * 8 * swizzle;
  }
  int stride() const {
    if (!rows_major) return swizzle == 16 ? 128 : 8 * swizzle;
    return swizzle == 16 ? 128 : 8 * swizzle;
  }
  /// The byte of element (row, j): the table of canonical layouts, then Swizzle<log2(wide), 4, 3>.
  int place(int row, int j) const {
    const int t = per_16(), bytes = bits / 8, w = wide();
    int at;
    if (!rows_major && swizzle == 16)
      at = row % 8 * 16 + row / 8 * stride() + j % t * bytes + j / t * leading();
    else if (!rows_major)
      at = row % 8 * swizzle + row / 8 * stride() + j * bytes;
    else if (swizzle == 16)
      at = row % t * bytes + row / t * stride() + j % 8 * 16 + j / 8 * leading();
    else
      at = row % t * bytes + row / t % w * 16 + row / (t * w) * leading() + j % 8 * swizzle +
           j / 8 * stride();
    return at ^ (at >> 7 & (w - 1)) << 4;
  }
  /// The descriptor, but for the address.
  Bits descriptor() const {
    const Bits mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
    return static_cast<Bits>(leading() >> 4) << 16 | static_cast<Bits>(stride() >> 4) << 32 |
           mode << 62;
  }
};

struct Problem {
  std::string form;
  Element a, b;
  std::string sums;  ///< "f32", "f16" or "s32"
  int n = 64;
  int swizzle_a = 128, swizzle_b = 128;
  bool transposed_a = false, transposed_b = false;
  bool a_in_registers = false;
  int steps = 1;  ///< wgmmas over k, which move the start address along
  bool accumulate = true;
  int scale_a = 1, scale_b = 1;
  bool satfinite = false;
  EdgeSums edge = {};  ///< what A, B and C hold instead of integers, if it has a name
};

constexpr int region = 65536;  ///< bytes of shared memory for A, and for B

/// Row and column of register element i of a thread: 64 x N.
void place_of(int thread, int i, int& row, int& column) {
  row = thread / 32 * 16 + thread % 32 / 4 + 8 * (i / 2 % 2);
  column = i / 4 * 8 + thread % 4 * 2 + i % 2;
}

std::string registers(const char* letter, int n) {
  std::string text = "{";
  for (int i = 0; i < n; ++i) text += fmt::format("{}%{}{}", i ? ", " : "", letter, i);
  return text + "}";
}

std::string kernel_text(const Problem& p, const Layout& la, const Layout& lb, int k) {
  const bool halves = p.sums == "f16";
  const int nd = 64 * p.n / 128 / (halves ? 2 : 1);
  std::string text = fmt::format(
      ".extern .shared .align 1024 .b8 KERNEL_shared[];\n"
      ".visible .entry KERNEL(.param .u64 p0, .param .u64 p1, .param .u64 p2)\n{{\n"
      "  .reg .pred %p<4>;\n  .reg .b32 %t, %r<8>, %c<{}>, %a<4>;\n  .reg .b64 %l<16>, %s;\n"
      "  mov.u32 %t, %tid.x;\n  mov.u64 %s, KERNEL_shared;\n  ld.param.u64 %l0, [p0];\n"
      "  cvta.to.global.u64 %l0, %l0;\n  ld.param.u64 %l1, [p1];\n  cvta.to.global.u64 %l1, %l1;\n"
      "  ld.param.u64 %l2, [p2];\n  cvta.to.global.u64 %l2, %l2;\n"
      // The images of A and B, 16 bytes a thread and turn.
      "  mul.wide.u32 %l3, %t, 16;\n  add.s64 %l4, %l0, %l3;\n  add.s64 %l5, %s, %l3;\n"
      "  mov.u32 %r0, 0;\nCOPY:\n  ld.global.v4.u32 {{%r1, %r2, %r3, %r4}}, [%l4];\n"
      "  st.shared.v4.u32 [%l5], {{%r1, %r2, %r3, %r4}};\n  add.s64 %l4, %l4, 2048;\n"
      "  add.s64 %l5, %l5, 2048;\n  add.u32 %r0, %r0, 1;\n  setp.lt.u32 %p0, %r0, {};\n"
      "  @%p0 bra COPY;\n",
      nd, 2 * region / 2048);
  text += fmt::format("  mul.wide.u32 %l6, %t, {};\n  add.s64 %l2, %l2, %l6;\n", 4 * nd);
  for (int i = 0; i < nd; ++i) text += fmt::format("  ld.global.b32 %c{}, [%l2+{}];\n", i, 4 * i);
  text += "  fence.proxy.async;\n  bar.sync 0;\n";
  // Descriptors: the address in units of 16 bytes in the low 14 bits.
  text += fmt::format(
      "  and.b64 %l7, %s, 0x3ffff;\n  shr.u64 %l7, %l7, 4;\n  mov.u64 %l8, {:#x};\n"
      "  or.b64 %l8, %l8, %l7;\n  add.s64 %l9, %s, {};\n  and.b64 %l9, %l9, 0x3ffff;\n"
      "  shr.u64 %l9, %l9, 4;\n  mov.u64 %l10, {:#x};\n  or.b64 %l10, %l10, %l9;\n",
      la.descriptor(), region, lb.descriptor());
  text += fmt::format("  setp.{}.u32 %p1, 1, 0;\n", p.accumulate ? "ne" : "eq");
  const std::string transposing =
      p.a.name == "f16" || p.a.name == "bf16"
          ? fmt::format("{}, {}", p.a_in_registers ? "" : fmt::format(", {:d}", p.transposed_a),
                        int{p.transposed_b})
          : "";
  const std::string scales =
      p.sums == "s32" ? "" : fmt::format(", {}, {}", p.scale_a, p.scale_b) + transposing;
  for (int step = 0; step < p.steps; ++step) {
    if (p.a_in_registers)
      for (int i = 0; i < 4; ++i)
        text += fmt::format(
            "  mul.wide.u32 %l11, %t, 16;\n  add.s64 %l11, %l1, %l11;\n"
            "  ld.global.b32 %a{}, [%l11+{}];\n",
            i, 2048 * step + 4 * i);
    text += "  wgmma.fence.sync.aligned;\n";
    text += fmt::format("  wgmma.mma_async.sync.aligned.m64n{}k{}.{}.{}.{}{} {}, {}, %l10, {}{};\n",
                        p.n, k, p.sums, p.a.name, p.b.name, p.satfinite ? ".satfinite" : "",
                        registers("c", nd), p.a_in_registers ? registers("a", 4) : "%l8", "%p1",
                        scales);
    text += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
    // k elements further: within a row of the swizzle's atom.
    text += "  add.s64 %l8, %l8, 2;\n  add.s64 %l10, %l10, 2;\n  setp.ne.u32 %p1, 1, 0;\n";
  }
  for (int i = 0; i < nd; ++i) text += fmt::format("  st.global.b32 [%l2+{}], %c{};\n", 4 * i, i);
  return text + "  ret;\n}\n";
}

void add(Family& family, const Problem& p) {
  const int k = 256 / p.a.bits, whole = k * p.steps;
  const Layout la{64, whole, p.a.bits, p.swizzle_a, p.transposed_a};
  const Layout lb{p.n, whole, p.b.bits, p.swizzle_b, p.transposed_b};
  Experiment& e = family.write(p.form);
  e.target = Target::sm_90a;
  e.version = "8.4";
  e.block[0] = 128;
  e.dynamic_shared = 2 * region;
  e.text = kernel_text(p, la, lb, k);
  Random random(p.n * 131 + p.swizzle_a * 7 + p.swizzle_b);
  std::vector<Bits> a;
  std::vector<double> of_a, of_b;
  Buffer images(2 * region, std::byte{0});
  const auto put = [](Buffer& buffer, std::size_t at, Bits x, int bits) {
    std::memcpy(buffer.data() + at, &x, bits / 8);
  };
  const bool edges = !p.edge.what.empty();
  const Draw draw_a = edges ? p.edge.a : p.a.integers(), draw_b = edges ? p.edge.b : p.b.integers();
  for (int i = 0; i < 64 * whole; ++i) {
    a.push_back(draw_a(random));
    of_a.push_back(p.a.number(a[i]));
    if (!p.a_in_registers) put(images, la.place(i / whole, i % whole), p.a.stored(a[i]), p.a.bits);
  }
  for (int i = 0; i < p.n * whole; ++i) {
    const Bits x = draw_b(random);
    of_b.push_back(p.b.number(x));
    put(images, region + lb.place(i / whole, i % whole), p.b.stored(x), p.b.bits);
  }
  // A by registers: as mma's of a warp, 16 rows each.
  Buffer fragments(2048 * p.steps, std::byte{0});
  const int per = 32 / p.a.bits;
  for (int step = 0; step < p.steps; ++step)
    for (int t = 0; t < 128; ++t)
      for (int r = 0; r < 4; ++r)
        for (int x = 0; x < per; ++x) {
          const int row = t / 32 * 16 + t % 32 / 4 + 8 * (r % 2);
          const int j = step * k + t % 4 * per + x + 4 * per * (r / 2);
          put(fragments, 2048 * step + t * 16 + r * 4 + x * p.a.bits / 8,
              p.a.stored(a[row * whole + j]), p.a.bits);
        }
  const bool halves = p.sums == "f16", is_integer = p.sums == "s32";
  const Format& f = halves ? formats::f16 : formats::f32;
  const int elements = 64 * p.n / 128, bytes = halves ? 2 : 4;
  const auto encoded = [=, &f](double x) {
    if (!is_integer) return converted(f, Rounding::rn, x);
    if (p.satfinite) x = std::clamp<double>(x, INT32_MIN, INT32_MAX);
    return low(static_cast<Bits>(static_cast<std::int64_t>(x)), 32);
  };
  Buffer start(128 * elements * bytes), expected(start.size());
  for (int t = 0; t < 128; ++t)
    for (int i = 0; i < elements; ++i) {
      const int limit = p.satfinite ? INT32_MAX - 20 : static_cast<int>(random() % 101) - 50;
      const int c = p.satfinite && t % 2 ? -limit : limit;
      const Bits first = edges ? p.edge.c(random) : encoded(c);
      int row, column;
      place_of(t, i, row, column);
      double x = !p.accumulate ? 0 : edges ? value(f, first) : c;
      for (int j = 0; j < whole; ++j)
        x += p.scale_a * p.scale_b * of_a[row * whole + j] * of_b[column * whole + j];
      const Bits last = encoded(x);
      std::memcpy(start.data() + (t * elements + i) * bytes, &first, bytes);
      std::memcpy(expected.data() + (t * elements + i) * bytes, &last, bytes);
    }
  e.buffers = {images, fragments, start};
  e.judge = is_integer ? holds<std::uint32_t>(2, values_of<std::uint32_t>(expected))
                       : holds_floats(2, expected, f);
}

}  // namespace

Family wgmma() {
  Family family{"wgmma", {}, {}};
  const auto named_problem = [](const Element& a, const Element& b, const std::string& sums,
                                int n) {
    Problem p;
    p.a = a, p.b = b, p.sums = sums, p.n = n;
    p.form =
        fmt::format("wgmma.mma_async m64n{}k{}.{}.{}.{}", n, 256 / a.bits, sums, a.name, b.name);
    return p;
  };
  const auto with = [&](Problem p, const std::string& what,
                        const std::function<void(Problem&)>& change) {
    p.form += " " + what;
    change(p);
    add(family, p);
  };
  for (int n = 8; n <= 256; n += 8) add(family, named_problem(half, half, "f32", n));
  struct Types {
    Element a, b;
    std::string sums;
  };
  const Types others[] = {{half, half, "f16"}, {bhalf, bhalf, "f32"}, {tensor, tensor, "f32"},
                          {e4m3, e4m3, "f32"}, {e4m3, e5m2, "f32"},   {e5m2, e4m3, "f32"},
                          {e5m2, e5m2, "f32"}, {e4m3, e5m2, "f16"},   {e5m2, e5m2, "f16"},
                          {s8, s8, "s32"},     {u8, u8, "s32"},       {s8, u8, "s32"},
                          {u8, s8, "s32"}};
  for (const Types& t : others)
    for (const int n : {8, 16, 64, 128, 192}) {
      add(family, named_problem(t.a, t.b, t.sums, n));
      with(named_problem(t.a, t.b, t.sums, n), "A in registers",
           [](Problem& p) { p.a_in_registers = true; });
    }
  for (const Types& t : others) {
    const Format* c = format_named(t.sums);
    if (!c) continue;
    for (const EdgeSums& edge : edge_sums(*t.a.format(), *t.b.format(), *c, 256 / t.a.bits)) {
      const Problem p = named_problem(t.a, t.b, t.sums, 16);
      const std::string what = "of " + edge.what;
      with(p, what, [&](Problem& q) { q.edge = edge; });
      with(p, what + ", A in registers", [&](Problem& q) {
        q.edge = edge;
        q.a_in_registers = true;
      });
      // What D held is not read.
      with(p, what + ", D = A*B", [&](Problem& q) {
        q.edge = edge;
        q.accumulate = false;
      });
    }
  }
  with(named_problem(half, half, "f32", 256), "A in registers",
       [](Problem& p) { p.a_in_registers = true; });
  with(named_problem(s8, s8, "s32", 64), "satfinite", [](Problem& p) { p.satfinite = true; });
  for (const Element& t : {half, bhalf, tensor, e4m3}) {
    const Problem p = named_problem(t, t, "f32", 64);
    with(p, "D = A*B", [](Problem& q) { q.accumulate = false; });

    with(p, "four steps of k", [](Problem& q) { q.steps = 4; });
    with(p, "-A", [](Problem& q) { q.scale_a = -1; });
    with(p, "-B", [](Problem& q) { q.scale_b = -1; });
    with(p, "(-A)(-B)", [](Problem& q) { q.scale_a = q.scale_b = -1; });
    for (const int swizzle : {16, 32, 64})
      with(p, fmt::format("swizzle of {} bytes", swizzle),
           [=](Problem& q) { q.swizzle_a = q.swizzle_b = swizzle; });
    with(p, "two steps of k, swizzle of 64 bytes",
         [](Problem& q) { q.steps = 2, q.swizzle_a = q.swizzle_b = 64; });
  }
  for (const Element& t : {half, bhalf})
    for (const bool a : {false, true})
      for (const bool b : {false, true})
        for (const int swizzle : {16, 32, 64, 128})
          if (a || b)
            with(named_problem(t, t, "f32", 128),
                 fmt::format("transposed{}{}, swizzle of {} bytes", a ? " A" : "", b ? " B" : "",
                             swizzle),
                 [=](Problem& p) {
                   p.transposed_a = a, p.transposed_b = b;
                   p.swizzle_a = p.swizzle_b = swizzle;
                 });
  return family;
}

}  // namespace plumbline::ptx::conformance
