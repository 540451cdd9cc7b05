// SPDX-License-Identifier: Apache-2.0
// Copies by the asynchronous proxy: cp.async.bulk, cp.reduce.async.bulk and their tensor forms.
// Each lane that is active issues one.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_BULK_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_BULK_HPP

#include <span>

#include "ptx/execute/atomic.hpp"
#include "ptx/execute/distributed.hpp"

namespace plumbline::ptx {

struct TensorMap;

/// Operation::extra of a copy. Registers are named by their index in the operation's list.
struct BulkCopy {
  static constexpr std::uint8_t none = 0xff;
  struct Address {
    std::uint8_t base = none;
    bool wide = false;  ///< the register has 64 bits
    std::uint32_t space = 0;
    std::int64_t offset = 0;
  };
  Address to, from;                       ///< of tensor copies the shared side alone
  Address barrier;                        ///< none: a bulk group
  std::uint8_t size = none, mask = none;  ///< mask: of multicast
  Combine combine = nullptr;              ///< of reductions
  std::uint32_t element_bytes = 0;        ///< of them
  // Tensor copies
  Address map;
  std::uint8_t coordinates = none;  ///< the first
  std::uint8_t rank = 0;
  bool loads = false, prefetches = false;
  Atomic op{};  ///< of a tensor's reduction, whose type the map has
  bool reduces = false;
};

Outcome bulk_to_shared(Warp& warp, const Operation& operation);  ///< from global or .shared::cta
Outcome bulk_to_global(Warp& warp, const Operation& operation);
Outcome bulk_commit(Warp& warp, const Operation& operation);
/// immediate: how many groups may be under way.
Outcome bulk_wait(Warp& warp, const Operation& operation);
Outcome tensor_copy(Warp& warp, const Operation& operation);
/// tensormap.replace: a: the address of the map; b: the new value, of 32 or 64 bits; immediate: its
/// offset; list[0]: the TensorField, list[1]: the ordinal.
enum class TensorField : std::uint32_t {
  global_address,
  rank,
  box_dim,
  global_dim,
  global_stride,
  global_stride_16,  ///< in units of 16 bytes, before PTX ISA 8.5
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  fill_mode
};
Outcome tensor_map_replace(Warp& warp, const Operation& operation);
/// tensormap.cp_fenceproxy: 128 bytes of shared to global memory; the whole warp.
Outcome tensor_map_copy(Warp& warp, const Operation& operation);

// ---- what the files of these copies share

std::uint64_t address_of(Warp& warp, const Operation& operation, const BulkCopy::Address& address,
                         std::uint32_t lane);
SharedPlace place_of(Warp& warp, const Operation& operation, const BulkCopy::Address& address,
                     std::uint32_t lane, std::uint32_t bytes, std::uint32_t align);
std::uint32_t word_of(Warp& warp, const Operation& operation, std::uint8_t index,
                      std::uint32_t lane);
/// Bytes of global memory, checked. `last`: the allocation that was met before.
std::byte* global_bytes(Warp& warp, const Operation& operation, std::uint32_t lane, Address address,
                        std::uint32_t bytes, bool writes, bool reads, const Allocation*& last);
/// Bytes that one lane's copy brings to the shared memory of each block that it names, with the
/// mbarrier of each.
void bring(Warp& warp, const Operation& operation, std::uint32_t lane, const BulkCopy& copy,
           const SharedPlace& to, std::span<const std::byte> bytes, std::uint32_t read_from,
           bool from_shared);
/// A bulk group's read of shared memory: nobody may write there before the wait for it.
void read_in_group(Warp& warp, const Operation& operation, std::uint32_t lane, std::uint32_t at,
                   std::uint32_t bytes);
/// to = to op from, element by element.
void combine(std::byte* to, const std::byte* from, std::uint32_t bytes, std::uint32_t element,
             Combine how);

}  // namespace plumbline::ptx

#endif
