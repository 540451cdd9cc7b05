// SPDX-License-Identifier: Apache-2.0
// A cluster: blocks that run together and see one another's shared memory. A block of a launch
// without clusters is one of its own.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_CLUSTER_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_CLUSTER_HPP

#include <memory>
#include <vector>

#include "ptx/execute/asynchronous.hpp"
#include "ptx/execute/state.hpp"

namespace plumbline::ptx {

class Cluster {
 public:
  explicit Cluster(LaunchState& launch);
  /// The blocks of the cluster with this number.
  void begin(std::uint64_t number);
  /// A turn of each block.
  Runner::Progress go_on();
  /// go_on() until it is done; throws Fault where nothing changes any more.
  void finish();
  /// Throws Fault: it waits for a write that does not come.
  [[noreturn]] void endless();
  Counts take_counts();
  /// Adds what the probes of its blocks have counted.
  void take_tallies(std::vector<Tally>& all);

  // barrier.cluster
  void arrive(WarpState& warp, const Operation& operation, std::uint32_t mask);
  /// Whether these lanes need not wait.
  bool wait(WarpState& warp, const Operation& operation, std::uint32_t mask);
  /// Releases those that wait where all have arrived.
  void check_barrier();
  /// Who has not arrived.
  std::string missing() const;
  /// What was accessed until now is in order before what comes.
  void new_epoch();

  LaunchState& launch;
  /// Counts host memory for threads' registers and local memory. Throws Refused where it is more
  /// than a device would have for them.
  void take(std::size_t bytes);

  std::vector<std::unique_ptr<Runner>> blocks;  ///< by rank
  Transfers transfers;
  std::uint64_t events = 0;  ///< changes that somebody may wait for
  std::uint32_t phase = 0;   ///< of barrier.cluster
  Known arriving;            ///< what those who arrive know

 private:
  std::size_t taken_ = 0;
};

}  // namespace plumbline::ptx

#endif
