// SPDX-License-Identifier: Apache-2.0
// A device that runs experiments: the software one, or a GPU behind its driver.
#ifndef PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_MACHINE_HPP
#define PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_MACHINE_HPP

#include <memory>
#include <string>
#include <vector>

#include "tests/gpu/ptx/conformance/experiment.hpp"

namespace plumbline::ptx::conformance {

struct Answer {
  enum class State {
    ran,
    missing,  ///< the device lacks an instruction, and said so before the launch
    skipped,  ///< not a program for this device
    failed    ///< refused, or ended by a fault
  } state;
  std::string text;  ///< why
  bool trapped = false;
  std::vector<Buffer> buffers;  ///< afterwards, where it ran
};

class Machine {
 public:
  virtual ~Machine() = default;
  virtual std::string name() const = 0;
  virtual Answer run(const Experiment& experiment) = 0;
};

/// What hardware leaves open, by names: of Variation::Approximate, Variation::Sums.
struct Choice {
  std::string approximate = "nearest", sums = "nearest";
  std::uint64_t order_seed = 0;
};

std::unique_ptr<Machine> software_machine(const Choice& choice);
/// Null, with the reason, where there is no driver or no GPU.
std::unique_ptr<Machine> cuda_machine(std::string& reason);

}  // namespace plumbline::ptx::conformance

#endif
