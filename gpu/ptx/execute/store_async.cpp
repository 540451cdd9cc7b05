// SPDX-License-Identifier: Apache-2.0
#include "ptx/execute/store_async.hpp"

#include <cstring>

namespace plumbline::ptx {

Outcome store_async(Warp& w, const Operation& o) {
  const auto& copy = *static_cast<const BulkCopy*>(o.extra);
  const std::uint32_t element = copy.element_bytes, bytes = element * copy.rank;
  for (std::uint32_t rest = w.mask; rest; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(rest));
    const SharedPlace to = place_of(w, o, copy.to, lane, bytes, bytes);
    std::byte values[32];
    for (std::uint32_t k = 0; k < copy.rank; ++k)
      std::memcpy(values + k * element,
                  w.registers + w.lists[o.list + copy.coordinates + k] + lane * element, element);
    bring(w, o, lane, copy, to, {values, bytes}, 0, false);
  }
  return Outcome::next;
}

}  // namespace plumbline::ptx
