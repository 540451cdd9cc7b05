// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <initializer_list>

#include "support/mpi_communicator.hpp"

namespace plumbline {

namespace {

/// A number that a launcher put into the environment under one of its names: Open MPI's, that of
/// MPICH and its kin, PMIx's (Slurm).
int from_environment(std::initializer_list<const char*> names, int otherwise) {
  for (const char* name : names) {
    const char* value = std::getenv(name);
    if (value && *value) return std::atoi(value);
  }
  return otherwise;
}

}  // namespace

int launched_size() { return from_environment({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 0); }

bool launched_by_mpi() { return launched_size() > 0 || std::getenv("PMIX_RANK"); }

int launched_rank() {
  return from_environment({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}, 0);
}

}  // namespace plumbline
