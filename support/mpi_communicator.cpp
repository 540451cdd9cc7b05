// SPDX-License-Identifier: Apache-2.0
#include "support/mpi_communicator.hpp"

#include <mpi.h>

#include <algorithm>
#include <string>

#include "support/error.hpp"

namespace plumbline {

namespace {

/// MPI counts in int: what is longer goes in pieces.
template <class T, class Call>
void in_pieces(T* memory, std::size_t count, Call call) {
  constexpr std::size_t most = std::size_t{1} << 30;
  for (std::size_t done = 0; done < count; done += most)
    call(memory + done, static_cast<int>(std::min(most, count - done)));
}

}  // namespace

MpiCommunicator::MpiCommunicator() {
  MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm machine;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  MPI_Comm_rank(machine, &rank_on_machine_);
  MPI_Comm_size(machine, &size_on_machine_);
  MPI_Comm_free(&machine);
}

void MpiCommunicator::check_launch() const {
  if (const int launched = launched_size(); launched > 0 && launched != size_)
    throw MachineLacks("started as one of " + std::to_string(launched) +
                       " ranks, of which this program's MPI sees " + std::to_string(size_) +
                       "; start it with the mpirun of the MPI that it was built with");
}

void MpiCommunicator::abort(int status) const {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

MpiCommunicator::~MpiCommunicator() {
  MPI_Barrier(MPI_COMM_WORLD);  // else mpirun may end the others while rank 0 still speaks
  MPI_Finalize();
}

void MpiCommunicator::sum(std::span<double> numbers) {
  in_pieces(numbers.data(), numbers.size(), [](double* some, int count) {
    MPI_Allreduce(MPI_IN_PLACE, some, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  });
}

void MpiCommunicator::broadcast(std::span<std::byte> bytes, int from) {
  in_pieces(bytes.data(), bytes.size(), [from](std::byte* some, int count) {
    MPI_Bcast(some, count, MPI_BYTE, from, MPI_COMM_WORLD);
  });
}

void MpiCommunicator::send(const float* memory, std::size_t count, int to) {
  in_pieces(memory, count, [to](const float* some, int some_count) {
    MPI_Send(some, some_count, MPI_FLOAT, to, 0, MPI_COMM_WORLD);
  });
}

void MpiCommunicator::receive(float* memory, std::size_t count, int from) {
  in_pieces(memory, count, [from](float* some, int some_count) {
    MPI_Recv(some, some_count, MPI_FLOAT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  });
}

void MpiCommunicator::broadcast(float* memory, std::size_t count, int from) {
  in_pieces(memory, count, [from](float* some, int some_count) {
    MPI_Bcast(some, some_count, MPI_FLOAT, from, MPI_COMM_WORLD);
  });
}

}  // namespace plumbline
