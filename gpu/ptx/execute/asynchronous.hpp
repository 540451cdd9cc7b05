// SPDX-License-Identifier: Apache-2.0
// The asynchronous proxy and the shadow of shared memory: what TMA, bulk copies and wgmma read and
// write, and who may touch it when.
//
// The copies of an mbarrier's phase are one Transfer. Bytes that it wrote may be touched by the
// warps that know that it is complete: by a wait for the mbarrier, or by any barrier after such a
// wait of another warp. Copies are made when they are issued; nobody can tell, but by a fault.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_ASYNCHRONOUS_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_ASYNCHRONOUS_HPP

#include <vector>

#include "ptx/execute/warp.hpp"

namespace plumbline::ptx {

/// Of reads that go on: until when.
enum class Reads : std::uint8_t {
  now,   ///< other warps may write after the next barrier
  group  ///< nobody may write before asynchronous_reads_end()
};

/// The asynchronous proxy reads `bytes` bytes of the shared memory of the warp's block from byte
/// `at` (0: the first; the caller has checked the bounds) for this lane: TMA stores, bulk copies
/// and the matrices of wgmma in shared memory. Throws Fault: bytes that nothing has written
/// (uninitialised_shared), of copies that the warp has not waited for (copy_in_flight), that
/// another warp wrote without a barrier in between (race), and that ordinary stores wrote without
/// fence.proxy.async since then (proxy_fence).
void asynchronous_reads(Warp& warp, const Operation& operation, std::uint32_t lane,
                        std::uint32_t at, std::uint32_t bytes, Reads until = Reads::now);
/// The reads (Reads::group) of these bytes by the warp have ended.
void asynchronous_reads_end(Warp& warp, std::uint32_t at, std::uint32_t bytes);

/// The asynchronous proxy writes bytes of `block`, which are those of the Transfer until its
/// mbarrier has been waited for. Throws Fault: race, or copy_in_flight. `reduces`: they must have
/// been written, and several copies of the Transfer may meet there.
void asynchronous_writes(Warp& warp, const Operation& operation, std::uint32_t lane, Block& block,
                         std::uint32_t at, std::uint32_t bytes, std::uint32_t transfer,
                         bool reduces = false);

/// An mbarrier lies at this byte from now on: mbarrier.init writes its 8 bytes. Throws Fault as for
/// a write.
void mbarrier_lies(Warp& warp, const Operation& operation, std::uint32_t lane, std::uint32_t at);

/// Of granules that the plain rules of the shadow forbid: whether the warp knows that the copies
/// which wrote or read them are complete. It makes them plain where the warp writes.
/// Likewise of what other warps of the block did, where barriers of some warps or an mbarrier put
/// it in order. `strong`: atomic writes of others are no race.
bool settled(const Warp& warp, SharedMemory& shared, std::uint32_t who, std::uint32_t granule,
             std::uint32_t count, bool reads, bool strong);
/// Whether what the stamp tells of is in order before what the warp does now: its own, of before a
/// barrier that both have passed, or of copies that it has waited for.
bool in_order(const Warp& warp, const SharedMemory& shared, std::uint32_t who, std::uint32_t stamp);
/// The same of those who read the granule.
bool reads_in_order(const Warp& warp, const SharedMemory& shared, std::uint32_t who,
                    std::uint32_t granule);
/// The warp has seen another's write, by an atomic or other strong read: what it may mean is not
/// known, so all that has happened is in order from here on.
void saw_others(Warp& warp);

/// fence.proxy.async.
Outcome proxy_fence(Warp& warp, const Operation& operation);
/// membar and fence: orders the warp's stores to shared memory (own_writes.hpp).
Outcome memory_fence(Warp& warp, const Operation& operation);
/// fence.mbarrier_init, and other fences of the cluster: the same, and that of its mbarriers.
Outcome mbarrier_init_fence(Warp& warp, const Operation& operation);

/// The Transfers of a cluster.
class Transfers {
 public:
  struct Range {
    Block* block = nullptr;
    std::uint32_t first = 0, count = 0;  ///< granules
  };
  void clear();
  /// A new one, of the mbarrier at a byte of its block's shared memory; the eldest gives its number
  /// up, and its bytes become plain.
  std::uint32_t begin(Cluster& cluster, std::uint32_t mbarrier);
  std::uint32_t mbarrier(std::uint32_t transfer) const { return mbarrier_[transfer]; }
  void add(std::uint32_t transfer, Block& block, std::uint32_t granule, std::uint32_t count);

 private:
  std::vector<Range> ranges_[transfers_at_once];
  std::uint32_t mbarrier_[transfers_at_once] = {};
  std::uint32_t next_ = 0;
};

}  // namespace plumbline::ptx

#endif
