// SPDX-License-Identifier: Apache-2.0
// What the ranks of a training run say to each other. Host code: MPI and NCCL have files of their
// own.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace plumbline {

/// The ranks of a run, as MPI counts them. Every rank makes the same calls in the same order,
/// send() and receive() as pairs; a call is over when it returns. A rank that is lost ends them
/// all.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;  ///< 0, ..., size() - 1
  virtual int size() const = 0;

  /// Host memory: every rank's numbers become the sum over the ranks, added in any order.
  virtual void sum(std::span<double>) = 0;
  /// Host memory: rank `from`'s bytes become everybody's.
  virtual void broadcast(std::span<std::byte>, int from) = 0;

  /// Device memory, on which no work is pending.
  virtual void send(const float* device, std::size_t count, int to) = 0;
  virtual void receive(float* device, std::size_t count, int from) = 0;
  virtual void broadcast(float* device, std::size_t count, int from) = 0;
};

/// A run of one rank.
Communicator& one_rank();

}  // namespace plumbline
