// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "support/communicator.hpp"

namespace plumbline {

/// Whether mpirun, or a batch system in its place, started this process as one of several or of
/// one; by the environment, without MPI.
bool launched_by_mpi();

/// How many processes it started, by the environment; 0 where it does not say.
int launched_size();

/// The rank that the launcher gave this process, by the environment; 0 without a launcher.
int launched_rank();

/// Every process of the launch, by MPI, with device memory in the emulation's sense: host memory.
/// MPI ends with it, when every rank has come that far. One a process.
class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator();
  ~MpiCommunicator() override;
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  /// @throws MachineLacks if MPI sees another number of processes than the launcher started: the
  /// launcher is another MPI's.
  void check_launch() const;

  /// Ends all processes at once, whatever they wait for; the launcher ends with this status.
  [[noreturn]] void abort(int status) const;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int rank_on_machine() const { return rank_on_machine_; }
  int size_on_machine() const { return size_on_machine_; }

  void sum(std::span<double>) override;
  void broadcast(std::span<std::byte>, int from) override;
  void send(const float* memory, std::size_t count, int to) override;
  void receive(float* memory, std::size_t count, int from) override;
  void broadcast(float* memory, std::size_t count, int from) override;

 private:
  int rank_ = 0, size_ = 1, rank_on_machine_ = 0, size_on_machine_ = 1;
};

}  // namespace plumbline
