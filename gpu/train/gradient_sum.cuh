// SPDX-License-Identifier: Apache-2.0
// The gradients of an update's parts, added up over all ranks.
#ifndef PLUMBLINE_GPU_TRAIN_GRADIENT_SUM_CUH
#define PLUMBLINE_GPU_TRAIN_GRADIENT_SUM_CUH

#include <map>
#include <memory>
#include <vector>

#include "core/device_buffer.cuh"
#include "support/communicator.hpp"
#include "train/part_tree.hpp"

namespace plumbline::gpu {

/// Adds in the order of additions(parts), so that the sum has the same bits for any number of
/// ranks. A rank adds what lies within its own parts as they come, for which it holds at most
/// about log2(its parts) + 2 sums; the rest is sent along the tree and ends at rank 0.
class GradientSum {
 public:
  /// @param count numbers of a gradient.
  GradientSum(const Stream&, Communicator&, std::size_t count);

  /// An update of so many parts, at least one a rank. Returns those of this rank. What add() and
  /// finish() need is allocated here, where no rank waits for another yet.
  PartRange begin(int parts);
  /// The next part's gradient [count], in device memory. It may be overwritten afterwards, in the
  /// order of the stream.
  void add(const float* gradient);
  /// On rank 0 the sum over all parts, which stays until the next update begins; on the others
  /// null. @throws std::logic_error if a part of this rank is missing.
  const float* finish();

 private:
  using Buffer = std::unique_ptr<DeviceBuffer<float>>;

  /// That this rank holds at once in an update.
  std::size_t most_sums() const;
  Buffer room();
  void add_to(int begin, const float* gradient);
  void add_sums(const Addition&);
  void exchange(const Addition&);

  const Stream& stream_;
  Communicator& communicator_;
  std::size_t count_;
  int parts_ = 0, next_ = 0;  // of all ranks; the next of this one
  PartRange own_;
  std::vector<Addition> inside_, across_;  // within one rank's parts; the rest
  std::size_t made_ = 0;                   // of inside_
  std::map<int, Buffer> sums_;             // by the first of their parts
  std::vector<Buffer> free_;
};

}  // namespace plumbline::gpu

#endif
