// SPDX-License-Identifier: Apache-2.0
#include "ptx/read/qualifiers.hpp"

#include <algorithm>
#include <array>

#include "ptx/read/lexer.hpp"
#include "ptx/read/types.hpp"

namespace plumbline::ptx {
namespace {

/// In the order of their bytes.
constexpr auto words = std::to_array<std::string_view>({
    "NaN",
    "a",
    "abs",
    "acq_rel",
    "acquire",
    "add",
    "alias",
    "aligned",
    "all",
    "and",
    "any",
    "approx",
    "arrive",
    "arrive_drop",
    "async",
    "async::generic",
    "async::global",
    "async::shared::cluster",
    "async::shared::cta",
    "b",
    "b1024",
    "b4e",
    "ballot",
    "bfly",
    "box_dim",
    "bulk",
    "bulk_group",
    "c",
    "ca",
    "cas",
    "cc",
    "cg",
    "clamp",
    "cluster",
    "col",
    "commit_group",
    "complete_tx",
    "const",
    "cp_fenceproxy",
    "cp_mask",
    "cs",
    "cta",
    "cv",
    "d",
    "dec",
    "down",
    "ecl",
    "ecr",
    "element_stride",
    "elemtype",
    "entry",
    "eq",
    "equ",
    "exch",
    "expect_tx",
    "f4e",
    "fence",
    "fill_mode",
    "finite",
    "fractional",
    "ftz",
    "full",
    "func",
    "ge",
    "generic",
    "geu",
    "gl",
    "global",
    "global_address",
    "global_dim",
    "global_stride",
    "gpu",
    "gt",
    "gtu",
    "hi",
    "hs",
    "idx",
    "ignore_oob",
    "im2col",
    "im2col_no_offs",
    "inc",
    "infinite",
    "init",
    "interleave_layout",
    "inval",
    "l",
    "launch_dependents",
    "le",
    "leu",
    "lo",
    "load",
    "local",
    "ls",
    "lt",
    "ltu",
    "lu",
    "mask",
    "max",
    "mbarrier",
    "mbarrier::complete_tx::bytes",
    "mbarrier_init",
    "min",
    "mma",
    "mma_async",
    "mmio",
    "multicast::cluster",
    "nan",
    "nc",
    "ne",
    "neu",
    "noComplete",
    "noftz",
    "noinc",
    "normal",
    "notanumber",
    "num",
    "number",
    "oob",
    "or",
    "pack",
    "param",
    "param::entry",
    "param::func",
    "parity",
    "pending_count",
    "popc",
    "prefetch",
    "proxy",
    "r",
    "range",
    "rank",
    "rc16",
    "rc8",
    "read",
    "red",
    "reduce",
    "relaxed",
    "release",
    "relu",
    "replace",
    "rm",
    "rmi",
    "rn",
    "rna",
    "rni",
    "row",
    "rp",
    "rpi",
    "rs",
    "rz",
    "rzi",
    "s2",
    "sat",
    "satfinite",
    "sc",
    "shared",
    "shared::cluster",
    "shared::cta",
    "shiftamt",
    "sp",
    "store",
    "subnormal",
    "swizzle_mode",
    "sync",
    "sys",
    "tensor",
    "tensormap",
    "tensormap::generic",
    "test_wait",
    "tile",
    "to",
    "trans",
    "try_wait",
    "u2",
    "uni",
    "unified",
    "up",
    "volatile",
    "wait",
    "wait_all",
    "wait_group",
    "warp",
    "wb",
    "weak",
    "wide",
    "wrap",
    "wt",
    "xor",
    "xorsign",
});
static_assert(std::ranges::is_sorted(words));

/// m16n8k16, v4, x2, 3d: letters of `which` and numbers in turn.
bool is_shape(std::string_view word) {
  if (word.size() == 2 && is_digit(word[0]) && word[1] == 'd') return true;
  for (const std::string_view which : {"mnk", "mn", "v", "x"}) {
    std::string_view rest = word;
    bool fits = true;
    for (const char letter : which) {
      fits = fits && rest.size() > 1 && rest[0] == letter && is_digit(rest[1]);
      if (!fits) break;
      rest.remove_prefix(1);
      while (!rest.empty() && is_digit(rest[0])) rest.remove_prefix(1);
    }
    if (fits && rest.empty()) return true;
  }
  return false;
}

/// They change no result.
bool is_cache_hint(std::string_view word) {
  return word == "L1" || word == "L2" || word.starts_with("L1::") || word.starts_with("L2::") ||
         word.starts_with("level::");
}

}  // namespace

bool is_qualifier(std::string_view word) {
  return std::ranges::binary_search(words, word) || type_of(word) != Type::none || is_shape(word) ||
         is_cache_hint(word);
}

}  // namespace plumbline::ptx
