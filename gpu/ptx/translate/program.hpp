// SPDX-License-Identifier: Apache-2.0
// A function of PTX as operations of the executor.
#ifndef PLUMBLINE_GPU_PTX_TRANSLATE_PROGRAM_HPP
#define PLUMBLINE_GPU_PTX_TRANSLATE_PROGRAM_HPP

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/device.hpp"
#include "ptx/execute/bulk.hpp"
#include "ptx/execute/calls.hpp"
#include "ptx/execute/matrix.hpp"
#include "ptx/execute/operation.hpp"
#include "ptx/execute/wgmma.hpp"
#include "ptx/execute/wmma.hpp"
#include "ptx/profile/probe.hpp"
#include "ptx/read/module.hpp"

namespace plumbline::ptx {

/// What a special register shows, or another value that is known when a warp begins.
enum class Special : std::uint8_t {
  tid,
  ntid,
  ctaid,
  nctaid,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clusterid,
  nclusterid,
  cluster_ctaid,
  cluster_nctaid,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,
  dynamic_shared,
  total_shared,
  grid_workspace_low,  ///< half of the address that a cooperative launch has; else 0
  grid_workspace_high,
  zero,
  frame,       ///< where the function's local memory begins, plus `add`
  parameters,  ///< the address of the kernel's parameters, plus `add`
};

struct Program {
  struct Constant {
    std::uint32_t offset = 0, bytes = 4;
    std::uint64_t bits = 0;
  };
  struct SpecialSlot {
    std::uint32_t offset = 0, bytes = 4;
    Special which{};
    std::uint8_t axis = 0;
    std::uint64_t add = 0;
  };
  /// A call: which registers and which bytes of local memory go there and come back.
  struct Call {
    /// A register of the operation's list, or bytes of the caller's local memory.
    struct Place {
      bool in_list = false;
      std::uint32_t list = 0, local = 0, bytes = 0;
    };
    const Function* callee = nullptr;  ///< null: an indirect call
    std::string_view builtin;          ///< vprintf, __assertfail
    std::vector<Place> arguments, results;
  };

  const Module* module = nullptr;
  const Function* function = nullptr;
  std::vector<Operation> operations;
  std::vector<std::uint32_t> lists;
  std::vector<std::uint32_t> instruction_of;  ///< for each operation: of Function::instructions
  std::vector<Constant> constants;
  std::vector<SpecialSlot> specials;
  std::vector<std::uint32_t> cleared;  ///< 4-byte words' offsets and lengths: read before written
  std::vector<std::vector<std::uint32_t>> branch_tables;
  std::deque<Call> calls;
  std::deque<Conversion> conversions;
  std::deque<MatrixProduct> products;
  std::deque<Probe> probes;
  std::deque<WgmmaProduct> wgmmas;
  std::deque<WmmaProduct> matrix_products;
  std::deque<WmmaPlace> matrix_places;
  std::vector<Watch> watches;  ///< in the order of their operations
  std::deque<BulkCopy> bulk_copies;
  std::uint32_t bytes = 0;                             ///< of a warp's registers
  std::uint32_t local_bytes = 0;                       ///< of a thread
  std::uint32_t registers = 0;                         ///< of 32 bits, live at once
  std::vector<std::uint32_t> parameter_at, result_at;  ///< in local memory, or a register
};

/// A kernel with all that it calls.
struct KernelProgram {
  std::unordered_map<const Function*, std::unique_ptr<Program>> programs;
  const Program* entry = nullptr;
  std::uint32_t static_shared = 0;
  std::uint32_t dynamic_shared = 0;  ///< where .extern begins, from shared_begin
  /// log2 of the least access of shared memory: for kernels whose granules must not change.
  std::uint32_t granule = 2;
  bool fixed_granules = false;  ///< it has asynchronous copies that are counted in granules
  std::uint32_t sites = 1;
  bool ordered = false;  ///< atomics or strong accesses of global memory: blocks in order
  std::string missing;
  std::vector<ProfiledInstruction> profiled;  ///< of all functions; empty without probes
};

/// Where things of the module are.
struct Layout {
  std::vector<Address> variables;  ///< for Module::variables; of .shared: 0
  Variation variation;
};

/// `profiled`: with a probe before each instruction. Throws BadPtx for operands that do not fit.
std::unique_ptr<KernelProgram> translate(const Module& module, const Function& entry,
                                         const Layout& layout, bool profiled = false);

}  // namespace plumbline::ptx

#endif
