// SPDX-License-Identifier: Apache-2.0
// How operations of memory are told what they do.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_MEMORY_FLAGS_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_MEMORY_FLAGS_HPP

#include <cstdint>

namespace plumbline::ptx {

// Operation::flags
inline constexpr std::uint8_t memory_wide = 1;    ///< the address register has 64 bits
inline constexpr std::uint8_t memory_signed = 2;  ///< what is loaded is extended with its sign
inline constexpr std::uint8_t memory_strong = 4;  ///< volatile, relaxed, acquire, release
inline constexpr std::uint8_t memory_poll = 8;    ///< may be what a loop waits for

// Operation::c
inline constexpr std::uint32_t memory_space = 7;
inline constexpr std::uint32_t memory_generic = 0;
inline constexpr std::uint32_t memory_global = 1;  ///< also .const, and .param of kernels
inline constexpr std::uint32_t memory_shared = 2;
inline constexpr std::uint32_t memory_local = 3;
inline constexpr std::uint32_t memory_cluster = 4;  ///< .shared::cluster

}  // namespace plumbline::ptx

#endif
