// SPDX-License-Identifier: Apache-2.0
#include "ptx/profile/traits.hpp"

#include <algorithm>
#include <charconv>

#include "ptx/read/types.hpp"

namespace plumbline::ptx {
namespace {

using Words = std::span<const std::string_view>;

template <class... Names>
bool is(std::string_view word, Names... names) {
  return ((word == names) || ...);
}

bool has(Words words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// The last type among the words: of the operands where there are several.
Type operand_type(Words words) {
  Type type = Type::none;
  for (const std::string_view word : words)
    if (const Type one = type_of(word); one != Type::none) type = one;
  return type;
}

bool any_float(Words words) {
  return std::any_of(words.begin(), words.end(),
                     [](std::string_view word) { return is_float(type_of(word)); });
}

bool is_half(Type type) { return type >= Type::f16 && type <= Type::bf16x2; }

/// Numbers in a register of the type.
std::uint32_t numbers_in(Type type) {
  return type == Type::f16x2 || type == Type::bf16x2 || type == Type::f32x2 ? 2 : 1;
}

/// 2 m n k of "m16n8k16"; 0 where no word is such a shape.
std::uint32_t product_flops(Words words) {
  for (const std::string_view word : words) {
    std::uint32_t sizes[3] = {0, 0, 0};
    const char *at = word.data(), *end = at + word.size();
    bool shape = true;
    for (int i = 0; i < 3 && shape; ++i) {
      shape = at != end && *at++ == "mnk"[i];
      if (!shape) break;
      const auto result = std::from_chars(at, end, sizes[i]);
      shape = result.ec == std::errc{};
      at = result.ptr;
    }
    if (shape && at == end) return 2 * sizes[0] * sizes[1] * sizes[2];
  }
  return 0;
}

Traits arithmetic(std::string_view opcode, Type type) {
  const bool fused = is(opcode, "fma", "mad");
  const bool sums = fused || is(opcode, "add", "sub", "mul");
  const std::uint32_t flops = sums ? (fused ? 2 : 1) * numbers_in(type) : 0;
  if (type == Type::f64) return {Pipe::fp64, flops};
  if (is_half(type)) return {Pipe::fp16, flops};
  // Extremes, signs and tests of f32 are done where integers are.
  if (is_float(type)) return {sums ? Pipe::fp32 : Pipe::integer, flops};
  return {is(opcode, "mul", "mad", "fma") ? Pipe::multiply : Pipe::integer};
}

/// By the space that a word names; a generic address counts as global.
Pipe memory(Words words) {
  for (const std::string_view word : words) {
    const std::string_view space = word.substr(0, word.find("::"));
    if (space == "shared") return Pipe::shared;
    if (space == "local") return Pipe::local;
    if (is(space, "param", "const")) return Pipe::parameter;
  }
  return Pipe::global;
}

Traits copy(Words words) {
  if (has(words, "bulk"))
    return {has(words, "commit_group") || has(words, "wait_group") ? Pipe::barrier : Pipe::bulk};
  const bool waits = has(words, "commit_group") || has(words, "wait_group") ||
                     has(words, "wait_all") || has(words, "mbarrier");
  return {waits ? Pipe::barrier : Pipe::global};
}

}  // namespace

Traits traits_of(std::string_view opcode, Words words) {
  const Type type = operand_type(words);
  if (is(opcode, "add", "sub", "mul", "fma", "mad", "neg", "abs", "min", "max", "copysign",
         "testp"))
    return arithmetic(opcode, type);
  if (is(opcode, "div", "rem")) {
    if (type == Type::f64) return {Pipe::fp64};
    return {has(words, "approx") || has(words, "full") ? Pipe::special : Pipe::division};
  }
  if (is(opcode, "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh")) {
    if (type == Type::f64) return {has(words, "approx") ? Pipe::special : Pipe::fp64};
    const bool approximate = has(words, "approx") || !is(opcode, "rcp", "sqrt");
    return {approximate ? Pipe::special : Pipe::division};
  }
  if (is(opcode, "popc", "clz", "bfind", "brev")) return {Pipe::special};
  if (is(opcode, "mul24", "mad24", "madc", "dp4a", "dp2a")) return {Pipe::multiply};
  if (is(opcode, "addc", "subc", "sad", "and", "or", "xor", "not", "cnot", "shl", "shr", "shf",
         "lop3", "prmt", "bfe", "bfi", "szext", "bmsk", "fns", "selp", "slct", "isspacep"))
    return {Pipe::integer};
  if (is(opcode, "setp", "set")) {
    const Pipe pipe = type == Type::f64 ? Pipe::fp64 : is_half(type) ? Pipe::fp16 : Pipe::integer;
    return {pipe};
  }
  if (opcode == "cvt") return {any_float(words) ? Pipe::conversion : Pipe::integer};
  if (is(opcode, "mov", "cvta", "mapa", "getctarank", "alloca", "stacksave", "stackrestore",
         "createpolicy"))
    return {Pipe::move};
  if (is(opcode, "shfl", "vote", "match", "redux", "activemask", "elect", "movmatrix"))
    return {Pipe::exchange};
  if (is(opcode, "ld", "ldu", "st", "prefetch", "prefetchu", "applypriority", "discard"))
    return {memory(words)};
  if (is(opcode, "ldmatrix", "stmatrix")) return {Pipe::shared};
  if (is(opcode, "atom", "red", "multimem")) return {Pipe::atomic};
  if (opcode == "cp") return copy(words);
  if (opcode == "tensormap") return {Pipe::bulk};
  if (opcode == "mma") return {Pipe::tensor, 0, product_flops(words)};
  if (opcode == "wmma") {
    if (has(words, "mma")) return {Pipe::tensor, 0, product_flops(words)};
    return {memory(words)};
  }
  if (opcode == "wgmma")  // by the four warps of a group
    return has(words, "mma_async") ? Traits{Pipe::tensor, 0, product_flops(words) / 4}
                                   : Traits{Pipe::barrier};
  if (opcode == "tcgen05") return {Pipe::tensor};
  if (is(opcode, "bar", "barrier"))
    return {Pipe::barrier, 0, 0, !has(words, "warp") && !has(words, "cluster")};
  if (is(opcode, "membar", "fence", "mbarrier", "griddepcontrol")) return {Pipe::barrier};
  if (is(opcode, "bra", "brx", "call", "ret", "exit", "trap", "brkpt", "nanosleep", "pmevent",
         "setmaxnreg"))
    return {Pipe::control};
  return {};
}

}  // namespace plumbline::ptx
