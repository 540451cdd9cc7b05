// SPDX-License-Identifier: Apache-2.0
// ldmatrix, stmatrix and movmatrix (sections 9.7.14.5.15 to 17 of the PTX ISA). A warp has 512
// bytes of shared memory, 32 rows of 8 halves; operand 4 says which row each lane names.
#include <fmt/format.h>

#include "tests/gpu/ptx/conformance/families.hpp"

namespace plumbline::ptx::conformance {
namespace {

using enum Type;

/// Lane l fills row l from %a0-3; %l7 is the row that %a4 names, %l6 the lane's own. %l4 is the
/// rows' start.
const char* const rows =
    "  .shared .align 128 .b8 rows[2048];\n  mov.u64 %l4, rows;\n  mov.u32 %r15, %tid.x;\n"
    "  and.b32 %r14, %r15, 96;\n  mul.wide.u32 %l5, %r14, 16;\n  add.s64 %l4, %l4, %l5;\n"
    "  and.b32 %r14, %r15, 31;\n  mul.wide.u32 %l5, %r14, 16;\n  add.s64 %l6, %l4, %l5;\n"
    "  st.shared.v4.b32 [%l6], {%a0, %a1, %a2, %a3};\n  mul.wide.u32 %l5, %a4, 16;\n"
    "  add.s64 %l7, %l4, %l5;\n  bar.sync 0;\n";

/// Half `column` of a row of shared memory.
Bits half_of(const Warp& warp, int row, int column) {
  return low(warp.a[column / 2][row] >> 16 * (column % 2), 16);
}

std::string list(const char* letter, int first, int n) {
  std::string text = "{";
  for (int i = 0; i < n; ++i) text += fmt::format("{}%{}{}", i ? ", " : "", letter, first + i);
  return text + "}";
}

void loads(Family& family) {
  for (const int n : {1, 2, 4})
    for (const bool transposed : {false, true})
      for (const char* space : {".shared", ".shared::cta", ""}) {
        const std::string form = fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}{}.b16", n,
                                             transposed ? ".trans" : "", space);
        std::vector<Operand> operands(4, {b32});
        operands.push_back({u32, range(0, 31)});
        Row& row = family.add_warp(form, std::vector<Type>(n, b32), operands, [=](Warp& warp) {
          for (int lane = 0; lane < 32; ++lane)
            for (int m = 0; m < n; ++m) {
              warp.d[m][lane] = 0;
              for (int h = 0; h < 2; ++h) {
                int i = lane / 4, j = lane % 4 * 2 + h;
                if (transposed) std::swap(i, j);
                const int source = static_cast<int>(warp.a[4][8 * m + i]);
                warp.d[m][lane] |= half_of(warp, source, j) << 16 * h;
              }
            }
        });
        row.before = rows;
        row.text = fmt::format("{}{} {}, [%l7];", *space ? "" : "cvta.shared.u64 %l7, %l7; ", form,
                               list("d", 0, n));
        row.whole_warps = true;
        row.warps = 32;
      }
}

void stores(Family& family) {
  for (const int n : {1, 2, 4})
    for (const bool transposed : {false, true})
      for (const char* space : {".shared", ""}) {
        const std::string form = fmt::format("stmatrix.sync.aligned.m8n8.x{}{}{}.b16", n,
                                             transposed ? ".trans" : "", space);
        std::vector<Operand> operands(4, {b32});
        operands.push_back({u32, range(0, 31)});
        for (int i = 0; i < n; ++i) operands.push_back({b32});
        Row& row = family.add_warp(form, {b32, b32, b32, b32}, operands, [=](Warp& warp) {
          // Everything stays but the rows that the first 8n lanes name.
          for (int lane = 0; lane < 32; ++lane)
            for (int w = 0; w < 4; ++w) warp.d[w][lane] = warp.a[w][lane];
          for (int lane = 0; lane < 32; ++lane)
            for (int m = 0; m < n; ++m)
              for (int h = 0; h < 2; ++h) {
                int i = lane / 4, j = lane % 4 * 2 + h;
                if (transposed) std::swap(i, j);
                Bits& word = warp.d[j / 2][warp.a[4][8 * m + i]];
                word &= ~(Bits{0xffff} << 16 * (j % 2));
                word |= low(warp.a[5 + m][lane] >> 16 * h, 16) << 16 * (j % 2);
              }
        });
        // Each row is named once.
        row.prepare = [](Warp& warp) {
          const Bits step = (warp.a[4][0] | 1) & 31, start = warp.a[4][1];
          for (int lane = 0; lane < 32; ++lane) warp.a[4][lane] = (start + lane * step) % 32;
        };
        row.before = rows;
        row.text = fmt::format(
            "{}{} [%l7], {}; bar.sync 0; ld.shared.v4.b32 {{%d0, %d1, %d2, %d3}}, [%l6];",
            *space ? "" : "cvta.shared.u64 %l7, %l7; ", form, list("a", 5, n));
        row.whole_warps = true;
        row.warps = 32;
        row.target = Target::sm_90a;
      }
}

void moves(Family& family) {
  Row& row = family.add_warp("movmatrix.sync.aligned.m8n8.trans.b16", {b32}, {b32}, [](Warp& warp) {
    for (int lane = 0; lane < 32; ++lane) {
      warp.d[0][lane] = 0;
      for (int h = 0; h < 2; ++h) {
        // Element (j, i) of the source, two columns a lane.
        const int i = lane / 4, j = lane % 4 * 2 + h;
        warp.d[0][lane] |= low(warp.a[0][j * 4 + i / 2] >> 16 * (i % 2), 16) << 16 * h;
      }
    }
  });
  row.whole_warps = true;
}

}  // namespace

Family matrix() {
  Family family{"matrix", {}, {}};
  loads(family);
  stores(family);
  moves(family);
  return family;
}

}  // namespace plumbline::ptx::conformance
