// SPDX-License-Identifier: Apache-2.0
// In place of mpi_communicator.cpp and as_on_first.cpp where a program is built without MPI: there
// is one rank.
#include <cstdlib>

#include "support/error.hpp"
#include "support/mpi_communicator.hpp"
#include "support/ranks.hpp"

namespace plumbline {

MpiCommunicator::MpiCommunicator() {
  throw MachineLacks(
      "started by mpirun or its kin, and this program was built without MPI; start it alone, or "
      "build the program from a checkout");
}
MpiCommunicator::~MpiCommunicator() = default;

void MpiCommunicator::check_launch() const {}
void MpiCommunicator::abort(int status) const { std::exit(status); }
void MpiCommunicator::sum(std::span<double>) {}
void MpiCommunicator::broadcast(std::span<std::byte>, int) {}
void MpiCommunicator::send(const float*, std::size_t, int) {}
void MpiCommunicator::receive(float*, std::size_t, int) {}
void MpiCommunicator::broadcast(float*, std::size_t, int) {}

bool Ranks::as_on_first(std::span<const std::byte>) { return true; }

}  // namespace plumbline
