// SPDX-License-Identifier: Apache-2.0
#include "support/ranks.hpp"
#include "support/sha256.hpp"

namespace plumbline {

bool Ranks::as_on_first(std::span<const std::byte> bytes) {
  const std::string own = sha256({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  std::string firsts = own;
  communicator_->broadcast(std::as_writable_bytes(std::span(firsts)), 0);
  return own == firsts;
}

}  // namespace plumbline
