// SPDX-License-Identifier: Apache-2.0
// wgmma: products of a warpgroup, four warps that follow one another. Each warp computes its 16
// rows when it comes; what the instruction forbids until its wait is kept track of here.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_WGMMA_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_WGMMA_HPP

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "ptx/arithmetic/descriptor.hpp"
#include "ptx/arithmetic/product.hpp"
#include "ptx/execute/warp.hpp"

namespace plumbline::ptx {

/// `extra` of wgmma.mma_async points to it. The list has the accumulators, then A's registers; a
/// and b are the descriptors, c is scale-d, which the immediate turns.
struct WgmmaProduct {
  arithmetic::Product how;
  arithmetic::Wgmma function = nullptr;
  std::uint32_t accumulators = 0;  ///< registers
  bool a_in_registers = false, transposed_a = false, transposed_b = false;
  bool negate_a = false, negate_b = false;
  std::vector<std::uint32_t> registers;  ///< as numbered before they had places: d, then a
  std::uint32_t number = 0;              ///< among those of its function
  std::vector<bool>
      conflicts;  ///< by number: it needs a register of that one as it is after a wait
  std::vector<std::uint32_t> unfenced;  ///< registers that may have been written since a fence

  bool accumulates(std::uint32_t reg) const;
  bool has(std::uint32_t reg) const;
};

/// What an operation does with registers that a wgmma in flight may have.
struct Watch {
  struct Touch {
    std::uint32_t reg = 0;
    enum class Kind : std::uint8_t { reads, writes, copies } kind = Kind::reads;
    std::uint32_t from = ~0u;  ///< of copies: what reg becomes; ~0u: a constant
  };
  std::uint32_t operation = 0;
  Run run = nullptr;  ///< of the operation, which executes `watched` first
  std::vector<Touch> touches;
};
Outcome watched(Warp& warp, const Operation& operation);
/// What the operation does, watched or not.
Run run_of(const Program& program, const Operation& operation);

/// Rows of a matrix in shared memory.
struct Tile {
  arithmetic::Descriptor descriptor;
  std::uint64_t bits = 0;             ///< of the descriptor
  std::uint32_t first = 0, rows = 0;  ///< of A, or columns of B
  bool k_major = true;
  std::uint32_t low = 0, high = 0;  ///< the bytes are among these
};

struct WgmmaTurn;

/// Of one block.
class Warpgroups {
 public:
  /// What the warps of a warpgroup execute together, in the order of the first that comes.
  struct Step {
    const Operation* operation = nullptr;
    const Program* program = nullptr;
    std::uint32_t warps = 0;     ///< bits of those that have come
    std::uint32_t first = 0;     ///< the warp that came first
    Tile b;                      ///< of wgmma.mma_async
    std::vector<float> columns;  ///< B decoded, until all have come
  };
  /// A wgmma that a warp has not waited for.
  struct Flight {
    const WgmmaProduct* product = nullptr;
    const Operation* operation = nullptr;
    const Program* program = nullptr;
    std::uint32_t group = 0;
    std::uint64_t step = 0;
    Tile a;  ///< of this warp; no rows where A is in registers
    Tile b;  ///< of all four
  };
  /// A register that has a copy of an accumulator in flight.
  struct Copy {
    std::uint32_t reg = 0, of = 0;  ///< of: the accumulator
    Flight flight;                  ///< its wgmma
    std::uint32_t group = 0;
  };
  struct Member {
    std::uint64_t steps = 0;  ///< that it has executed
    std::uint32_t committed = 0, fences = 0;
    std::vector<Flight> flights;
    std::vector<Copy> copies;
    std::map<std::uint32_t, std::uint32_t> written;  ///< of watched registers: 1 + fences before
  };

  /// Notes that the warp executes the operation, which the other three must execute too.
  Step& arrive(Warp& warp, const Operation& operation);
  Member& member(const Warp& warp) { return group_of(warp).members[warp.index % 4]; }
  /// Drops the steps that all four warps have executed.
  void drop(Warp& warp);
  /// A place for B of this step, which keeps it until all have come, unless a warp is far ahead.
  float* place_for(Warp& warp, Step& step, std::size_t floats);
  /// The wgmma reads these: nobody may write them before the wait.
  void issue(Warp& warp, const Operation& operation, const WgmmaTurn& turn);
  /// Throws where the registers that it needs are in flight, or no fence is before it.
  void check_registers(Warp& warp, const Operation& operation, const WgmmaProduct& product);
  void touch(Warp& warp, const Operation& operation, const Watch::Touch& touch);
  /// Whether all four warps have come to the products that this one would wait for.
  bool have_come(Warp& warp, std::int64_t left);
  /// Waits until at most `left` groups of the warp are in flight. What a product of the four warps
  /// reads in shared memory may be written when one of them has waited.
  void wait(Warp& warp, std::int64_t left);
  /// The line of a wgmma in flight that reads this byte, for a message; or "".
  std::string reader_of(const SharedMemory& shared, std::uint32_t byte) const;
  /// The block has ended. Throws where warps of a warpgroup have not executed the same.
  void end(Warp& warp);
  /// Whether the warp knows, of every warpgroup whose wgmma read this granule, that one of its
  /// warps has waited for it. Of `several`, the stamp says less: any barrier of any warps.
  bool reads_are_known(const Warp& warp, const SharedMemory& shared, std::uint32_t granule) const;
  /// All that has been read is in order before what comes.
  void forget_readings();
  /// For the next block.
  void clear(SharedMemory& shared);

 private:
  struct Group {
    std::deque<Step> steps;
    std::uint64_t begin = 0;  ///< the number of steps.front()
    std::vector<std::vector<float>> spare;
    Member members[4];
    /// Products that have been waited for: the epoch in which each warp did, or 0.
    struct Reading {
      std::uint32_t waited[4] = {};
    };
    std::vector<Reading> readings;
    std::map<std::uint64_t, std::uint32_t> of_step;  ///< that some warps have still to wait for
    std::vector<std::uint32_t> last_reading;  ///< of 16 bytes of shared memory: 1 + its number
  };
  Group& group_of(const Warp& warp);
  /// What the product with this number read is in flight no more.
  void unmark(Group& of, SharedMemory& shared, const Tile& tile, std::uint32_t who,
              std::uint32_t reading) const;

  std::deque<Group> groups_;
  std::vector<float> scratch_;
};

/// One execution of wgmma.mma_async by a warp.
struct WgmmaTurn {
  Warpgroups::Step* step = nullptr;
  Tile a, b;            ///< a: no rows where A is in registers
  bool first = false;   ///< of its warpgroup
  bool decode = false;  ///< B is to be decoded, to
  float* columns = nullptr;
  bool accumulate = false;
};
void begin_wgmma(Warp& warp, const Operation& operation, WgmmaTurn& turn);
void end_wgmma(Warp& warp, const Operation& operation, const WgmmaTurn& turn);
/// Of a tile that is not in shared memory: it has the bytes from low to high.
[[noreturn]] void fault_tile(Warp& warp, const Operation& operation, const Tile& tile,
                             std::int64_t low, std::int64_t high);
/// Granules that the warp may read: the other warps of its warpgroup read them too, which are not
/// ordered with what it wrote after the last barrier. Throws Fault (race).
void check_warpgroup_reads(Warp& warp, const Operation& operation, std::uint32_t granule,
                           std::uint32_t count);

Outcome wgmma_fence(Warp& warp, const Operation& operation);
Outcome wgmma_commit(Warp& warp, const Operation& operation);
Outcome wgmma_wait(Warp& warp, const Operation& operation);

}  // namespace plumbline::ptx

#endif
