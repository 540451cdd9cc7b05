// SPDX-License-Identifier: Apache-2.0
// A launch while it runs: fragments of warps, call frames, barriers, blocks.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_STATE_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_STATE_HPP

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "ptx/execute/warp.hpp"
#include "ptx/translate/program.hpp"

namespace plumbline::ptx {

/// Bytes aligned to 64.
class Bytes {
 public:
  void resize(std::size_t size);  ///< what was there is lost where it grows
  std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
};

/// Lanes of a warp at one operation.
struct Fragment {
  enum class State : std::uint8_t {
    ready,
    waiting,  ///< for other lanes of the warp
    blocked   ///< at a barrier of the block, or of the cluster
  };
  std::uint32_t pc = 0, mask = 0;
  State state = State::ready;
  std::uint8_t barrier = 0;
  bool deferred = false;   ///< it spins: others go first
  std::uint32_t live = 0;  ///< the warp's live lanes when it began to wait
};

/// A function that a warp is in.
struct Frame {
  const Program* program = nullptr;
  std::byte* registers = nullptr;
  std::uint32_t local_frame = 0;
  std::vector<Fragment> fragments;
  const Program::Call* call = nullptr;  ///< that led here
  std::uint32_t caller = 0;             ///< pc of that
  std::uint32_t mask = 0;               ///< lanes that came in
};

struct Thread;  // of the CPU

struct WarpState : Warp {
  std::vector<Frame> frames;
  std::vector<Bytes> files;  ///< of each depth
  Bytes local_bytes;
  const Program* prepared = nullptr;  ///< whose constants are in files[0]
  bool done = false, spins = false;
};

/// Fragment::barrier of those at barrier.cluster.
inline constexpr std::uint8_t cluster_barrier = 16;

struct Barrier {
  bool in_use = false, counted = false;
  std::uint32_t expected = 0, arrived = 0;  ///< threads, where counted
  std::uint32_t lanes[32] = {};             ///< that have arrived, of each warp
  std::uint32_t operation = 0, warp = 0;    ///< of the first arrival
  std::uint32_t popc = 0;
  bool all = true, any = false;
  Known known;  ///< what those who have arrived knew then
};

/// Everything a launch needs, for all threads of the CPU.
struct LaunchState {
  const KernelProgram* kernel = nullptr;
  Launch launch;
  Options options;
  const Allocations* memory = nullptr;
  const std::byte* parameters = nullptr;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t shared_bytes = 0;
  std::uint64_t clusters = 0;
  Extent cluster;  ///< in blocks
  bool explicit_cluster = false;
  Address grid_workspace = 0;  ///< of a cooperative launch: its bytes, and the grid's barrier
  std::chrono::steady_clock::time_point deadline;
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> last;  ///< no cluster from here on need run: an earlier one failed
  std::mutex mutex;
  std::exception_ptr failure;
  Counts counts;
  std::vector<Tally> tallies;  ///< of KernelProgram::profiled

  bool out_of_time() const {
    return options.time_limit_ms != 0 && std::chrono::steady_clock::now() >= deadline;
  }
  /// "the kernel has not ended after 20 ms"
  std::string not_ended() const;
};

/// One block while it runs.
class Runner {
 public:
  explicit Runner(LaunchState& launch);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  void begin(const Extent& index);
  enum class Progress { done, waits };
  /// Until the block is done, or all of its warps wait for others.
  Progress go_on();
  /// Throws where a warp waits for a write that does not come.
  void endless();
  /// Throws: warps wait at a barrier.
  [[noreturn]] void deadlock();
  /// A barrier, or a phase of an mbarrier, has ended.
  void new_epoch();
  /// What the warp knows, its own accesses until now among it. What it does next is later.
  Known arrival(const Warp& warp);
  /// Sets SharedMemory::floor for the warp that runs.
  void find_floor(const Warp& warp);
  Counts counts;
  std::vector<Tally> tallies;

  LaunchState& launch;
  Block block;
  std::vector<std::unique_ptr<WarpState>> warps;
  std::vector<WarpState*> turns;  ///< the warps, in the order in which they run
  Barrier barriers[16];

 private:
  enum class Stop { done, blocked, spins, slice };
  Stop run(WarpState& warp);
  bool choose(WarpState& warp, std::uint32_t& stop);
  bool join(WarpState& warp);
  void arrive(WarpState& warp, const Operation& operation, std::uint32_t mask);
  void next_epoch();
  void check_barrier(std::uint32_t number);
  void release(std::uint32_t number);
  void clear_stamps();
  void enter(WarpState& warp, const Program& program, std::uint32_t mask,
             std::uint32_t local_frame);
  void call(WarpState& warp, const Operation& operation, std::uint32_t mask, std::uint32_t next);
  void leave(WarpState& warp);
  void builtin(WarpState& warp, const Operation& operation, const Program::Call& call,
               std::uint32_t mask);
  void move(WarpState& warp, const Program::Call::Place& place, std::byte* caller,
            const std::uint32_t* list, std::uint32_t caller_frame, const Variable& formal,
            std::uint32_t at, std::byte* callee, std::uint32_t callee_frame, std::uint32_t mask,
            bool there);
  void check_time(WarpState& warp);
  [[noreturn]] void stuck(WarpState& warp);
  bool waits_for_cluster() const;
  void check_left(WarpState& warp);

  const Warp* running_ = nullptr;
  Bytes shared_, written_, read_, written_by_, lanes_;
  std::vector<const Allocation*> sites_;
};

/// Runs a whole grid. Throws Fault.
Counts run_grid(LaunchState& launch);

/// Fills in what a function finds in its registers: constants and special registers.
void prepare_registers(const Runner& runner, WarpState& warp, const Program& program,
                       std::byte* registers, std::uint32_t local_frame, bool constants);

}  // namespace plumbline::ptx

#endif
