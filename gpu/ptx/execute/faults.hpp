// SPDX-License-Identifier: Apache-2.0
// What instructions throw: a Fault with the sentence that a kernel's author reads.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_FAULTS_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_FAULTS_HPP

#include <optional>
#include <string>

#include "ptx/execute/warp.hpp"

namespace plumbline::ptx {

/// `address`: of the access that the fault is, if it is one.
[[noreturn]] void fault(Warp& warp, const Operation& operation, std::uint32_t lane,
                        Fault::Kind kind, const std::string& text,
                        std::optional<Address> address = {});
/// 255: "0xff"
std::string hexadecimal(std::uint64_t value);
/// "PTX line 12 (f.cu:7)"
std::string line_of(const Program& program, std::uint32_t operation);
std::string line_of(const Program& program, const Operation& operation);
/// An access that no allocation has, or not as it is wanted.
[[noreturn]] void fault_global(Warp& warp, const Operation& operation, std::uint32_t lane,
                               Address address, std::uint32_t bytes, bool writes);
[[noreturn]] void fault_window(Warp& warp, const Operation& operation, std::uint32_t lane,
                               const char* space, Address address, std::uint32_t bytes,
                               std::uint32_t size);
[[noreturn]] void fault_misaligned(Warp& warp, const Operation& operation, std::uint32_t lane,
                                   Address address, std::uint32_t bytes);
[[noreturn]] void fault_uninitialised(Warp& warp, const Operation& operation, std::uint32_t lane,
                                      Address address, std::uint32_t bytes);
/// Of a granule of shared memory whose stamps do not allow the access. `block`: null for the
/// warp's own.
[[noreturn]] void fault_shared(Warp& warp, const Operation& operation, std::uint32_t lane,
                               std::uint32_t granule, bool writes, const Block* block = nullptr);
/// Of a granule that the asynchronous proxy reads without a proxy fence after the write.
[[noreturn]] void fault_proxy(Warp& warp, const Operation& operation, std::uint32_t lane,
                              std::uint32_t granule);
/// A lane reads what another lane of its warp wrote, without bar.warp.sync in between.
[[noreturn]] void fault_lanes(Warp& warp, const Operation& operation, std::uint32_t lane,
                              std::uint32_t granule);
/// Of a warp that has begun `most_in_flight` things, and waits for none.
inline constexpr std::size_t most_in_flight = 1 << 16;
[[noreturn]] void fault_in_flight(Warp& warp, const Operation& operation, std::uint32_t lane);
[[noreturn]] void fault_two_values(Warp& warp, const Operation& operation, std::uint32_t lane,
                                   Address address, bool shared);

}  // namespace plumbline::ptx

#endif
