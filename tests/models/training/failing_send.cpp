// SPDX-License-Identifier: Apache-2.0
// Loaded before MPI into rank 1 of two (LD_PRELOAD): its eleventh MPI_Send fails, as a broken link
// would, while rank 0 waits for it. With seven parts an update it sends two sums of gradients to
// rank 0, so that this is in the sixth update.
#include <mpi.h>

#include <stdexcept>

extern "C" int MPI_Send(const void* memory, int count, MPI_Datatype type, int to, int tag,
                        MPI_Comm communicator) {
  static int sent = 0;
  if (++sent == 11) throw std::runtime_error("the link to the others is broken");
  return PMPI_Send(memory, count, type, to, tag, communicator);
}
