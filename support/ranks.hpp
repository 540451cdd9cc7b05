// SPDX-License-Identifier: Apache-2.0
// The ranks of a run go on together or end together, with one message and one exit status.
#pragma once

#include <functional>
#include <span>
#include <stdexcept>
#include <string>

#include "support/communicator.hpp"
#include "support/error.hpp"

namespace plumbline {

/// What went wrong is told by another rank.
class RankFailed : public std::runtime_error {
 public:
  RankFailed(int status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;  ///< an ExitStatus, or 128 and the signal that stopped a run
};

class Ranks {
 public:
  /// The communicator must outlive it.
  explicit Ranks(Communicator& communicator) : communicator_(&communicator) {}

  Communicator& communicator() const { return *communicator_; }
  int count() const { return communicator_->size(); }
  /// Rank 0, which prints and writes files.
  bool first() const { return communicator_->rank() == 0; }

  /// Every rank does its own work, in which it does not wait for another; then all learn whether
  /// it went well everywhere. @throws what `work` threw on this rank, else RankFailed where it
  /// threw on another: that of the lowest rank.
  void together(const std::function<void()>& work);

  /// Work in which the ranks wait for each other. An exception that is to leave it on all ranks
  /// comes out of together(); any other leaves this rank out of step.
  void in_step(const std::function<void()>& work);

  /// Whether the others wait for this rank, which failed and does not come: nothing but an abort
  /// can end them.
  bool out_of_step() const { return waiting_ && !ended_ && count() > 1; }

  /// Whether these bytes are rank 0's.
  bool as_on_first(std::span<const std::byte> bytes);

  /// A rank's number that is not 0, the same one on all; 0 where there is none.
  int any_of(int number);

  /// The end of a program: every rank says how it ended there, and in which words. Returns the
  /// status that all end with. Not to be called out of step.
  int finish(int status, const std::string& message);

 private:
  /// How the lowest rank that failed did, or all_right.
  RankFailed lowest_failure(int status, const std::string& message);

  Communicator* communicator_;
  bool waiting_ = false;  // within in_step(), or left it by an exception
  bool ended_ = false;    // a failure is known to all: none waits for word from another any more
};

}  // namespace plumbline
