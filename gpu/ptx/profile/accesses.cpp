// SPDX-License-Identifier: Apache-2.0
#include "ptx/profile/accesses.hpp"

#include <algorithm>

namespace plumbline::ptx {
namespace {

constexpr std::uint32_t banks = 32, word_bytes = 4, sector_bytes = 32;

/// Sorts them and returns how many different ones there are; these come first.
std::uint32_t distinct(std::uint64_t* begin, std::uint32_t count) {
  std::sort(begin, begin + count);
  return static_cast<std::uint32_t>(std::unique(begin, begin + count) - begin);
}

}  // namespace

Cost shared_transactions(const Addresses& addresses, std::uint32_t bytes, bool atomic) {
  const std::uint32_t words_each = std::max(1u, bytes / word_bytes);
  const std::uint32_t lanes_at_once = std::max(1u, banks / words_each);
  Cost cost;
  for (std::uint32_t i = 0; i < addresses.count;) {
    const std::uint32_t group = addresses.lane[i] / lanes_at_once;
    std::uint64_t words[banks];
    std::uint32_t count = 0;
    for (; i < addresses.count && addresses.lane[i] / lanes_at_once == group; ++i)
      for (std::uint32_t k = 0; k < words_each && count < banks; ++k)
        words[count++] = addresses.at[i] / word_bytes + k;
    if (!atomic) count = distinct(words, count);
    std::uint32_t of_bank[banks] = {};
    for (std::uint32_t k = 0; k < count; ++k) ++of_bank[words[k] % banks];
    cost.is += *std::max_element(of_bank, of_bank + banks);
    ++cost.ideal;
  }
  return cost;
}

Cost global_sectors(const Addresses& addresses, std::uint32_t bytes) {
  std::uint64_t at[32], sectors[32];
  for (std::uint32_t i = 0; i < addresses.count; ++i) {
    at[i] = addresses.at[i];
    sectors[i] = at[i] / sector_bytes;  // an access is aligned, and no longer than a sector
  }
  const std::uint32_t touched = distinct(at, addresses.count) * bytes;
  return {distinct(sectors, addresses.count), (touched + sector_bytes - 1) / sector_bytes};
}

std::uint32_t most_at_one_address(const Addresses& addresses) {
  std::uint64_t at[32];
  std::copy(addresses.at, addresses.at + addresses.count, at);
  std::sort(at, at + addresses.count);
  std::uint32_t most = 0, run = 0;
  for (std::uint32_t i = 0; i < addresses.count; ++i) {
    run = i > 0 && at[i] == at[i - 1] ? run + 1 : 1;
    most = std::max(most, run);
  }
  return most;
}

}  // namespace plumbline::ptx
