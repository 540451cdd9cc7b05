// SPDX-License-Identifier: Apache-2.0
// mma.sync in all types and shapes (section 9.7.14.5 of the PTX ISA), but m8n8k4 of f16. Integral
// inputs, whose sums are exact in whatever order; special and subnormal ones (edge_sums in
// domain.hpp says what the ISA leaves open); and others within a bound that any order and any
// rounding of single precision meets.
#include <fmt/format.h>

#include <cmath>

#include "tests/gpu/ptx/conformance/families.hpp"

namespace plumbline::ptx::conformance {
namespace {

using enum Type;

/// The type of A or B: how many bits an element has, its number, numbers to draw.
struct Element {
  std::string name;
  int bits;
  std::function<double(Bits)> number;
  Draw exact;                      ///< an integer of small magnitude
  Draw any;                        ///< any finite number of moderate magnitude; may be empty
  const Format* format = nullptr;  ///< of floats
};

Element float_element(const std::string& name, const Format& f, int bits, int magnitude) {
  const int shift = bits - f.width();  // tf32 lies in the upper bits of its register.
  return {name,
          bits,
          [=, &f](Bits x) { return value(f, x >> shift); },
          summands(f, magnitude),
          [=, &f](Random& r) {
            const double u = std::ldexp(static_cast<double>(r() >> 11), -53);
            const double x = std::ldexp(1 + u, static_cast<int>(r() % 9) - 5);
            return converted(f, Rounding::rz, x) | (r() % 2 ? f.sign() : 0);
          },
          &f};
}
Element integer_element(const std::string& name, int bits) {
  const bool is_signed = name[0] == 's';
  const auto draw = [=](Random& r) {
    // The ends of the range often.
    const Bits most = low(~Bits{0}, bits);
    const Bits ends[] = {0, most, Bits{1} << (bits - 1), (Bits{1} << (bits - 1)) - 1};
    return r() % 4 ? low(r(), bits) : ends[r() % 4] & most;
  };
  return {
      name,
      bits,
      [=](Bits x) {
        return static_cast<double>(is_signed ? signed_of(x, bits) : static_cast<std::int64_t>(x));
      },
      draw,
      {}};
}

struct Shape {
  int m, n, k;
  std::string text() const { return fmt::format("m{}n{}k{}", m, n, k); }
};

/// Where elements lie: E of them in a register (E = 1 where one fills it).
struct Layout {
  Shape shape;
  int per_register;
  int a_registers() const { return shape.m * shape.k / 32 / per_register; }
  int b_registers() const { return shape.k * shape.n / 32 / per_register; }
  void a_place(int lane, int reg, int e, int& row, int& k) const {
    const int rows = shape.m / 8;
    row = lane / 4 + 8 * (reg % rows);
    k = lane % 4 * per_register + e + 4 * per_register * (reg / rows);
  }
  void b_place(int lane, int reg, int e, int& k, int& column) const {
    k = lane % 4 * per_register + e + 4 * per_register * reg;
    column = lane / 4;
  }
  /// c0, c1, c2, c3 of a lane.
  static void c_place(int lane, int i, int& row, int& column) {
    row = lane / 4 + 8 * (i / 2);
    column = lane % 4 * 2 + i % 2;
  }
};

/// What a warp multiplies: A by rows, B by columns.
struct Matrices {
  std::vector<double> a, b;
};
Matrices unpacked(const Layout& layout, const Element& ea, const Element& eb, const Warp& warp) {
  const Shape& s = layout.shape;
  Matrices m{std::vector<double>(s.m * s.k), std::vector<double>(s.k * s.n)};
  const int na = layout.a_registers(), nb = layout.b_registers();
  for (int lane = 0; lane < 32; ++lane)
    for (int e = 0; e < layout.per_register; ++e) {
      int i, j;
      for (int r = 0; r < na; ++r) {
        layout.a_place(lane, r, e, i, j);
        m.a[i * s.k + j] = ea.number(low(warp.a[r][lane] >> e * ea.bits, ea.bits));
      }
      for (int r = 0; r < nb; ++r) {
        layout.b_place(lane, r, e, i, j);
        m.b[j * s.k + i] = eb.number(low(warp.a[na + r][lane] >> e * eb.bits, eb.bits));
      }
    }
  return m;
}

Operand packed_operand(const Element& element, Type reg, int per_register, bool exact) {
  const Draw draw = exact ? element.exact : element.any;
  const int bits = element.bits, shift = element.format ? bits - element.format->width() : 0;
  return {reg, {{0}, [=](Random& r) {
                  Bits x = 0;
                  for (int e = 0; e < per_register; ++e) x |= draw(r) << (e * bits + shift);
                  return x;
                }}};
}

std::string list(const char* letter, int first, int n) {
  std::string text = "{";
  for (int i = 0; i < n; ++i) text += fmt::format("{}%{}{}", i ? ", " : "", letter, first + i);
  return text + "}";
}

/// The accumulators: f32, f64 and s32 one a register; f16 two.
struct Accumulator {
  Type type;
  int per_register;
};

Row& add_mma(Family& family, const std::string& form, const Layout& layout, const Element& ea,
             const Element& eb, Type reg, Accumulator acc, const Operand& c, bool exact,
             ExpectWarp expect) {
  const int na = layout.a_registers(), nb = layout.b_registers();
  const int nc = layout.shape.m * layout.shape.n / 32 / acc.per_register;
  std::vector<Operand> operands(na, packed_operand(ea, reg, layout.per_register, exact));
  operands.insert(operands.end(), nb, packed_operand(eb, reg, layout.per_register, exact));
  operands.insert(operands.end(), nc, c);
  Row& row = family.add_warp(form, std::vector<Type>(nc, acc.type), operands, std::move(expect));
  row.text = fmt::format("{} {}, {}, {}, {};", form, list("d", 0, nc), list("a", 0, na),
                         list("a", na, nb), list("a", na + nb, nc));
  row.whole_warps = true;
  row.warps = 32;
  return row;
}

/// Exact sums: what every order of additions gives.
void exact_floats(Family& family, const std::string& form, const Layout& layout, Element ea,
                  Element eb, Type reg, Type acc, Target target, const std::string& version) {
  const Format& f = format_of(acc);
  const int per = acc == f16x2 ? 2 : 1;
  const int first_c = layout.a_registers() + layout.b_registers();
  Element ec = float_element("", f, f.width(), 64);
  const auto add = [&](const std::string& what) {
    Row& row = add_mma(family, form, layout, ea, eb, reg, {acc, per},
                       packed_operand(ec, acc, per, true), true, [=, &f](Warp& warp) {
                         const Matrices m = unpacked(layout, ea, eb, warp);
                         const int k = layout.shape.k;
                         for (int lane = 0; lane < 32; ++lane)
                           for (int i = 0; i < static_cast<int>(warp.d.size()) * per; ++i) {
                             int row, column;
                             Layout::c_place(lane, i, row, column);
                             const int shift = 16 * (i % per);
                             double x =
                                 value(f, low(warp.a[first_c + i / per][lane] >> shift, f.width()));
                             for (int j = 0; j < k; ++j)
                               x += m.a[row * k + j] * m.b[column * k + j];
                             if (i % per == 0) warp.d[i / per][lane] = 0;
                             // 0 is +0: -0 needs every product and c to be -0, and c is not.
                             warp.d[i / per][lane] |= converted(f, Rounding::rn, x + 0.0) << shift;
                           }
                       });
    row.form += what;
    row.compare = Compare::any_nan;
    row.target = target;
    row.version = version;
  };
  add("");
  for (const EdgeSums& edge : edge_sums(*ea.format, *eb.format, f, layout.shape.k)) {
    ea.exact = edge.a, eb.exact = edge.b, ec.exact = edge.c;
    add(" of " + edge.what);
  }
}

/// Any numbers: each of the k + 1 terms may lose 2^-22 of the sum of magnitudes. Of 8-bit numbers
/// the ISA promises single precision as well, but Hopper keeps 13 bits below the largest product:
/// 2^-12.
void bounded_floats(Family& family, const std::string& form, const Layout& layout,
                    const Element& ea, const Element& eb, Target target,
                    const std::string& version) {
  const int na = layout.a_registers(), nb = layout.b_registers(), k = layout.shape.k;
  // The program returns the distance to the bounds: two more operands hold them, and the results
  // are whether d lies between.
  const Operand c(f32, floats(formats::f32, -8, 8));
  Row& row = add_mma(family, form, layout, ea, eb, b32, {f32, 1}, c, false, [](Warp& warp) {
    for (auto& d : warp.d) d.fill(1);
  });
  const int nc = static_cast<int>(row.results.size());
  row.form += " within its bound";
  row.operands.insert(row.operands.end(), 2 * nc, Operand(f32, of({0})));
  row.prepare = [=](Warp& warp) {
    const Matrices m = unpacked(layout, ea, eb, warp);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < nc; ++i) {
        int r, column;
        Layout::c_place(lane, i, r, column);
        double x = value(formats::f32, warp.a[na + nb + i][lane]), size = std::fabs(x);
        for (int j = 0; j < k; ++j) {
          const double product = m.a[r * k + j] * m.b[column * k + j];
          x += product, size += std::fabs(product);
        }
        const double slack = (k + 1) * (ea.bits == 8 ? 0x1p-12 : 0x1p-22) * size;
        warp.a[na + nb + nc + i][lane] = converted(formats::f32, Rounding::rm, x - slack);
        warp.a[na + nb + 2 * nc + i][lane] = converted(formats::f32, Rounding::rp, x + slack);
      }
  };
  for (int i = 0; i < nc; ++i)
    row.text += fmt::format(
        " setp.ge.f32 %p0, %d{0}, %a{1}; setp.le.and.f32 %p1, %d{0}, %a{2}, %p0; "
        "selp.u32 %d{0}, 1, 0, %p1;",
        i, na + nb + nc + i, na + nb + 2 * nc + i);
  row.target = target;
  row.version = version;
}

void floating(Family& family) {
  const Element half = float_element("f16", formats::f16, 16, 8),
                bhalf = float_element("bf16", formats::bf16, 16, 8);
  const Element tensor = float_element("tf32", formats::tf32, 32, 64);
  const Element e4m3 = float_element("e4m3", formats::e4m3, 8, 8),
                e5m2 = float_element("e5m2", formats::e5m2, 8, 4);
  const auto add = [&](const Shape& shape, const Element& ea, const Element& eb, Target target,
                       const std::string& version, bool half_sums) {
    const Layout layout{shape, 32 / ea.bits};
    const std::string start = fmt::format("mma.sync.aligned.{}.row.col", shape.text());
    const std::string form = fmt::format("{}.f32.{}.{}.f32", start, ea.name, eb.name);
    exact_floats(family, form, layout, ea, eb, b32, f32, target, version);
    bounded_floats(family, form, layout, ea, eb, target, version);
    if (half_sums)
      exact_floats(family, fmt::format("{}.f16.{}.{}.f16", start, ea.name, eb.name), layout, ea, eb,
                   b32, f16x2, target, version);
  };
  for (const int k : {8, 16}) {
    add({16, 8, k}, half, half, Target::sm_80, "8.0", true);
    add({16, 8, k}, bhalf, bhalf, Target::sm_80, "8.0", false);
  }
  for (const int k : {4, 8}) add({16, 8, k}, tensor, tensor, Target::sm_80, "8.0", false);
  for (const Element& ea : {e4m3, e5m2})
    for (const Element& eb : {e4m3, e5m2}) {
      // Sums of 32 products of at most 64 stay exact in f16.
      add({16, 8, 32}, ea, eb, Target::sm_90a, "8.7", true);
      add({16, 8, 16}, ea, eb, Target::sm_90a, "8.7", true);
    }
  const Element real = float_element("f64", formats::f64, 64, 1000);
  for (const Shape& shape : {Shape{8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}})
    exact_floats(family, fmt::format("mma.sync.aligned.{}.row.col.f64.f64.f64.f64", shape.text()),
                 {shape, 1}, real, real, b64, f64, shape.m == 8 ? Target::sm_80 : Target::sm_90a,
                 "8.0");
}

void integers(Family& family) {
  const auto add = [&](const Shape& shape, const Element& ea, const Element& eb,
                       const std::string& op) {
    for (const bool satfinite : {false, true}) {
      if (satfinite && !op.empty()) continue;
      const Layout layout{shape, 32 / ea.bits};
      const std::string form =
          fmt::format("mma.sync.aligned.{}.row.col{}.s32.{}.{}.s32{}", shape.text(),
                      satfinite ? ".satfinite" : "", ea.name, eb.name, op);
      // Near the ends, so that sums leave the range; of one sign's products alone is the order
      // open where they are clamped, so c alone is large.
      Operand c(s32);
      c.domain.edges = {0, 0x7fffffff, 0x80000000, 0x7ffffff0, 0x8000000f};
      const int first_c = layout.a_registers() + layout.b_registers();
      add_mma(family, form, layout, ea, eb, b32, {s32, 1}, c, true, [=](Warp& warp) {
        const Matrices m = unpacked(layout, ea, eb, warp);
        const int k = layout.shape.k;
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < static_cast<int>(warp.d.size()); ++i) {
            int row, column;
            Layout::c_place(lane, i, row, column);
            std::int64_t x = signed_of(warp.a[first_c + i][lane], 32);
            for (int j = 0; j < k; ++j) {
              const auto p = static_cast<std::int64_t>(m.a[row * k + j]);
              const auto q = static_cast<std::int64_t>(m.b[column * k + j]);
              x += op.empty() ? p * q : op == ".xor.popc" ? p ^ q : p & q;
            }
            if (satfinite)
              x = std::min<std::int64_t>(std::max<std::int64_t>(x, INT32_MIN), INT32_MAX);
            warp.d[i][lane] = static_cast<Bits>(x);
          }
      });
    }
  };
  for (const char* a : {"u8", "s8"})
    for (const char* b : {"u8", "s8"})
      for (const Shape& shape : {Shape{8, 8, 16}, {16, 8, 16}, {16, 8, 32}})
        add(shape, integer_element(a, 8), integer_element(b, 8), "");
  for (const char* a : {"u4", "s4"})
    for (const char* b : {"u4", "s4"})
      for (const Shape& shape : {Shape{8, 8, 32}, {16, 8, 32}, {16, 8, 64}})
        add(shape, integer_element(a, 4), integer_element(b, 4), "");
  for (const char* op : {".xor.popc", ".and.popc"})
    for (const Shape& shape : {Shape{8, 8, 128}, {16, 8, 128}, {16, 8, 256}})
      add(shape, integer_element("b1", 1), integer_element("b1", 1), op);
}

}  // namespace

Family mma() {
  Family family{"mma", {}, {}};
  floating(family);
  integers(family);
  return family;
}

}  // namespace plumbline::ptx::conformance
