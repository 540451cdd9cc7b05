// SPDX-License-Identifier: Apache-2.0
#ifndef PLUMBLINE_GPU_CORE_GRAPH_CUH
#define PLUMBLINE_GPU_CORE_GRAPH_CUH

#include <cstddef>

#include "core/launch.cuh"

namespace plumbline::gpu {

/// Launches that are asked for again and again with the same arguments: one CUDA graph, so that the
/// host asks once for all of them. What differs from call to call is in device memory.
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Does what `body` asks `stream` for, the same in every call. The first call runs it, so that
  /// all kernels are loaded; the second captures it. Launches that are timed, or waited for one by
  /// one, run without a graph; so does the emulation. @throws CudaError, and what body throws.
  template <class Body>
  void run([[maybe_unused]] const Stream& stream, const Body& body,
           [[maybe_unused]] std::source_location where = std::source_location::current()) {
#if PLUMBLINE_ON_GPU
    if (LaunchClock::running || waits_after_launch() || !warm_) {
      body();
      warm_ = true;
      return;
    }
    if (!exec_) capture(stream, body);
    stream.check(cudaGraphLaunch(exec_, stream.get()), where);
    stream.remember(where);
#else
    body();
#endif
  }

  /// Nodes of the graph; 0 while there is none.
  std::size_t nodes() const { return nodes_; }

#if PLUMBLINE_ON_GPU
  ~Graph() {
    if (exec_) cudaGraphExecDestroy(exec_);
  }

 private:
  template <class Body>
  void capture(const Stream& stream, const Body& body) {
    stream.check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    try {
      body();
    } catch (...) {
      cudaStreamEndCapture(stream.get(), &graph);
      if (graph) cudaGraphDestroy(graph);
      cudaGetLastError();  // that the capture has ended early
      throw;
    }
    stream.check(cudaStreamEndCapture(stream.get(), &graph));
    std::size_t nodes = 0;
    const cudaError_t counted = cudaGraphGetNodes(graph, nullptr, &nodes);
    const cudaError_t made = cudaGraphInstantiate(&exec_, graph, 0);
    cudaGraphDestroy(graph);
    stream.check(counted);
    stream.check(made);
    nodes_ = nodes;
  }

  cudaGraphExec_t exec_ = nullptr;
  bool warm_ = false;
  std::size_t nodes_ = 0;
#else
 private:
  std::size_t nodes_ = 0;
#endif
};

}  // namespace plumbline::gpu

#endif
