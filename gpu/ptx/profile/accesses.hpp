// SPDX-License-Identifier: Apache-2.0
// What an access of a warp costs, by its addresses.
#ifndef PLUMBLINE_GPU_PTX_PROFILE_ACCESSES_HPP
#define PLUMBLINE_GPU_PTX_PROFILE_ACCESSES_HPP

#include <cstdint>

namespace plumbline::ptx {

/// Addresses of some lanes, in their order.
struct Addresses {
  std::uint64_t at[32];
  std::uint8_t lane[32];
  std::uint32_t count = 0;

  void add(std::uint32_t of_lane, std::uint64_t address) {
    lane[count] = static_cast<std::uint8_t>(of_lane);
    at[count++] = address;
  }
};

struct Cost {
  std::uint32_t is = 0, ideal = 0;
};

/// Transactions of shared memory: 32 banks of 4 bytes each give one word at a time, to all lanes
/// that ask for it. Accesses of 8 bytes go by half warps, those of 16 by quarters (CUDA C++ Best
/// Practices and Programming Guides). `atomic`: lanes that ask for the same word take turns, too.
Cost shared_transactions(const Addresses& addresses, std::uint32_t bytes, bool atomic);

/// Sectors of 32 bytes of global memory, and the fewest that have room for the same bytes.
Cost global_sectors(const Addresses& addresses, std::uint32_t bytes);

/// The most lanes at one address.
std::uint32_t most_at_one_address(const Addresses& addresses);

}  // namespace plumbline::ptx

#endif
