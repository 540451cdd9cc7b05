// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_ATTENTION_CHECK_PROBLEM_CUH
#define PLUMBLINE_GPU_ATTENTION_CHECK_PROBLEM_CUH

#include <stdexcept>
#include <string>
#include <vector>

#include "plumbline_kernel.h"

namespace plumbline::gpu {

/// The problem cannot be run as it stands.
class InvalidProblem : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// The parameters that the bias reads, and DAPE; SSMax's scale, which goes with every bias, is not
/// named.
const std::vector<plumbline_parameter>& parameters_of(const plumbline_problem& problem);

/// The parameter whose prefix sums the method takes, or -1.
int summed_parameter(int bias);

/// As the interface's comments and messages name it.
const char* name_of(plumbline_parameter parameter);

/// Values that a parameter of the problem holds.
std::size_t parameter_size(const plumbline_problem& problem, plumbline_parameter parameter);

/// The head dimensions and widths of values that a kernel takes: head_dim one of HeadDims and
/// value_dim up to it, or any up to 1024; always any with CoPE and DAPE, whose kernels read them as
/// they run.
enum class Widths { compiled, any };

/// Why the shapes, format, bias, masks and options of `problem` cannot be run, or an empty string.
/// What pointers lead to is not read.
std::string unsupported_reason(const plumbline_problem& problem, Widths widths = Widths::compiled);

/// Throws InvalidProblem naming `name` when the pointer is null.
void require(const void* pointer, const char* name);

/// Throws InvalidProblem: shapes as `unsupported_reason`, missing inputs, lengths outside
/// 0 .. keys.
void check_problem(const plumbline_problem& problem, Widths widths = Widths::compiled);

}  // namespace plumbline::gpu

#endif
