// SPDX-License-Identifier: Apache-2.0
#include "ptx/read/types.hpp"

#include <algorithm>
#include <array>

namespace plumbline::ptx {
namespace {

struct Row {
  std::string_view name;
  Type type;
  unsigned bits;
};
constexpr std::array rows = {Row{"pred", Type::pred, 1},
                             Row{"b8", Type::b8, 8},
                             Row{"b16", Type::b16, 16},
                             Row{"b32", Type::b32, 32},
                             Row{"b64", Type::b64, 64},
                             Row{"b128", Type::b128, 128},
                             Row{"u8", Type::u8, 8},
                             Row{"u16", Type::u16, 16},
                             Row{"u32", Type::u32, 32},
                             Row{"u64", Type::u64, 64},
                             Row{"s8", Type::s8, 8},
                             Row{"s16", Type::s16, 16},
                             Row{"s32", Type::s32, 32},
                             Row{"s64", Type::s64, 64},
                             Row{"u16x2", Type::u16x2, 32},
                             Row{"s16x2", Type::s16x2, 32},
                             Row{"f16", Type::f16, 16},
                             Row{"f16x2", Type::f16x2, 32},
                             Row{"bf16", Type::bf16, 16},
                             Row{"bf16x2", Type::bf16x2, 32},
                             Row{"f32", Type::f32, 32},
                             Row{"f32x2", Type::f32x2, 64},
                             Row{"tf32", Type::tf32, 32},
                             Row{"f64", Type::f64, 64},
                             Row{"e4m3", Type::e4m3, 8},
                             Row{"e5m2", Type::e5m2, 8},
                             Row{"e4m3x2", Type::e4m3x2, 16},
                             Row{"e5m2x2", Type::e5m2x2, 16},
                             Row{"e4m3x4", Type::e4m3x4, 32},
                             Row{"e5m2x4", Type::e5m2x4, 32},
                             Row{"e2m1", Type::e2m1, 4},
                             Row{"e2m1x2", Type::e2m1x2, 8},
                             Row{"e2m3x2", Type::e2m3x2, 16},
                             Row{"e3m2x2", Type::e3m2x2, 16},
                             Row{"ue8m0x2", Type::ue8m0x2, 16},
                             Row{"s4", Type::s4, 4},
                             Row{"u4", Type::u4, 4},
                             Row{"b1", Type::b1, 1},
                             Row{"texref", Type::opaque, 64},
                             Row{"samplerref", Type::opaque, 64},
                             Row{"surfref", Type::opaque, 64}};

}  // namespace

Type type_of(std::string_view name) {
  for (const Row& row : rows)
    if (row.name == name) return row.type;
  return Type::none;
}

unsigned bits_of(Type type) {
  for (const Row& row : rows)
    if (row.type == type) return row.bits;
  return 0;
}

bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64 ||
         type == Type::s4 || type == Type::s16x2;
}

bool is_float(Type type) { return type >= Type::f16 && type <= Type::ue8m0x2; }

}  // namespace plumbline::ptx
