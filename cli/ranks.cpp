// SPDX-License-Identifier: Apache-2.0
#include "cli/ranks.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include "cli/command.hpp"
#include "support/mpi_communicator.hpp"
#ifdef PLUMBLINE_HAS_NCCL
#include "core/device.hpp"
#include "train/nccl_communicator.hpp"
#endif

namespace plumbline::cli {

namespace {

/// Keeps to itself what is said on standard output and standard error.
class Silence {
 public:
  Silence() : out_(std::cout.rdbuf(&unheard_)), error_(std::cerr.rdbuf(&said_)) {}
  ~Silence() {
    std::cout.rdbuf(out_);
    std::cerr.rdbuf(error_);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

  /// On standard error, without "plumbline: " before it and the end of the line.
  std::string said() const {
    std::string text = said_.str();
    if (text.starts_with("plumbline: ")) text.erase(0, 11);
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }

 private:
  std::stringbuf unheard_, said_;
  std::streambuf *out_, *error_;
};

/// The processors of a machine are shared out among its ranks.
int share_of(const MpiCommunicator& mpi) {
  const unsigned all = std::max(1u, std::thread::hardware_concurrency());
  const auto count = static_cast<unsigned>(mpi.size_on_machine());
  const bool one_more = static_cast<unsigned>(mpi.rank_on_machine()) < all % count;
  return static_cast<int>(std::max(1u, all / count + (one_more ? 1 : 0)));
}

/// And among their emulations.
void share_processors([[maybe_unused]] const MpiCommunicator& mpi) {
#ifndef PLUMBLINE_MODELS_ON_GPU
  setenv("PLUMBLINE_EMULATION_WORKERS", std::to_string(share_of(mpi)).c_str(), 0);
#endif
}

/// What this process shares with others, if it does. Ends in reverse order.
struct Together {
  std::unique_ptr<MpiCommunicator> mpi;
  std::unique_ptr<Communicator> nccl;
  Ranks ranks{one_rank()};
  bool ready = false;  // to compute
};

std::unique_ptr<Together> together;

Together& brought_together() {
  if (!together) {
    together = std::make_unique<Together>();
    if (launched_by_mpi()) {
      together->mpi = std::make_unique<MpiCommunicator>();
      together->ranks = Ranks(*together->mpi);
    }
  }
  return *together;
}

/// A GPU for each rank of the machine.
void share_devices() {
#ifdef PLUMBLINE_HAS_NCCL
  const MpiCommunicator& mpi = *together->mpi;
  together->ranks.together([&] {
    // A launcher may show each rank its own GPU alone. One that they all see, NCCL refuses.
    if (gpu::devices_seen() == 1) return gpu::use_device(0);
    gpu::expect_devices(mpi.size_on_machine());
    gpu::use_device(mpi.rank_on_machine());
  });
  together->ranks.in_step([] { together->nccl = gpu::nccl_communicator(*together->mpi); });
  together->ranks = Ranks(*together->nccl);
#elif defined(PLUMBLINE_MODELS_ON_GPU)
  throw MachineLacks("several ranks on GPUs need NCCL, which this build did not find");
#endif
}

/// The others wait for this rank, which failed: all end now.
[[noreturn]] void end_all(const Together& all, int status, std::optional<Silence>& silence) {
  if (silence) {
    const std::string said = silence->said();
    silence.reset();
    // In one piece: mpirun writes in between.
    std::cerr << "plumbline: rank " + std::to_string(all.mpi->rank()) + ": " + said + "\n";
  }
  std::cout << std::flush;
  std::cerr << std::flush;
  all.mpi->abort(status);
}

}  // namespace

Ranks& ranks() {
  Together& all = brought_together();
  if (all.mpi && !all.ready) {
    all.ready = true;
    all.mpi->check_launch();
    if (all.mpi->size() > 1) {
      share_processors(*all.mpi);
      share_devices();
    }
  }
  return all.ranks;
}

int own_processors() {
  const auto& mpi = brought_together().mpi;
  return mpi ? share_of(*mpi) : thread_count();
}

int run_as_rank(const std::function<int()>& program) {
  if (!launched_by_mpi()) return program();
  std::optional<Silence> silence;
  if (launched_rank() > 0) silence.emplace();
  int status = program();
  try {
    Ranks& all = brought_together().ranks;
    if (all.out_of_step()) end_all(*together, status, silence);
    status = all.finish(status, silence ? silence->said() : "");
  } catch (const RankFailed& failure) {
    std::cerr << "plumbline: " << failure.what() << "\n";
    status = failure.status();
  }
  std::cout << std::flush;
  together.reset();
  return status;
}

}  // namespace plumbline::cli
