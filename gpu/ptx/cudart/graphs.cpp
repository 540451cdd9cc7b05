// SPDX-License-Identifier: Apache-2.0
// Graphs that are made by capturing a stream. Nodes cannot be added or changed one by one.
#include "ptx/cudart/runtime.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;
using plumbline::ptx::cudart::kept;
using plumbline::ptx::cudart::run;

PLUMBLINE_CUDA Error cudaStreamBeginCapture(Stream* stream, CaptureMode mode) {
  return run([&](Process& process) { process.streams.begin_capture(stream, mode); });
}

PLUMBLINE_CUDA Error cudaStreamEndCapture(Stream* stream, Graph** graph) {
  return run([&](Process& process) {
    expect(graph != nullptr);
    *graph = nullptr;
    *graph = &process.streams.end_capture(stream);
  });
}

PLUMBLINE_CUDA Error cudaStreamIsCapturing(Stream* stream, CaptureStatus* status) {
  return run([&](Process& process) {
    expect(status != nullptr);
    *status = process.streams.status(stream);
  });
}

PLUMBLINE_CUDA Error cudaThreadExchangeStreamCaptureMode(CaptureMode* mode) {
  return run([&](Process& process) {
    expect(mode != nullptr);
    *mode = process.streams.exchange_mode(*mode);
  });
}

PLUMBLINE_CUDA Error cudaGraphInstantiateWithFlags(GraphExec** exec, Graph* graph,
                                                   unsigned long long) {
  return run([&](Process& process) {
    expect(exec != nullptr);
    *exec = &process.streams.instantiate(graph);
  });
}

PLUMBLINE_CUDA Error cudaGraphInstantiate(GraphExec** exec, Graph* graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(exec, graph, flags);
}

/// There is nothing to bring anywhere.
PLUMBLINE_CUDA Error cudaGraphUpload(GraphExec* exec, Stream* stream) {
  return run([&](Process& process) {
    process.streams.execs.of(exec, Error::invalid_value);
    process.streams.of(stream);
  });
}

PLUMBLINE_CUDA Error cudaGraphLaunch(GraphExec* exec, Stream* stream) {
  return kept(launch_graph(exec, stream));
}

PLUMBLINE_CUDA Error cudaGraphExecDestroy(GraphExec* exec) {
  return run([&](Process& process) { process.streams.execs.remove(exec, Error::invalid_value); });
}

PLUMBLINE_CUDA Error cudaGraphDestroy(Graph* graph) {
  return run([&](Process& process) { process.streams.graphs.remove(graph, Error::invalid_value); });
}

PLUMBLINE_CUDA Error cudaGraphGetNodes(Graph* graph, const Node** nodes, std::size_t* count) {
  return run([&](Process& process) { process.streams.nodes(graph, nodes, count); });
}

PLUMBLINE_CUDA Error cudaGraphNodeGetType(const Node* node, NodeType* type) {
  return run([&](Process& process) {
    expect(type != nullptr);
    *type = process.streams.type_of(node);
  });
}
